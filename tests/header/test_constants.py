"""The constants as they are emitted: frozen values, and the contract beside them."""

from __future__ import annotations

import re

import pytest

import grid_core
from grid_core.assets import asset_path
from tests.header.headers import ROBOTS, block_of, compiler, handle, library, states
from tests.header.headers import header as header_of

IIWA = (7, 7, 7, 7, 1, 21, 0, 7, 14, 14)
GO2 = (19, 18, 19, 13, 4, 57, 0, 19, 38, 38)
SPHERICAL = (10, 8, 10, 4, 1, 30, 0, 10, 20, 20)
NAMES = (
    *("NUM_POS", "NUM_VEL", "NUM_JOINTS", "NUM_BODIES", "NUM_EES", "Q_QD_U_STRIDE"),
    *("GRID_Q_OFFSET", "GRID_QD_OFFSET", "GRID_U_OFFSET", "GRID_QDD_OFFSET"),
)


def header(robot: str) -> str:
    return header_of(robot, algorithm_list=("forward_dynamics", "inverse_dynamics"))


def emitted(text: str) -> dict[str, int]:
    found = re.findall(r"^inline constexpr int ([A-Z]\w+) = (\d+);", text, re.MULTILINE)
    return {name: int(value) for name, value in found}


@pytest.mark.parametrize(
    ("robot", "values"), [("iiwa14", IIWA), ("go2", GO2), ("spherical", SPHERICAL)]
)
def test_frozen_values(robot: str, values: tuple[int, ...]) -> None:
    """A2, A3, A4, A5, A16, A17: what is emitted on fixed, floating and spherical robots."""
    assert emitted(header(robot)) == dict(zip(NAMES, values, strict=True))


@pytest.mark.parametrize("robot", ROBOTS)
def test_relations_hold_as_compiled(robot: str) -> None:
    """A2, A3, A4, A5: the compiler reads the same constants, and they keep to the contract."""
    block = block_of(robot)
    known = "".join(f"static_assert({c.name} == {c.value});\n" for c in block.constants)
    source = f"""
    #include "grid.cuh"
    using namespace grid;
    {known}
    static_assert(NUM_JOINTS == NUM_POS && Q_QD_U_STRIDE == 3 * NUM_POS);
    static_assert(GRID_Q_OFFSET == 0 && GRID_QD_OFFSET == NUM_POS);
    static_assert(GRID_U_OFFSET == 2 * NUM_POS && GRID_QDD_OFFSET == GRID_U_OFFSET);
    static_assert(NUM_POS == model::nq && NUM_VEL == model::nv && NUM_BODIES == model::nb);
    """
    library(header_of(robot, algorithm_list=("end_effector_pose",)), source)


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_the_contract_stands_above_the_constants(robot: str) -> None:
    """A5: the contract is a comment block right there."""
    text = header(robot)
    comment = "\n".join(f"// {line}" for line in block_of(robot).contract)
    start = text.index(comment)
    between = text[start + len(comment) : text.index("inline constexpr int NUM_POS")]
    assert re.fullmatch(r"\n// -+\n", between)


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_slices_are_by_the_named_offsets(robot: str) -> None:
    """A5, A6: no number stands where a constant should."""
    text = header(robot)
    slices = re.findall(r"const real\* s_(\w+) = &s_q_qd_u\[(.*)\];", text)
    offsets = {"q": "Q", "qd": "QD", "u": "U", "qdd": "QDD"}
    assert {name for name, _ in slices} == set(offsets)
    assert all(at == f"GRID_{offsets[name]}_OFFSET" for name, at in slices)


def test_targets_are_counted() -> None:
    text = grid_core.generate_header(
        asset_path("iiwa14"),
        ee_joint_names=["iiwa_joint_3", "iiwa_flange_joint"],
        algorithm_list="end_effector_pose",
    )
    assert emitted(text)["NUM_EES"] == 2
    assert "// End-effector targets: iiwa_joint_3, iiwa_flange_joint." in text
    assert compiler()
    library(text, '#include "grid.cuh"\nstatic_assert(grid::NUM_EES == 2);')


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_only_slots_are_padded(robot: str) -> None:
    """A13: matrices, gradients and results are NUM_VEL wide, in the header as in a handle."""
    names = ("crba", "minv", "forward_dynamics", "inverse_dynamics_gradient")
    text, made, given = header_of(robot, algorithm_list=names), handle(robot), states(robot, 1)
    nv = made.nv
    shapes = {"M": (nv, nv), "Minv": (nv, nv), "qdd": (nv,), "dtau": (nv, 2 * nv)}
    found = re.findall(r"^//   out (\w+) \(([\d, ]+)\)", text, re.MULTILINE)
    assert {name: tuple(map(int, dims.split(", "))) for name, dims in found} == shapes
    gradient = made.inverse_dynamics_gradient(given["q"], given["qd"], given["qdd"])
    assert gradient.shape == (1, nv, 2 * nv)
    assert made.minv(given["q"]).shape == made.crba(given["q"]).shape == (1, nv, nv)
