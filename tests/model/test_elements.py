"""Links and joints on their own: each policy with its message."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grid_core.errors import ModelError, ModelWarning
from grid_core.model import JointKind, Limits, load_urdf_string
from tests.model.texts import (
    ARM,
    BASE,
    INERTIA,
    LIMIT,
    joint,
    link,
    load_one,
    one_joint,
    robot,
)


@pytest.mark.parametrize("bad", ["nan", "1e999", "1_0", "\uff11", "0,5", "", "1 2"])
@pytest.mark.parametrize(
    ("inside", "attribute"),
    [
        ('<limit lower="@" upper="1"/>', "lower"),
        ('<limit lower="0" upper="@"/>', "upper"),
        ('<limit lower="0" upper="1" effort="@"/>', "effort"),
        ('<limit lower="0" upper="1" velocity="@"/>', "velocity"),
        (LIMIT + '<dynamics damping="@"/>', "damping"),
        (LIMIT + '<dynamics friction="@"/>', "friction"),
        (LIMIT + '<origin xyz="0 @ 0"/>', "xyz"),
        (LIMIT + '<origin rpy="@ 0 0"/>', "rpy"),
        (LIMIT + '<axis xyz="0 0 @"/>', "xyz"),
    ],
)
def test_bad_numbers_in_joints(inside, attribute, bad):
    """A bad number is refused with joint, attribute and line."""
    if attribute in {"xyz", "rpy"} and not bad:
        bad = "1 1"
    with pytest.raises(ModelError) as caught:
        load_one(inside.replace("@", bad))
    error = caught.value
    assert (error.name, error.attribute, error.line) == ("j1", attribute, 4)
    assert "j1" in str(error)
    assert attribute in str(error)


@pytest.mark.parametrize(
    ("inside", "attribute"),
    [
        (f'<inertial><mass value="nan"/>{INERTIA}</inertial>', "value"),
        (f"<inertial><mass/>{INERTIA}</inertial>", "value"),
        (f'<inertial><mass value="-1"/>{INERTIA}</inertial>', "value"),
        (f'<inertial><origin xyz="0 0"/><mass value="1"/>{INERTIA}</inertial>', "xyz"),
        (f'<inertial><mass value="1"/>{INERTIA.replace("ixy", "ixx2")}</inertial>', "ixy"),
        (f'<inertial><mass value="1"/>{INERTIA.replace("0.02", "inf")}</inertial>', "ixx"),
    ],
)
def test_bad_numbers_in_links(inside, attribute):
    """A bad inertial is refused with link, attribute and line."""
    with pytest.raises(ModelError) as caught:
        load_urdf_string(robot(BASE, link("arm", inside)))
    error = caught.value
    assert (error.name, error.attribute, error.line) == ("arm", attribute, 3)


def test_negative_mass_says_so():
    """A negative mass is named as such."""
    inside = f'<inertial><mass value="-0.5"/>{INERTIA}</inertial>'
    with pytest.raises(ModelError, match=r"'arm'.*negative mass, -0.5 kg"):
        load_urdf_string(robot(link("arm", inside)))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<inertial><mass value="1"/></inertial>', "<inertia> is missing"),
        (f"<inertial>{INERTIA}</inertial>", "<mass> is missing"),
        ("<inertial/>", "<mass> is missing"),
    ],
)
def test_incomplete_inertials(inside, message):
    """Half an inertial is a mistake; none at all is a massless link."""
    with pytest.raises(ModelError, match=f"'arm'.*{message}"):
        load_urdf_string(robot(link("arm", inside)))


def test_missing_everything():
    """No axis is x, no origin is identity, no inertial is none."""
    model = load_urdf_string(robot(BASE, '<link name="arm"/>', joint("j1", "base", "arm")))
    np.testing.assert_array_equal(model.joints[0].axis, [1, 0, 0])
    np.testing.assert_array_equal(model.joints[0].placement, np.eye(4))
    inertia = model.bodies[0].inertia
    assert inertia.mass == 0.0
    assert not inertia.com.any()
    assert not inertia.rotational.any()


def test_inertia_without_mass_stays():
    """A rotational inertia counts without a mass, as of a rotor."""
    inside = f'<inertial><origin xyz="1 0 0"/><mass value="0"/>{INERTIA}</inertial>'
    model = load_urdf_string(robot(BASE, link("arm", inside), joint("j1", "base", "arm")))
    np.testing.assert_allclose(model.bodies[0].inertia.rotational, 0.02 * np.eye(3))
    assert not model.bodies[0].inertia.com.any()


def test_roll_pitch_yaw():
    """A placement is Rz(yaw)·Ry(pitch)·Rx(roll) behind the translation."""
    model = load_one(LIMIT + '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>')
    (sr, sp, sy), (cr, cp, cy) = np.sin([0.1, 0.2, 0.3]), np.cos([0.1, 0.2, 0.3])
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    placement = model.joints[0].placement
    np.testing.assert_allclose(placement[:3, :3], Rz @ Ry @ Rx, atol=1e-15)
    np.testing.assert_array_equal(placement[:3, 3], [1, 2, 3])


def test_quaternion_origin():
    """URDF 1.1's quat_xyzw is the same rotation, normalised; both at once are refused."""
    half = 0.15
    text = f'<origin quat_xyzw="0 0 {2 * math.sin(half)!r} {2 * math.cos(half)!r}"/>'
    rpy = load_one(LIMIT + '<origin rpy="0 0 0.3"/>').joints[0].placement
    np.testing.assert_allclose(load_one(LIMIT + text).joints[0].placement, rpy, atol=1e-15)
    with pytest.raises(ModelError, match="both rpy and quat_xyzw"):
        load_one(LIMIT + '<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>')
    with pytest.raises(ModelError, match="no rotation"):
        load_one(LIMIT + '<origin quat_xyzw="0 0 0 0"/>')


