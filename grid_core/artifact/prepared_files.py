"""Reading an artifact's folder: its document first, then the files that it lists, and no other.

The folder is opened once and everything is read below that opening, so that one which is
replaced meanwhile is read as it was, or again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from typing import TYPE_CHECKING, Any

from grid_core.artifact.prepared_manifest import (
    FORMAT,
    MANIFEST,
    SCHEMA_VERSION,
    Manifest,
    manifest_bytes,
)
from grid_core.description.faults import Faults
from grid_core.description.files import check_paths
from grid_core.description.kinds import Record
from grid_core.description.strict_json import MAX_BYTES, parse
from grid_core.errors import ArtifactCorrupt, ArtifactError, ArtifactMissing, ArtifactOutdated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grid_core.description.faults import Place

__all__ = ["read_files", "read_manifest"]

_AGAIN = "build it again with grid_core.build_artifact, or copy all of it again"
_ATTEMPTS = 5


def read_files(directory: Path) -> tuple[Manifest, dict[str, bytes]]:
    """Read an artifact's document and every file, each checked by size and SHA-256.

    Raises:
        ArtifactMissing: there is no artifact.
        ArtifactOutdated: it is of another schema.
        ArtifactCorrupt: a file is missing, altered, no plain file, or not listed.
    """
    for attempt in range(_ATTEMPTS):
        with _opened(directory) as folder:
            try:
                manifest = _manifest(folder, directory)
                _check_listing(folder, directory, manifest)
                return manifest, {
                    path: _checked(folder, directory, path, record.sha256, record.size)
                    for path, record in manifest.files.items()
                }
            except ArtifactError:
                # A builder puts a new artifact in the old one's place, then deletes the old one.
                if attempt == _ATTEMPTS - 1 or not _replaced(folder, directory):
                    raise
    raise AssertionError("unreachable")


def read_manifest(directory: Path) -> Manifest:
    """Read an artifact's document alone; raises as `read_files`."""
    with _opened(directory) as folder:
        return _manifest(folder, directory)


@contextlib.contextmanager
def _opened(directory: Path) -> Iterator[int]:
    try:
        folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise ArtifactMissing("no such folder", directory=directory) from None
    except NotADirectoryError:
        raise ArtifactMissing(
            "a file, where an artifact's folder is needed", directory=directory
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ArtifactMissing(f"cannot be opened: {reason}", directory=directory) from error
    try:
        yield folder
    finally:
        os.close(folder)


def _replaced(folder: int, directory: Path) -> bool:
    try:
        there, here = directory.stat(), os.fstat(folder)
    except OSError:
        return True
    return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino)


def _manifest(folder: int, directory: Path) -> Manifest:
    try:
        data = _read(folder, directory, MANIFEST, MAX_BYTES)
    except FileNotFoundError:
        raise ArtifactMissing(
            f"no prepared artifact: there is no {MANIFEST}; grid_core.build_artifact makes one",
            directory=directory,
        ) from None
    faults = Faults()
    at = faults.at(MANIFEST)
    value: Any = parse(data, at)
    if not faults.found:
        _check_schema(value, directory)
        if manifest_bytes(value) != data:
            at.fault("its bytes are not those that were written")
    found = None if faults.found else Record(Manifest).read(value, at)
    if found is not None:
        _check_references(found, at)
    if found is None or faults.found:
        reasons = [fault.removeprefix(f"{MANIFEST}: ") for fault in faults.found]
        raise _corrupt("; ".join(reasons[:5]), directory, MANIFEST)
    manifest: Manifest = found
    return manifest


def _check_references(manifest: Manifest, at: Place) -> None:
    """Note paths that lead elsewhere, and code whose file or backend is not described."""
    check_paths(manifest.files, at.key("files"))
    for operation in manifest.operations:
        for code in (code for variant in operation.variants for code in variant.codes):
            if code.file not in manifest.files:
                at.key("operations").fault(f"{code.file!r} is not among the files")
            if code.backend not in manifest.backends:
                at.key("operations").fault(f"no backend {code.backend!r} is described")


def _check_schema(value: Any, directory: Path) -> None:
    """Refuse another schema by name, before the form of this one is asked for."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ArtifactMissing(
            f"no prepared artifact: {MANIFEST} does not say that its format is {FORMAT!r}",
            directory=directory,
        )
    version = value.get("schema_version")
    if version == SCHEMA_VERSION and not isinstance(version, bool):
        return
    newer = isinstance(version, int) and version > SCHEMA_VERSION
    cure = "or load it with a newer Grid" if newer else "a descriptor cannot be added to old code"
    raise ArtifactOutdated(
        f"schema version {version!r}, and this Grid reads version {SCHEMA_VERSION}; rebuild it "
        f"from the robot's description with grid_core.build_artifact ({cure})",
        directory=directory,
        file=MANIFEST,
    )


def _check_listing(folder: int, directory: Path, manifest: Manifest) -> None:
    """Refuse files that are missing or that nobody listed, and links, before any is read."""
    try:
        there = set(_walk(folder, directory, ""))
    except OSError as error:
        # Not said by name: what goes while it is listed was not there alone.
        reason = f"cannot be listed: {error.strerror}"
        raise ArtifactCorrupt(reason, directory=directory) from error
    listed = {MANIFEST, *manifest.files}
    missing, unlisted = sorted(listed - there), sorted(there - listed)
    if missing:
        raise _corrupt(f"missing; {_AGAIN}", directory, missing[0])
    if unlisted:
        raise _corrupt(
            f"{MANIFEST} does not list it; keep other files elsewhere, and delete it here",
            directory,
            unlisted[0],
        )


def _walk(folder: int, directory: Path, above: str) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        path = f"{above}{name}"
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            try:
                found = list(_walk(below, directory, f"{path}/"))
            finally:
                os.close(below)
            if not found:
                raise _corrupt("an empty folder; delete it", directory, path)
            yield from found
        elif stat.S_ISREG(mode):
            yield path
        else:
            kind = "a symbolic link" if stat.S_ISLNK(mode) else "no plain file"
            raise _corrupt(f"{kind}, where the file itself is needed", directory, path)


def _checked(folder: int, directory: Path, path: str, sha256: str, size: int) -> bytes:
    try:
        data = _read(folder, directory, path, size)
    except FileNotFoundError:
        raise _corrupt(f"missing; {_AGAIN}", directory, path) from None
    if len(data) != size:
        raise _corrupt(f"{len(data)} bytes, where {size} were written; {_AGAIN}", directory, path)
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        raise _corrupt(
            f"altered: its SHA-256 is {digest[:12]}…, and {sha256[:12]}… was written; {_AGAIN}",
            directory,
            path,
        )
    return data


def _read(folder: int, directory: Path, path: str, most: int) -> bytes:
    """Read a plain file that no symbolic link leads to; one byte more than `most` at most."""
    opened = []
    try:
        *parents, name = path.split("/")
        for parent in parents:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            folder = os.open(parent, flags, dir_fd=folder)
            opened.append(folder)
        # Not blocking: a pipe that somebody put there must not be waited for.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        with os.fdopen(file, "rb") as stream:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise _corrupt("no plain file", directory, path)
            return stream.read(min(most, status.st_size) + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _corrupt(f"cannot be read: {error.strerror}", directory, path) from error
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _corrupt(reason: str, directory: Path, file: str) -> ArtifactCorrupt:
    return ArtifactCorrupt(reason, directory=directory, file=file)
