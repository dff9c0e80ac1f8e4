"""Write the counts and excerpts of ``how-it-works.md``: programs of the bundled robots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grid_core.algorithm import Options
from grid_core.assets import asset_path
from grid_core.backend import Operation
from grid_core.loading import list_algorithms
from grid_core.model import load_urdf, load_urdf_string
from grid_core.plugins import plugin_manager
from grid_core.program import trace
from grid_core.targets import find_targets

if TYPE_CHECKING:
    from grid_core.model import RobotModel
    from grid_core.program import Program

__all__ = ["PENDULUM", "main"]

PENDULUM = """\
<robot name="pendulum">
  <link name="base"/>
  <link name="bob">
    <inertial>
      <origin xyz="0 0 -0.5"/>
      <mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <joint name="swing" type="continuous">
    <parent link="base"/>
    <child link="bob"/>
    <axis xyz="0 1 0"/>
  </joint>
</robot>
"""

ROBOTS = (("iiwa14", False), ("go2", True))


def main(folder: Path) -> None:
    """Write the table and the listings into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "counts.md").write_text("\n".join(_table()) + "\n", encoding="utf-8")
    (folder / "pendulum.urdf").write_text(PENDULUM, encoding="utf-8")
    model = load_urdf_string(PENDULUM)
    listing = _program(model, "forward_dynamics").format()
    (folder / "pendulum.txt").write_text(listing + "\n", encoding="utf-8")
    arm = _program(load_urdf(asset_path("iiwa14")), "inverse_dynamics").format().splitlines()
    excerpt = "\n".join([*arm[:18], "...", *arm[-11:], ""])
    (folder / "arm.txt").write_text(excerpt, encoding="utf-8")


def _table() -> list[str]:
    lines = [
        "| Robot | Operation | Instructions | with FMA | Live values | sin and cos | Divisions |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    names = [info.name for info in list_algorithms() if info.distribution == "grid-robotics"]
    for robot, floating in ROBOTS:
        model = load_urdf(asset_path(robot), floating_base=floating)
        for name in names:
            c = _program(model, name).counts
            lines.append(
                f"| {robot} | `{name}` | {c.operations} | {c.fused} | {c.live} "
                f"| {c.trigonometric} | {c.divisions} |"
            )
    return lines


def _program(model: RobotModel, name: str) -> Program:
    """Trace with every optional input that is compiled at load."""
    selection = plugin_manager().select(name)
    algorithm = selection.available[name]
    given = [port.name for port in algorithm.inputs if port.optional and not port.on_demand]
    return trace(
        Operation(
            algorithm=algorithm,
            available=selection.available,
            model=model,
            options=Options(targets=find_targets(model, None)),
            dtype=np.dtype("float64"),
            present=frozenset(given),
        )
    )


if __name__ == "__main__":
    main(Path(__file__).parent / "_generated")
