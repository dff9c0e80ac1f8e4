"""What a handle tells about its robot."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from grid_core.errors import ArgumentError, InputError, OperationNotLoaded
from tests.plugins.builders import algorithm, load_arm

INF = np.inf


def test_numbers_and_names() -> None:
    robot = load_arm()
    assert (robot.nq, robot.nv, robot.nj, robot.nb) == (2, 2, 2, 2)
    assert (robot.num_joints, robot.num_vel, robot.num_bodies, robot.num_ees) == (2, 2, 2, 1)
    assert robot.joint_names == ("shoulder", "elbow")
    assert robot.ee_joint_names == ("elbow",)
    assert robot.body_names == ("upper", "lower")
    assert (robot.name, robot.backend, robot.floating_base) == ("arm", "fake", False)
    assert robot.dtype == np.float64
    assert robot.algorithms == ("product",)
    assert not robot.options.use_joint_dynamics


def test_num_joints_is_nq_also_where_nq_is_not_nv() -> None:
    robot = load_arm(floating_base=True)
    assert robot.floating_base
    assert (robot.num_joints, robot.num_vel, robot.nj) == (9, 8, 3)


def test_limits_are_infinite_where_there_is_no_bound() -> None:
    robot = load_arm()
    assert robot.joint_pos_limits.tolist() == [[-1.0, 2.0], [-INF, INF]]
    assert robot.joint_vel_limits.tolist() == [3.0, INF]
    assert robot.joint_effort_limits.tolist() == [40.0, INF]


def test_the_name_can_be_chosen() -> None:
    robot = load_arm(name="left")
    assert robot.name == robot.model.name == "left"


def test_repr_says_what_it_is() -> None:
    robot = load_arm(algorithm(), algorithm("other"))
    assert repr(robot) == (
        "<RobotHandle 'arm': nq=2, nv=2, 2 joints, fixed base, 1 end effectors; fake, float64; "
        "operations: other, product>"
    )
    assert "product(q, qd, f_ext=None, *, gravity=-9.81, out=None)" in repr(robot.product)


def test_dir_lists_operations_before_and_after_their_first_use() -> None:
    robot = load_arm(algorithm(), algorithm("other"))
    assert {"product", "other", "nq", "close"} <= set(dir(robot))
    assert robot.product is robot.product
    assert {"product", "other"} <= set(dir(robot))


def test_an_operation_that_was_not_loaded_says_how_to_load_it() -> None:
    robot = load_arm(algorithm(), algorithm("coriolis", default=False))
    with pytest.raises(OperationNotLoaded) as caught:
        robot.coriolis(1)
    text = str(caught.value)
    assert text.startswith("coriolis is not loaded into the handle of 'arm', which has product;")
    assert text.endswith("load the robot with algorithm_list=['product', 'coriolis']")


def test_all_stands_for_many_names_in_the_advice() -> None:
    names = ("product", "quotient")
    robot = load_arm(*map(algorithm, names), algorithm("coriolis", default=False))
    with pytest.raises(OperationNotLoaded, match=r"algorithm_list=\['all', 'coriolis'\]"):
        robot.coriolis(1)


def test_a_handle_is_not_pickled() -> None:
    robot = load_arm()
    with pytest.raises(ArgumentError, match="a handle cannot be pickled; load the robot in each"):
        pickle.dumps(robot)
    with pytest.raises(ArgumentError, match="product of a handle cannot be pickled"):
        pickle.dumps(robot.product)


def test_an_unknown_operation_is_answered_with_the_near_ones() -> None:
    robot = load_arm()
    with pytest.raises(OperationNotLoaded) as caught:
        robot.prodct()
    assert "no attribute or operation 'prodct' (did you mean 'product'?)" in str(caught.value)
    assert isinstance(caught.value, AttributeError)
    assert not hasattr(robot, "something_else")


def test_private_names_are_plain_attribute_errors() -> None:
    robot = load_arm()
    with pytest.raises(AttributeError) as caught:
        robot._repr_html_()
    assert type(caught.value) is AttributeError
    assert copy.copy(robot).nq == 2


def test_neutral_and_random_configurations_have_the_dtype() -> None:
    robot = load_arm(floating_base=True, dtype="float32")
    assert robot.neutral_configuration().tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert robot.random_configuration(1).shape == (9,)
    q = robot.random_configuration(np.random.default_rng(1), batch=5)
    assert q.shape == (5, 9)
    assert q.dtype == robot.neutral_configuration().dtype == np.float32
    assert np.array_equal(q, robot.random_configuration(1, batch=5))
    with pytest.raises(InputError, match="batch must be a count; got -1"):
        robot.random_configuration(batch=-1)


def test_difference_undoes_integrate() -> None:
    robot = load_arm(floating_base=True)
    q = robot.random_configuration(2, batch=4)
    v = 0.3 * np.random.default_rng(3).standard_normal((4, robot.nv))
    moved = robot.integrate(q, v)
    assert moved.shape == (4, 9)
    np.testing.assert_allclose(robot.difference(q, moved), v, atol=1e-12)
    np.testing.assert_allclose(robot.difference(q[0], moved[0]), v[0], atol=1e-12)
    assert robot.integrate(q[0], v).shape == (4, 9)


def test_configuration_arguments_are_checked_like_those_of_operations() -> None:
    robot = load_arm(floating_base=True)
    q = robot.random_configuration(2, batch=4)
    with pytest.raises(InputError) as caught:
        robot.integrate(q, q)
    assert str(caught.value) == (
        "integrate: v must be (B, nv=8); got (B, 9); velocity-like arrays are nv=8 wide, not nq=9"
    )
    with pytest.raises(InputError, match=r"^integrate: the quaternion of joint 'root_joint' has"):
        robot.integrate(np.zeros((4, 9)), np.zeros(8))
    with pytest.raises(InputError, match=r"^difference: the quaternion of joint 'root_joint' has"):
        robot.difference(q, np.zeros(9))


def test_one_configuration_goes_with_a_batch_and_the_other_way_round() -> None:
    robot = load_arm(floating_base=True)
    q, v = robot.random_configuration(2, batch=4), np.zeros(8)
    np.testing.assert_allclose(robot.integrate(q, v), q)
    assert robot.difference(q[0], q).shape == (4, 8)
    with pytest.raises(InputError, match="difference: the batches differ: B=4 and B=3"):
        robot.difference(q, q[:3])
