"""The statements of a kernel, run on the host, against the program's own numbers.

There is no CUDA here, but statements are C++. Threads are run one after the other, each on a
copy of its warp's shared memory; the parts of a split program phase by phase, in every order.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_backend_cuda.build import Source
from grid_backend_cuda.emit import Real
from grid_backend_cuda.render import Argument, _body, _split_code
from grid_backend_cuda.split_mapping import map_split
from grid_backend_cuda.thread_mapping import map_threads
from grid_core.program import scalar
from tests.cuda.kernels import (
    DTYPES,
    DYNAMICS,
    FULL,
    OPERATIONS,
    Host,
    expected,
    inputs_for,
    pointer,
    tolerance,
)
from tests.cuda.kernels import source as rendered
from tests.program.expressions import program_of

if TYPE_CHECKING:
    from pathlib import Path

    from grid_backend_cuda.split_mapping import SplitMapping
    from grid_backend_cuda.thread_mapping import Mapping

LANES = 32
_STORE = """
#define __syncwarp()
template <int size, int pitch, int width, int each = 1>
static void grid_store(real* to, const real* from, int, int lane, bool)
{ for (int k = 0; k < size; ++k) to[lane * width + k] = from[lane * pitch + k]; }
static const int rows = 32;
static const bool vectors = true;
static const long long first = 0;
"""
_DECLARATION = re.compile(r"(?:const )?(float|double|int|long long) (\w+) = (.*)")


def arguments(source: Source, mapping: Any) -> tuple[list[Argument], list[Argument]]:
    staged = zip(source.program.inputs, mapping.inputs, strict=True)
    return (
        [Argument(port, f"in_{port.name}", s) for port, s in staged],
        [Argument(port, f"out_{port.name}") for port in source.program.outputs],
    )


def tile_of(source: Source, mapping: Any, inputs: dict[str, Any]) -> Any:
    """Lay 32 rows of every input into shared memory; what is nobody's is NaN."""
    size = max(1, mapping.share)
    tile = np.full(size, np.nan, source.real.dtype)
    for port, staged in zip(source.program.inputs, mapping.inputs, strict=True):
        if staged is not None:
            for lane, row in enumerate(inputs[port.name].reshape(LANES, -1)):
                start = staged.offset + lane * staged.pitch
                tile[start : start + staged.size] = row
    return tile


def uniforms(source: Source, inputs: dict[str, Any]) -> Any:
    return np.array(
        [inputs[p.name] for p in source.program.inputs if p.uniform] or [0.0], source.real.dtype
    )


def results_of(source: Source) -> dict[str, Any]:
    return {
        p.name: np.full((LANES, *p.dims), np.nan, source.real.dtype) for p in source.program.outputs
    }


def names(source: Source) -> list[str]:
    """Statements that give uniform inputs and outputs the names they have in a kernel."""
    given = [p for p in source.program.inputs if p.uniform]
    lines = [f"const real in_{p.name} = uniform[{k}];" for k, p in enumerate(given)]
    outputs = enumerate(source.program.outputs)
    return lines + [f"real* const out_{p.name} = outputs[{k}];" for k, p in outputs]


def pointers(results: dict[str, Any]) -> Any:
    return (ctypes.c_void_p * len(results))(*(a.ctypes.data for a in results.values()))


def compare(source: Source, got: dict[str, Any], inputs: dict[str, Any], allowed: float) -> None:
    for name, value in expected(source, inputs).items():
        assert np.isfinite(got[name]).all(), name
        error = np.linalg.norm((got[name] - value).reshape(len(value), -1), axis=1)
        size = np.maximum(np.linalg.norm(value.reshape(len(value), -1), axis=1), 1e-3)
        assert np.all(error <= allowed * size), (
            f"{name}: {np.max(error / size):.1e} > {allowed:.1e}"
        )


def thread_body(source: Source, mapping: Mapping) -> list[str]:
    inputs, outputs = arguments(source, mapping)
    size = max(1, mapping.share)
    return [
        *names(source),
        f"static real tile[{size}];",
        "for (int lane = 0; lane < 32; ++lane) {",
        "const int at = lane;",
        f"std::memcpy(tile, shared, {size} * sizeof(real));",
        *_body(source.program, source.real, mapping, inputs, outputs),
        "}",
    ]


