"""The published layout: frozen values on fixed, floating and spherical robots."""

from __future__ import annotations

import pytest

from grid_core import load_robot
from grid_core.abi import input_block
from grid_core.assets import asset_path
from grid_core.errors import OptionError
from grid_core.model import load_urdf
from tests.descriptor.robots import FIXTURES, model, path

IIWA = {
    "NUM_POS": 7,
    "NUM_VEL": 7,
    "NUM_JOINTS": 7,
    "NUM_BODIES": 7,
    "NUM_EES": 1,
    "Q_QD_U_STRIDE": 21,
    "GRID_Q_OFFSET": 0,
    "GRID_QD_OFFSET": 7,
    "GRID_U_OFFSET": 14,
    "GRID_QDD_OFFSET": 14,
}
GO2 = {
    "NUM_POS": 19,
    "NUM_VEL": 18,
    "NUM_JOINTS": 19,
    "NUM_BODIES": 13,
    "NUM_EES": 4,
    "Q_QD_U_STRIDE": 57,
    "GRID_Q_OFFSET": 0,
    "GRID_QD_OFFSET": 19,
    "GRID_U_OFFSET": 38,
    "GRID_QDD_OFFSET": 38,
}
BALL = {
    "NUM_POS": 5,
    "NUM_VEL": 4,
    "NUM_JOINTS": 5,
    "NUM_BODIES": 2,
    "NUM_EES": 1,
    "Q_QD_U_STRIDE": 15,
    "GRID_Q_OFFSET": 0,
    "GRID_QD_OFFSET": 5,
    "GRID_U_OFFSET": 10,
    "GRID_QDD_OFFSET": 10,
}


def constants(robot) -> dict[str, int]:
    return {constant.name: constant.value for constant in input_block(robot).constants}


def test_fixed_arm() -> None:
    """A5, A17: iiwa14 is 0, 7, 14, 14 with stride 21; a change is announced."""
    found = constants(load_urdf(asset_path("iiwa14")))
    assert found == IIWA
    assert list(found) == list(IIWA)


def test_floating_quadruped() -> None:
    """A5, A17: go2 on its floating base; a change is announced."""
    assert constants(load_urdf(asset_path("go2"), floating_base=True)) == GO2


def test_spherical_joint() -> None:
    """A5, A17: a ball and a hinge; a change is announced."""
    assert constants(model("ball")) == BALL


@pytest.mark.parametrize("name", FIXTURES)
def test_three_slots_as_wide_as_q(name: str) -> None:
    """A2, A3, A4: stride 3 NUM_POS; NUM_JOINTS is NUM_POS; q, qd, u, and qdd where u is."""
    block = input_block(model(name))
    found = constants(model(name))
    assert found["Q_QD_U_STRIDE"] == block.stride == 3 * block.nq
    assert found["NUM_JOINTS"] == found["NUM_POS"] == block.nq
    assert [slot.name for slot in block.slots] == ["q", "qd", "u", "qdd"]
    offsets = [slot.offset for slot in block.slots]
    assert offsets == [0, block.nq, 2 * block.nq, 2 * block.nq]
    assert all(slot.width + slot.pads == block.nq for slot in block.slots)


@pytest.mark.parametrize(
    ("name", "difference"),
    [
        ("fixed_arm", 0),
        ("floating", 1),
        ("ball", 1),
        ("screw", 0),
        ("mimic_chain", 0),
        ("zero_dof", 0),
        ("decomposed", 1),
    ],
)
def test_each_quaternion_adds_one(name: str, difference: int) -> None:
    """A8: nq - nv is 0 for independent scalar joints, and 1 for each base or ball."""
    block = input_block(model(name))
    assert block.nq - block.nv == difference


def test_a_ball_on_a_floating_base_adds_two() -> None:
    """A8: one for the base, one for the ball."""
    block = input_block(model("ball", floating_base=True))
    assert block.nq - block.nv == 2
    assert [slot.pads for slot in block.slots] == [0, 2, 2, 2]


def test_floating_widths() -> None:
    """A9: q has 7 + n entries and qd 6 + n."""
    block = input_block(model("floating"))
    assert (block.nq, block.nv) == (7 + 2, 6 + 2)


def test_buffers_are_sized_from_the_constants() -> None:
    """A15: 3 * NUM_JOINTS * NUM_TIMESTEPS entries."""
    block = input_block(model("floating"))
    assert block.size(10) == 3 * constants(model("floating"))["NUM_JOINTS"] * 10
    assert block.size(0) == 0
    with pytest.raises(OptionError, match="at least 0"):
        block.size(-1)


def test_targets_can_be_counted_by_the_caller() -> None:
    assert input_block(model("floating")).nee == 2
    assert input_block(model("floating"), num_ees=1).nee == 1


def test_every_constant_says_what_it_is() -> None:
    """A5: the contract that stands beside the constants comes from the same table."""
    docs = {c.name: c.doc for c in input_block(model("floating")).constants}
    assert docs["GRID_QD_OFFSET"] == "qd: NUM_VEL entries, then 1 of zero"
    assert docs["GRID_QDD_OFFSET"].endswith("shares the slot of u")
    assert all(docs.values())


def test_the_contract_names_every_offset() -> None:
    """A5: the comment block of the header, from the same table."""
    block = input_block(model("floating"))
    text = "\n".join(block.contract)
    assert "block + GRID_U_OFFSET    u: NUM_VEL entries, then 1 of zero" in text
    assert all(slot.constant in text for slot in block.slots)
    assert all(len(line) <= 90 for line in block.contract)


@pytest.mark.parametrize("name", FIXTURES)
def test_the_handle_says_the_same(name: str) -> None:
    """A3: `num_joints` of a handle is NUM_JOINTS, and so on."""
    handle = load_robot(path(name), floating_base=FIXTURES[name], backend="reference")
    found = constants(handle.model)
    assert handle.num_joints == found["NUM_JOINTS"]
    assert handle.num_vel == found["NUM_VEL"]
    assert handle.num_bodies == found["NUM_BODIES"]
    assert handle.num_ees == found["NUM_EES"]
