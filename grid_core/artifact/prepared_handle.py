"""The handle of a robot that was loaded from an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.errors import OperationNotLoaded
from grid_core.handle import RobotHandle
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from grid_core.artifact.prepared_binding import PreparedBinding
    from grid_core.plugins import PluginManager

__all__ = ["PreparedHandle"]


class PreparedHandle(RobotHandle):
    """A robot whose operations were compiled ahead; see `RobotHandle`."""

    _binding: PreparedBinding

    def __init__(self, binding: PreparedBinding, plugins: PluginManager) -> None:
        super().__init__(binding, plugins)

    @property
    def target(self) -> str:
        """What it runs on of what was prepared: ``x86-64-v4``, ``sm_90``."""
        return self._binding.target

    @property
    def artifact_identity(self) -> str:
        """Content identity of the artifact, 64 hex digits."""
        return self._binding.prepared.manifest.content_id

    def _not_loaded(self, name: str) -> OperationNotLoaded:
        place, had = self._binding.prepared.directory, listing(self.algorithms)
        if name in self._plugins.algorithms.claims:
            wanted = [*self.algorithms, name]
            return OperationNotLoaded(
                f"{name} is not in the artifact {place}, which has {had}; build it again with "
                f"algorithm_list={wanted}"
            )
        public = [word for word in self.__dir__() if not word.startswith("_")]
        return OperationNotLoaded(
            f"the handle of {self.name!r} has no attribute or operation {name!r}"
            f"{near(name, public)}; the artifact {place} has {had}"
        )