@pytest.mark.parametrize(
    ("xyz", "axis"),
    [
        ("0 0 2", (0, 0, 1)),
        ("0 -1e-3 0", (0, -1, 0)),
        ("0.3 0.4 1.2", (0.3 / 1.3, 0.4 / 1.3, 1.2 / 1.3)),
        ("1e300 1e300 0", (math.sqrt(0.5), math.sqrt(0.5), 0)),
    ],
)
def test_axes_are_normalised(xyz, axis):
    """An axis of any length is made a unit one, its sign kept."""
    model = load_one(f'{LIMIT}<axis xyz="{xyz}"/>')
    np.testing.assert_allclose(model.joints[0].axis, axis, rtol=1e-15)


@pytest.mark.parametrize("size", ["1e-200", "5e-324", "1e-13"])
def test_a_tiny_axis_is_no_zero_one(size):
    """It is made a unit one, with a warning: it may be noise around zero."""
    document = one_joint(f'{LIMIT}<axis xyz="{size} 0 {size}"/>')
    with pytest.warns(ModelWarning, match=r"'j1' attribute 'xyz'.*may be zero with rounding"):
        model = load_urdf_string(document)
    np.testing.assert_allclose(model.joints[0].axis, [math.sqrt(0.5), 0, math.sqrt(0.5)])
    with pytest.raises(ModelError, match="may be zero"):
        load_urdf_string(document, strict=True)


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar"])
@pytest.mark.parametrize("xyz", ["0 0 0", "1e-999 0 0", "-0 0.0 0e5"])
def test_zero_axes(kind, xyz):
    """A moving joint needs an axis."""
    with pytest.raises(ModelError, match=f"'j1' attribute 'xyz'.*axis of a {kind} joint") as caught:
        load_one(f'{LIMIT}<axis xyz="{xyz}"/>', kind)
    assert caught.value.line == 4


