"""Rows in memory become lanes and back: every width of port, every width of vector."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.cpu.kernels import LANES, Compiled, baseline
from tests.program.expressions import program_of

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Lanes
    from grid_core.program.program import Program

GROUPS = [tuple(range(start, start + 5)) for start in range(1, 41, 5)]


def shuffled(sizes: tuple[int, ...]) -> Program:
    """Copy every port with its columns reversed, one output as wide as all of them."""

    def function(**ports: Any) -> dict[str, Any]:
        outputs = {f"{name}_back": port[::-1] for name, port in ports.items()}
        outputs["all"] = np.concatenate(list(ports.values()))
        return outputs

    dims: dict[str, Any] = {f"p{size}": (size,) for size in sizes}
    return program_of(function, **dims)


@pytest.mark.parametrize("lanes", LANES, ids=str)
@pytest.mark.parametrize("sizes", GROUPS, ids=str)
def test_copies(sizes: tuple[int, ...], lanes: Lanes) -> None:
    kernel, w = Compiled(shuffled(sizes), lanes), lanes.width
    rng = np.random.default_rng(0)
    for batch in (0, 1, 2, w - 1, w, w + 1, 2 * w, 3 * w + 1):
        ports = {f"p{s}": rng.normal(size=(batch, s)).astype(lanes.dtype) for s in sizes}
        got = kernel(batch, ports)
        for name, port in ports.items():
            np.testing.assert_array_equal(got[f"{name}_back"], port[:, ::-1])
        np.testing.assert_array_equal(got["all"], np.concatenate(list(ports.values()), axis=1))


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_ports_of_every_rank(lanes: Lanes) -> None:
    """One scalar, one entry, a matrix, nothing at all, and one value for the whole batch."""
    program = program_of(
        lambda s, v, M, none, k: {
            "s": s + k,
            "v": [v[0] * k],
            "M": np.array([[M[1, 0], 7.0], [s, M[0, 1]]]),
            "none": none,
            "k": [[k]],
        },
        uniform=("k",),
        s=(),
        v=(1,),
        M=(2, 2),
        none=(0, 3),
        k=(),
    )
    kernel, rng = Compiled(program, lanes), np.random.default_rng(1)
    for batch in (0, 1, lanes.width + 1):
        inputs = {
            "s": rng.normal(size=batch),
            "v": rng.normal(size=(batch, 1)),
            "M": rng.normal(size=(batch, 2, 2)),
            "none": np.zeros((batch, 0, 3)),
            "k": 2.5,
        }
        got, expected = kernel(batch, inputs), kernel.expected(inputs)
        for name, value in expected.items():
            assert got[name].shape == value.shape
            np.testing.assert_allclose(got[name], value, rtol=4 * float(np.finfo(lanes.dtype).eps))


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_a_program_without_batched_inputs_or_instructions(lanes: Lanes) -> None:
    program = program_of(lambda k: {"y": [1.5, k], "nothing": []}, uniform=("k",), k=())
    for batch in (0, 1, lanes.width, 33):
        got = Compiled(program, lanes)(batch, {"k": -2.0})
        np.testing.assert_array_equal(got["y"], np.tile([1.5, -2.0], (batch, 1)))
        assert got["nothing"].shape == (batch, 0)


@pytest.mark.parametrize("level", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_baseline_processors(level: int, dtype: str) -> None:
    """Code without AVX-512, and without AVX, FMA and masked moves, gives the same."""
    machine = baseline(level)
    kernel = Compiled(shuffled((1, 2, 3, 5, 9)), machine.lanes(dtype), machine)
    rng = np.random.default_rng(2)
    ports = {f"p{s}": rng.normal(size=(35, s)).astype(dtype) for s in (1, 2, 3, 5, 9)}
    got = kernel(35, ports)
    np.testing.assert_array_equal(got["all"], np.concatenate(list(ports.values()), axis=1))


def test_nothing_outside_the_arrays_is_touched() -> None:
    """In a process of its own, with unreadable pages on both sides of every array."""
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.cpu.guarded"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    last = result.stdout.strip().splitlines()[-1:]
    assert result.returncode == 0, f"after {last}: {result.stderr[-2000:]}"
    assert last == ["done"]
