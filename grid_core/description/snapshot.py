"""A description's bytes, each read once: what is hashed is what is parsed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from grid_core.description.documents import Manifest, read_document
from grid_core.description.files import MANIFEST, Content, check_paths, read_file
from grid_core.description.identity import identity_of, prefixed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.description.faults import Faults, Place

__all__ = ["CONFIG", "RTCORE", "SPHERES", "Resource", "Snapshot", "read_snapshot"]

CONFIG = "config.json"
SPHERES = "spheres.json"
RTCORE = "rtcore_definition.json"


@frozen
class Resource:
    """One file of a description."""

    path: str
    """Inside the directory, with forward slashes."""
    size: int
    """[bytes]"""
    sha256: str
    """``sha256:`` and 64 hex digits."""


@frozen(eq=False)
class Snapshot:
    """What a directory held at one moment, its registered files only."""

    label: str
    """The directory as messages call it."""
    manifest: Manifest
    faults: Faults = field(repr=False)
    contents: Mapping[str, Content] = field(repr=False)
    """By path; the manifest among them. A file that could not be read is a fault instead."""

    @property
    def model_id(self) -> str:
        """The model's id."""
        return self.manifest.model_id

    @property
    def identity(self) -> str:
        """``sha256:`` and 64 hex digits."""
        files = {path: self.contents[path] for path in self.manifest.files}
        return identity_of(self.contents[MANIFEST], files)

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The manifest and every registered file, sorted by path."""
        return tuple(
            Resource(path, content.size, prefixed(content.digest))
            for path, content in sorted(self.contents.items())
        )

    @property
    def is_bench(self) -> bool:
        """Whether it describes bare motors: neither a URDF nor a config is registered."""
        return not self._ending(".urdf") and CONFIG not in self.manifest.files

    def at(self, path: str) -> Place:
        """Return the top of one file, for faults."""
        return _at(self.label, path, self.faults)

    def document(self, path: str) -> bytes | None:
        """Return the bytes of a file; None, with a fault noted once, where there are none."""
        if path not in self.manifest.files:
            self.at(MANIFEST).key("files").fault(f"{path} is not registered")
        content = self.contents.get(path)
        return None if content is None else content.data

    def only(self, ending: str, *, required: bool) -> str | None:
        """Return the one registered file at the top that ends so, or note a fault."""
        found = self._ending(ending)
        if len(found) > 1 or (required and not found):
            count = f"{len(found)} ({', '.join(found)})" if found else "none"
            self.at(MANIFEST).key("files").fault(f"needs one {ending} file at the top; got {count}")
            return None
        return found[0] if found else None

    def _ending(self, ending: str) -> list[str]:
        return [p for p in self.manifest.files if p.endswith(ending) and "/" not in p]


def read_snapshot(directory: str | os.PathLike[str], faults: Faults) -> Snapshot | None:
    """Read a directory's manifest and every file that it registers.

    Returns:
        The snapshot, with a fault for each file that cannot be read; None without a manifest.
    """
    root = Path(directory)
    label = os.fspath(directory)
    at = _at(label, MANIFEST, faults)
    if not _is_directory(root):
        faults.at(label).fault("no such directory")
        return None
    content = read_file(root, MANIFEST, at)
    if content is None or content.data is None:
        return None
    manifest = read_document(Manifest, content.data, at)
    if manifest is None:
        return None
    name = root.resolve().name
    if manifest.model_id != name:
        at.key("model_id").fault(f"{manifest.model_id!r}, but the directory is called {name!r}")
    contents = {MANIFEST: content}
    for path in check_paths(manifest.files, at.key("files")):
        found = read_file(root, path, _at(label, path, faults), keep=_is_parsed(path))
        if found is not None:
            contents[path] = found
    return Snapshot(label, manifest, faults, contents)


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # nobody may look, or no such path can be
        return False


def _at(label: str, path: str, faults: Faults) -> Place:
    return faults.at(f"{label.rstrip('/')}/{path}")


def _is_parsed(path: str) -> bool:
    return path in {CONFIG, SPHERES, RTCORE} or path.endswith((".urdf", ".srdf"))
