"""What `build_artifact` returns: a prepared artifact on disk, checked."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grid_core.artifact.prepared_check import Prepared
    from grid_core.artifact.prepared_handle import PreparedHandle
    from grid_core.artifact.prepared_manifest import FileRecord

__all__ = ["ConsumerArtifact"]


@frozen
class ConsumerArtifact:
    """A prepared artifact: files that load without the robot's source and without a compiler.

    Its files were read back and checked, as `grid_core.load_artifact` does it.
    """

    directory: Path
    """The folder."""
    identity: str
    """Content identity, 64 hex digits: what it was built from. Artifacts with the same one are
    interchangeable, which descriptors with one ``descriptor_id`` need not be."""
    files: Mapping[str, FileRecord] = field(repr=False)
    """SHA-256 and size of each file beside ``artifact.json``, by path."""
    operations: tuple[str, ...]
    """Names of the operations that it has, refused ones included."""
    targets: Mapping[str, tuple[str, ...]]
    """What it has code for, by backend: ``{"cpu": ("x86-64-v3",), "cuda": ("sm_90",)}``."""
    reused: bool
    """Whether it was there already."""
    _descriptor: Mapping[str, Any] = field(repr=False)

    @property
    def model_descriptor(self) -> dict[str, Any]:
        """The validated descriptor of the robot, a new copy each time."""
        return copy.deepcopy(dict(self._descriptor))

    @property
    def descriptor_id(self) -> str:
        """Identity of the descriptor."""
        return str(self._descriptor["descriptor_id"])

    def load(self, **options: Any) -> PreparedHandle:
        """Load it: `grid_core.load_artifact` with its folder."""
        from grid_core.artifact.prepared_load import load_artifact  # noqa: PLC0415 - a circle

        return load_artifact(self.directory, **options)

    @classmethod
    def of(cls, prepared: Prepared, *, reused: bool) -> ConsumerArtifact:
        """Return what was read."""
        manifest = prepared.manifest
        return cls(
            directory=prepared.directory,
            identity=manifest.content_id,
            files=dict(manifest.files),
            operations=tuple(o.name for o in manifest.operations if o.chosen),
            targets={name: tuple(b.targets) for name, b in manifest.backends.items()},
            reused=reused,
            descriptor=prepared.descriptor,
        )
