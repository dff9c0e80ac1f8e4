"""Seeded random robots: any number of joints, every kind, skew axes, any branching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.support import urdf

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ALL_KINDS", "SCALAR_KINDS", "random_urdf"]

SCALAR_KINDS = ("revolute", "continuous", "prismatic", "helical")
"""Joints of one coordinate."""
ALL_KINDS = (*SCALAR_KINDS, "spherical")
"""Joints that the model keeps as they are; `planar` and `floating` become several."""


def random_urdf(
    seed: int,
    joints: int,
    *,
    kinds: Sequence[str] = ALL_KINDS,
    branching: float = 0.3,
    mimic: float = 0.0,
    dynamics: bool = False,
) -> str:
    """Return the URDF of a random tree, the same for the same arguments.

    Args:
        seed: seed of everything random.
        joints: number of joints.
        kinds: URDF joint types to draw from.
        branching: chance that a joint hangs from any earlier body rather than the last.
        mimic: chance that a scalar joint follows an earlier one (or the one of a chain).
        dynamics: whether joints get damping and friction.
    """
    rng = np.random.default_rng(seed)
    elements = [urdf.random_link("l0", rng)]
    scalar: list[str] = []
    for i in range(1, joints + 1):
        kind = str(rng.choice(kinds))
        parent = int(rng.integers(0, i)) if rng.random() < branching else i - 1
        # A shuffled prefix makes the joints' names disagree with the document's order.
        name = f"{rng.choice(list('abcxyz'))}{i}"
        leader = None
        if kind in SCALAR_KINDS and scalar and rng.random() < mimic:
            leader = (str(rng.choice(scalar)), rng.uniform(-1.5, 1.5), rng.uniform(-0.5, 0.5))
        elements += [
            urdf.random_link(f"l{i}", rng),
            urdf.joint(
                name,
                kind,
                f"l{parent}",
                f"l{i}",
                xyz=rng.normal(size=3) * 0.3,
                rpy=rng.uniform(-3.0, 3.0, 3),
                axis=None if kind in {"spherical", "floating"} else _axis(rng),
                pitch=rng.uniform(-0.2, 0.2) if kind == "helical" else None,
                mimic=leader,
                dynamics=(rng.uniform(0.1, 1.0), rng.uniform(0.1, 1.0)) if dynamics else None,
            ),
        ]
        if kind in SCALAR_KINDS:
            scalar.append(name)
    return urdf.robot(f"random_{seed}", *elements)


def _axis(rng: np.random.Generator) -> np.ndarray:
    """Return a signed coordinate axis a third of the time, else any direction."""
    if rng.random() < 1.0 / 3.0:
        axis = np.zeros(3)
        axis[rng.integers(3)] = rng.choice([-1.0, 1.0])
        return axis
    return rng.normal(size=3)
