"""Ports that most algorithms share, so that one input means one thing in all of them."""

from __future__ import annotations

from grid_core.algorithm import Port

__all__ = ["CONFIGURATION", "CONSTANTS", "EXTERNAL_FORCES", "GRAVITY", "VELOCITY"]

CONSTANTS = ("inertias", "placements")
"""What the dynamics take as inputs where it may vary (`Algorithm.constants`)."""

CONFIGURATION = Port(name="q", shape=("nq",), unit="rad, m", doc="configuration")

VELOCITY = Port(
    name="qd",
    shape=("nv",),
    unit="rad/s, m/s",
    frame="floating and spherical joints: the body's own",
    doc="velocity",
    role="velocity",
)

GRAVITY = Port(
    name="gravity",
    shape=(),
    unit="m/s²",
    frame="world z",
    doc="gravitational acceleration along the world's z axis",
    uniform=True,
    default=-9.81,
)

EXTERNAL_FORCES = Port(
    name="f_ext",
    shape=("nb", 6),
    unit="N, N m",
    frame="each body's joint frame",
    doc="external force on each body, [linear; angular]",
    optional=True,
    on_demand=True,
)
