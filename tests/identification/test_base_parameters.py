"""Base parameters: how many, which, and that the torques know no more."""

from __future__ import annotations

import numpy as np
import pytest

import grid_core
from grid_core.identification import Identifiability, base_parameters
from tests.identification.simulated import TERMS, handle, random_states
from tests.support import urdf
from tests.support.random_trees import random_urdf

_ROBOTS = [
    ("iiwa14", False, TERMS),
    ("panda-panda", False, TERMS),
    ("axis_aligned", False, TERMS),
    ("skew_axes", False, ()),
    ("prismatic", False, TERMS),
    ("helical", False, ()),
    ("spherical", False, TERMS),
    ("branching", True, ()),
    ("inner_floating", False, TERMS),
    ("mimic_chain", False, TERMS),
    ("mimic_branches", True, TERMS),
    ("mimic_constant", False, TERMS),
    ("go2", True, TERMS),
]


def _stacked(robot, seed: int, batch: int):
    """Return fresh regressors, all rows under each other."""
    states = random_states(robot, np.random.default_rng(seed), batch)
    Y = robot.inverse_dynamics_regressor(*states)
    return Y.reshape(-1, Y.shape[-1])


@pytest.mark.parametrize(("name", "floating", "terms"), _ROBOTS)
def test_there_are_as_many_as_the_regressor_has_rank(name, floating, terms):
    """The rank by singular values of a tall Y in double precision, columns of one length."""
    robot = handle(name, floating_base=floating, terms=terms)
    base = base_parameters(robot)
    Y = _stacked(robot, 11, 2 * len(base.names) // robot.nv + 250)
    lengths = np.linalg.norm(Y, axis=0)
    Y = Y[:, lengths > 1e-11 * np.max(lengths)]
    values = np.linalg.svd(Y / np.linalg.norm(Y, axis=0), compute_uv=False)
    rank = int(np.count_nonzero(values > 1e-10 * values[0]))
    assert base.rank == rank
    assert base.largest_dropped < 1e-10 < 1e-3 < base.least_kept


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_have_the_rank_of_their_regressor(seed):
    """Every kind of joint, skew axes, branches and mimics, fixed and floating."""
    text = random_urdf(seed, 3 + seed, mimic=0.2)
    robot = grid_core.load_robot(
        text,
        dtype="float64",
        backend="reference",
        algorithm_list=["inverse_dynamics_regressor"],
        floating_base=bool(seed % 2),
        regressor_terms=TERMS,
    )
    base = base_parameters(robot)
    Y = _stacked(robot, 3, 2 * len(base.names) // robot.nv + 150)
    lengths = np.linalg.norm(Y, axis=0)
    Y = Y[:, lengths > 1e-11 * np.max(lengths)]
    values = np.linalg.svd(Y / np.linalg.norm(Y, axis=0), compute_uv=False)
    assert base.rank == np.count_nonzero(values > 1e-10 * values[0])


@pytest.mark.parametrize(("name", "floating", "terms"), _ROBOTS)
def test_torques_depend_on_them_only(name, floating, terms):
    """Y = Y_b G at states that were not looked at, and Y π = Y_b β."""
    robot = handle(name, floating_base=floating, terms=terms)
    base = base_parameters(robot)
    Y = _stacked(robot, 12, 20)
    made = Y[:, base.independent] @ base.combinations
    np.testing.assert_allclose(made, Y, atol=1e-10 * np.max(np.abs(Y)))
    pi = np.random.default_rng(0).normal(size=len(base.names))
    np.testing.assert_allclose(
        Y[:, base.independent] @ base.of(pi), Y @ pi, atol=1e-9 * np.max(np.abs(Y @ pi))
    )


def test_an_arm_of_seven_joints_has_43_and_a_floating_quadruped_94():
    """Known numbers: 7 a link less 6 (Gautier & Khalil 1990), and 10 for a base and 7 a link."""
    assert base_parameters(handle("iiwa14")).rank == 43
    assert base_parameters(handle("go2", floating_base=True)).rank == 10 + 7 * 12


def test_without_gravity_less_is_told():
    """A vertical first axis feels no mass then; neither do the others feel it pull."""
    robot = handle("iiwa14")
    assert base_parameters(robot, gravity=0.0).rank < base_parameters(robot).rank


def test_another_seed_and_more_states_tell_the_same():
    """The structure is the robot's own."""
    robot = handle("panda-panda", terms=TERMS)
    base, again = base_parameters(robot), base_parameters(robot, states=400, rng=5)
    assert base.independent == again.independent
    np.testing.assert_allclose(base.combinations, again.combinations, atol=1e-8)


@pytest.fixture(scope="module")
def planar(tmp_path_factory):
    """Two rods of half a metre that turn about y, as in every textbook."""
    rod = np.diag([0.02, 0.02, 0.001])
    text = urdf.robot(
        "planar",
        urdf.link("ground", 1.0, (0, 0, 0), rod),
        urdf.link("upper", 1.0, (0, 0, 0.25), rod),
        urdf.link("lower", 1.0, (0, 0, 0.25), rod),
        urdf.joint("shoulder", "continuous", "ground", "upper", axis=(0, 1, 0)),
        urdf.joint("elbow", "continuous", "upper", "lower", xyz=(0, 0, 0.5), axis=(0, 1, 0)),
    )
    return grid_core.load_robot(
        text,
        dtype="float64",
        backend="reference",
        algorithm_list=["inverse_dynamics_regressor"],
        regressor_terms=["rotor_inertia"],
    )


def test_groupings_are_the_textbooks(planar):
    """A planar arm of two links: the lower one's mass counts at the elbow, both rotors apart."""
    base = base_parameters(planar)
    assert list(base.groupings) == [
        "upper.mx",
        "upper.mz + 0.5·lower.m",
        "upper.Iyy + 0.25·lower.m + shoulder.rotor_inertia",
        "lower.mx",
        "lower.mz",
        "lower.Iyy",
        "elbow.rotor_inertia",
    ]


def test_each_parameter_is_told_alone_together_or_not_at_all(planar):
    """By name, for the planar arm."""
    base = base_parameters(planar)
    kinds = dict(zip(base.names, base.identifiability, strict=True))
    alone = {n for n, kind in kinds.items() if kind is Identifiability.ALONE}
    assert alone == {
        "upper.mx",
        "lower.mx",
        "lower.mz",
        "lower.Iyy",
        "elbow.rotor_inertia",
    }
    together = {n for n, kind in kinds.items() if kind is Identifiability.COMBINED}
    assert together == {"upper.mz", "upper.Iyy", "lower.m", "shoulder.rotor_inertia"}
    assert kinds["upper.m"] is Identifiability.NONE
    document = base.to_dict()
    assert document["rank"] == 7
    assert document["identifiability"][:2] == ["none", "alone"]


def test_a_right_angle_that_the_description_rounds_tells_nothing():
    """1.5708 is 4e-6 off: what the first joint feels of a tilted axis is no parameter to fit."""
    robot = handle("xarm-xarm7", terms=TERMS)
    base = base_parameters(robot)
    Y = _stacked(robot, 1, 200)
    lengths = np.linalg.norm(Y, axis=0)
    scaled = Y / np.where(lengths > 1e-11 * np.max(lengths), lengths, np.inf)
    values = np.linalg.svd(scaled, compute_uv=False)
    assert np.count_nonzero(values > 1e-10 * values[0]) == base.rank + 1
    assert 1e-7 < base.largest_dropped < 3e-5
    assert np.max(np.abs(base.combinations)) < 100.0
