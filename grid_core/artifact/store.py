"""The build store: one file a build, safe between processes and against damage.

A file is a line of JSON (format, key, what it is, length and SHA-256 of the payload), then the
payload. It is written beside its place and renamed, so a reader sees all of it or nothing;
whoever builds holds the key's lock, so that two processes build once. A file that is damaged,
or was written for something else, is rebuilt, never loaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.errors import CacheError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["BuildStore", "StoreEntry"]

_FORMAT = "grid.build.v1"
_SUFFIX = ".build"
_LOCK_SECONDS = 600.0


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

        Raises:
            CacheError: the folder cannot be written, or another process holds the lock too long.
        """
        path = self.root / f"{key}{_SUFFIX}"
        payload = _read(path, key)
        if payload is not None:
            return payload
        with self._locked(key):
            payload = _read(path, key)
            if payload is None:
                payload = build()
                self._write(path, key, what, payload)
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

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        import filelock  # noqa: PLC0415 - a warm load never needs it

        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self.root / f"{key}.lock", timeout=_LOCK_SECONDS):
                yield
        except filelock.Timeout as error:
            raise CacheError(
                f"build cache {self.root}: another process has held the lock of {key[:12]}… for "
                f"{_LOCK_SECONDS:.0f} s; if none is building, delete {key}.lock there"
            ) from error
        except OSError as error:
            if isinstance(error, CacheError):
                raise
            raise CacheError(
                f"build cache {self.root} cannot be used: {error}; choose another with "
                "cache_dir= or the environment variable GRID_CACHE_DIR"
            ) from error

    def _write(self, path: Path, key: str, what: Mapping[str, str], payload: bytes) -> None:
        header = {
            "format": _FORMAT,
            "key": key,
            "what": dict(what),
            "length": len(payload),
            "sha256": hashlib.sha256(payload).hexdigest(),
        }
        line = json.dumps(header, sort_keys=True).encode() + b"\n"
        handle, part = tempfile.mkstemp(dir=self.root, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(line + payload)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)  # noqa: PTH105 - atomic
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)  # noqa: PTH108
            raise


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
    except ValueError:
        return None, b""
    return (header if isinstance(header, dict) else None), payload


def _sound(header: Mapping[str, object], payload: bytes, key: str) -> bool:
    return (
        header.get("format") == _FORMAT
        and header.get("key") == key
        and header.get("length") == len(payload)
        and header.get("sha256") == hashlib.sha256(payload).hexdigest()
    )
