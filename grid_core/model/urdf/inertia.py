"""Mass distributions: merged over the links of a body, and checked against physics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.types import Array, Inertia

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.urdf.elements import InertialElement, LinkElement
    from grid_core.model.urdf.report import Report

__all__ = ["MASSLESS", "merge", "warn_impossible"]

MASSLESS = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))

_TOLERANCE = 1e-4
"""Relative to the greatest moment: figures rounded to four digits are no mistake."""

_NOISE = 1e-15
"""Moments this small [kg m²] are zeros with rounding errors, as CAD exports write them."""


def merge(parts: Sequence[tuple[Array, InertialElement]]) -> Inertia:
    """Return the inertia of a body, from each link's T_body_link and inertial element.

    The parallel-axis rule, at the combined centre of mass. A rotational inertia without mass
    counts; a centre of mass without mass does not.
    """
    if not parts:
        return MASSLESS
    frames = [T @ part.placement for T, part in parts]
    coms = [T[:3, 3] for T in frames]
    masses = [part.mass for _, part in parts]
    mass, com = _centre(masses, coms)
    total = np.zeros((3, 3))
    for T, (_, part), c in zip(frames, parts, coms, strict=True):
        R, d = T[:3, :3], c - com
        total += R @ part.tensor @ R.T
        if part.mass > 0.0 and part.mass != mass:
            total += part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia(mass, com, (total + total.T) / 2.0)


def _centre(masses: list[float], coms: list[Array]) -> tuple[float, Array]:
    heavy = [(m, c) for m, c in zip(masses, coms, strict=True) if m > 0.0]
    if not heavy:
        return 0.0, np.zeros(3)
    if len(heavy) == 1:  # exactly, where a weighted mean would round
        return heavy[0]
    mass = sum(m for m, _ in heavy)
    weighted = [c * (m / mass) for m, c in heavy]
    return mass, np.sum(weighted, axis=0)


def warn_impossible(links: Sequence[LinkElement], report: Report) -> None:
    """Warn of every inertia that no distribution of mass has.

    Its least principal moment is negative, or the greatest exceeds the sum of the others.
    """
    held = [(link, link.inertial) for link in links if link.inertial is not None]
    if not held:
        return
    tensors = np.stack([inertial.tensor for _, inertial in held])
    largest = np.abs(tensors).max(axis=(1, 2))
    scale = np.where(largest > 0.0, largest, 1.0)
    moments = np.linalg.eigvalsh(tensors / scale[:, None, None])
    slack = _TOLERANCE * np.abs(moments).max(axis=1) + np.minimum(_NOISE / scale, 1.0)
    negative = moments[:, 0] < -slack
    triangle = moments[:, 2] > moments[:, 0] + moments[:, 1] + slack
    for index in np.flatnonzero(negative | triangle):
        link, inertial = held[index]
        principal = ", ".join(f"{value:.6g}" for value in moments[index] * scale[index])
        fault = (
            "not positive semidefinite"
            if negative[index]
            else "the greatest exceeds the others' sum"
        )
        report.warn(
            f"an inertia that no body has: principal moments {principal}, {fault}"
            f" (in link {link.name!r})",
            line=inertial.line,
            element="inertial",
            name=link.name,
        )
