"""The kernel of one's own: compiled as it is shown, and run on the host."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.header.headers import compiled, filled, handle, header, pointer, states
from tests.header.test_runtime import FLAGS

FOLDER = Path(__file__).parents[2] / "examples" / "cuda"
ALGORITHMS = ("forward_dynamics", "end_effector_pose")


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_fused_agrees_with_the_host_entries(robot: str) -> None:
    """A2, A5, K8: thread-scope functions in a kernel of one's own give what the entries give."""
    source = (FOLDER / "fused.cu").read_text(encoding="utf-8")
    start, end = source.index("fused_cost<<<"), source.index(">>>(d_cost")
    blocks, threads = source[start + len("fused_cost<<<") : end].rsplit(", ", 1)
    source = f"{source[:start]}fake::launch(fused_cost, {blocks}, {threads}){source[end + 3 :]}"
    text = header(robot, "float32", algorithm_list=ALGORITHMS)
    # Fewer problems: a thread of the host is no thread of a GPU.
    source = source.replace("problems = 1000, threads = 128", "problems = 40, threads = 32")
    program = compiled(text, source, shared=False, flags=(*FLAGS, "-Wno-unused-variable"))
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 problems, worst relative difference" in done.stdout


def test_the_page_compiles() -> None:
    """The function that docs/header.md shows is one."""
    page = (FOLDER.parents[1] / "docs" / "header.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    text = header("go2", "float32", algorithm_list=ALGORITHMS)
    made, given = handle("go2"), states("go2", 3)
    lib = ctypes.CDLL(str(compiled(text, shown, flags=FLAGS)))
    blocks, qdd = filled("go2", given, "u").astype(np.float32), np.zeros((3, made.nv), np.float32)
    lib._Z13accelerationsPKfPfi(pointer(blocks), pointer(qdd), 3)
    expected = made.forward_dynamics(given["q"], given["qd"], given["u"])
    np.testing.assert_allclose(qdd, expected, rtol=1e-2, atol=1e-2 * np.abs(expected).max())


def test_python_twin_compiles_without_a_gpu() -> None:
    pytest.importorskip("cuda.core")
    command = [sys.executable, FOLDER / "fused.py", "go2", "--floating", "--compile-only", "sm_90"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("go2: ")
