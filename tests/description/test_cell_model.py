"""The corrected model of a cell: placements, held joints, descriptor and handle."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core import describe_model, get_robot, load_robot, register_robot
from grid_core.artifact.identity import _feed
from grid_core.description import Calibration, RobotDescription, frame_poses, planning_numbers
from grid_core.descriptor import validate
from grid_core.errors import DescriptionError, OptionError
from grid_core.model import load_urdf
from grid_core.model.loading import read_urdf
from grid_core.model.spatial import compose, pose, rpy_matrix
from grid_core.model.urdf.adjust import Adjustments
from tests.description.calibrations import FULL, described, read, written
from tests.description.directories import BENCHES, FIXTURES, R1400, R1420, edit

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = """<robot name="g"><link name="world"/><link name="a"/><joint name="j" type="revolute">
<parent link="world"/><child link="a"/><origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


def joint(model: Any, name: str) -> Any:
    return next(j for j in model.joints if j.name == name)


def test_the_order_of_rotations() -> None:
    """R38: Rz(yaw)·Ry(pitch)·Rx(roll), by columns at quarter turns and against its factors."""
    quarter = np.pi / 2
    expected = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    np.testing.assert_allclose(rpy_matrix(quarter, quarter, quarter), expected, atol=1e-15)
    r, p, y = 0.3, -0.7, 1.1
    factors = rpy_matrix(0, 0, y) @ rpy_matrix(0, p, 0) @ rpy_matrix(r, 0, 0)
    np.testing.assert_allclose(rpy_matrix(r, p, y), factors, atol=1e-15)


def test_the_side_of_a_correction() -> None:
    """R39: T' = T_origin · Trans · R: the golden translation, which the wrong side misses."""
    offset = pose((0.01, 0, 0), rpy_matrix(0.02, 0, 0))
    model, _ = read_urdf(GOLDEN, "golden", adjustments=Adjustments(offsets={"j": offset}))
    T = model.joints[0].placement
    np.testing.assert_allclose(T[:3, 3], [0.1, 0.21, 0.3], rtol=0, atol=1e-16)
    turn = rpy_matrix(0, 0, np.pi / 2) @ rpy_matrix(0.02, 0, 0)
    np.testing.assert_allclose(T[:3, :3], turn, rtol=0, atol=1e-16)
    wrong = offset @ pose((0.1, 0.2, 0.3), rpy_matrix(0, 0, np.pi / 2))
    np.testing.assert_allclose(wrong[:3, 3], [0.11, 0.19396, 0.30394], atol=1e-5)


def test_corrections_come_before_fixed_joints_merge() -> None:
    """R39: a fixed joint's correction is in its frame and in all that hangs from it."""
    description, cell = described(), read(**FULL)
    plain, _ = description.robot_model()
    corrected, _ = description.robot_model(cell)
    change = FULL["kinematic_corrections"]["J3"]
    offset = pose(change["xyz_m"], rpy_matrix(*change["rpy_rad"]))
    expected = compose(joint(plain, "J3").placement, offset)
    np.testing.assert_array_equal(joint(corrected, "J3").placement, expected)
    frames = [{f.name: f for f in m.frames}["tool"].placement for m in (plain, corrected)]
    moved = frames[0] @ pose(FULL["kinematic_corrections"]["tool"]["xyz_m"])
    np.testing.assert_allclose(frames[1], moved, atol=1e-15)
    for one, other in zip(plain.joints, corrected.joints, strict=True):
        if one.name != "J3":
            np.testing.assert_array_equal(one.placement, other.placement)


def test_digits_survive() -> None:
    """R39: a correction of 1e-12 m is not lost, as it would be in text of eight decimals."""
    small = read(kinematic_corrections={"J3": {"xyz_m": [0, 0, 1e-12]}})
    model, _ = described().robot_model(small)
    assert joint(model, "J3").placement[2, 3] == 0.6 + 1e-12


