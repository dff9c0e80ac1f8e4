"""What the operations of one handle share, and how one of them is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from grid_core.backend import Backend, BuildSettings, Kernel, Operation
from grid_core.errors import BackendError, GridError, HandleClosed, OperationRefused, PluginError
from grid_core.evaluation import refusal

if TYPE_CHECKING:
    import numpy as np

    from grid_core.algorithm import Algorithm, Options
    from grid_core.model.types import RobotModel
    from grid_core.plugins import Selection

__all__ = ["Binding"]


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
            GridError: what they say themselves.
        """
        operation = Operation(
            algorithm=algorithm,
            available=self.selection.available,
            model=self.model,
            options=self.options,
            dtype=self.dtype,
            present=present,
            providers=self.selection.providers,
        )
        try:
            return self.backend.build(operation, self.settings)
        except GridError:
            raise
        except Exception as error:
            raise self.failure(algorithm, "could not be built", error) from error

    def failure(self, algorithm: Algorithm, what: str, error: Exception) -> BackendError:
        """Make the error for an exception that is not Grid's own."""
        return BackendError(
            f"{self._who(algorithm)} {what} for {self.name!r} on the backend "
            f"{self.backend.name!r}: {type(error).__name__}: {error}"
        )

    def _who(self, algorithm: Algorithm) -> str:
        provider = self.selection.providers.get(algorithm.name, "an unknown distribution")
        return f"{algorithm.name} (from {provider})"
