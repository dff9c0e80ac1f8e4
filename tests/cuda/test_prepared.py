"""Cubins and PTX built without a GPU, and all that a launch of them must know."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import grid_core
from grid_backend_cuda import driver
from grid_backend_cuda.build import compile_source, kernel_source
from grid_backend_cuda.launch import Launcher
from grid_backend_cuda.plugin import CudaBackend
from grid_backend_cuda.prepared import launch_of, prepare, targets
from grid_backend_cuda.prepared_loading import build_of, choose_arch, load, usable_target
from grid_core.artifact.prepared_check import read_prepared
from grid_core.backend import BuildSettings
from grid_core.errors import ArtifactIncompatible, BackendError, BackendUnavailable, OptionError
from tests.artifact.prepared import ARM, know_sources
from tests.cuda.kernels import model
from tests.program.operations import operation

if TYPE_CHECKING:
    from grid_core.backend import PreparedCode

ARCHS = ("sm_80", "sm_90", "sm_120")
SETTINGS = BuildSettings(cache_dir=None, num_threads=1)


@functools.cache
def prepared(name: str = "forward_dynamics", dtype: str = "float32") -> tuple[PreparedCode, ...]:
    asked = operation(model("iiwa14"), name, (), dtype=dtype)
    return tuple(prepare(asked, targets(ARCHS), SETTINGS))


def test_each_architecture_has_machine_code_and_ptx() -> None:
    assert [(code.target, code.suffix) for code in prepared()] == [
        (arch, suffix) for arch in ARCHS for suffix in ("cubin", "ptx")
    ]
    for code in prepared():
        if code.suffix == "cubin":
            assert code.data.startswith(b"\x7fELF")
        else:
            assert f".target {code.target}".encode() in code.data
            assert b".entry grid_forward_dynamics" in code.data
            assert not code.data.endswith(b"\0")


@pytest.mark.parametrize("name", ["forward_dynamics", "crba"])
def test_the_record_says_all_that_a_build_does(name: str) -> None:
    """Read back, it is the build that a GPU would get, with the same machine code."""
    asked = operation(model("iiwa14"), name, (), dtype="float32")
    direct = compile_source(kernel_source(asked, "sm_90"), "sm_90")
    code = next(c for c in prepared(name) if (c.target, c.suffix) == ("sm_90", "cubin"))
    assert build_of(code.launch, code.data) == direct
    assert launch_of(direct, asked) == code.launch
    assert code.launch["registers"] > 0


def test_the_arguments_are_in_the_kernels_order() -> None:
    code = prepared()[0]
    names = [name for name, *_ in code.launch["arguments"]]
    assert names[:2] == ["batch", "aligned"]
    assert names[2:] == [*code.launch["inputs"], *code.launch["outputs"]]
    assert ["gravity", "uniform", "-9.81"] in code.launch["arguments"]
    assert ["qdd", "output", "7"] in code.launch["arguments"]


@pytest.mark.parametrize(
    ("arch", "available", "chosen"),
    [
        ("sm_80", ARCHS, "sm_80"),
        ("sm_86", ARCHS, "sm_80"),
        ("sm_89", ("sm_80", "sm_86"), "sm_86"),
        ("sm_90", ARCHS, "sm_90"),
        ("sm_90", ("sm_80",), "sm_80"),
        ("sm_100", ARCHS, "sm_90"),
        ("sm_103", ("sm_90", "sm_100"), "sm_100"),
        ("sm_120", ARCHS, "sm_120"),
        ("sm_121", ARCHS, "sm_120"),
        ("sm_130", ARCHS, "sm_120"),
        ("sm_75", ARCHS, None),
        ("sm_80", ("sm_86", "sm_90"), None),
        ("sm_90", ("sm_90a",), "sm_90a"),
        ("sm_100", ("sm_90a",), None),
        ("sm_100", ("sm_90a", "sm_80"), "sm_80"),
    ],
)
def test_the_architecture_for_a_device(
    arch: str, available: tuple[str, ...], chosen: str | None
) -> None:
    """Machine code within a generation, PTX from older ones, nothing from newer ones."""
    assert choose_arch(available, arch) == chosen
    assert choose_arch(reversed(available), arch) == chosen


def test_an_architecture_that_is_none_is_named() -> None:
    with pytest.raises(BackendError, match="'gfx90' names no architecture"):
        choose_arch(["gfx90"], "sm_90")
    with pytest.raises(OptionError, match="there is no architecture 'sm_91'"):
        targets(["sm_91"])
    with pytest.raises(OptionError, match="there is no architecture 'sm_70'"):
        CudaBackend().prepared_targets(["sm_70"])


def card_of(arch: str) -> driver.Card:
    return driver.Card(0, "a card", arch, 1, 1 << 17, None)


@pytest.mark.parametrize(
    ("arch", "target", "begins"),
    [("sm_90", "sm_90", b"\x7fELF"), ("sm_86", "sm_80", b"\x7fELF"), ("sm_100", "sm_90", b"//")],
)
def test_what_the_driver_is_given(
    monkeypatch: pytest.MonkeyPatch, arch: str, target: str, begins: bytes
) -> None:
    """Machine code of the device's generation, else PTX, which ends in a NUL for the driver."""
    given: list[Any] = []

    def init(self: Launcher, build: Any, on: Any, ptx: Any, inputs: Any) -> None:
        del self
        assert inputs == ["q", "qd", "u", "gravity"]
        given.append((build, on.arch, ptx()))

    monkeypatch.setattr(Launcher, "__init__", init)
    monkeypatch.setattr("grid_backend_cuda.prepared_loading.driver", lambda: None)
    monkeypatch.setattr("grid_backend_cuda.prepared_loading.card", lambda _: card_of(arch))
    depends = targets(ARCHS)
    assert usable_target(depends, SETTINGS) == target
    codes = [code for code in prepared() if code.target == target]
    asked = operation(model("iiwa14"), "forward_dynamics", (), dtype="float32")
    load(asked, codes, target, SETTINGS)
    ((build, on, ptx),) = given
    assert on == arch
    assert build.code.startswith(begins)
    assert build.code.startswith(b"\x7fELF") or build.code == ptx + b"\0"
    assert build.kernel == "grid_forward_dynamics"
    monkeypatch.setattr("grid_backend_cuda.prepared_loading.card", lambda _: card_of("sm_75"))
    with pytest.raises(BackendError, match="is sm_75, and there is code for"):
        usable_target(depends, SETTINGS)


