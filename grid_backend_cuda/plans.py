"""What a call's short way on a device works out once, beside what every backend's does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from grid_core.short_way import Plan, Planned, Sized

if TYPE_CHECKING:
    from grid_backend_cuda.launch import Launcher
    from grid_core.operation_call import OperationCall

__all__ = ["DevicePlanned", "Way"]


@frozen
class Way(Sized):
    """How a variant is launched, once its optional inputs are known."""

    launcher: Launcher
    blocks: int


class DevicePlanned(Planned[Way]):
    """One operation on one device, for arrays of the handle's dtype."""

    def __init__(self, call: OperationCall, device: int) -> None:
        super().__init__(call)
        self._device = device

    def _way(self, plan: Plan[Way], variant: int) -> Way:
        """Remember how a variant is launched; it is compiled at its first use."""
        kernel: Any = self._call.kernel(variant)
        launcher: Launcher = kernel.launcher
        sizes = self._sizes(plan, variant)
        way = plan.ways[variant] = Way(sizes, launcher, launcher.blocks(plan.batch))
        return way
