"""Uniform arrays: inputs that a whole batch shares, handed to kernels entry by entry.

A kernel takes each entry as a number among its arguments, where every problem reads it at no
cost: nothing is stored in device memory, and other numbers need no other kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Options, Port
    from grid_core.model.types import Array, RobotModel

__all__ = ["UniformArray"]


@frozen
class UniformArray:
    """A uniform port's numbers, row-major, for one robot; a single number is one as well."""

    port: Port
    dims: tuple[int, ...]
    names: tuple[str, ...]
    """What each number is called among a kernel's arguments."""

    @classmethod
    def of(cls, port: Port, model: RobotModel, options: Options) -> UniformArray:
        """Resolve a port for a robot."""
        dims = port.dims(model, options)
        places = np.ndindex(*dims)
        return cls(port, dims, tuple("_".join(map(str, (port.name, *at))) for at in places))

    def spread(self, operation: str, value: Any) -> dict[str, float]:
        """Return the numbers of an array by name.

        Raises:
            InputError: it has another shape, or is no array of numbers.
        """
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{operation}: {self.port.name} must hold numbers") from error
        if array.shape != self.dims:
            raise InputError(
                f"{operation}: {self.port.name} must be {self.dims}; got {array.shape}"
            )
        return dict(zip(self.names, array.ravel().tolist(), strict=True))

    def gather(self, inputs: Mapping[str, Any]) -> float | Array:
        """Return the number or array, from its entries by name or as it is given."""
        if self.port.name in inputs:
            value = inputs[self.port.name]
        else:
            value = [inputs.get(name, self.port.default) for name in self.names]
        array = np.asarray(value, dtype=np.float64).reshape(self.dims)
        return array if self.dims else float(array)