def test_held_axes_are_constant_joints() -> None:
    """R42: J8 and J9 keep joint and body, own no coordinate, and stand where they are held."""
    descriptor = describe_model(FIXTURES / R1400)
    validate(descriptor)
    assert (descriptor["nj"], descriptor["nq"], descriptor["nv"]) == (9, 7, 7)
    rows = {j["name"]: j for j in descriptor["joints"]}
    for name in ("J8", "J9"):
        assert rows[name]["q_start"] is rows[name]["v_start"] is None
        assert rows[name]["mimic"] == {"leader": None, "multiplier": 0.0, "offset": 0.0}
    full = load_urdf(FIXTURES / R1400 / f"{R1400}.urdf")
    assert [j["name"] for j in descriptor["joints"]] == [j.name for j in full.joints]
    moved = describe_model(FIXTURES / R1400, calibration=read(held_joints={"J8": 0.1, "J3": -0.5}))
    rows = {j["name"]: j for j in moved["joints"]}
    assert (rows["J8"]["mimic"]["offset"], rows["J3"]["mimic"]["offset"]) == (0.1, -0.5)
    assert (moved["nj"], moved["nq"]) == (9, 6)


def test_a_held_axis_does_not_move() -> None:
    """R42: whatever q, tables B and the H-frame stay; they are where the full model puts them."""
    cell = read(held_joints={"J8": 0.3, "J9": -0.2})
    held, _ = described().robot_model(cell)
    full = load_urdf(FIXTURES / R1400 / f"{R1400}.urdf")
    config = described().planner_view.config
    q = np.random.default_rng(0).uniform(-1, 1, (5, 7))
    for link in ("h_frame", "positioner_table_b", "positioner_table_a_top", "tool0"):
        rows = {"J8": np.full(5, 0.3), "J9": np.full(5, -0.2)}
        rows |= {j.name: q[:, j.q_start] for j in held.joints if j.q_start is not None}
        all_q = np.stack([rows[j.name] for j in full.joints], axis=1)
        found = frame_poses(held, config, link, q)
        np.testing.assert_allclose(found, frame_poses(full, config, link, all_q), atol=1e-14)
        if link in {"h_frame", "positioner_table_b"}:
            np.testing.assert_allclose(found, np.broadcast_to(found[0], found.shape), atol=0)


def test_followers_of_a_held_joint_are_constants() -> None:
    """R26: what mimics a held joint stands still where the held value puts it."""
    text = GOLDEN.replace(
        "</robot>",
        '<link name="b"/><joint name="k" type="revolute"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/><limit lower="-9" upper="9" velocity="1" effort="1"/>'
        '<mimic joint="j" multiplier="2" offset="0.5"/></joint></robot>',
    )
    model, _ = read_urdf(text, "m", adjustments=Adjustments(held={"j": 0.25}))
    assert (model.nq, model.nj) == (0, 2)
    assert model.joints[1].mimic is not None
    assert (model.joints[1].mimic.leader, model.joints[1].mimic.offset) == (None, 1.0)


def test_limits_are_narrowed_in_model_and_descriptor() -> None:
    """R25: the descriptor has the cell's limits, and the URDF's where nothing narrows them."""
    rows = describe_model(FIXTURES / R1400, calibration=read(**FULL))["joints"]
    limits = {row["name"]: row["limits"] for row in rows}
    assert limits["J2"] == {"lower": -1.2, "upper": 1.9, "velocity": 1.1, "effort": 300.0}
    assert limits["J1"] == {"lower": -2.9, "upper": 2.9, "velocity": 3.2, "effort": 300.0}


def test_which_identity_an_edit_changes(r1400: Path) -> None:
    """R10, R30: an empty calibration and a sphere keep `descriptor_id`; what moves changes it."""
    plain = describe_model(r1400)["descriptor_id"]
    assert describe_model(r1400, calibration=Calibration.empty(R1400))["descriptor_id"] == plain
    before = RobotDescription.load(r1400).identity
    edit(r1400 / "spheres.json", "spheres", "link_1", 0, radius_m=0.2)
    assert RobotDescription.load(r1400).identity != before
    assert describe_model(r1400)["descriptor_id"] == plain
    for key in FULL:
        if key != "speed_ceiling_rad_s":
            cell = read(**{key: FULL[key]})
            assert describe_model(FIXTURES / R1400, calibration=cell)["descriptor_id"] != plain


