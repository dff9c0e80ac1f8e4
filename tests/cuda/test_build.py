"""Builds: packed, kept by a key that knows what they depend on, made again when damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from grid_backend_cuda import build as module
from grid_backend_cuda.build import Build, build_operation
from grid_core.artifact import BuildStore
from tests.cuda.kernels import built
from tests.program.operations import made_up, operation, pendulum

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count compilations, and know the sources in spite of edits while the tests run."""
    done: list[str] = []
    compile_cubin = module.compile_cubin

    def counted(text: str, kernel: str, arch: str) -> Any:
        done.append(arch)
        return compile_cubin(text, kernel, arch)

    monkeypatch.setattr(module, "compile_cubin", counted)
    monkeypatch.setattr(module, "source_digest", lambda unit: f"digest of {unit}")
    monkeypatch.setattr("grid_core.artifact.identity.source_digest", lambda unit: f"of {unit}")
    return done


def an_operation(**changes: Any) -> Any:
    return evolve(operation(pendulum(), "inverse_dynamics", dtype="float32"), **changes)


def test_a_build_comes_back_as_it_was_packed() -> None:
    made = built("iiwa14", "inverse_dynamics")
    again = Build.unpack(made.pack())
    assert again == made
    assert isinstance(again.inputs, tuple)
    assert again.code == made.code
    assert again.uniform == ("gravity",)


def test_code_may_hold_line_ends() -> None:
    made = evolve(built("iiwa14", "inverse_dynamics"), code=b"\n\x00\n{}\n")
    assert Build.unpack(made.pack()) == made


def test_a_warm_load_compiles_and_traces_nothing(
    tmp_path: Path, count: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build_operation(an_operation(), "sm_90", tmp_path)
    assert count == ["sm_90"]

    def never(*_: Any) -> Any:
        raise AssertionError("traced")

    monkeypatch.setattr(module, "trace", never)
    assert build_operation(an_operation(), "sm_90", tmp_path) == first
    assert count == ["sm_90"]


def test_without_a_folder_nothing_is_kept(count: list[str]) -> None:
    for _ in range(2):
        build_operation(an_operation(), "sm_90", None)
    assert count == ["sm_90", "sm_90"]


def test_another_target_is_another_build(
    tmp_path: Path, count: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for arch in ("sm_90", "sm_80", "sm_90"):
        assert build_operation(an_operation(), arch, tmp_path).arch == arch
    assert count == ["sm_90", "sm_80"]
    monkeypatch.setattr(module, "compiler_version", lambda: "13.9")
    build_operation(an_operation(), "sm_90", tmp_path)
    assert len(count) == 3
    build_operation(an_operation(dtype=operation(pendulum(), "crba").dtype), "sm_90", tmp_path)
    assert len(count) == 4


def test_another_text_of_a_template_is_another_build(tmp_path: Path, count: list[str]) -> None:
    folder = tmp_path / "plugin"
    folder.mkdir()
    own, beside = folder / "own.cu.j2", folder / "part.cu.j2"
    own.write_text('{% extends "kernel.cu.j2" %}', encoding="utf-8")
    algorithm = evolve(made_up(lambda ctx: {"y": ctx["q"][:1]}), template=str(own))
    made = operation(pendulum(), algorithm, dtype="float32")
    for _ in range(2):
        build_operation(made, "sm_90", tmp_path)
    assert len(count) == 1
    own.write_text('{% extends "kernel.cu.j2" %} ', encoding="utf-8")
    build_operation(made, "sm_90", tmp_path)
    assert len(count) == 2
    beside.write_text("// included by the other, for all that is known", encoding="utf-8")
    build_operation(made, "sm_90", tmp_path)
    assert len(count) == 3


def test_what_is_kept_says_what_it_is(tmp_path: Path, count: list[str]) -> None:
    build_operation(an_operation(), "sm_90", tmp_path)
    (entry,) = BuildStore(tmp_path).entries()
    assert entry.what["backend"] == "cuda"
    assert entry.what["arch"] == "sm_90"
    assert entry.what["robot"] == "pendulum"
    assert entry.what["nvrtc"].startswith("13.")
    assert len(count) == 1


def test_a_damaged_build_is_made_again(tmp_path: Path, count: list[str]) -> None:
    first = build_operation(an_operation(), "sm_90", tmp_path)
    (entry,) = BuildStore(tmp_path).entries()
    data = bytearray(entry.path.read_bytes())
    data[-1] ^= 1
    entry.path.write_bytes(bytes(data))
    assert build_operation(an_operation(), "sm_90", tmp_path) == first
    assert len(count) == 2
    assert build_operation(an_operation(), "sm_90", tmp_path) == first
    assert len(count) == 2
