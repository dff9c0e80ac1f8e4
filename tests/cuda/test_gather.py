"""Long rows whose distinct values several warps put down: where, and as the kernel writes them."""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_backend_cuda.build import Source, kernel_source
from grid_backend_cuda.gather import rows_at_a_time
from grid_backend_cuda.gathered_mapping import map_gathered
from grid_backend_cuda.render import render
from grid_core.algorithm import Options
from grid_core.program.trace import trace
from grid_core.testing.inputs import random_inputs
from tests.cuda.kernels import Host, model, options_of, pointer
from tests.cuda.test_arithmetic import (
    _STORE,
    LANES,
    compare,
    pointers,
    results_of,
    split_functions,
    tile_of,
    uniforms,
)
from tests.program.operations import operation
from tests.regressor.evaluate import ALL

if TYPE_CHECKING:
    from pathlib import Path

    from grid_backend_cuda.split_mapping import SplitMapping

CASES = [
    ("go2", "inverse_dynamics_regressor", "float32", "sm_90"),
    ("go2", "inverse_dynamics_regressor_packed", "float64", "sm_90"),
    ("go2", "forward_dynamics_gradient", "float32", "sm_90"),
    ("go2", "end_effector_pose_hessian", "float32", "sm_90"),
    ("humanoid", "crba", "float32", "sm_90"),
    ("humanoid", "inverse_dynamics_regressor", "float32", "sm_90"),
    ("humanoid", "end_effector_pose_hessian", "float64", "sm_90"),
    ("humanoid", "end_effector_pose_hessian", "float32", "sm_120"),
]
_THREADS = """
#define __device__
#define __forceinline__ inline
#define __align__(n)
static struct { int x; } threadIdx;
template <typename T> static void __stcs(T* to, T value) { *to = value; }
"""


@functools.cache
def gathered(robot: str, name: str, dtype: str, arch: str) -> tuple[Source, SplitMapping]:
    asked = operation(model(robot), name, available=ALL, dtype=dtype, **options_of(robot, name))
    found = kernel_source(asked, arch, trace(asked, even_signs=True))
    mapping = map_gathered(found.program, found.real, arch)
    assert mapping is not None
    return found, mapping


def helpers(text: str) -> str:
    """What writes the rows, out of a kernel's text, without its constants."""
    begin = text.index("template <int width, int group, int tile>")
    return text[begin : text.index("};", text.index("grid_entries")) + 2]


@pytest.mark.parametrize("width", [97, 98, 130, 324, 648, 756, 2340, 2341])
@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("tile", [8, 16, LANES])
def test_rows_written_together_end_with_a_line(width: int, size: int, tile: int) -> None:
    rows = rows_at_a_time(width, size, tile)
    assert tile % rows == 0
    assert rows >= 8
    assert rows == tile or rows * width * size % 128 == 0


def test_what_does_not_fit_a_whole_tile_has_fewer_problems() -> None:
    found, mapping = gathered("humanoid", "inverse_dynamics_regressor", "float32", "sm_90")
    assert mapping.gathered is not None
    assert (mapping.tile_problems, mapping.pitch) == (16, 17)
    text = render(found.program, found.real, mapping)
    assert "const int own = lane & 15;" in text
    assert "int most = 16;" in text


def test_tables_that_do_not_fit_stay_in_device_memory() -> None:
    found, mapping = gathered("humanoid", "end_effector_pose_hessian", "float32", "sm_120")
    assert mapping.gathered is not None
    assert not mapping.gathered.near
    assert mapping.shared_bytes(found.real) == mapping.share * 4
    text = render(found.program, found.real, mapping)
    assert "entries = grid_entries;" in text
    assert "grid_copy_async<16>((unsigned)__cvta_generic_to_shared(entries" not in text


