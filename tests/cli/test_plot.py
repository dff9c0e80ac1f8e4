"""``grid plot``."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.cli.plot import draw
from tests.support.robots import HAND_MADE

pytest.importorskip("matplotlib")


def test_a_picture_of_an_arm(grid, tmp_path) -> None:
    path = tmp_path / "arm.svg"
    assert "written to" in grid("plot", "iiwa14", "-o", path).stdout
    assert path.read_text(encoding="utf-8").count("<path") > 50


def test_the_configuration_moves_it(grid, tmp_path) -> None:
    pictures = []
    for q in ("0,0,0,0,0,0,0", "0.5, 1, 0, -1, 0, 1, 0"):
        path = tmp_path / "arm.png"
        grid("plot", "iiwa14", "--q", q, "-o", path)
        pictures.append(path.read_bytes())
    assert pictures[0] != pictures[1]


@pytest.mark.parametrize("name", HAND_MADE)
def test_every_kind_of_joint(name, tmp_path) -> None:
    model = HAND_MADE[name].load(floating_base=name == "spherical")
    q = np.zeros(model.nq)
    for joint in model.joints:
        if joint.q_start is not None and joint.nq >= 4:
            q[joint.q_start + joint.nq - 1] = 1.0
    draw(model, q, tmp_path / "robot.svg")
    assert (tmp_path / "robot.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--q", "1,2"), "--q must be nq=7 finite numbers"),
        (("--q", "1,x"), "--q must be numbers with commas between"),
        (("--q", "1,2,3,4,5,6,nan"), "finite"),
        (("-o", "robot.bmp"), "ends in .svg, .png or .pdf"),
    ],
)
def test_what_cannot_be_drawn(fails, tmp_path, arguments, message) -> None:
    output = () if "-o" in arguments else ("-o", tmp_path / "robot.svg")
    assert message in str(fails("plot", "iiwa14", *arguments, *output))


def test_run_gives_poses(grid) -> None:
    quick = ("iiwa14", "--batch", 3, "--backend", "reference")
    assert "out pose     (3, 6)" in grid("run", "end_effector_pose", *quick).stdout
    text = grid("run", "end_effector_pose_runtime", *quick).stdout
    assert "in  placement (1, 3, 4)" in text
    assert "out pose     (3, 1, 6)" in text
