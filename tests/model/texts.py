"""Small robots as text, to break one thing at a time."""

from __future__ import annotations

from pathlib import Path

from grid_core.model import RobotModel, load_urdf_string

INERTIA = '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>'
INERTIAL = f'<inertial><origin xyz="0.1 0 0"/><mass value="1"/>{INERTIA}</inertial>'
LIMIT = '<limit lower="-3" upper="3" effort="10" velocity="2"/>'
BASE = '<link name="base"/>'
ARM = f'<link name="arm">{INERTIAL}</link>'

CASES = Path(__file__).parent.parent / "cases"


def robot(*elements: str, name: str = "r") -> str:
    """Return a document, each element on a line of its own from line 2 on."""
    return "\n".join([f'<robot name="{name}">', *elements, "</robot>"])


def link(name: str, inside: str = INERTIAL) -> str:
    """Return a link of 1 kg."""
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, inside: str = LIMIT, kind: str = "revolute") -> str:
    """Return a joint."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def one_joint(inside: str = LIMIT, kind: str = "revolute") -> str:
    """Return a robot whose joint, on line 4, is ``j1`` from ``base`` to ``arm``."""
    return robot(BASE, ARM, joint("j1", "base", "arm", inside, kind))


def load_one(inside: str = LIMIT, kind: str = "revolute") -> RobotModel:
    """Load `one_joint`."""
    return load_urdf_string(one_joint(inside, kind))
