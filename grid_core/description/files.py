"""The files of a directory, by paths that a manifest gives: nothing else is ever opened."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.description.strict_json import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grid_core.description.faults import Place

__all__ = ["MANIFEST", "Content", "check_paths", "read_file"]

MANIFEST = "manifest.json"
_COMPONENT = re.compile(r"[A-Za-z0-9._-]+")


@frozen
class Content:
    """One file, read once."""

    size: int
    digest: bytes
    """Raw SHA-256."""
    data: bytes | None
    """The bytes that were hashed; None of a mesh, which nobody here parses."""


def check_paths(paths: Iterable[str], at: Place) -> list[str]:
    """Return the paths that may be opened, and note what is wrong with the others."""
    good: dict[str, str] = {}
    for number, path in enumerate(paths):
        problem = _problem(path)
        twin = good.get(path.lower())
        if problem is None and twin is not None:
            problem = "listed twice" if twin == path else f"differs from {twin!r} by case only"
        if problem is None:
            good[path.lower()] = path
        else:
            at.item(number).fault(f"{path!r}: {problem}")
    return list(good.values())


def _problem(path: str) -> str | None:
    if path.lower() == MANIFEST:
        return "the manifest does not list itself"
    parts = path.split("/")
    if path.startswith("/"):
        return "an absolute path; paths are relative to the directory"
    if any(part in {"", ".", ".."} for part in parts):
        return "an empty, '.' or '..' step"
    if not all(_COMPONENT.fullmatch(part) for part in parts):
        return "paths have ASCII letters, digits, '.', '_', '-' and '/' only"
    return None


def read_file(
    root: Path, path: str, at: Place, *, keep: bool = True, most: int | None = MAX_BYTES
) -> Content | None:
    """Read and hash a regular file that no symbolic link leads to.

    Args:
        root: the directory.
        path: a path that `check_paths` passed.
        at: where to note that it cannot be read.
        keep: whether to keep the bytes.
        most: a file that is kept and larger is refused [bytes]; None: none is.
    """
    folder = -1
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        *parents, name = path.split("/")
        for parent in parents:
            _require(folder, parent, stat.S_ISDIR, "a directory")
            below = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        _require(folder, name, stat.S_ISREG, "a regular file")
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        return _content(file, keep=keep, most=most)
    except _RefusedError as error:
        at.fault(str(error))
    except OSError as error:
        at.fault("no such file" if isinstance(error, FileNotFoundError) else f"{error.strerror}")
    except ValueError:  # a NUL in it
        at.fault("cannot be a path")
    finally:
        if folder >= 0:
            os.close(folder)
    return None


class _RefusedError(Exception):
    """Something that is there, but is not what may be registered."""


def _require(folder: int, name: str, wanted: object, noun: str) -> None:
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        raise _RefusedError(f"{name!r} is a symbolic link, where the file itself is needed")
    if not callable(wanted) or not wanted(mode):
        raise _RefusedError(f"{name!r} is not {noun}")


def _content(file: int, *, keep: bool, most: int | None) -> Content:
    digest, size, kept = hashlib.sha256(), 0, bytearray()
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise _RefusedError("not a regular file")
        while chunk := stream.read(2**18):
            digest.update(chunk)
            size += len(chunk)
            if keep:
                kept += chunk
                if most is not None and size > most:
                    raise _RefusedError(f"larger than {most >> 20} MiB")
    return Content(size, digest.digest(), bytes(kept) if keep else None)
