"""Offsets of run-time targets: points, homogeneous points and transforms, brought to one form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import InputError

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["offset_transforms"]

_BOTTOM = (0.0, 0.0, 0.0, 1.0)
_ROUNDING = 1e-4
"""How far from a rotation the float32 numbers of one may be."""


def offset_transforms(operation: str, offsets: Any, count: int) -> Array:
    """Return T_target_offset of each target, shape (count, 4, 4).

    Args:
        operation: who asks, for messages.
        offsets: None for the origin; a point [x, y, z] [m], a homogeneous point [x, y, z, 1] or
            a 4×4 transform; or a list of them, one for all targets or one for each. A single
            4×4 array is one transform.
        count: number of targets.

    Raises:
        InputError: it is none of these.
    """
    if offsets is None:
        return np.tile(np.eye(4), (count, 1, 1))
    entries = _entries(operation, offsets)
    if len(entries) not in {1, count}:
        raise InputError(
            f"{operation}: ee_offsets must be one for all or one for each of the {count} targets; "
            f"got {len(entries)}"
        )
    transforms = np.stack([_transform(operation, entry) for entry in entries])
    return np.broadcast_to(transforms, (count, 4, 4)) if len(entries) == 1 else transforms


def _entries(operation: str, offsets: Any) -> list[Any]:
    if isinstance(offsets, str | bytes) or not np.iterable(offsets):
        raise InputError(f"{operation}: ee_offsets must be points or transforms; got {offsets!r}")
    try:
        whole = np.asarray(offsets, dtype=np.float64)
    except (TypeError, ValueError):
        return list(offsets)  # points and transforms side by side
    single = whole.ndim == 1 or (whole.shape == (4, 4) and tuple(whole[3]) == _BOTTOM)
    return [whole] if single else list(whole)


def _transform(operation: str, entry: Any) -> Array:
    try:
        value = np.asarray(entry, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{operation}: ee_offsets: {entry!r} is no array of numbers") from error
    if not np.isfinite(value).all():
        raise InputError(f"{operation}: ee_offsets: {value.tolist()} is not finite")
    if value.shape == (4, 4):
        return _checked(operation, value)
    if value.shape not in {(3,), (4,)}:
        raise InputError(
            f"{operation}: each of ee_offsets is [x, y, z], [x, y, z, 1] or 4×4; "
            f"got the shape {value.shape}"
        )
    if value.shape == (4,) and value[3] != 1.0:
        raise InputError(
            f"{operation}: ee_offsets: a homogeneous point ends in 1; got {value.tolist()}"
        )
    T = np.eye(4)
    T[:3, 3] = value[:3]
    return T


def _checked(operation: str, T: Array) -> Array:
    R = T[:3, :3]
    turn = np.abs(R @ R.T - np.eye(3)).max() <= _ROUNDING and np.linalg.det(R) > 0.0
    if tuple(T[3]) != _BOTTOM or not turn:
        raise InputError(
            f"{operation}: ee_offsets: a transform is a rotation, a translation and the row "
            f"0 0 0 1; got {T.tolist()}"
        )
    return T
