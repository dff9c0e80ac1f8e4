"""What a backend is, and what it is asked to build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np

    from grid_core.algorithm import Algorithm, Options
    from grid_core.model.types import RobotModel
    from grid_core.operation_call import OperationCall

__all__ = ["Backend", "BuildSettings", "DeviceBackend", "DeviceEdge", "Kernel", "Operation"]


@frozen(kw_only=True)
class Operation:
    """One algorithm for one robot, one precision and one choice of optional inputs."""

    algorithm: Algorithm
    available: Mapping[str, Algorithm] = field(eq=False, repr=False)
    """Every algorithm by name, for those that it needs."""
    model: RobotModel = field(repr=False)
    options: Options
    dtype: np.dtype[Any]
    present: frozenset[str]
    """Names of the optional inputs that are given."""
    providers: Mapping[str, str] = field(factory=dict, eq=False, repr=False)
    """Distribution and version that provides each algorithm, by name."""


@frozen(kw_only=True)
class BuildSettings:
    """Where and how a backend builds."""

    cache_dir: Path | None
    """Folder of the build cache; None builds in memory only."""
    num_threads: int
    """Threads over the batch."""
    device: int | None = None
    """Number of the device, for backends that have several; None is their first."""


class Kernel(Protocol):
    """A compiled operation.

    Arrays are C-contiguous, of the operation's dtype, shape (batch, *port.shape); uniform
    inputs are Python floats. Absent optional inputs are absent from ``inputs``. Output arrays
    are written in full.
    """

    def __call__(self, batch: int, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Evaluate `batch` problems; safe to call from several threads."""
        ...


class Backend(Protocol):
    """A way to run operations."""

    @property
    def name(self) -> str:
        """What ``load_robot(backend=...)`` calls it."""
        ...

    @property
    def summary(self) -> str:
        """One line."""
        ...

    @property
    def priority(self) -> int:
        """``backend="auto"`` takes the available one of the highest; below 0: never."""
        ...

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Precisions it can run: ``float32``, ``float64``; the first is its preferred one."""
        ...

    def unavailable(self) -> str | None:
        """Say what is missing to run here and what to do about it; None when nothing is."""
        ...

    def build(self, operation: Operation, settings: BuildSettings) -> Kernel:
        """Compile the operation, or read it from the cache."""
        ...


class DeviceEdge(Protocol):
    """How a backend takes arrays that lie on its device."""

    def try_call(self, call: OperationCall, values: Sequence[Any], out: Any) -> Any:
        """Do a call whose arguments lie on a device, and return arrays of the caller's kind.

        Returns NotImplemented where they lie in host memory.
        """
        ...


class DeviceBackend(Backend, Protocol):
    """A backend with memory of its own. Its kernels may have ``close()``."""

    def edge(self, settings: BuildSettings) -> DeviceEdge:
        """Return how a handle takes arrays that lie on the device."""
        ...
