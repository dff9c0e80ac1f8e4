from __future__ import annotations

import difflib
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import grid_core
from grid_core.assets import asset_path
from grid_core.errors import GridError, ModelWarning, OperationRefused
from grid_core.identification.pseudo_inertia import (
    from_pseudo_inertia,
    is_consistent,
    pseudo_inertia,
)
from grid_core.identification.urdf_positions import Edits, locate
from grid_core.identification.urdf_writer import write_urdf
from grid_core.model import load_urdf_string
from grid_core.model.parameters import parameters
from tests.support import urdf
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.robots import HAND_MADE, example
from tests.support.states import random_state

if TYPE_CHECKING:
    from grid_core.identification.urdf_writer import WrittenUrdf
    from grid_core.model.types import Array, RobotModel
    from tests.support.states import State

NUMBER = r"[-+0-9.e]+"


def loaded(document: bytes | str, floating: bool = False) -> RobotModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_urdf_string(document, floating_base=floating)


def perturbed(model: RobotModel, seed: int = 0, size: float = 0.2) -> Array:
    """Other bodies that could be: each pseudo-inertia through a matrix near the unit."""
    rng = np.random.default_rng(seed)
    P = pseudo_inertia(parameters(model).reshape(-1, 10))
    A = np.eye(4) + size * rng.normal(size=(len(P), 4, 4))
    P = P + 1e-3 * np.eye(4) * (np.trace(P, axis1=1, axis2=2)[:, None, None] + 1e-3)
    return from_pseudo_inertia(A @ P @ np.swapaxes(A, 1, 2)).ravel()


def check(document: bytes, floating: bool = False, seed: int = 0) -> WrittenUrdf:
    """Write other bodies, and let Grid and Pinocchio read them."""
    model = loaded(document, floating)
    new = perturbed(model, seed)
    written = write_urdf(document, model, new)
    back = loaded(written.document, floating)
    np.testing.assert_allclose(parameters(back), new, rtol=1e-12, atol=1e-13)
    oracle = PinocchioOracle.from_urdf(back, written.document.decode())
    state = random_state(model, seed, 4)
    tau = oracle.inverse_dynamics(state.q, state.qd, state.qdd)
    expected = regressed(model, new, state)
    np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-9)
    assert stripped(written.document.decode()) == stripped(document.decode())
    return written


def regressed(model: RobotModel, new: Array, state: State) -> Array:
    """Torques of parameters, by the regressor of the robot that they are not of."""
    options: dict[str, Any] = {"floating_base": model.floating_base, "backend": "reference"}
    robot = grid_core.load_robot(model, dtype="float64", **options)
    Y = robot.inverse_dynamics_regressor(state.q, state.qd, state.qdd)
    return np.asarray(Y @ new)


def stripped(text: str) -> str:
    """Return a document without the numbers of its inertials."""
    text = re.sub(r'(<mass\s+value=["\'])[^"\']*', r"\1", text)
    text = re.sub(r'(\bi[xyz][xyz]\s*=\s*["\'])[^"\']*', r"\1", text)
    return re.sub(
        r"<inertial>.*?</inertial>",
        lambda m: re.sub(r'(xyz=["\'])[^"\']*', r"\1", m[0]),
        text,
        flags=re.DOTALL,
    )


@pytest.mark.parametrize("name", ["iiwa14", "go2"])
@pytest.mark.parametrize("floating", [False, True])
def test_bundled_robots_come_back_with_other_inertias(name: str, floating: bool) -> None:
    check(asset_path(name).read_bytes(), floating)


