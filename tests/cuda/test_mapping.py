"""How programs lie on the card: shared memory, staging and chunks."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from grid_backend_cuda.cards import multiprocessor_bytes
from grid_backend_cuda.compiler import compile_cubin
from grid_backend_cuda.emit import Real
from grid_backend_cuda.mapping import map_program
from grid_backend_cuda.render import kernel_name, render
from grid_backend_cuda.split_mapping import SplitMapping, map_split
from grid_backend_cuda.staged import WARP
from grid_backend_cuda.thread_mapping import Mapping, map_threads
from tests.cuda.kernels import DTYPES, FULL, source
from tests.program.expressions import program_of

KERNELS = [
    ("iiwa14", "inverse_dynamics"),
    ("iiwa14", "crba"),
    ("kinds", "minv"),
    ("go2", "crba"),
    ("go2", "inverse_dynamics"),
    ("humanoid", "inverse_dynamics"),
    ("humanoid", "crba"),
]


def spans(staged: Any) -> list[tuple[int, int]]:
    """Scalars that blocks of 32 rows take, the padding of the last row aside."""
    return sorted((s.offset, s.offset + 31 * s.pitch + s.size) for s in staged if s is not None)


def require_apart(found: list[tuple[int, int]]) -> None:
    for (_, end), (begin, _) in itertools.pairwise(found):
        assert end <= begin


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("robot", "name"), KERNELS)
def test_threads(robot: str, name: str, dtype: str) -> None:
    program, real = source(robot, name, "float32", FULL.get(name, ())).program, Real(dtype)
    mapping = map_threads(program, real)
    assert mapping.warps in (1, 2, 4)
    assert mapping.threads == mapping.problems == 32 * mapping.warps
    assert mapping.warps == 1 or mapping.shared_bytes(real) <= 48 * 1024
    assert mapping.shared_bytes(real) <= 96 * 1024
    require_apart(spans(mapping.inputs))
    for port, staged in zip(program.inputs, mapping.inputs, strict=True):
        assert (staged is None) == (port.uniform or port.size == 0)
        assert staged is None or staged.size == port.size <= staged.pitch
    for staged in (*mapping.staged_chunks, *(s for s in mapping.inputs if s is not None)):
        assert staged.offset + 31 * staged.pitch + staged.size <= mapping.tile
    assert mapping.tile % 4 == 0
    assert mapping.waves == 0 or mapping.buffers == 2


@pytest.mark.parametrize(("robot", "name"), KERNELS)
def test_chunks_cover_every_output_once(robot: str, name: str) -> None:
    program = source(robot, name, "float32", FULL.get(name, ())).program
    mapping = map_threads(program, Real("float32"))
    start = 0
    for index, port in enumerate(program.outputs):
        mine = [c for c in mapping.chunks if c.port == index]
        at = 0
        for chunk in sorted(mine, key=lambda c: c.first):
            assert chunk.first == at
            at += len(chunk.values)
            wanted = program.results[start + chunk.first : start + at]
            assert tuple(chunk.values) == tuple(wanted)
        assert at == port.size
        start += port.size


@pytest.mark.parametrize(("robot", "name"), KERNELS)
def test_every_column_is_read_and_written_once(robot: str, name: str) -> None:
    """Where a thread has a problem; of rows that warps gather, `test_gather` says the same."""
    program = source(robot, name, "float32", FULL.get(name, ())).program
    text = render(program, Real("float32"), map_threads(program, Real("float32")))
    body = text[text.index("for (; first < batch") :]
    declared = re.findall(r"const float x(\d+) = ", body)
    assert len(declared) == len(set(declared))
    stored = re.findall(
        r"grid_store<(\d+), (\d+), (\d+), \d+>\(out_(\w+) \+ first \* \d+ \+ (\d+)", body
    )
    widths: dict[str, int] = {}
    for size, _, width, port, first in stored:
        assert widths.get(port, 0) == int(first) or len(stored) > 1
        widths[port] = widths.get(port, 0) + int(size)
        assert int(size) <= int(width)
    assert widths == {p.name: p.size for p in program.outputs}


@pytest.mark.parametrize(("robot", "name"), KERNELS)
def test_lanes_are_in_step_before_a_chunks_memory_is_taken_again(robot: str, name: str) -> None:
    """Whichever chunk is written first, what comes after it waits for all lanes to have stored."""
    program, real = source(robot, name, "float32", FULL.get(name, ())).program, Real("float32")
    mapping = map_threads(program, real)
    pending = len(mapping.chunks) == 1
    text = render(program, real, mapping)
    body = text[text.index("for (; first < batch") :]
    for line in body.splitlines():
        statement = line.strip()
        if statement.startswith("__syncwarp"):
            pending = False
        elif statement.startswith("grid_store<"):
            pending = True
        elif statement.startswith(("tile[", "(tile)[", "reinterpret_cast<float")):
            assert not pending, statement


def test_uneven_batches_of_outputs() -> None:
    """Outputs of several ports, one empty, one long, one made of inputs and constants."""
    program = program_of(
        lambda p: {
            "long": [p[k % 5] * (k + 1) for k in range(200)],
            "none": [],
            "copy": [p[0], 1.0],
        },
        p=(5,),
    )
    mapping = map_threads(program, Real("float32"))
    sizes = {i: sum(len(c.values) for c in mapping.chunks if c.port == i) for i in range(3)}
    assert sizes == {0: 200, 1: 0, 2: 2}


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_input_that_is_too_wide_for_shared_memory_stays_where_it_is(dtype: str) -> None:
    program = program_of(
        lambda p, q: {"y": [p[k] * q[k % 3] for k in range(1000)]}, p=(1000,), q=(3,)
    )
    real = Real(dtype)
    mapping = map_threads(program, real)
    assert mapping.inputs[0] is None
    assert mapping.inputs[1] is not None
    assert mapping.shared_bytes(real) <= 96 * 1024
    text = render(program, real, mapping, robot="")
    assert "in_p[(first + at) * 1000 + 999]" in text
    assert compile_cubin(text, kernel_name(program), "sm_120")[0]


def test_a_split_shares_one_tile() -> None:
    found = source("humanoid", "forward_dynamics")
    mapping = map_split(found.program, found.real, "sm_90")
    assert mapping is not None
    assert mapping.problems == 32
    assert mapping.threads == 128
    assert mapping.shared_bytes(found.real) <= 96 * 1024
    require_apart(spans(mapping.inputs))
    require_apart(spans(mapping.outputs))
    assert mapping.result >= mapping.tile * mapping.buffers
    assert mapping.hand >= mapping.result + max(e for _, e in spans(mapping.outputs))


@pytest.mark.parametrize("name", ["inverse_dynamics_gradient", "forward_dynamics_gradient"])
def test_wide_outputs_are_written_by_rows(name: str) -> None:
    """Each by the warp that computes most of it, in its own memory."""
    found = source("go2", name)
    mapping = map_split(found.program, found.real, "sm_90")
    assert mapping is not None
    nv = found.program.outputs[0].dims[0]
    assert [c.first for c in mapping.chunks] == [k * 2 * nv for k in range(nv)]
    assert all(WARP * s.pitch <= mapping.row_size for s in mapping.staged_chunks)
    assert mapping.hand >= mapping.row + mapping.warps * mapping.row_size
    written = [rows.chunks for rows, _ in mapping.split.rows]
    assert sorted(c.first for chunks in written for c in chunks) == [
        c.first for c in mapping.chunks
    ]
    assert 2 * mapping.shared_bytes(found.real) <= 228 * 1024 - 2048


def test_wide_outputs_that_are_gathered_fit_once_or_twice() -> None:
    """On cards with much shared memory and with less."""
    found = source("go2", "forward_dynamics_gradient")
    for arch, blocks in (("sm_90", 2), ("sm_120", 1)):
        mapping = map_program(found.program, found.real, arch)[1]
        assert isinstance(mapping, SplitMapping)
        assert mapping.gathered is not None
        assert mapping.min_blocks == blocks
        room = multiprocessor_bytes(arch, blocks) // blocks
        assert mapping.shared_bytes(found.real) <= room


def test_a_huge_program_is_split_where_its_parts_fit() -> None:
    """Whole, it would take the assembler many minutes."""
    found = source("humanoid", "forward_dynamics_gradient")
    assert isinstance(found.mapping, SplitMapping)
    assert found.program.counts.operations > 30_000
    assert found.mapping.shared_bytes(found.real) <= 227 * 1024
    # A card with less shared memory works on fewer problems at a time.
    fewer = map_program(found.program, found.real, "sm_120")[1]
    assert isinstance(fewer, SplitMapping)
    assert fewer.tile_problems == 8


def test_a_result_that_is_too_long_for_registers_is_put_down_value_by_value() -> None:
    found = source("iiwa14", "inverse_dynamics_gradient", "float32", ("qdd",))
    assert isinstance(found.mapping, Mapping)
    assert found.mapping.eager
    assert found.mapping.buffers == 1
    (staged,) = found.mapping.staged_chunks
    assert (staged.size, staged.pitch, staged.offset) == (98, 98, 0)
    body = found.text[found.text.index("for (; first < batch") :]
    lines = [line.strip() for line in body.splitlines()]
    placed = [k for k, line in enumerate(lines) if line.startswith("tile[") and "lane * 98" in line]
    assert len(placed) == 98
    assert (
        "__syncwarp();"
        in lines[max(k for k, x in enumerate(lines) if "const float x" in x) : placed[0]]
    )
