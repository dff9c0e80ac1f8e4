"""What is built, what it is identified by, when it is kept, and what a build refuses."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import grid_core
from grid_core.artifact.prepared_header import read_header
from grid_core.errors import ArtifactError, DescriptorMismatch, OptionError, UnknownAlgorithm
from tests.artifact.prepared import ARM, OTHER, build


def test_an_artifact_can_have_every_option_that_a_load_has() -> None:
    ours = inspect.signature(grid_core.build_artifact).parameters
    theirs = inspect.signature(grid_core.load_robot).parameters
    assert set(theirs) - set(ours) == {"backend", "device"}
    for name in set(theirs) & set(ours):
        assert theirs[name].default == ours[name].default, name


def test_the_descriptor_is_validated_and_a_copy(tmp_path: Path) -> None:
    """D38: it is what `describe_model` says; changing it changes nothing."""
    made = build(tmp_path / "a")
    expected = grid_core.describe_model(urdf_string=ARM)
    assert made.model_descriptor == expected
    assert (
        grid_core.descriptor.load_descriptor(tmp_path / "a" / "model_descriptor.json") == expected
    )
    made.model_descriptor["joints"].clear()
    assert made.model_descriptor == expected
    assert made.descriptor_id == expected["descriptor_id"]


def test_the_header_and_the_json_beside_it_are_the_same_data(tmp_path: Path) -> None:
    """D4: both constants of the header against the file that the artifact has beside it."""
    made = build(tmp_path / "a")
    said = read_header((made.directory / "grid.cuh").read_text(encoding="utf-8"))
    beside = grid_core.descriptor.load_descriptor(made.directory / "model_descriptor.json")
    assert said.descriptor_json is not None
    assert grid_core.descriptor.load_descriptor(said.descriptor_json) == beside
    assert said.descriptor_id == beside["descriptor_id"]


def test_the_expected_identity_is_checked_cold_and_reused(tmp_path: Path) -> None:
    """D37: before anything is compiled or written, and of what is there already."""
    own = grid_core.describe_model(urdf_string=ARM)["descriptor_id"]
    other = grid_core.describe_model(urdf_string=OTHER)["descriptor_id"]
    place = tmp_path / "a"
    with pytest.raises(DescriptorMismatch, match=f"{other} is expected"):
        build(place, expected_descriptor_id=other)
    assert not place.exists()
    assert not build(place, expected_descriptor_id=own).reused
    assert build(place, expected_descriptor_id=own).reused
    with pytest.raises(DescriptorMismatch, match=f"{other} is expected"):
        build(place, expected_descriptor_id=other)
    # A reused build is checked like a cold one: what is damaged is built again.
    (place / "grid.cuh").write_text("// nothing")
    assert not build(place, expected_descriptor_id=own).reused
    assert build(place, expected_descriptor_id=own).reused


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "float32"},
        {"algorithm_list": "crba"},
        {"use_joint_dynamics": True},
        {"floating_base": True},
        {"instruction_sets": "x86-64-v3"},
        {"name": "other"},
        {"regressor_terms": "viscous"},
        {"runtime_inertia": True},
        {"runtime_transform": True},
        {"calls": {"forward_dynamics": {"f_ext": True}}},
        {"text": ARM.replace('mass value="1.5"', 'mass value="1.6"')},
        {"text": OTHER},
    ],
    ids=lambda change: next(iter(change)) if "text" not in change else "model",
)
def test_what_changes_the_content_changes_its_identity(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    """Inertias, options, operations and targets, which the descriptor's may not tell."""
    before = build(tmp_path / "a")
    after = build(tmp_path / "a", **change)
    assert not after.reused
    assert after.identity != before.identity
    assert build(tmp_path / "b").identity == before.identity


def test_where_nobody_can_say_what_it_was_built_from_it_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plugin typed at a prompt, say; its artifact's identity is that of the bytes."""
    monkeypatch.setattr("grid_core.artifact.prepared_build.content_identity", lambda *_: None)
    made = [build(tmp_path / "a"), build(tmp_path / "a"), build(tmp_path / "a", OTHER)]
    assert [one.reused for one in made] == [False, False, False]
    assert made[0].identity == made[1].identity != made[2].identity
    assert grid_core.load_artifact(tmp_path / "a").nq == 2


