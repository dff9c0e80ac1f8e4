"""The C++ example runs an artifact by the driver alone, and agrees with the handle."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import grid_core
from grid_backend_cuda.driver import card
from grid_core.assets import asset_path
from tests.cuda.kernels import host_compiler

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).resolve().parents[2]
BATCH = 1009


def example_inputs(place: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    k = np.arange(np.prod(shape))
    return (
        ((place * 1000 + k) * 37 % 201 - 100).astype(dtype) / np.dtype(dtype).type(100)
    ).reshape(shape)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("operation", ["forward_dynamics", "crba"])
def test_it_agrees_with_the_handle(tmp_path: Path, operation: str, dtype: str) -> None:
    """D39: no Python, no toolkit: machine code and its launch record are all that it reads."""
    made = grid_core.build_artifact(
        asset_path("iiwa14"),
        tmp_path / "a",
        backends="cuda",
        dtype=dtype,
        architectures=[card(0).arch],
        algorithm_list=["forward_dynamics", "crba"],
    )
    program = tmp_path / "load_artifact"
    source = ROOT / "examples" / "cuda" / "load_artifact.cpp"
    command = [host_compiler(), "-std=c++17", "-O2", str(source), "-o", str(program), "-ldl"]
    subprocess.run(command, check=True, timeout=300)
    done = subprocess.run(
        [str(program), str(made.directory), operation, str(BATCH)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f".{card(0).arch}.cubin on {card(0).arch}" in done.stderr
    rows = [line.split("=")[1].split() for line in done.stdout.splitlines()]
    robot = made.load()
    inputs = [example_inputs(k, (BATCH, 7), dtype) for k in range(3)]
    expected = (
        robot.forward_dynamics(*inputs)
        if operation == "forward_dynamics"
        else robot.crba(inputs[0])
    )
    np.testing.assert_array_equal(
        np.array(rows, np.float64).astype(dtype), expected.reshape(BATCH, -1)
    )
