"""The build store: one file a build, safe between processes and against damage.

A file is a line of JSON (format, key, what it is, length and SHA-256 of the payload), then the
payload. It is written beside its place and renamed, so a reader sees all of it or nothing;
whoever builds holds the key's lock, so that two processes build once. A file that is damaged,
or was written for something else, is rebuilt, never loaded. A folder that cannot be used is no
reason to fail: what is built is returned all the same, with one warning.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import warnings
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.errors import CacheWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["BuildStore", "StoreEntry"]

_FORMAT = "grid.build.v1"
_SUFFIX = ".build"
_LOCK_SECONDS = 120.0
"""How long to wait for another process's build before building oneself."""
_WARNED: set[Path] = set()


@frozen
class StoreEntry:
    """A stored build as listed."""

    path: Path
    what: Mapping[str, str]
    size: int
    """Bytes on disk."""
    sound: bool
    """Whether the payload is what was written."""


@frozen
class BuildStore:
    """Builds under one folder.

    Attributes:
        root: the folder; made at the first write.
    """

    root: Path

    def fetch(self, key: str, what: Mapping[str, str], build: Callable[[], bytes]) -> bytes:
        """Return the payload of a key, building and keeping it when it is not there.

        Args:
            key: hex digits that identify the build.
            what: description for people, kept with it.
            build: makes the payload; called at most once, under the key's lock.

        Warns:
            CacheWarning: the folder cannot be used, or another process holds the lock too long;
                the payload is then built and not kept. Once a process for a folder.
        """
        path = self.root / f"{key}{_SUFFIX}"
        payload = _read(path, key)
        if payload is not None:
            return payload
        with contextlib.ExitStack() as held:
            trouble = self._lock(key, held)
            payload = None if trouble else _read(path, key)
            if payload is not None:
                return payload
            payload = build()
            trouble = trouble or self._write(path, key, what, payload)
        if trouble:
            self._warn(trouble)
        return payload

    def entries(self) -> Iterator[StoreEntry]:
        """List what is stored, by file name."""
        if not self.root.is_dir():
            return
        for path in sorted(self.root.glob(f"*{_SUFFIX}")):
            with contextlib.suppress(OSError):
                data = path.read_bytes()
                header, payload = _split(data)
                sound = header is not None and _sound(header, payload, path.stem)
                what = header.get("what", {}) if header else {}
                what = what if isinstance(what, dict) else {}
                yield StoreEntry(path, what, len(data), sound)

    def clear(self) -> int:
        """Delete every build and lock; returns how many builds there were."""
        count = 0
        if self.root.is_dir():
            for path in self.root.iterdir():
                if path.suffix in (_SUFFIX, ".lock", ".part"):
                    count += path.suffix == _SUFFIX
                    path.unlink(missing_ok=True)
        return count

    def _lock(self, key: str, held: contextlib.ExitStack) -> str | None:
        """Take the key's lock until `held` is left, or say why that cannot be."""
        import filelock  # noqa: PLC0415 - a warm load never needs it

        try:
            self.root.mkdir(parents=True, exist_ok=True)
            held.enter_context(filelock.FileLock(self.root / f"{key}.lock", timeout=_LOCK_SECONDS))
        except filelock.Timeout:
            return (
                f"another process has held the lock {key[:12]}… for {_LOCK_SECONDS:.0f} s; if none "
                "is building, delete the .lock files there"
            )
        except (OSError, NotImplementedError) as error:  # the latter: no locks on that file system
            return str(error) or type(error).__name__
        return None

    def _write(self, path: Path, key: str, what: Mapping[str, str], payload: bytes) -> str | None:
        """Keep a payload, or say why that cannot be."""
        header = {
            "format": _FORMAT,
            "key": key,
            "what": dict(what),
            "length": len(payload),
            "sha256": hashlib.sha256(payload).hexdigest(),
        }
        line = json.dumps(header, sort_keys=True).encode() + b"\n"
        part = None
        try:
            handle, part = _create(self.root)
            with os.fdopen(handle, "wb") as file:
                file.write(line + payload)
            # Not synced to the disk: what a power cut damages is found and rebuilt.
            os.replace(part, path)  # noqa: PTH105 - atomic
        except BaseException as error:
            if part is not None:
                with contextlib.suppress(OSError):
                    os.unlink(part)  # noqa: PTH108
            if isinstance(error, OSError):
                return str(error)
            raise
        return None

    def _warn(self, trouble: str) -> None:
        if self.root in _WARNED:
            return
        _WARNED.add(self.root)
        warnings.warn(
            f"builds are not kept, because the cache folder {self.root} cannot be used: {trouble}; "
            "choose another with cache_dir= or the environment variable GRID_CACHE_DIR",
            CacheWarning,
            stacklevel=3,
        )


def _create(folder: Path) -> tuple[int, str]:
    """Open a new file; its mode is the umask's, so that who may read the folder may read it."""
    name = os.path.join(folder, f"{secrets.token_hex(8)}.part")  # noqa: PTH118
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(name, flags, 0o666), name


def _read(path: Path, key: str) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    header, payload = _split(data)
    return payload if header is not None and _sound(header, payload, key) else None


def _split(data: bytes) -> tuple[dict[str, object] | None, bytes]:
    line, _, payload = data.partition(b"\n")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return None, b""
    return (header if isinstance(header, dict) else None), payload


def _sound(header: Mapping[str, object], payload: bytes, key: str) -> bool:
    return (
        header.get("format") == _FORMAT
        and header.get("key") == key
        and header.get("length") == len(payload)
        and header.get("sha256") == hashlib.sha256(payload).hexdigest()
    )
