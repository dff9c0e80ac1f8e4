"""Putting an artifact in its place: all of it, or what was there before.

It is written into a folder beside its place, every file and folder synced to the disk, and then
renamed; an artifact that is there already is exchanged with it in one step of the kernel
(``renameat2`` with ``RENAME_EXCHANGE``) and deleted afterwards. What a killed builder leaves is
one such folder, which the next builder deletes; it holds a lock beside the place meanwhile.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import re
import secrets
import shutil
import stat
from typing import TYPE_CHECKING

from grid_core.artifact.prepared_manifest import (
    CODE,
    DESCRIPTOR,
    FORMAT,
    HEADER,
    LAUNCH,
    MANIFEST,
)
from grid_core.description.strict_json import MAX_BYTES
from grid_core.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["locked", "publish", "require_replaceable"]

_EXCHANGE = 2
"""RENAME_EXCHANGE."""
_AT_FDCWD = -100
_OWN = frozenset({MANIFEST, DESCRIPTOR, HEADER, LAUNCH, CODE})
_CODE_FILE = re.compile(rf"{CODE}/[\w-]+/[\w-]+\.[\w-]+\.(o|cubin|ptx)")
"""What a backend's file is called, where the document cannot say any more which there are."""


@contextlib.contextmanager
def locked(place: Path) -> Iterator[None]:
    """Hold the place against other builders, and delete what killed ones left beside it.

    Raises:
        ArtifactError: the folder above cannot be written to, or has no locks.
    """
    import filelock  # noqa: PLC0415 - a load never needs it

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        path = place.parent / f".{place.name}.lock"
        # Where this fails filelock may try for ever.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
        lock = filelock.FileLock(path)
        lock.acquire()
    except (OSError, NotImplementedError) as error:
        reason = str(error) or type(error).__name__
        raise ArtifactError(f"cannot be locked: {reason}", directory=place) from error
    try:
        _sweep(place)
        yield
    finally:
        lock.release()


def require_replaceable(place: Path) -> None:
    """Refuse a place that holds anything else than an artifact: it would be deleted.

    Raises:
        ArtifactError: it is no folder, or has other files in it.
    """
    try:
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ArtifactError(f"cannot be built here: {error.strerror}", directory=place) from error
    try:
        foreign = _foreign(folder)
    except FileNotFoundError:  # another builder replaces it; who holds the lock looks again
        return
    except OSError as error:
        raise ArtifactError(f"cannot be built here: {error.strerror}", directory=place) from error
    finally:
        os.close(folder)
    if foreign is not None:
        raise ArtifactError(
            f"{foreign!r} is in this folder, which a new artifact would replace; "
            "choose an empty folder or a new one",
            directory=place,
        )


def _foreign(folder: int) -> str | None:
    """Return the path of something that no builder put into an opened folder."""
    names = sorted(os.listdir(folder))
    for name in names:
        if name not in _OWN or MANIFEST not in names:
            return name
        is_folder = stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        if is_folder is not (name == CODE):
            return name
    if not names:
        return None
    with os.fdopen(os.open(MANIFEST, os.O_RDONLY | os.O_NONBLOCK, dir_fd=folder), "rb") as file:
        document = file.read(MAX_BYTES)
    if f'"{FORMAT}"'.encode() not in document:
        return MANIFEST
    listed = _listed(document)

    def fail(error: OSError) -> None:
        raise error

    for above, folders, files, opened in os.fwalk(CODE, onerror=fail, dir_fd=folder):
        modes = {n: os.stat(n, dir_fd=opened, follow_symlinks=False).st_mode for n in folders}
        for name in [*files, *(n for n, mode in modes.items() if not stat.S_ISDIR(mode))]:
            path = f"{above}/{name}"
            if not (_CODE_FILE.fullmatch(path) if listed is None else path in listed):
                return path
    return None


def _listed(document: bytes) -> frozenset[str] | None:
    """Return the files that a document lists; None where it is damaged."""
    try:
        files = json.loads(document)["files"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return frozenset(files) if isinstance(files, dict) else None


def publish(place: Path, files: Mapping[str, bytes]) -> None:
    """Write an artifact to its place; call it with the place locked.

    Raises:
        ArtifactError: it cannot be written; what was there is still there.
    """
    staging = place.parent / f".{place.name}.{secrets.token_hex(8)}.part"
    try:
        _sync(place.parent)  # where that cannot be done, nothing is begun
        _write_all(staging, files)
        _swap(staging, place)
        _sync(place.parent)
    except OSError as error:
        raise ArtifactError(f"cannot be written: {error.strerror}", directory=place) from error
    finally:
        # After an exchange this is what was there before.
        shutil.rmtree(staging, ignore_errors=True)


def _write_all(staging: Path, files: Mapping[str, bytes]) -> None:
    staging.mkdir()
    folders = {staging}
    for path, data in files.items():
        target = staging.joinpath(*path.split("/"))
        if target.parent not in folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            folders.update(p for p in target.parents if staging in p.parents)
        _write(target, data)
    for folder in sorted(folders, reverse=True):
        _sync(folder)


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _swap(staging: Path, place: Path) -> None:
    try:
        staging.rename(place)  # onto nothing, or onto an empty folder
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        exchange(staging, place)


def exchange(one: Path, other: Path) -> None:
    """Exchange two folders in one step.

    Raises:
        ArtifactError: the system or the file system cannot.
    """
    library = ctypes.CDLL(None, use_errno=True)
    rename = getattr(library, "renameat2", None)
    if rename is None:
        number = errno.ENOSYS
    else:
        status = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE)
        number = ctypes.get_errno() if status else 0
    if number in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        raise ArtifactError(
            "the file system cannot exchange two folders in one step, so an artifact that is "
            "there cannot be replaced safely; delete it first, or build into a new folder",
            directory=other,
        )
    if number:
        raise OSError(number, os.strerror(number))


def _sweep(place: Path) -> None:
    left = re.compile(rf"\.{re.escape(place.name)}\.[0-9a-f]{{16}}\.part")
    try:
        beside = list(place.parent.iterdir())
    except OSError:  # a folder that may be written to and not be listed
        return
    for found in beside:
        if left.fullmatch(found.name):
            shutil.rmtree(found, ignore_errors=True)