def test_the_handle_knows_its_cell(tmp_path: Path) -> None:
    """R18: what a program's header records is on the handle, and changes no build."""
    path = written(tmp_path, **FULL)
    with load_robot(FIXTURES / R1400, backend="reference", calibration=path) as robot:
        assert robot.robot_cell is not None
        assert robot.robot_cell == described().robot_cell(Calibration.load(path, described()))
        assert robot.robot_cell.model_id == R1400
        assert robot.nq == 7
    with load_robot(FIXTURES / R1400 / f"{R1400}.urdf", backend="reference") as robot:
        assert robot.robot_cell is None


def test_two_binding_records_share_a_build() -> None:
    """R2: models that differ in whence only are equal, so a sphere's edit rebuilds nothing."""
    one, _ = described().robot_model()
    two, _ = described().robot_model(
        Calibration.read(
            json.dumps(
                {"model_id": R1400, "schema": "rosie.machine-planning-calibration.v1"}
            ).encode(),
            described(),
        )
    )
    assert one.robot_cell != two.robot_cell
    assert one == two
    digests = [hashlib.sha256(), hashlib.sha256()]
    for digest, model in zip(digests, (one, two), strict=True):
        _feed(digest, model)
    assert digests[0].digest() == digests[1].digest()


def test_a_registered_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2: a name keeps the paths of directory and calibration, and reads them anew."""
    monkeypatch.setenv("GRID_DATA_DIR", str(tmp_path / "data"))
    path = written(tmp_path, held_joints={"J7": 0.5})
    register_robot("cell", FIXTURES / R1400, calibration=path, backend="reference")
    with get_robot("cell") as robot:
        assert robot.nq == 6
        cell = Calibration.load(path, described())
        assert robot.robot_cell == described().robot_cell(cell)
    with pytest.raises(OptionError, match="given as a file"):
        register_robot("other", FIXTURES / R1400, calibration=cell)


def test_what_takes_no_calibration(tmp_path: Path) -> None:
    """R29: an option that would have no effect is an error."""
    path = written(tmp_path)
    for source in (FIXTURES / R1400 / f"{R1400}.urdf", described().robot_model()[0]):
        with pytest.raises(OptionError, match="calibration is for a robot-description directory"):
            describe_model(source, calibration=path)
    with pytest.raises(DescriptionError, match="model_id"):
        describe_model(FIXTURES / R1420, calibration=path)


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_is_not_planned_for(name: str) -> None:
    """R8: loading and planning refuse it, and say why."""
    for use in (load_robot, describe_model):
        with pytest.raises(DescriptionError, match="has no URDF"):
            use(FIXTURES / name)
    with pytest.raises(DescriptionError, match="has no URDF"):
        planning_numbers(RobotDescription.load(FIXTURES / name))


def test_after_the_configuration_nothing_opens_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """R17: one component opens the description; models, numbers and operations never do."""
    with load_robot(FIXTURES / R1400, backend="reference", ee_joint_names=["tool"]) as robot:
        config, numbers = described().planner_view.config, planning_numbers(described())
        robot.end_effector_pose(np.zeros(7))

        def refuse(*arguments: Any, **_: Any) -> Any:
            pytest.fail(f"opened {arguments[0]}")

        for name in ("builtins.open", "os.open", "io.open"):
            monkeypatch.setattr(name, refuse)
        q = np.array([plan.reset for plan in numbers.driven])
        assert robot.end_effector_pose(q).shape == (6,)
        assert frame_poses(robot.model, config, "tool0", q[None]).shape == (1, 4, 4)
        assert robot.model_descriptor["nq"] == 7
        monkeypatch.undo()