@pytest.mark.parametrize("name", ["panda-panda", "talos_data-talos_reduced", "romeo-romeo"])
def test_real_documents_keep_everything_else(name: str) -> None:
    robot = example(name)
    assert robot.path is not None
    document = robot.path.read_bytes()
    model = loaded(document)
    new = perturbed(model)
    written = write_urdf(document, model, new)
    back = loaded(written.document)
    np.testing.assert_allclose(parameters(back), new, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", ["axis_aligned", "branching", "mimic_chain"])
def test_hand_made_robots(name: str) -> None:
    text = HAND_MADE[name].source()
    model = loaded(text)
    new = perturbed(model, 3)
    back = loaded(write_urdf(text.encode(), model, new).document)
    np.testing.assert_allclose(parameters(back), new, rtol=1e-11, atol=1e-12)


def test_what_did_not_change_is_not_touched() -> None:
    document = asset_path("iiwa14").read_bytes()
    model = loaded(document)
    assert write_urdf(document, model, parameters(model)).document == document
    new = parameters(model)
    new[20] *= 1.1  # the mass of the third body
    written = write_urdf(document, model, new)
    assert written.links == (model.bodies[2].name,)
    old_lines, new_lines = (x.decode().splitlines() for x in (document, written.document))
    lines = [x for x in difflib.ndiff(old_lines, new_lines) if x[0] in "-+"]
    assert all(re.search("<mass|<inertia |<origin", line) for line in lines)
    assert 2 <= len(lines) <= 6


ODD = """<?xml version='1.0' encoding='utf-8'?>\r
<!-- a -- comment with <link name="fake"> and "quotes" -->\r
<robot   name = "odd" >
\t<link name='base &amp; more'/>\r
\t<link name="arm"><!-- <inertial> --><visual><origin xyz="1 2 3"/></visual>
\t\t<inertial  ><mass\tvalue = '2.0'  /><inertia izz="0.3"
 iyy="0.2" ixx="0.1" iyz='0' ixz="0" ixy="0"></inertia
\t\t></inertial>
\t</link>
\t<link name="light" />
\t<link name="hand"/>
\t<joint name="a > b" type="revolute"><parent link="base &amp; more"/><child link="arm"/>
\t\t<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics friction='0.5'/></joint>
\t<joint name="j2" type="continuous">
\t\t<parent link="arm"/>
\t\t<child link="light"/>
\t</joint>
\t<joint name="j3" type="continuous"><parent link="light"/><child link="hand"/></joint>
</robot>   <!-- the end -->
"""


def test_documents_in_any_hand_keep_it() -> None:
    document = ODD.encode()
    model = loaded(document)
    rng = np.random.default_rng(0)
    new = perturbed(model, 1)
    terms = {"viscous": rng.uniform(0.1, 1.0, 3), "coulomb": rng.uniform(0.1, 1.0, 3)}
    written = write_urdf(document, model, new, terms)
    text = written.document.decode()
    back = loaded(written.document)
    np.testing.assert_allclose(parameters(back), new, rtol=1e-12, atol=1e-14)
    assert [j.damping for j in back.joints] == list(terms["viscous"])
    assert [j.friction for j in back.joints] == list(terms["coulomb"])
    assert written.joints == ("a > b", "j2", "j3")
    for kept in (
        '<!-- a -- comment with <link name="fake"> and "quotes" -->\r\n',
        '<robot   name = "odd" >',
        '<!-- <inertial> --><visual><origin xyz="1 2 3"/></visual>',
        "<inertial  >",
        "</inertia\n\t\t></inertial>",
        "</robot>   <!-- the end -->\n",
    ):
        assert kept in text
    assert re.search(rf"<mass\tvalue = '{NUMBER}'  />", text)
    assert re.search(rf'<dynamics friction=\'{NUMBER}\' damping="{NUMBER}"/></joint>', text)
    assert re.search(rf'\t\t<child link="light"/>\r\n\t\t<dynamics damping="{NUMBER}" f', text)
    assert re.search(r'<link name="light" >\r\n\t\t<inertial>\r\n\t\t  <origin', text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings_stay(encoding: str) -> None:
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    source = urdf.robot("r\u00e4uber", urdf.link("b"), urdf.link("l", 1.0, inertia=np.eye(3)))
    source = source.replace("</robot>", urdf.joint("j", "continuous", "b", "l") + "</robot>")
    document = f'<?xml version="1.0" encoding="{declared}"?>\n{source}'.encode(encoding)
    model = loaded(document)
    new = perturbed(model)
    written = write_urdf(document, model, new).document
    assert written[:4] == document[:4]
    assert "r\u00e4uber" in written.decode(encoding)
    np.testing.assert_allclose(parameters(loaded(written)), new, rtol=1e-12)


def _with_tool(tool_mass: float) -> str:
    I = 0.01 * np.eye(3)
    return urdf.robot(
        "arm",
        urdf.link("base"),
        urdf.link("link", 2.0, (0.1, 0.0, 0.0), 3.0 * I),
        urdf.link("tool", tool_mass, (0.0, 0.02, 0.0), 0.1 * I),
        urdf.joint("j", "continuous", "base", "link", axis=(0, 1, 0)),
        urdf.joint("mount", "fixed", "link", "tool", xyz=(0.0, 0.0, 0.3), rpy=(0.4, 0.2, 0.1)),
    )


def test_fixed_links_keep_their_mass_where_that_leaves_a_body() -> None:
    text = _with_tool(0.5)
    model = loaded(text)
    new = parameters(model)
    new[:4] *= 1.2
    new[4:] *= 1.3
    written = write_urdf(text.encode(), model, new)
    assert (written.links, written.gathered) == (("link",), ())
    assert "the masses of tool stay as they were" in written.notes[0]
    np.testing.assert_allclose(parameters(loaded(written.document)), new, rtol=1e-12, atol=1e-15)


def test_fixed_links_give_their_mass_where_nothing_possible_is_left() -> None:
    text = _with_tool(5.0)
    model = loaded(text)
    new = parameters(model) * 0.3
    assert is_consistent(new)
    written = write_urdf(text.encode(), model, new)
    assert (written.links, written.gathered) == (("link",), ("tool",))
    assert "all of the body's mass is written into it" in written.notes[0]
    back = loaded(written.document)
    np.testing.assert_allclose(parameters(back), new, rtol=1e-12, atol=1e-15)
    oracle = PinocchioOracle.from_urdf(back, written.document.decode())
    state = random_state(model, 0, 4)
    np.testing.assert_allclose(
        oracle.inverse_dynamics(state.q, state.qd, state.qdd),
        regressed(model, new, state),
        atol=1e-9,
    )


def test_followers_give_their_friction_to_their_leader() -> None:
    text = HAND_MADE["dissipative"].source()
    model = loaded(text)
    written = write_urdf(text.encode(), model, parameters(model), {"viscous": np.array([3.0])})
    back = loaded(written.document)
    np.testing.assert_allclose(parameters(back, terms=("viscous",))[-1], 3.0)
    assert any("its damping is in that of the joint it follows" in x for x in written.notes)


def test_what_has_no_place_in_a_urdf_is_said() -> None:
    document = asset_path("iiwa14").read_bytes()
    model = loaded(document)
    terms = {"offset": np.ones(7), "viscous": -np.ones(7)}
    written = write_urdf(document, model, parameters(model), terms)
    assert written.document == document
    assert "offset: a URDF has no place for it" in written.notes
    assert "iiwa_joint_1: a negative damping, -1, is not written" in written.notes


def test_a_base_that_the_document_does_not_have_gets_no_friction() -> None:
    document = asset_path("go2").read_bytes()
    model = loaded(document, floating=True)
    terms = {"viscous": np.full(18, 0.5)}
    written = write_urdf(document, model, parameters(model), terms)
    assert written.notes == ("root_joint: no joint of the document; no damping is written",)
    assert len(written.joints) == 12
    back = loaded(written.document, floating=True)
    assert [joint.damping for joint in back.joints] == [0.0, *[0.5] * 12]


def test_impossible_bodies_are_refused() -> None:
    document = asset_path("iiwa14").read_bytes()
    model = loaded(document)
    new = parameters(model)
    new[0] = -0.1
    with pytest.raises(OperationRefused, match="'iiwa_link_1' would be an impossible body"):
        write_urdf(document, model, new)
    planar = HAND_MADE["planar"].source()
    model = loaded(planar)
    with pytest.raises(OperationRefused, match="moves without a link of its own"):
        write_urdf(planar.encode(), model, perturbed(model))
    shifted = b'<?xml version="1.0" encoding="iso-2022-jp"?>\x1b(B<robot/>'
    with pytest.raises(GridError, match="its bytes are no plain"):
        write_urdf(shifted, model, new)


def test_edits_find_their_place() -> None:
    text = """<a><b x='1>2'/><!-- <b x="9"/> --><c><![CDATA[<c/>]]></c ></a>"""
    root = locate(text)
    assert [child.tag for child in root.children] == ["b", "c"]
    edits = Edits(text)
    edits.set(root.children[0], "x", "3")
    edits.set(root.children[0], "y", "4")
    edits.set(root.children[1], "z", "5")
    edits.insert_last(root, ["<d/>"])
    expected = """<a><b x='3' y="4"/><!-- <b x="9"/> --><c z="5"><![CDATA[<c/>]]></c ><d/></a>"""
    assert edits.apply() == expected
