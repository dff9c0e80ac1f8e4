"""Programs cut into parts: what one leaves to another is there when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_backend_cpu import parts as parts_module
from grid_backend_cpu.parts import PART, WIDE, Parts
from grid_core.assets import asset_path
from grid_core.model import load_urdf
from grid_core.program.ops import TRIGONOMETRIC, Op
from grid_core.program.scalar import cos, sin
from tests.cpu.kernels import LANES, Compiled
from tests.program.expressions import SYMBOLIC, program_of
from tests.program.operations import traced

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Lanes
    from grid_core.program.program import Program

GO2 = load_urdf(asset_path("go2"), floating_base=True)


def mixed(width: int) -> Program:
    """Long sums over sines of inputs and of what is computed, and results of every kind."""

    def function(x: Any, k: Any) -> dict[str, Any]:
        sin, cos, atan2 = SYMBOLIC["sin"], SYMBOLIC["cos"], SYMBOLIC["atan2"]
        bent = [x[i] * k + 0.5 * x[(i + 1) % len(x)] for i in range(len(x))]
        sines = [sin(v) for v in (*x, *bent)]
        sums = [a * b + cos(v) for a, b, v in zip(sines, bent, x, strict=False)]
        cosines = [cos(v) for v in bent]  # the pairs of sines taken long before
        total = sum((a * b for a, b in zip(sums, cosines, strict=True)), start=k)
        wide = [*sums, *x, 1.5, 0.0, total, *sines, *sums]
        return {
            "narrow": [total, x[0], k, -2.0, sums[1], atan2(total, sums[0])],
            "wide": (wide * (1 + width // len(wide)))[:width],
            "nothing": [],
        }

    return program_of(function, uniform=("k",), x=(7,), k=())


@pytest.mark.parametrize(("size", "tiles"), [(1, 1), (3, 3), (20, 2), (1000, 1)])
@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_any_cuts_give_the_same(
    lanes: Lanes, size: int, tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "PART", size)
    monkeypatch.setattr(parts_module, "TILES", tiles)
    program = mixed(WIDE + 5)
    kernel, rng = Compiled(program, lanes), np.random.default_rng(0)
    tolerance = 64 * float(np.finfo(lanes.dtype).eps)
    for batch in (0, 1, lanes.width, 2 * lanes.width + 3, 5 * lanes.width):
        inputs = {"x": rng.normal(size=(batch, 7)), "k": 0.7}
        got, expected = kernel(batch, inputs), kernel.expected(inputs)
        for name, value in expected.items():
            np.testing.assert_allclose(got[name], value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("lanes", LANES, ids=str)
@pytest.mark.parametrize("width", [WIDE - 1, WIDE, WIDE + 1, WIDE + 16, 3 * WIDE - 1])
def test_wide_rows(width: int, lanes: Lanes) -> None:
    """Two of them, written in a loop, beside a narrow one."""
    program = program_of(
        lambda x: {"a": np.resize(x, width), "b": [x[0] + 1.0], "c": np.resize(x[::-1], width + 1)},
        x=(5,),
    )
    kernel, rng = Compiled(program, lanes), np.random.default_rng(1)
    for batch in (1, lanes.width, 2 * lanes.width + 1):
        x = rng.normal(size=(batch, 5)).astype(lanes.dtype)
        got = kernel(batch, {"x": x})
        np.testing.assert_array_equal(got["a"], x[:, np.resize(np.arange(5), width)])
        np.testing.assert_array_equal(got["b"], x[:, :1] + x.dtype.type(1.0))
        np.testing.assert_array_equal(got["c"], x[:, np.resize(np.arange(5)[::-1], width + 1)])


class Places:
    """What lies where as the parts are gone through."""

    def __init__(self, program: Program) -> None:
        self.program, self.plan = program, Parts.of(program)
        self.constants = range(program.num_inputs, program.first_instruction)
        self.held: dict[int, int] = {}

    def make(self, value: int) -> None:
        if value in self.plan.slots:
            self.held[self.plan.slots[value]] = value

    def read(self, value: int, part: int) -> None:
        if value not in self.constants and self.plan.born[value] != part:
            assert self.held[self.plan.slots[value]] == value


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics_gradient"])
def test_what_is_read_is_what_was_written(name: str) -> None:
    places = Places(program := traced(GO2, name))
    plan, first = places.plan, program.first_instruction
    opening = [value for value, part in plan.born.items() if part == 0]
    turned = [program.instructions[value - first] for value in opening if value >= first]
    assert all(op in TRIGONOMETRIC and a < program.num_inputs for op, a, _ in turned)
    for value in opening:
        places.make(value)
    for part, stretch in enumerate(plan.stretches):
        for index in (k for k in stretch if plan.born[first + k] == part):
            for value in program.instructions[index][1:]:
                if value >= 0:
                    places.read(value, part)
            places.make(first + index)
    after = part if len(program.results) < WIDE else part + 1
    for value in program.results:
        places.read(value, after)
    assert set(plan.slots.values()) == set(range(plan.count))


def test_what_tiles_leave_behind_stays_near() -> None:
    lanes = LANES[-1]
    for name in ("forward_dynamics", "forward_dynamics_gradient"):
        program = traced(GO2, name)
        plan = Parts.of(program)
        count = parts_module.tiles(program, plan, lanes)
        scalars = plan.count + len(program.results)
        assert count >= 1
        assert count == 1 or count * scalars * lanes.bytes <= parts_module.NEAR


def test_angles_that_inputs_make_are_the_openings() -> None:
    """Half an angle, or a mimic's; not what comes of a computation."""
    program = program_of(
        lambda x: {"y": [sin(0.5 * x[0]), cos(2.0 * x[1] + 0.1), sin(x[0] * x[1]), 0.5 * x[2]]},
        x=(3,),
    )
    born = Parts.of(program).born
    first = program.first_instruction
    opened = [program.instructions[v - first][0] for v in born if v >= first and not born[v]]
    assert sorted(opened) == sorted([Op.MUL, Op.SIN, Op.MUL, Op.ADD, Op.COS])


def test_parts_are_of_a_size_and_hand_over_little() -> None:
    program = traced(GO2, "forward_dynamics_gradient")
    plan = Parts.of(program)
    sizes = [len(stretch) for stretch in plan.stretches[1:]]
    assert sum(sizes) == len(program.instructions)
    assert max(sizes) < 2 * PART
    assert min(sizes) > PART / 4
    assert plan.count < program.counts.live + 2 * program.num_inputs


def test_a_program_without_instructions_is_one_part() -> None:
    program = program_of(lambda x: {"y": x[::-1]}, x=(3,))
    plan = Parts.of(program)
    assert plan.stretches == [range(0), range(0)]
    assert sorted(plan.slots) == [0, 1, 2]