@pytest.mark.parametrize("kind", ["fixed", "floating", "spherical"])
def test_axes_without_meaning(kind):
    """Where an axis means nothing, a zero one does no harm."""
    load_one('<axis xyz="0 0 0"/>', kind)


@pytest.mark.parametrize("kind", ["helical", "screw"])
def test_helical(kind):
    """A helical joint has a pitch in metres a radian, of either sign."""
    model = load_one(f'{LIMIT}<axis xyz="0 0 2" pitch="-0.05"/>', kind)
    (joint_,) = model.joints
    assert (joint_.kind, joint_.pitch) == (JointKind.HELICAL, -0.05)
    for inside in (LIMIT, LIMIT + '<axis xyz="0 0 1"/>'):
        with pytest.raises(ModelError, match=r"'j1'.*pitch \[m/rad\]"):
            load_one(inside, kind)


@pytest.mark.parametrize("kind", ["spherical", "ball"])
def test_spherical(kind):
    """A spherical joint has four coordinates, three velocities and no axis."""
    model = load_one('<limit lower="-1" upper="1" effort="3" velocity="2"/>', kind)
    (joint_,) = model.joints
    assert (model.nq, model.nv, joint_.kind) == (4, 3, JointKind.SPHERICAL)
    assert joint_.axis is None
    assert joint_.limits == Limits(None, None, 2.0, 3.0)


@pytest.mark.parametrize("kind", ["", "Revolute", "revolut", "universal", "hinge", " revolute"])
def test_unknown_types(kind):
    """An unknown type is refused with the known ones."""
    match = "empty" if not kind else f"{kind!r}; known: revolute, .*ball"
    with pytest.raises(ModelError, match=match) as caught:
        load_one(LIMIT, kind)
    assert (caught.value.name, caught.value.attribute) == ("j1", "type")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<joint type="fixed"><parent link="base"/></joint>', "'name' is missing"),
        ('<joint name="" type="fixed"/>', "'name' is empty"),
        ('<joint name="j1"><parent link="base"/><child link="arm"/></joint>', "'type' is missing"),
        ('<joint name="j1" type="fixed"><child link="arm"/></joint>', "<parent> is missing"),
        ('<joint name="j1" type="fixed"><parent link="base"/></joint>', "<child> is missing"),
        ('<joint name="j1" type="fixed"><parent/><child link="arm"/></joint>', "'link' is missing"),
        (
            '<joint name="j1" type="fixed"><parent link="base"/><parent link="arm"/></joint>',
            "<parent> is given 2 times",
        ),
        ("<link/>", "'name' is missing"),
        ('<link name=""/>', "'name' is empty"),
    ],
)  # fmt: skip
def test_missing_parts(text, message):
    """What a link or joint cannot do without is asked for, with the line."""
    with pytest.raises(ModelError, match=message) as caught:
        load_urdf_string(robot(BASE, ARM, text))
    assert caught.value.line == 4


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
def test_crossed_limits(kind):
    """Lower above upper is refused; equal is a joint that is held."""
    axis = '<axis xyz="0 0 1" pitch="1"/>'
    with pytest.raises(ModelError, match=r"'j1' .*lower 1 is above upper -1") as caught:
        load_one(f'<limit lower="1" upper="-1"/>{axis}', kind)
    assert caught.value.attribute == "lower"
    limits = load_one(f'<limit lower="1" upper="1"/>{axis}', kind).joints[0].limits
    assert (limits.lower, limits.upper) == (1.0, 1.0)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(
    ("inside", "lower", "upper", "message"),
    [
        ("", None, None, "without <limit>"),
        ('<limit effort="1" velocity="1"/>', None, None, "no lower and no upper"),
        ('<limit upper="0.4"/>', None, 0.4, "no lower"),
        ('<limit lower="-0.4"/>', -0.4, None, "no upper"),
    ],
)
def test_missing_limits(kind, inside, lower, upper, message):
    """A missing bound is none, with a warning that names the joint."""
    with pytest.warns(ModelWarning, match=f"'j1'.*{message}"):
        model = load_one(inside, kind)
    assert model.joints[0].limits.lower == lower
    assert model.joints[0].limits.upper == upper
    with pytest.raises(ModelError, match=f"'j1'.*{message}"):
        load_urdf_string(one_joint(inside, kind), strict=True)


