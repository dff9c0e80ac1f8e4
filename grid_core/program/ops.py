"""The operations a program is made of."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BINARY", "COMMUTATIVE", "NUMPY", "TRIGONOMETRIC", "UNARY", "Op"]


class Op(enum.IntEnum):
    """Operation codes. Inputs and constants come first: they are no instructions."""

    INPUT = 0
    CONST = 1
    NEG = 2
    ADD = 3
    SUB = 4
    MUL = 5
    DIV = 6
    SQRT = 7
    SIN = 8
    COS = 9
    ABS = 10
    SIGN = 11
    MIN = 12
    MAX = 13
    ATAN2 = 14
    """Angle of the point (second, first) from the x axis, in [-π, π]."""


UNARY = frozenset({Op.NEG, Op.SQRT, Op.SIN, Op.COS, Op.ABS, Op.SIGN})
BINARY = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MIN, Op.MAX, Op.ATAN2})
COMMUTATIVE = frozenset({Op.ADD, Op.MUL, Op.MIN, Op.MAX})
TRIGONOMETRIC = frozenset({Op.SIN, Op.COS})

NUMPY: dict[Op, Callable[..., Any]] = {
    Op.NEG: np.negative,
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.MUL: np.multiply,
    Op.DIV: np.divide,
    Op.SQRT: np.sqrt,
    Op.SIN: np.sin,
    Op.COS: np.cos,
    Op.ABS: np.abs,
    Op.SIGN: np.sign,
    Op.MIN: np.minimum,
    Op.MAX: np.maximum,
    Op.ATAN2: np.arctan2,
}
"""How NumPy evaluates each operation; also folds constants at trace time."""
