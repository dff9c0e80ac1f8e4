"""The descriptor of a loaded robot."""

from __future__ import annotations

import pytest

import grid_core
from grid_core.descriptor import validate
from grid_core.load_options import CONVENTIONS
from tests.descriptor.robots import FIXTURES, descriptor, path


@pytest.fixture
def handle() -> grid_core.RobotHandle:
    return grid_core.load_robot(path("floating"), floating_base=True, backend="reference")


def test_each_reading_is_a_copy(handle: grid_core.RobotHandle) -> None:
    """D5: what a caller does to one copy does not show in the next."""
    first = handle.model_descriptor
    first["joints"][1]["limits"]["upper"] = 99.0
    first["frames"].clear()
    assert handle.model_descriptor == descriptor("floating")


def test_a_closed_handle_still_says_what_it_was(handle: grid_core.RobotHandle) -> None:
    """D5: metadata needs no compiled code."""
    handle.close()
    validate(handle.model_descriptor)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_metadata_is_native_whatever_the_convention(convention: str) -> None:
    """D6: the output convention does not change it."""
    handle = grid_core.load_robot(
        path("floating"), floating_base=True, backend="reference", output_convention=convention
    )
    assert handle.model_descriptor == descriptor("floating")


@pytest.mark.parametrize("name", FIXTURES)
def test_num_joints_is_nq_and_names_are_by_id(name: str) -> None:
    """D13: the historical name counts entries of q; joint_names is indexed by joint ID."""
    handle = grid_core.load_robot(path(name), floating_base=FIXTURES[name], backend="reference")
    found = handle.model_descriptor
    assert handle.num_joints == handle.nq == found["nq"]
    assert handle.num_vel == found["nv"]
    assert handle.num_bodies == found["nb"]
    assert list(handle.joint_names) == [joint["name"] for joint in found["joints"]]
    assert list(handle.body_names) == [body["name"] for body in found["bodies"]]
