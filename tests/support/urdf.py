"""Write URDF text, with every digit of every number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.model.types import Array

__all__ = ["joint", "link", "random_link", "robot"]

_LIMITED = ("revolute", "prismatic", "helical")


def robot(name: str, *elements: str) -> str:
    """Return a whole document."""
    return "\n".join([f'<robot name="{name}">', *elements, "</robot>\n"])


def link(
    name: str,
    mass: float = 0.0,
    com: Iterable[float] = (0.0, 0.0, 0.0),
    inertia: Array | None = None,
    rpy: Iterable[float] = (0.0, 0.0, 0.0),
) -> str:
    """Return a link; one of mass 0 and no inertia has no <inertial>."""
    if mass == 0.0 and inertia is None:
        return f'  <link name="{name}"/>'
    I = np.zeros((3, 3)) if inertia is None else inertia
    entries = " ".join(
        f'i{a}{b}="{float(I[i, j])!r}"'
        for (i, a) in enumerate("xyz")
        for (j, b) in enumerate("xyz")
        if i <= j
    )
    return (
        f'  <link name="{name}"><inertial><origin xyz="{_vector(com)}" rpy="{_vector(rpy)}"/>'
        f'<mass value="{float(mass)!r}"/><inertia {entries}/></inertial></link>'
    )


def random_link(name: str, rng: np.random.Generator) -> str:
    """Return a link with a random inertia that a real body could have."""
    A = rng.normal(size=(3, 3))
    mass = rng.uniform(0.2, 3.0)
    second_moment = mass * 0.02 * (A @ A.T + 0.1 * np.eye(3))
    inertia = np.trace(second_moment) * np.eye(3) - second_moment
    return link(name, mass, rng.normal(size=3) * 0.1, inertia, rng.uniform(-3.0, 3.0, 3))


def joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    *,
    xyz: Iterable[float] = (0.0, 0.0, 0.0),
    rpy: Iterable[float] = (0.0, 0.0, 0.0),
    axis: Iterable[float] | None = None,
    pitch: float | None = None,
    mimic: tuple[str, float, float] | None = None,
    dynamics: tuple[float, float] | None = None,
) -> str:
    """Return a joint; mimic is (leader, multiplier, offset), dynamics (damping, friction)."""
    parts = [
        f'<parent link="{parent}"/><child link="{child}"/>',
        f'<origin xyz="{_vector(xyz)}" rpy="{_vector(rpy)}"/>',
    ]
    if axis is not None:
        screw = "" if pitch is None else f' pitch="{float(pitch)!r}"'
        parts.append(f'<axis xyz="{_vector(axis)}"{screw}/>')
    if kind in _LIMITED:
        parts.append('<limit lower="-2" upper="2" velocity="5" effort="50"/>')
    if mimic is not None:
        parts.append(f'<mimic joint="{mimic[0]}" multiplier="{mimic[1]!r}" offset="{mimic[2]!r}"/>')
    if dynamics is not None:
        parts.append(f'<dynamics damping="{dynamics[0]!r}" friction="{dynamics[1]!r}"/>')
    return f'  <joint name="{name}" type="{kind}">{"".join(parts)}</joint>'


def _vector(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