@functools.cache
def artifact() -> Path:
    know_sources()
    folder = tempfile.TemporaryDirectory(prefix="grid-artifact-")
    KEPT.append(folder)
    place = Path(folder.name) / "arm"
    grid_core.build_artifact(
        None, place, urdf_string=ARM, algorithm_list="crba", architectures=["sm_80", "sm_90"],
        calls={}, instruction_sets="x86-64-v3",
    )  # fmt: skip
    return place


KEPT: list[Any] = []


def test_arrays_of_other_widths_than_the_kernel_has_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grid_backend_cuda.prepared_loading.card", lambda _: card_of("sm_90"))
    asked = operation(model("go2"), "forward_dynamics", (), dtype="float32")
    codes = [code for code in prepared() if code.target == "sm_90"]
    with pytest.raises(BackendError, match="not those that its kernel takes"):
        load(asked, codes, "sm_90", SETTINGS)


def test_an_artifact_for_both_backends_loads_on_what_there_is() -> None:
    """It was built on a machine without a GPU; there, the CPU's half of it runs."""
    robot = grid_core.load_artifact(artifact())
    assert robot.backend in ("cpu", "cuda")
    manifest = read_prepared(artifact()).manifest
    assert {name: tuple(b.targets) for name, b in manifest.backends.items()} == {
        "cpu": ("x86-64-v3",),
        "cuda": ("sm_80", "sm_90"),
    }
    assert sorted(p for p in manifest.files if p.startswith("code/cuda")) == [
        f"code/cuda/crba.{arch}.{suffix}"
        for arch in ("sm_80", "sm_90")
        for suffix in ("cubin", "ptx")
    ]


def test_without_a_driver_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise OSError("libcuda.so.1: gone")

    monkeypatch.setattr(driver, "_driver_library", absent)
    driver.driver.cache_clear()
    with pytest.raises(BackendUnavailable, match="no NVIDIA driver was found"):
        grid_core.load_artifact(artifact(), backend="cuda")
    assert grid_core.load_artifact(artifact()).backend == "cpu"
    driver.driver.cache_clear()


def test_a_load_does_not_ask_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> Any:
        raise AssertionError("NVRTC was asked for")

    monkeypatch.setattr(driver, "compiler_version", asked)
    monkeypatch.setattr(driver, "_driver_fault", lambda: None)
    assert driver.driver_missing() is None


def test_a_build_without_the_compiler_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> Any:
        raise BackendUnavailable("the compiler NVRTC was not found (X); pip install 'y'")

    monkeypatch.setattr("grid_backend_cuda.compiler._nvrtc", absent)
    with pytest.raises(BackendUnavailable, match="NVRTC was not found"):
        grid_core.build_artifact(None, tmp_path / "a", urdf_string=ARM, algorithm_list="crba")
    assert not list(tmp_path.iterdir())


def test_the_launch_record_for_programs_without_json() -> None:
    lines = (artifact() / "launch.txt").read_text().splitlines()
    own = grid_core.describe_model(urdf_string=ARM)["descriptor_id"]
    assert lines[0] == "grid.launch 2"
    assert lines[1] == f"descriptor_id {own}"
    assert lines[3:9] == [
        "dtype float32",
        "operation crba 0 -",
        "kernel grid_crba",
        "argument batch int64 -",
        "argument aligned int32 -",
        "argument q input 2",
    ]
    codes = [line.split() for line in lines if line.startswith("code ")]
    assert [words[1:4] for words in codes] == [
        ["cuda", arch, suffix] for arch in ("sm_80", "sm_90") for suffix in ("cubin", "ptx")
    ]
    manifest = read_prepared(artifact()).manifest
    launch = next(c.launch for c in manifest.operations[0].variants[0].codes if c.backend == "cuda")
    numbers = ("block_threads", "shared_bytes", "block_problems", "waves", "registers")
    assert codes[0][4:9] == [str(launch[name]) for name in numbers]
    assert all((artifact() / words[9]).is_file() for words in codes)
    assert lines[-1] == "end"


def test_an_artifact_of_one_backend_cannot_be_loaded_on_another(tmp_path: Path) -> None:
    know_sources()
    grid_core.build_artifact(
        None, tmp_path / "a", urdf_string=ARM, algorithm_list="crba", backends="cuda",
        architectures="sm_90",
    )  # fmt: skip
    with pytest.raises(ArtifactIncompatible, match="no code for the backend 'cpu', only for cuda"):
        grid_core.load_artifact(tmp_path / "a", backend="cpu")
