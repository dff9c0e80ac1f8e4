"""Configurations against Pinocchio's, and their own laws."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from grid_core.errors import InputError
from grid_core.model import (
    JointKind,
    difference,
    integrate,
    load_urdf_string,
    neutral_configuration,
    random_configuration,
)
from tests.model.texts import LIMIT, joint, link, robot

DOCUMENT = robot(
    *(link(name) for name in "abcdef"),
    joint("turn", "a", "b"),
    joint("slide", "b", "c", LIMIT, "prismatic"),
    joint("ball", "c", "d", "", "spherical"),
    joint("spin", "d", "e", "", "continuous"),
    joint("copy", "d", "f", LIMIT + '<mimic joint="turn" multiplier="2"/>'),
)
MODEL = load_urdf_string(DOCUMENT, floating_base=True)
EMPTY = load_urdf_string(robot(link("a")))
ANGLES = [0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.00999, 0.01001, 0.1, 1.0, 3.0, np.pi - 1e-3, np.pi - 1e-9]


def free_flyer():
    """Return Pinocchio's free joint, to hold q and v of ours against."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    return model


def twists(rng, count=40):
    """Return twists of every size of rotation, in random directions."""
    direction = rng.standard_normal((len(ANGLES) * count, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    angular = direction * np.repeat(ANGLES, count)[:, None]
    return np.hstack([rng.uniform(-2, 2, (len(angular), 3)), angular])


def test_floating_joint_follows_pinocchio():
    """D15: integration and difference on SE(3), from the smallest rotations to nearly π."""
    rng = np.random.default_rng(1)
    model = load_urdf_string(robot(link("a")), floating_base=True)
    theirs = free_flyer()
    v = twists(rng)
    q = random_configuration(model, rng, len(v))
    moved = integrate(model, q, v)
    for row in range(len(v)):
        expected = pin.integrate(theirs, q[row], v[row])
        sign = np.sign(expected[3:] @ moved[row, 3:])
        np.testing.assert_allclose(moved[row, :3], expected[:3], atol=1e-13)
        np.testing.assert_allclose(sign * moved[row, 3:], expected[3:], atol=1e-13)
        back = pin.difference(theirs, q[row], expected)
        np.testing.assert_allclose(difference(model, q[row], moved[row]), back, atol=1e-6)
    np.testing.assert_allclose(difference(model, q, moved), v, atol=1e-13)


def test_spherical_joint_follows_pinocchio():
    """D15: integration and difference on SO(3), local."""
    rng = np.random.default_rng(2)
    model = load_urdf_string(robot(link("a"), link("b"), joint("j", "a", "b", "", "spherical")))
    theirs = pin.Model()
    theirs.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "j")
    v = twists(rng)[:, 3:]
    q = random_configuration(model, rng, len(v))
    moved = integrate(model, q, v)
    for row in range(len(v)):
        expected = pin.integrate(theirs, q[row], v[row])
        sign = np.sign(expected @ moved[row])
        np.testing.assert_allclose(sign * moved[row], expected, atol=1e-13)
    np.testing.assert_allclose(difference(model, q, moved), v, atol=1e-13)


def test_difference_undoes_integrate():
    """For every kind of joint at once, batched and not; mimic joints own nothing."""
    rng = np.random.default_rng(3)
    q = random_configuration(MODEL, rng, 50)
    v = rng.uniform(-1, 1, (50, MODEL.nv))
    moved = integrate(MODEL, q, v)
    assert (moved.shape, MODEL.nq, MODEL.nv) == ((50, 14), 14, 12)
    np.testing.assert_allclose(difference(MODEL, q, moved), v, atol=1e-13)
    np.testing.assert_allclose(integrate(MODEL, q[7], v[7]), moved[7], atol=1e-15)
    np.testing.assert_allclose(difference(MODEL, q[7], moved[7]), v[7], atol=1e-13)
    other = random_configuration(MODEL, rng, 50)
    between = integrate(MODEL, q, difference(MODEL, q, other))
    for at in (slice(3, 7), slice(9, 13)):
        signs = np.sign(np.sum(between[:, at] * other[:, at], axis=1, keepdims=True))
        between[:, at] *= signs
    np.testing.assert_allclose(between, other, atol=1e-12)


@pytest.mark.parametrize("angle", [np.pi, np.pi + 1e-9, 4.0, 2 * np.pi, 100.0])
def test_half_turns_and_more(angle):
    """Past π the shortest way back is taken; at π either is right."""
    model = load_urdf_string(robot(link("a")), floating_base=True)
    q = neutral_configuration(model)
    v = np.array([0.3, -0.2, 0.1, 0, angle * 0.6, angle * 0.8])
    moved = integrate(model, q, v)
    short = difference(model, q, moved)
    assert np.linalg.norm(short[3:]) <= np.pi + 1e-12
    again = integrate(model, q, short)
    again[3:] *= np.sign(again[3:] @ moved[3:])
    np.testing.assert_allclose(again, moved, atol=1e-12)


def test_antipodal_quaternions_are_one_rotation():
    """q and -q are the same, so their difference is none."""
    rng = np.random.default_rng(4)
    q = random_configuration(MODEL, rng, 20)
    p = q.copy()
    p[:, 3:7] *= -1
    p[:, 9:13] *= -1
    np.testing.assert_allclose(difference(MODEL, q, p), np.zeros((20, MODEL.nv)), atol=1e-14)


def test_quaternions_are_normalised():
    """Whatever length they come in with; zero length is refused by name."""
    rng = np.random.default_rng(5)
    q = random_configuration(MODEL, rng, 5)
    long = q.copy()
    long[:, 3:7] *= 3
    long[:, 9:13] *= 0.1
    v = rng.uniform(-1, 1, (5, MODEL.nv))
    moved = integrate(MODEL, long, v)
    np.testing.assert_allclose(moved, integrate(MODEL, q, v), atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(moved[:, 3:7], axis=1), 1, atol=1e-15)
    long[2, 9:13] = 0
    with pytest.raises(InputError, match="'ball' has zero length"):
        integrate(MODEL, long, v)
    with pytest.raises(InputError, match="'ball' has zero length"):
        difference(MODEL, q, long)


def test_neutral():
    """Zeros and identities, but inside the limits."""
    model = load_urdf_string(
        robot(
            *(link(name) for name in "abcde"),
            joint("j1", "a", "b", '<limit lower="-2" upper="-1"/>'),
            joint("j2", "b", "c", '<limit lower="0.5" upper="1"/>', "prismatic"),
            joint("j3", "c", "d"),
            joint("j4", "d", "e", "", "spherical"),
        ),
        floating_base=True,
    )
    expected = [0, 0, 0, 0, 0, 0, 1, -1, 0.5, 0, 0, 0, 0, 1]
    np.testing.assert_array_equal(neutral_configuration(model), expected)


@pytest.mark.parametrize(
    ("kind", "limits", "low", "high"),
    [
        ("revolute", 'lower="-0.5" upper="2"', -0.5, 2),
        ("revolute", 'lower="1" upper="1"', 1, 1),
        ("revolute", "", -np.pi, np.pi),
        ("revolute", 'lower="1"', 1, 1 + np.pi),
        ("revolute", 'upper="-10"', -10 - np.pi, -10),
        ("continuous", 'lower="-0.5" upper="2"', -np.pi, np.pi),
        ("prismatic", "", -1, 1),
        ("prismatic", 'upper="0.4"', -1, 0.4),
        ("prismatic", 'lower="-1e308" upper="1e308"', -1e308, 1e308),
    ],
)
@pytest.mark.filterwarnings("ignore::grid_core.errors.ModelWarning")
def test_random_scalars(kind, limits, low, high):
    """Uniform in the limits, or in the interval that stands in for them."""
    inside = f'<axis xyz="0 0 1" pitch="1"/><limit {limits}/>'
    model = load_urdf_string(robot(link("a"), link("b"), joint("j", "a", "b", inside, kind)))
    q = random_configuration(model, np.random.default_rng(6), 4000)[:, 0]
    assert low <= q.min()
    assert q.max() <= high
    if low < high:
        share = (q / 2 - low / 2) / (high / 2 - low / 2)
        assert share.mean() == pytest.approx(0.5, abs=0.02)
        assert share.std() == pytest.approx(1 / np.sqrt(12), abs=0.02)
        assert share.min() < 0.005
        assert share.max() > 0.995


def test_random_quaternions_are_uniform():
    """Unit, and with the second moments of the uniform distribution: no direction preferred."""
    q = random_configuration(MODEL, np.random.default_rng(7), 20_000)
    for at in (slice(3, 7), slice(9, 13)):
        block = q[:, at]
        np.testing.assert_allclose(np.linalg.norm(block, axis=1), 1, atol=1e-14)
        np.testing.assert_allclose(block.T @ block / len(q), np.eye(4) / 4, atol=0.01)
        # E[x⁴] = 3/24 on the unit sphere of four dimensions; a normalised cube has another.
        np.testing.assert_allclose((block**4).mean(axis=0), 1 / 8, atol=0.005)
    assert np.abs(q[:, :3]).max() <= 1


def test_random_shapes():
    """A batch, one, none; the same seed draws the same."""
    rng = np.random.default_rng
    assert random_configuration(MODEL, rng(0), 3).shape == (3, 14)
    assert random_configuration(MODEL, rng(0), 0).shape == (0, 14)
    assert random_configuration(MODEL, rng(0)).shape == (14,)
    one, many = random_configuration(MODEL, rng(0)), random_configuration(MODEL, rng(0), 1)
    np.testing.assert_array_equal(one, many[0])
    with pytest.raises(InputError, match="at least 0; got -1"):
        random_configuration(MODEL, rng(0), -1)


def test_shapes():
    """One or many on either side; the wrong width, rank or batch is refused with both."""
    rng = np.random.default_rng(8)
    q, v = random_configuration(MODEL, rng, 4), rng.uniform(-1, 1, (4, 12))
    assert integrate(MODEL, q, v[0]).shape == (4, 14)
    assert integrate(MODEL, q[0], v).shape == (4, 14)
    assert integrate(MODEL, q[0], v[:0]).shape == (0, 14)
    assert integrate(MODEL, list(q[0]), list(v[0])).shape == (14,)
    assert difference(MODEL, q[0], q).shape == (4, 12)
    assert difference(MODEL, q[:0], q[:0]).shape == (0, 12)
    with pytest.raises(InputError, match=r"v must be \(B, nv=12\) or \(nv=12,\); got \(4, 14\)"):
        integrate(MODEL, q, q)
    with pytest.raises(InputError, match=r"q1 must be \(B, nq=14\)"):
        difference(MODEL, q, v)
    with pytest.raises(InputError, match=r"got \(1, 4, 14\)"):
        integrate(MODEL, q[None], v)
    with pytest.raises(InputError, match="the batches differ: 4 and 3"):
        integrate(MODEL, q, v[:3])


def test_no_coordinates():
    """A robot of one link has configurations too, of no width."""
    rng = np.random.default_rng(9)
    assert neutral_configuration(EMPTY).shape == (0,)
    assert random_configuration(EMPTY, rng, 5).shape == (5, 0)
    assert integrate(EMPTY, np.zeros((5, 0)), np.zeros((5, 0))).shape == (5, 0)
    assert difference(EMPTY, np.zeros(0), np.zeros(0)).shape == (0,)


def test_inputs_are_left_alone():
    """Results are new arrays."""
    q, v = neutral_configuration(MODEL), np.ones(MODEL.nv)
    before = q.copy()
    integrate(MODEL, q, v)[:] = 0
    np.testing.assert_array_equal(q, before)


def test_kinds_cover_the_enumeration():
    """Every kind has widths."""
    assert {kind: (kind.nq, kind.nv) for kind in JointKind if kind.nq != 1} == {
        JointKind.SPHERICAL: (4, 3),
        JointKind.FLOATING: (7, 6),
    }
