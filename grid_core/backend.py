"""What a backend is, and what it is asked to build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np

    from grid_core.algorithm import Algorithm, Options
    from grid_core.model.types import Array, RobotModel
    from grid_core.operation_call import OperationCall

__all__ = [
    "Backend",
    "BuildSettings",
    "DeviceBackend",
    "DeviceEdge",
    "HostBackend",
    "Kernel",
    "Operation",
    "PreparedCode",
    "PreparingBackend",
    "ShortCall",
    "SquaresKernel",
    "SummingBackend",
]


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


class SquaresKernel(Protocol):
    """A compiled operation of one output, whose squares are summed over the batch in float64.

    The output is cut into segments x; the sums are Σ x xᵀ of each, (width, width). The same batch
    gives the same bits. It may have ``close()``, and a device's has ``launch``.
    """

    def __call__(self, batch: int, inputs: Mapping[str, Any]) -> list[Array]:
        """Sum over arrays as a `Kernel` takes them."""
        ...

    def launch(self, batch: int, arguments: Sequence[int | float], stream: int) -> list[Array]:
        """Sum over device pointers, then uniform numbers, as `DeviceEdge.arguments` has them."""
        ...


class SummingBackend(Backend, Protocol):
    """A backend that sums squares where it computes them, so that nothing else is written."""

    def squares(
        self, operation: Operation, segments: Sequence[int], settings: BuildSettings
    ) -> SquaresKernel:
        """Compile the operation with its sums, or read it from the cache."""
        ...


ShortCall: TypeAlias = "Callable[[Sequence[Any], Sequence[Any], Any], Any]"
"""A short way of a call, for arrays of one type that are as they should be.

It takes the arrays, of which the last may be left out, the numbers, and ``out``; it returns what
the call returns, or NotImplemented where it must be looked at closely.
"""


class HostBackend(Backend, Protocol):
    """A backend that computes in host memory, with a short way for arrays that lie there."""

    def short(self, call: OperationCall) -> Mapping[type, ShortCall]:
        """Return short ways of a call, by the type of its first array."""
        ...


class DeviceEdge(Protocol):
    """How a backend takes arrays that lie on its device."""

    @property
    def short(self) -> Mapping[type, ShortCall]:
        """Short ways of a call, by the type of its first array; the edge adds to them."""
        ...

    def arguments(
        self, call: OperationCall, values: Sequence[Any]
    ) -> tuple[int | None, list[int | float], int] | None:
        """Return the batch, pointers and numbers, and the stream; None for host memory."""
        ...

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


@frozen(kw_only=True)
class PreparedCode:
    """One operation compiled for one target, as a prepared artifact keeps it."""

    target: str
    """What it runs on: ``x86-64-v3``, ``sm_90``."""
    suffix: str
    """Kind of its file: ``o``, ``cubin``, ``ptx``."""
    launch: Mapping[str, Any]
    """Plain JSON data: all that a call must know beside the code."""
    data: bytes = field(repr=False)


class PreparingBackend(Backend, Protocol):
    """A backend whose code can be built ahead, shipped, and loaded where no compiler is.

    A backend without these methods is left out of prepared artifacts.
    """

    @property
    def prepared_abi(self) -> int:
        """Version of what `PreparedCode` holds; code of another one is not loaded."""
        ...

    def prepared_targets(self, wanted: Sequence[str] | None) -> Mapping[str, Mapping[str, str]]:
        """Return, for each target, everything that its code depends on beside the operation.

        Args:
            wanted: names of targets; None: those that a machine of today has.

        Raises:
            OptionError: a target that cannot be compiled for here.
            BackendUnavailable: the compiler is missing; a device is not needed.
        """
        ...

    def prepare(
        self,
        operation: Operation,
        targets: Mapping[str, Mapping[str, str]],
        settings: BuildSettings,
    ) -> Sequence[PreparedCode]:
        """Compile an operation for each target, or read it from the cache.

        Several codes of a target differ in their suffix.
        """
        ...

    def prepared_target(
        self, targets: Mapping[str, Mapping[str, str]], settings: BuildSettings
    ) -> str:
        """Return the target to run here, of those that `prepared_targets` once returned.

        Raises:
            BackendUnavailable: this machine cannot run the backend at all.
            BackendError: none of the targets runs here; says which would.
        """
        ...

    def load_prepared(
        self,
        operation: Operation,
        codes: Sequence[PreparedCode],
        target: str,
        settings: BuildSettings,
    ) -> Kernel:
        """Make a kernel of what `prepare` returned, without a compiler.

        Args:
            operation: as it was prepared; its programs and references cannot be called.
            codes: the target's.
            target: what `prepared_target` returned.
            settings: threads and device; the cache is not used.
        """
        ...
