"""Where an array's numbers lie.

NumPy's own way to ask, ``__array_interface__``, makes a dictionary of everything at each reading: a
microsecond an array, a third of a short call. The address is also the first field of the array
object, where compiled extensions read it (``PyArray_DATA``, part of NumPy's binary interface).
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["address_of"]


def _asked(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _choose() -> Callable[[Any], int]:
    """Return the quick way where it gives what NumPy says, else NumPy's."""
    if sys.implementation.name != "cpython":
        return _asked
    field, head = ctypes.c_void_p.from_address, object.__basicsize__

    def read(array: Any) -> int:
        return field(id(array) + head).value or 0

    probe = np.zeros((3, 5))
    right = all(read(a) == _asked(a) for a in (probe, probe[1:], probe.T, np.empty(0)))
    return read if right else _asked


address_of = _choose()
"""Return the address of an array's first entry, of a NumPy array."""