CASES = {
    "iiwa14": [(name, FULL.get(name, ())) for name in OPERATIONS if "runtime" not in name],
    "kinds": [*((name, FULL.get(name, ())) for name in DYNAMICS), *((name, ()) for name in FULL)],
    "go2": [("inverse_dynamics", ("qdd",)), ("minv", ()), ("end_effector_pose", ())],
}


@pytest.mark.parametrize(
    ("robot", "dtype"),
    [("iiwa14", "float64"), ("kinds", "float32"), ("kinds", "float64"), ("go2", "float32")],
)
def test_one_problem_a_thread(robot: str, dtype: str, tmp_path: Path) -> None:
    cases = CASES[robot]
    sources = [rendered(robot, name, dtype, present) for name, present in cases]
    mappings = [map_threads(s.program, s.real) for s in sources]
    bodies = {
        f"f{k}": thread_body(s, m) for k, (s, m) in enumerate(zip(sources, mappings, strict=True))
    }
    signature = "const real* shared, const real* uniform, real** outputs"
    host = Host(tmp_path, Real(dtype), bodies, signature, _STORE)
    for k, ((name, present), s, m) in enumerate(zip(cases, sources, mappings, strict=True)):
        inputs = inputs_for(robot, name, LANES, present, dtype)
        tile, uniform, results = tile_of(s, m, inputs), uniforms(s, inputs), results_of(s)
        host.function(f"f{k}")(pointer(tile), pointer(uniform), pointers(results))
        compare(s, results, inputs, tolerance(robot, name, dtype, inputs))


@pytest.mark.parametrize(("name", "dtype"), [("end_effector_pose", "float32"), ("crba", "float64")])
def test_far_angles_beside_near_ones(name: str, dtype: str, tmp_path: Path) -> None:
    """A row with a far angle has all of them brought nearer; other rows are as they were."""
    source = rendered("iiwa14", name, dtype, ())
    mapping = map_threads(source.program, source.real)
    body = thread_body(source, mapping)
    assert sum("grid_near" in line for line in body) == 1
    signature = "const real* shared, const real* uniform, real** outputs"
    host = Host(tmp_path, source.real, {"f": body}, signature, _STORE)
    inputs = inputs_for("iiwa14", name, LANES, (), dtype)
    far = {**inputs, "q": inputs["q"].copy()}
    far["q"][3:9, 2] += np.array(2.0**50, dtype)
    found = []
    for given in (inputs, far):
        tile, uniform, results = (
            tile_of(source, mapping, given),
            uniforms(source, given),
            results_of(source),
        )
        host.function("f")(pointer(tile), pointer(uniform), pointers(results))
        compare(source, results, given, tolerance("iiwa14", name, dtype, given))
        found.append(np.delete(next(iter(results.values())), slice(3, 9), axis=0))
    np.testing.assert_array_equal(*found)


def test_every_operation_at_the_edges(tmp_path: Path) -> None:
    """Zeros, infinities and NaN through each operation, as NumPy has them."""

    def every(x: Any, y: Any) -> dict[str, Any]:
        a, b = x[0], y[0]
        unary = [-a, scalar.sqrt(scalar.absolute(a)), scalar.sign(a), scalar.absolute(a)]
        extrema = [scalar.minimum(a, b), scalar.maximum(a, b)]
        pairs = [a + b, a - b, a * b, a / b, scalar.atan2(a, b)]
        turned = [scalar.sin(a), scalar.cos(a)]
        return {"r": [*unary, *extrema, *pairs, *turned, 1e39 + scalar.sign(a)]}

    edges = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan]
    pairs = [*itertools.product(edges, edges)][:LANES]
    for dtype in DTYPES:
        program = program_of(every, x=(1,), y=(1,))
        real = Real(dtype)
        made = Source(program, real, map_threads(program, real), "edges", "")
        columns = np.array(pairs, dtype)[:, :, None]
        inputs = {"x": columns[:, 0], "y": columns[:, 1]}
        folder = tmp_path / dtype
        folder.mkdir()
        signature = "const real* shared, const real* uniform, real** outputs"
        host = Host(folder, real, {"f": thread_body(made, made.mapping)}, signature, _STORE)
        tile, results = tile_of(made, made.mapping, inputs), results_of(made)
        host.function("f")(pointer(tile), pointer(uniforms(made, inputs)), pointers(results))
        with np.errstate(all="ignore"):
            value = program.evaluate({k: v.astype(np.float64) for k, v in inputs.items()})["r"]
            np.testing.assert_allclose(results["r"], value.astype(dtype), rtol=1e-6)