@pytest.mark.parametrize(("robot", "name", "dtype", "arch"), CASES)
def test_every_entry_has_its_values_slot_to_the_end(
    robot: str, name: str, dtype: str, arch: str
) -> None:
    found, mapping = gathered(robot, name, dtype, arch)
    program, split = found.program, mapping.split
    assert mapping.gathered is not None
    (table,) = mapping.gathered.tables.values()
    slots = dict(zip(program.results, table, strict=True))
    assert [slots[v] for v in program.results] == list(table)
    assert len(set(slots.values())) == len(slots)
    for value, slot in slots.items():
        if value < program.first_instruction:
            assert mapping.gathered.known[value] == slot >= split.num_slots
            continue
        node, place = split.flow.of[value - program.first_instruction]
        assert slot == split.slots[node] + place
        # Whatever else has this slot was there before.
        for other, first in split.slots.items():
            if other != node and first <= slot < first + split.flow.size(other):
                assert split.phase[other] < split.phase[node]
    most = mapping.gathered.pitch * mapping.gathered.num_slots
    assert max(mapping.gathered.entries) + mapping.tile_problems <= most <= 1 << 16


@pytest.mark.parametrize(("robot", "name", "dtype", "arch"), CASES)
def test_rows_are_what_the_program_says(
    robot: str, name: str, dtype: str, arch: str, tmp_path: Path
) -> None:
    """Whatever the order of parts within a phase, for a whole tile and for a few rows of one."""
    found, mapping = gathered(robot, name, dtype, arch)
    assert mapping.gathered is not None
    called, functions, kept = split_functions(found, mapping)
    text = render(found.program, found.real, mapping)
    (call,) = re.findall(
        r"grid_gather(<\d+, \d+, \d+>)\(out_\w+ \+ first \* \d+, hand, entries, rows\)", text
    )
    functions["write"] = [
        f"for (threadIdx.x = 0; threadIdx.x < {mapping.threads}; ++threadIdx.x)",
        f"grid_gather{call}(outputs[0], hand, grid_entries, lane);",
    ]
    signature = "const real* tile, const real* uniform, real** outputs, real* hand, int lane"
    host = Host(
        tmp_path, found.real, {**functions}, signature, _STORE + _THREADS + helpers(text) + kept
    )
    made = random_inputs(
        ALL[name], model(robot), Options(**options_of(robot, name)), batch=LANES, seed=3
    )
    inputs = {
        k: float(np.asarray(v, dtype)) if isinstance(v, float) else v.astype(dtype)
        for k, v in made.items()
    }
    tile, uniform = tile_of(found, mapping, inputs), uniforms(found, inputs)
    (port,) = found.program.outputs
    workers = sorted({worker for worker, _ in called})
    hand = np.empty(mapping.pitch * mapping.gathered.num_slots, dtype)
    problems = mapping.tile_problems
    ordinary: Any = None

    def run(name: str, number: int, got: dict[str, Any]) -> None:
        memory = (pointer(tile), pointer(uniform), pointers(got), pointer(hand))
        host.function(name)(*memory, number)

    for order in (workers, workers[::-1], [*workers[2:], *workers[:2]]):
        hand.fill(np.nan)

        got = results_of(found)
        phases = range(mapping.split.phases)
        for lane, phase, worker in itertools.product(range(problems), phases, order):
            run(called[worker, phase], lane, got)
        run("write", problems, got)
        if ordinary is None:
            ordinary = got[port.name]
            first = {k: v if isinstance(v, float) else v[:problems] for k, v in inputs.items()}
            some = {k: v[:problems] for k, v in got.items()}
            compare(found, some, first, 1e-4 if dtype == "float32" else 1e-10)
        np.testing.assert_array_equal(got[port.name], ordinary)
    for rows in (1, 3, 8, problems - 1):
        got = results_of(found)
        run("write", rows, got)
        np.testing.assert_array_equal(got[port.name][:rows], ordinary[:rows])
        assert np.isnan(got[port.name][rows:]).all()
