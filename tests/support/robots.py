"""The robots that tests run on: every URDF of example-robot-data, and hand-made ones."""

from __future__ import annotations

import functools
import importlib.metadata
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest
from attrs import frozen

from grid_core.errors import ModelWarning
from grid_core.model import load_urdf, load_urdf_string
from tests.support import urdf

if TYPE_CHECKING:
    from grid_core.model.types import RobotModel

__all__ = [
    "EXAMPLES",
    "HAND_MADE",
    "REFUSED",
    "Robot",
    "example",
    "example_params",
    "hand_made_params",
]


REFUSED = {
    "ur3": "an xacro file that never was expanded: it has no link",
    "alex_psyonic_hands": "its joints mimic ones that do not exist",
}
"""Files of example-robot-data that describe no robot, by stem."""


@frozen
class Robot:
    """A URDF, from a file or from text."""

    name: str
    path: Path | None = None
    text: str | None = None

    def load(self, *, floating_base: bool = False) -> RobotModel:
        """Return the model; a robot is read once a process."""
        return _load(self, floating_base)

    def source(self) -> str:
        """Return the document."""
        if self.text is not None:
            return self.text
        assert self.path is not None
        return self.path.read_text(encoding="utf-8")


@functools.cache
def _load(robot: Robot, floating_base: bool) -> RobotModel:
    with warnings.catch_warnings():
        # Real files have odd inertias; what is warned about is another test's business.
        warnings.simplefilter("ignore", ModelWarning)
        if robot.path is not None:
            return load_urdf(robot.path, floating_base=floating_base)
        assert robot.text is not None
        return load_urdf_string(robot.text, floating_base=floating_base)


def _examples() -> dict[str, Robot]:
    try:
        distribution = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        return {}
    root = Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    found = {}
    for path in sorted(root.rglob("*.urdf")):
        if path.stem not in REFUSED:
            name = f"{path.relative_to(root).parts[0].removesuffix('_description')}-{path.stem}"
            found[name] = Robot(name, path=path)
    return found


_Kind: TypeAlias = tuple[str, dict[str, Any]]
"""A URDF joint type, and what `urdf.joint` needs to know of it."""


def _chain(name: str, kinds: list[_Kind], parents: list[int]) -> Robot:
    """Return a robot of random links; joint i, named j<i>, hangs from link parents[i - 1]."""
    rng = np.random.default_rng(len(name))
    elements = [urdf.random_link("l0", rng)]
    for i, ((kind, extra), parent) in enumerate(zip(kinds, parents, strict=True), start=1):
        xyz, rpy = rng.normal(size=3) * 0.3, rng.uniform(-3.0, 3.0, 3)
        elements += [
            urdf.random_link(f"l{i}", rng),
            urdf.joint(f"j{i}", kind, f"l{parent}", f"l{i}", xyz=xyz, rpy=rpy, **extra),
        ]
    return Robot(name, text=urdf.robot(name, *elements))


_X, _Y, _Z, _SKEW = ({"axis": a} for a in ((1, 0, 0), (0, -1, 0), (0, 0, 1), (0.3, -0.4, 1.2)))
_SCREW = {**_SKEW, "pitch": 0.07}


def _hand_made() -> list[Robot]:
    turn, turn_x, slide = ("revolute", _SKEW), ("revolute", _X), ("prismatic", _SKEW)
    screw: _Kind = ("helical", _SCREW)
    spin, plane = ("continuous", _SKEW), ("planar", _Z)
    ball: _Kind = ("spherical", {})
    return [
        _chain("axis_aligned", [turn_x, ("continuous", _Y), ("prismatic", _Z)], [0, 1, 2]),
        _chain("skew_axes", [turn, spin, slide, turn], [0, 1, 2, 3]),
        _chain("prismatic", [("prismatic", _Y), slide, ("prismatic", _Z)], [0, 1, 2]),
        _chain("helical", [screw, turn, screw], [0, 1, 2]),
        _chain("spherical", [ball, turn, ball, slide], [0, 1, 2, 3]),
        _chain("branching", [turn, slide, turn, turn, turn_x, turn], [0, 1, 1, 2, 2, 0]),
        _chain("planar", [turn, plane, turn], [0, 1, 2]),
        _chain("inner_floating", [turn, ("floating", {}), turn], [0, 1, 2]),
        _chain("one_body", [], []),
        *_mimics(),
    ]


def _mimics() -> list[Robot]:
    turn, slide = ("revolute", _SKEW), ("prismatic", _SKEW)
    follow: _Kind = ("revolute", {**_Z, "mimic": ("j1", -2.0, 0.1)})
    follow_again = {"mimic": ("j2", 0.5, -0.2)}
    spin: _Kind = ("continuous", {**_SKEW, **follow_again})
    screw: _Kind = ("helical", {**_SCREW, **follow_again})
    rack: _Kind = ("prismatic", {**_Y, "mimic": ("j1", 0.05, 0.0)})
    stuck: _Kind = ("revolute", {**_SKEW, "mimic": ("j1", 2.0, 0.4)})
    lossy: _Kind = ("revolute", {**_SKEW, "dynamics": (0.7, 0.3)})
    drag: _Kind = ("prismatic", {**_X, "mimic": ("j1", -2.0, 0.1), "dynamics": (0.4, 0.2)})
    return [
        _chain("mimic_chain", [turn, follow, spin, rack, turn], [0, 1, 2, 3, 4]),
        _chain("mimic_branches", [slide, follow, screw, turn], [0, 0, 2, 1]),
        _chain("mimic_constant", [("fixed", {}), stuck, turn], [0, 1, 2]),
        _chain("dissipative", [lossy, drag], [0, 1]),
    ]


EXAMPLES: dict[str, Robot] = _examples()
"""Every robot of example-robot-data by name, such as ``panda-panda``."""
HAND_MADE: dict[str, Robot] = {robot.name: robot for robot in _hand_made()}
"""Small robots that each show one thing."""


def example(name: str) -> Robot:
    """Return a robot of example-robot-data; skip the test where that is not installed."""
    if not EXAMPLES:
        pytest.skip("example-robot-data is not installed")
    return EXAMPLES[name]


def example_params() -> list[object]:
    """Return every example robot for ``pytest.mark.parametrize``, with its name as the ID."""
    return [pytest.param(robot, id=name) for name, robot in EXAMPLES.items()]


def hand_made_params(*names: str) -> list[object]:
    """Return the named hand-made robots, or all, for ``pytest.mark.parametrize``."""
    return [pytest.param(HAND_MADE[name], id=name) for name in names or HAND_MADE]
