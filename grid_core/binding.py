"""What the operations of one handle share, and how one of them is built."""

from __future__ import annotations

import inspect
import traceback
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define, field

from grid_core.backend import Backend, BuildSettings, Kernel, Operation
from grid_core.errors import (
    BackendError,
    GridError,
    HandleClosed,
    OperationRefused,
    PluginError,
    TraceError,
)
from grid_core.evaluation import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from grid_core.algorithm import Algorithm, Options
    from grid_core.backend import SquaresKernel, SummingBackend
    from grid_core.model.types import RobotModel
    from grid_core.plugins import Selection

__all__ = ["Binding"]

T = TypeVar("T")
_MAKER = "grid_core.program.products"


@define
class Binding:
    """One robot on one backend, in one precision."""

    name: str
    """The robot's name, for messages."""
    model: RobotModel = field(repr=False)
    options: Options
    dtype: np.dtype[Any]
    backend: Backend
    settings: BuildSettings
    selection: Selection = field(repr=False)
    closed: bool = False

    def require_open(self, what: str) -> None:
        """Raise `HandleClosed` after the handle was closed; `what` was asked for."""
        if self.closed:
            raise HandleClosed(
                f"{what}: the handle of {self.name!r} is closed; load the robot again"
            )

    def require_possible(self, algorithm: Algorithm) -> None:
        """Raise `OperationRefused` when this robot cannot have the operation."""
        available = self.selection.available
        try:
            reason = refusal(algorithm, available, self.model, self.options)
        except GridError:
            raise
        except Exception as error:
            raise PluginError(
                f"{self._who(algorithm)}: asking whether {self.name!r} can have it failed: "
                f"{type(error).__name__}: {error}"
            ) from error
        if reason:
            raise OperationRefused(f"{algorithm.name}: {self.name!r} cannot have it: {reason}")

    def build(self, algorithm: Algorithm, present: frozenset[str]) -> Kernel:
        """Compile an operation for the optional inputs that are present.

        Raises:
            BackendError: the plugin's program or the backend failed; the cause is attached.
            TraceError: the program cannot be traced; with its author's line.
            GridError: what they say themselves.
        """
        return self._built(
            algorithm,
            lambda: self.backend.build(self._operation(algorithm, present), self.settings),
        )

    @property
    def sums_squares(self) -> bool:
        """Whether `build_squares` is there: the backend sums squares itself."""
        return hasattr(self.backend, "squares")

    def build_squares(self, algorithm: Algorithm, segments: Sequence[int]) -> SquaresKernel:
        """Compile an operation whose squares are summed, by a backend that can; as `build`."""
        operation = self._operation(algorithm, frozenset())
        backend = cast("SummingBackend", self.backend)
        return self._built(algorithm, lambda: backend.squares(operation, segments, self.settings))

    def _operation(self, algorithm: Algorithm, present: frozenset[str]) -> Operation:
        return Operation(
            algorithm=algorithm,
            available=self.selection.available,
            model=self.model,
            options=self.options,
            dtype=self.dtype,
            present=present,
            providers=self.selection.providers,
        )

    def _built(self, algorithm: Algorithm, build: Callable[[], T]) -> T:
        """Build, and say whose fault it is where that fails."""
        try:
            return build()
        except TraceError as error:
            raise TraceError(f"{self._who(algorithm)}: {error}{self._place(error)}") from error
        except GridError:
            raise
        except Exception as error:
            raise self.failure(algorithm, "could not be built", error) from error

    def failure(self, algorithm: Algorithm, what: str, error: Exception) -> BackendError:
        """Make the error for an exception that is not Grid's own."""
        return BackendError(
            f"{self._who(algorithm)} {what} for {self.name!r} on the backend "
            f"{self.backend.name!r}: {type(error).__name__}: {error}{self._place(error)}"
        )

    def _place(self, error: Exception) -> str:
        """Say which line of an algorithm's author raised an error, where one did."""
        functions = [f for a in self.selection.available.values() for f in (a.program, a.reference)]
        # Not the programs that `jvp_of` and its like make: their lines are no author's.
        functions = [f for f in functions if getattr(f, "__module__", "") != _MAKER]
        codes = [getattr(inspect.unwrap(f), "__code__", None) for f in functions if callable(f)]
        files = {code.co_filename for code in codes if code is not None}
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename in files]
        return f" (at {own[-1].filename}:{own[-1].lineno}, in {own[-1].name})" if own else ""

    def _who(self, algorithm: Algorithm) -> str:
        provider = self.selection.providers.get(algorithm.name, "an unknown distribution")
        return f"{algorithm.name} (from {provider})"