def test_continuous_drops_its_range():
    """Even a crossed one; effort and velocity stay."""
    model = load_one('<limit lower="1" upper="-1" effort="5" velocity="30"/>', "continuous")
    assert model.joints[0].limits == Limits(None, None, 30.0, 5.0)
    assert load_one("", "continuous").joints[0].limits == Limits()


@pytest.mark.parametrize("attribute", ["effort", "velocity"])
def test_negative_magnitudes(attribute):
    """A negative effort or velocity bounds nothing, with a warning."""
    with pytest.warns(ModelWarning, match=f"'j1' attribute '{attribute}'.*negative"):
        model = load_one(f'<limit lower="0" upper="1" {attribute}="-1"/>')
    assert getattr(model.joints[0].limits, attribute) is None
    assert load_one(f'<limit lower="0" upper="1" {attribute}="0"/>').joints[0].limits != Limits(
        0, 1
    )


def test_dynamics():
    """Damping and friction are read, and default to none."""
    (joint_,) = load_one(LIMIT + '<dynamics damping="0.5" friction="0.1"/>').joints
    assert (joint_.damping, joint_.friction) == (0.5, 0.1)
    (joint_,) = load_one().joints
    assert (joint_.damping, joint_.friction) == (0.0, 0.0)
    with pytest.warns(ModelWarning, match="'j1' attribute 'damping'.*negative"):
        load_one(LIMIT + '<dynamics damping="-0.5"/>')


@pytest.mark.parametrize("tag", ["origin", "axis", "limit", "dynamics", "mimic"])
def test_second_elements(tag):
    """A second element of a kind warns; the first wins."""
    first = {
        "origin": '<origin xyz="1 0 0"/>',
        "axis": '<axis xyz="0 1 0"/>',
        "limit": '<limit lower="-1" upper="1"/>',
        "dynamics": '<dynamics damping="1"/>',
        "mimic": '<mimic joint="j0"/>',
    }
    inside = first[tag] + f"<{tag}/>" + ("" if tag == "limit" else LIMIT)
    document = robot(
        BASE, ARM, joint("j1", "base", "arm", inside), link("b"), joint("j0", "base", "b")
    )
    alone = document.replace(f"<{tag}/>", "")
    with pytest.warns(ModelWarning, match=f"'j1'.*second <{tag}>"):
        model = load_urdf_string(document)
    assert model.joints == load_urdf_string(alone).joints


def test_second_inertial():
    """Of two inertials the first wins, with a warning that names the link."""
    second = f'<inertial><mass value="9"/>{INERTIA}</inertial>'
    document = robot(BASE, link("arm", link("")[14:-7] + second), joint("j1", "base", "arm"))
    with pytest.warns(ModelWarning, match=r"'arm'.*second <inertial>"):
        model = load_urdf_string(document)
    assert model.bodies[0].inertia.mass == 1.0
    with pytest.raises(ModelError, match=r"'arm'.*second <inertial>"):
        load_urdf_string(document, strict=True)