def test_an_artifact_that_is_there_needs_no_right_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path / "a")

    def locked(_place: Path) -> None:
        raise AssertionError("locked")

    monkeypatch.setattr("grid_core.artifact.prepared_build.locked", locked)
    assert build(tmp_path / "a").reused


def test_the_header_has_the_optional_inputs_that_are_prepared(tmp_path: Path) -> None:
    without = build(tmp_path / "a").directory / "grid.cuh"
    given = build(tmp_path / "b", calls={"forward_dynamics": {"f_ext": True}}).directory
    assert "f_ext" not in without.read_text(encoding="utf-8")
    assert "f_ext" in (given / "grid.cuh").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a\ud800b"}, "unpaired surrogate"),
        ({"backends": []}, "backends must name at least one"),
        ({"backends": ["cpu", "cpu"]}, "none twice"),
        ({"backends": "reference"}, "'reference' cannot compile ahead; there are cpu and cuda"),
        ({"instruction_sets": "x86-64-v9"}, "'x86-64-v9' cannot be compiled for .* x86-64-v3"),
        ({"instruction_sets": "native", "backends": "cuda"}, "are the backend cpu's; backends are"),
        ({"architectures": "sm_90"}, "are the backend cuda's; backends are cpu"),
        ({"instruction_sets": 3}, "instruction_sets must be a name or a list of names"),
        ({"calls": ["f_ext"]}, "calls must be a map"),
        ({"calls": {"crba": True}}, "calls must be a map"),
        ({"calls": {"minv": {}}}, "'minv' is not prepared.*name it in algorithm_list"),
        ({"calls": {"forward_dynamics": {"f_ext": 1}}}, "f_ext is an array; say True"),
        ({"calls": {"forward_dynamics": {"f_exte": True}}}, "there is no argument 'f_exte'"),
        ({"expected_descriptor_id": "abc"}, "64 hex digits"),
        ({"dtype": "float16"}, "dtype must be float32 or float64"),
        ({"device": 0}, "device"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_done(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        build(tmp_path / "a", **options)
    assert not list(tmp_path.iterdir())


def test_an_unknown_backend_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownAlgorithm, match="no backend is called 'npu'"):
        build(tmp_path / "a", backends="npu")


@pytest.mark.parametrize("bad", [None, "", 3])
def test_the_folder_must_be_a_folder(bad: Any) -> None:
    with pytest.raises(OptionError, match="directory must be a folder"):
        build(bad)


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (["notes.txt"], "notes.txt"),
        (["artifact.json"], "artifact.json"),
        (["artifact.json", "code/cpu/main.c"], "artifact.json"),
        (["artifact.json", "launch.txt", "grid.cuh"], "artifact.json"),
        (["code/main.c"], "code"),
    ],
)
def test_what_others_put_there_is_never_replaced(
    tmp_path: Path, files: list[str], named: str
) -> None:
    """Names that an artifact has too are not enough: its document says whose it is."""
    place = tmp_path / "a"
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text('{"name": "mine"}')
    with pytest.raises(ArtifactError, match=f"'{named}' is in this folder.* choose an empty"):
        build(place)
    assert {(place / name).read_text() for name in files} == {'{"name": "mine"}'}


@pytest.mark.parametrize("document", ["sound", "damaged"])
def test_notes_among_the_code_are_never_deleted(tmp_path: Path, document: str) -> None:
    place = build(tmp_path / "a").directory
    if document == "damaged":
        data = (place / "artifact.json").read_bytes()
        (place / "artifact.json").write_bytes(data[: len(data) - 9])
        assert not build(place).reused
        (place / "artifact.json").write_bytes(data[: len(data) - 9])
    notes = place / "code" / "cpu" / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(ArtifactError, match=r"'code/cpu/notes\.txt' is in this folder"):
        build(place, OTHER)
    assert notes.read_text() == "mine"
    notes.unlink()
    assert not build(place, OTHER).reused


def test_a_folder_without_locks_is_refused_at_once() -> None:
    """It takes no files at all; a lock would be tried for again and again."""
    with pytest.raises(ArtifactError, match=r"cannot be locked: .*No such file"):
        build(Path("/proc/grid-artifact"))