def split_functions(
    source: Source, mapping: SplitMapping
) -> tuple[dict[tuple[int, int], str], dict[str, list[str]], str]:
    """One function for each worker and phase; what a worker keeps between phases is static.

    Workers are the places of all jobs, the guest's among them.
    """
    inputs, outputs = arguments(source, mapping)
    blocks = _split_code(source.program, source.real, mapping, inputs, outputs)["blocks"]
    functions: dict[str, list[str]] = {}
    called: dict[tuple[int, int], str] = {}
    kept: list[str] = []
    jobs = [*blocks, *(block.guest for block in blocks if block.guest)]
    workers = [(job, place) for job in jobs for place in range(job.size)]
    for job in jobs:
        if job.constants:
            values = ", ".join(x for own in job.constants for x in own)
            kept.append(f"static const real grid_constants_{job.first}[] = {{ {values} }};")
    for worker, (job, place) in enumerate(workers):
        kept.append(f"namespace w{worker} {{ static const int place = {place};")
        for phase, lines in enumerate(job.phases):
            body = [f"using namespace w{worker};", "const int at = lane;", *names(source)]
            for line in (*job.head, *lines):
                found = _DECLARATION.fullmatch(line)
                if found is None:
                    if phase == 0 or line not in job.head:
                        (kept if line in job.head else body).append(line)
                elif line in job.head:
                    body.append(line)
                else:
                    kept.append(f"static {found[1]} {found[2]};")
                    body.append(f"{found[2]} = {found[3]}")
            called[worker, phase] = f"w{worker}_{phase}"
            functions[called[worker, phase]] = body
        kept.append("}")
    return called, functions, "\n".join(kept)


@pytest.mark.parametrize(
    ("robot", "name", "dtype"),
    [
        ("humanoid", "forward_dynamics", "float32"),
        ("humanoid", "inverse_dynamics", "float64"),
        ("go2", "inverse_dynamics", "float32"),
        ("go2", "inverse_dynamics_gradient", "float32"),
        ("go2", "forward_dynamics_gradient", "float32"),
    ],
)
def test_parts_in_any_order_within_a_phase(
    robot: str, name: str, dtype: str, tmp_path: Path
) -> None:
    """No part reads a value before its phase, nor one that another part has overwritten."""
    source = rendered(robot, name, dtype)
    mapping = map_split(source.program, source.real, "sm_90")
    assert mapping is not None
    called, functions, kept = split_functions(source, mapping)
    signature = (
        "const real* tile, const real* uniform, real** outputs, real* result, real* hand, "
        "real* share, int lane"
    )
    host = Host(tmp_path, source.real, functions, signature, _STORE + kept)
    split = mapping.split
    inputs = inputs_for(robot, name, LANES, (), dtype)
    tile, uniform = tile_of(source, mapping, inputs), uniforms(source, inputs)
    ordinary = None
    workers = sorted({worker for worker, _ in called})
    orders = [[*begin, *workers[4:]] for begin in itertools.permutations(workers[:4])]
    for order in (*orders, workers[::-1]):
        result = np.full(LANES * sum(s.pitch for s in mapping.outputs if s), np.nan, dtype)
        share, wide = np.full(mapping.share, np.nan, dtype), results_of(source)
        hand = np.full(LANES * max(1, split.num_slots), np.nan, dtype)
        for lane, phase, warp in itertools.product(range(LANES), range(split.phases), order):
            host.function(called[warp, phase])(
                *map(pointer, (tile, uniform)),
                pointers(wide),
                *map(pointer, (result, hand, share)),
                lane,
            )
        got = wide | unstaged(source, mapping, result)
        if ordinary is None:
            ordinary = got
            compare(source, got, inputs, tolerance(robot, name, dtype, inputs))
        for port, value in ordinary.items():
            np.testing.assert_array_equal(got[port], value)


def unstaged(source: Source, mapping: SplitMapping, result: Any) -> dict[str, Any]:
    got = {}
    for port, staged in zip(source.program.outputs, mapping.outputs, strict=True):
        if staged is None:
            continue
        rows = [
            result[staged.offset + lane * staged.pitch :][: staged.size] for lane in range(LANES)
        ]
        got[port.name] = np.stack(rows).reshape(LANES, *port.dims)
    return got