@pytest.mark.parametrize(
    ("xx", "yy", "zz", "xy", "fault"),
    [
        (0.01, 0.01, 0.05, 0.0, "the greatest exceeds"),
        (0.01, 0.01, 0.0201, 0.0, "the greatest exceeds"),
        (-0.01, 0.02, 0.02, 0.0, "not positive semidefinite"),
        (0.01, 0.01, 0.01, 0.02, "not positive semidefinite"),
        (0.01, 0.01, 0.02, 0.0, None),
        (0.01, 0.01, 0.020001, 0.0, None),
        (0.0, 0.0, 0.0, 0.0, None),
        (0.0, 0.01, 0.01, 0.0, None),
        (1e-20, 0.0, 0.0, 0.0, None),
        (1e308, 1e308, 1e308, 0.0, None),
    ],
)
def test_impossible_inertias(xx, yy, zz, xy, fault, recwarn):
    """An inertia that no body has warns with the link; rounding does not."""
    tensor = f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="0" iyz="0"/>'
    inside = f'<inertial><origin rpy="1 2 3"/><mass value="1"/>{tensor}</inertial>'
    document = robot(link("arm", inside))
    load_urdf_string(document)
    messages = [str(entry.message) for entry in recwarn]
    assert len(messages) == (fault is not None)
    if fault is not None:
        assert "'arm'" in messages[0]
        assert fault in messages[0]
        with pytest.raises(ModelError, match=fault):
            load_urdf_string(document, strict=True)


@pytest.mark.parametrize(
    "inside",
    [
        f'<inertial><origin xyz="1e200 0 0"/><mass value="1e300"/>{INERTIA}</inertial>',
        f'<inertial><mass value="1"/>{INERTIA.replace("0.02", "1.7e308")}</inertial>',
    ],
)
def test_overflow_is_refused(inside):
    """Numbers that are finite alone but not together are refused by name."""
    turned = inside.replace("<mass", '<origin rpy="1 1 1"/><mass', 1 - inside.count("origin"))
    with pytest.raises(ModelError, match="'arm' overflows"):
        load_urdf_string(robot(BASE, link("arm", turned), joint("j1", "base", "arm")))
    far = LIMIT + '<origin xyz="1.7e308 1.7e308 0" rpy="0 0 0.7"/>'
    with pytest.raises(ModelError, match="overflows"):
        load_urdf_string(
            robot(
                BASE, link("a"), link("b"), link("c"),
                joint("j1", "base", "a", far, "fixed"),
                joint("j2", "a", "b", far, "fixed"),
                joint("j3", "b", "c", far),
            )
        )  # fmt: skip


def test_ignored_elements():
    """Geometry, transmissions, simulators and strangers are passed over, unread."""
    ignored = '<calibration rising="x"/><safety_controller k_velocity="nan"/><foo/>'
    shape = (
        '<visual><origin xyz="nan"/><geometry><mesh filename="missing.stl"/></geometry></visual>'
    )
    document = robot(
        BASE,
        link("arm", link("")[14:-7] + shape + shape.replace("visual", "collision")),
        joint("j1", "base", "arm", LIMIT + ignored),
        '<material name=""/><transmission/><gazebo reference="nobody"/><link_/>text',
    )
    plain = load_urdf_string(robot(BASE, ARM, joint("j1", "base", "arm")))
    assert load_urdf_string(document) == plain


def test_an_overflow_over_fixed_joints_says_where():
    far = '\n<origin xyz="1e308 0 0"/>'
    document = robot(
        BASE, link("a"), link("b"),
        joint("j1", "base", "a", far, "fixed"),
        joint("j2", "a", "b", far, "fixed"),
    )  # fmt: skip
    with pytest.raises(ModelError, match="placement of link 'b' overflows") as caught:
        load_urdf_string(document)
    error = caught.value
    found = (error.line, error.element, error.name, error.attribute)
    assert found == (8, "origin", "j2", "xyz")


def test_an_overflow_of_merged_masses_says_where():
    heavy = f'<inertial><mass value="1e308"/>{INERTIA}</inertial>'
    document = robot(
        BASE, link("a", heavy), link("b", heavy),
        joint("j1", "base", "a"),
        joint("j2", "a", "b", "", "fixed"),
    )  # fmt: skip
    with pytest.raises(ModelError, match="mass of body 'a' overflows") as caught:
        load_urdf_string(document)
    error = caught.value
    assert (error.line, error.element, error.name, error.attribute) == (4, "mass", "b", "value")
