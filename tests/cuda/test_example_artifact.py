"""The C++ example reads an artifact and launches what it should; a fake driver listens."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

import grid_core
from tests.artifact.prepared import ARM, know_sources
from tests.cuda.kernels import host_compiler

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "examples" / "cuda" / "load_artifact.cpp"
STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
KEPT: list[Any] = []


@functools.cache
def folder() -> Path:
    kept = tempfile.TemporaryDirectory(prefix="grid-example-")
    KEPT.append(kept)
    return Path(kept.name)


@functools.cache
def program() -> Path:
    path = folder() / "load_artifact"
    command = [host_compiler(), *STRICT, "-O1", str(SOURCE), "-o", str(path), "-ldl"]
    subprocess.run(command, check=True, timeout=300)
    return path


@functools.cache
def fake_driver() -> Path:
    path = folder() / "driver" / "libcuda.so.1"
    path.parent.mkdir()
    source = Path(__file__).parent / "fake_libcuda.cpp"
    command = [host_compiler(), "-shared", "-fPIC", "-w", str(source), "-o", str(path)]
    subprocess.run(command, check=True, timeout=300)
    return path.parent


@functools.cache
def artifact() -> Path:
    know_sources()
    place = folder() / "arm.grid"
    grid_core.build_artifact(
        None,
        place,
        urdf_string=ARM,
        backends="cuda",
        dtype="float64",
        architectures=["sm_80", "sm_90"],
        algorithm_list=["forward_dynamics", "crba"],
    )
    return place


def run(*words: object, code: int = 0, driver: bool = True, **environment: str) -> str:
    path = str(fake_driver()) if driver else ""
    done = subprocess.run(
        [str(program()), *map(str, words)],
        env={**os.environ, "LD_LIBRARY_PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def example_value(place: int, k: int) -> float:
    return ((place * 1000 + k) * 37 % 201 - 100) / 100


def test_it_launches_what_the_record_says() -> None:
    lines = run(artifact(), "forward_dynamics", 300).splitlines()
    record = (artifact() / "launch.txt").read_text().split("operation forward_dynamics")[1]
    code = next(x for x in record.splitlines() if x.startswith("code cuda sm_90 cubin")).split()
    threads, shared, problems, waves = map(int, code[4:8])
    blocks = -(-300 // problems)
    if waves:
        blocks = min(blocks, waves * 2 * 3)
    assert lines[:5] == [
        "image cubin",
        "kernel grid_forward_dynamics",
        f"attribute 8 {shared}",
        f"grid {blocks} 1 1 block {threads} 1 1 shared {shared} stream 0 extra 0",
        "batch 300 aligned 1 gravity -9.81",
    ]
    rows = [list(map(float, line.split("=")[1].split())) for line in lines[5:]]
    assert rows == [[example_value(0, 2 * k), example_value(0, 2 * k + 1)] for k in range(300)]


@pytest.mark.parametrize(
    ("arch", "image"), [("80", "cubin"), ("86", "cubin"), ("90", "cubin"), ("120", "ptx")]
)
def test_it_takes_the_code_that_the_loader_would(arch: str, image: str) -> None:
    assert run(artifact(), FAKE_ARCH=arch).startswith(f"image {image}\n")


@pytest.mark.parametrize(
    ("words", "environment", "message"),
    [
        (["forward_dynamics"], {"FAKE_ARCH": "75"}, "no code for this device"),
        (["minv"], {}, "the artifact has no minv"),
        (["crba", "0"], {}, "BATCH must be an integer of at least 1"),
        (["crba", "5x"], {}, "BATCH must be an integer of at least 1"),
        (["crba", "9" * 30], {}, "BATCH must be an integer of at least 1"),
        (["crba", "many"], {}, "BATCH must be an integer of at least 1"),
        (["forward_dynamics"], {"FAKE_INIT": "100"}, "the driver: CUDA_ERROR_NO_DEVICE"),
        (["forward_dynamics"], {"FAKE_LAUNCH": "1"}, "grid_forward_dynamics: CUDA_ERROR_OTHER"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], environment: dict[str, str], message: str) -> None:
    assert message in run(artifact(), *words, code=1, **environment)


def test_a_record_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    shutil.copytree(artifact(), tmp_path / "a")
    path = tmp_path / "a" / "launch.txt"
    path.write_text(path.read_text().removesuffix("end\n"))
    assert "cut off" in run(tmp_path / "a", code=1)
    path.write_text("grid.launch 1\nend\n")
    assert "not of version 2" in run(tmp_path / "a", code=1)
    path.unlink()
    assert "cannot be read" in run(tmp_path / "a", code=1)
    assert "usage:" in run(code=2)
