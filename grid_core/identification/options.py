"""What an option can be, whoever asks."""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np

__all__ = ["is_count", "is_finite"]


def is_finite(value: object) -> TypeGuard[float]:
    """Say whether an option is one real number, neither NaN nor infinite."""
    if isinstance(value, bool) or not isinstance(value, float | int | np.floating | np.integer):
        return False
    return bool(-math.inf < value < math.inf)


def is_count(value: object, least: int) -> TypeGuard[int]:
    """Say whether an option is an integer, and at least so much."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(value >= least)
