"""The configuration space of a handle: neutral, random, plus and minus, in its dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.algorithm import Options, Port
from grid_core.arrays import ArrayPort
from grid_core.errors import InputError
from grid_core.model.configuration import (
    difference,
    integrate,
    neutral_configuration,
    random_configuration,
)
from grid_core.program.convention import wxyz_to_xyzw, xyzw_to_wxyz
from grid_core.wording import brief

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from grid_core.model.types import Array, RobotModel

__all__ = ["Spaces"]

_FLOAT64 = np.dtype(np.float64)


@frozen
class Spaces:
    """Configurations and their differences, computed in float64."""

    model: RobotModel
    dtype: np.dtype[Any]
    """Precision of what is returned."""
    mujoco: bool = False
    """Whether configurations and tangents are in MuJoCo's convention."""

    def neutral(self) -> NDArray[Any]:
        """Return the configuration of zero motion, shape (nq,)."""
        return self._outward(neutral_configuration(self.model))

    def random(self, rng: np.random.Generator | int | None, batch: int | None) -> NDArray[Any]:
        """Return random configurations, shape (batch, nq) or (nq,)."""
        if batch is not None and (not isinstance(batch, int | np.integer) or batch < 0):
            raise InputError(f"random_configuration: batch must be a count; got {brief(batch)}")
        try:
            generator = np.random.default_rng(rng)
        except (TypeError, ValueError) as error:
            raise InputError(
                "random_configuration: rng must be a NumPy generator, a seed from 0 on, or None; "
                f"got {brief(rng)}"
            ) from error
        return self._outward(random_configuration(self.model, generator, batch))

    def integrate(self, q: ArrayLike, v: ArrayLike) -> NDArray[Any]:
        """Return q ⊕ v."""
        a, b = self._pair("integrate", ("q", "nq", q), ("v", "nv", v))
        a, free = self._inward(a), self._free()
        slide = np.zeros_like(b)
        slide[..., free] = b[..., free]
        moved = _named("integrate", integrate, self.model, a, b - slide)
        # MuJoCo moves a free body's position along a straight line while it turns.
        moved[..., free] += slide[..., free]
        return self._outward(moved)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> NDArray[Any]:
        """Return q1 ⊖ q0."""
        a, b = self._pair("difference", ("q0", "nq", q0), ("q1", "nq", q1))
        a, b, free = self._inward(a), self._inward(b), self._free()
        result = _named("difference", difference, self.model, a, b)
        result[..., free] = b[..., free] - a[..., free]
        return result.astype(self.dtype)

    def _free(self) -> slice:
        """Entries of a free base's position, in q and in v, where MuJoCo treats them apart."""
        return slice(0, 3) if self.mujoco and self.model.floating_base else slice(0, 0)

    def _inward(self, q: Array) -> Array:
        return wxyz_to_xyzw(self.model, q) if self.mujoco else q

    def _outward(self, q: Array) -> NDArray[Any]:
        ours = xyzw_to_wxyz(self.model, q) if self.mujoco else q
        return np.asarray(ours).astype(self.dtype)

    def _pair(self, operation: str, *given: tuple[str, str, ArrayLike]) -> list[Array]:
        """Return both arrays in float64, checked like those of any operation."""
        arrays, batches = [], []
        for name, dim, value in given:
            port = ArrayPort.of(Port(name=name, shape=(dim,), doc=name), self.model, Options())
            array, batch = port.take(operation, value, _FLOAT64)
            batches.append(batch)
            arrays.append(array if batch is not None else array[0])
        if None not in batches and batches[0] != batches[1]:
            raise InputError(f"{operation}: the batches differ: B={batches[0]} and B={batches[1]}")
        return arrays


def _named(operation: str, function: Callable[..., Array], *args: Any) -> Array:
    """Call a function of the model; its errors name the method that the caller called."""
    try:
        return function(*args)
    except InputError as error:
        raise InputError(f"{operation}: {error}") from error
