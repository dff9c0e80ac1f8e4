"""Artifacts whose hashes are all right and which contradict themselves all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import grid_core
from grid_core.descriptor import compute_descriptor_id, to_json
from grid_core.errors import (
    ArtifactCorrupt,
    ArtifactIncompatible,
    ArtifactOutdated,
    DescriptorError,
    DescriptorMismatch,
)
from tests.artifact.prepared import ARM, OTHER, alter_manifest, copy_of, replace_file, small

DESCRIPTOR = "model_descriptor.json"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return copy_of(small(), tmp_path)


def descriptor_bytes(descriptor: dict[str, Any]) -> bytes:
    return f"{to_json(descriptor)}\n".encode()


def test_the_forgers_tools_change_nothing_by_themselves(place: Path) -> None:
    replace_file(place, DESCRIPTOR, (place / DESCRIPTOR).read_bytes())
    assert grid_core.load_artifact(place).nq == 2


def test_a_forger_of_everything_is_not_found_out(place: Path) -> None:
    """D40: other code with right hashes loads and computes something else; the docs say so."""
    before = grid_core.load_artifact(place).crba([0.1, 0.2])
    other = small(ARM.replace('mass value="1.5"', 'mass value="9.5"'))
    for path in (other / "code" / "cpu").iterdir():
        replace_file(place, f"code/cpu/{path.name}", path.read_bytes())
    assert (grid_core.load_artifact(place).crba([0.1, 0.2]) != before).any()
    page = (Path(__file__).parents[2] / "docs" / "artifacts.md").read_text(encoding="utf-8")
    assert "checks of consistency, not of authenticity" in " ".join(page.split())


def test_another_robots_descriptor_is_refused(place: Path) -> None:
    """D39: the descriptor is the one that the artifact was built for."""
    other = grid_core.describe_model(urdf_string=OTHER)
    replace_file(place, DESCRIPTOR, descriptor_bytes(other))
    with pytest.raises(DescriptorMismatch, match="a descriptor cannot be exchanged") as caught:
        grid_core.load_artifact(place)
    assert caught.value.found == other["descriptor_id"]


def test_a_descriptor_exchanged_everywhere_but_in_the_header_is_refused(place: Path) -> None:
    """D39: the header is of the descriptor beside it."""
    other = grid_core.describe_model(urdf_string=OTHER)
    replace_file(place, DESCRIPTOR, descriptor_bytes(other))
    alter_manifest(place, lambda m: m.update(descriptor_id=other["descriptor_id"]))
    with pytest.raises(DescriptorMismatch, match="of the descriptor") as caught:
        grid_core.load_artifact(place)
    assert caught.value.file == "grid.cuh"


def test_another_robots_header_is_refused(place: Path) -> None:
    """D39: the header's own tables are compared, not its hash alone."""
    replace_file(place, "grid.cuh", grid_core.generate_header(urdf_string=OTHER).encode())
    with pytest.raises(DescriptorMismatch) as caught:
        grid_core.load_artifact(place)
    assert caught.value.file == "grid.cuh"


@pytest.mark.parametrize("which", ["descriptor_id", "descriptor_json"])
def test_a_header_whose_id_and_json_differ_is_refused(place: Path, which: str) -> None:
    """D39: both of the header's constants are checked."""
    ours = (place / "grid.cuh").read_text(encoding="utf-8")
    own = grid_core.describe_model(urdf_string=ARM)["descriptor_id"]
    if which == "descriptor_id":
        start = ours.index(own, ours.index("descriptor_id["))
        changed = ours[:start] + "0" * 64 + ours[start + 64 :]
    else:
        changed = ours.replace("shoulder", "sholder!")
    assert changed != ours
    replace_file(place, "grid.cuh", changed.encode())
    with pytest.raises((DescriptorMismatch, DescriptorError), match=r"grid\.cuh"):
        grid_core.load_artifact(place)


@pytest.mark.parametrize("text", ["", "#pragma once\n", "int descriptor_id = 3;\n", "\0\xff"])
def test_a_header_without_a_descriptor_is_refused(place: Path, text: str) -> None:
    """D39: a header must say whose it is."""
    replace_file(place, "grid.cuh", text.encode("latin-1"))
    with pytest.raises(ArtifactCorrupt, match="descriptor_id and descriptor_json once each"):
        grid_core.load_artifact(place)


def test_an_invalid_descriptor_is_refused_though_it_was_rehashed(place: Path) -> None:
    """D39: the descriptor is validated, not only hashed."""
    broken = json.loads((place / DESCRIPTOR).read_bytes())
    broken["joints"][1]["q_start"] = 0
    del broken["descriptor_id"]
    broken = {"descriptor_id": compute_descriptor_id(broken), **broken}
    replace_file(place, DESCRIPTOR, descriptor_bytes(broken))
    alter_manifest(place, lambda m: m.update(descriptor_id=broken["descriptor_id"]))
    with pytest.raises(DescriptorError, match=DESCRIPTOR) as caught:
        grid_core.load_artifact(place)
    assert caught.value.invariant == "ownership"


def test_the_expected_identity_is_checked_at_load() -> None:
    """D39: a caller names the descriptor that it was written for."""
    own = grid_core.describe_model(urdf_string=ARM)["descriptor_id"]
    other = grid_core.describe_model(urdf_string=OTHER)["descriptor_id"]
    assert grid_core.load_artifact(small(), expected_descriptor_id=own).nq == 2
    with pytest.raises(DescriptorMismatch, match=f"{own}, and {other} is expected") as caught:
        grid_core.load_artifact(small(), expected_descriptor_id=other)
    assert (caught.value.expected, caught.value.found) == (other, own)


@pytest.mark.parametrize("bad", ["", "abc", "A" * 64, 7, b"a" * 64])
def test_an_identity_that_is_none_is_an_option_at_fault(bad: object) -> None:
    with pytest.raises(grid_core.errors.OptionError, match="64 hex digits"):
        grid_core.load_artifact(small(), expected_descriptor_id=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [1, 0, "2", None, True, 2.5])
def test_an_older_schema_is_refused_with_the_cure(place: Path, version: object) -> None:
    """D41: built before descriptors belonged to artifacts: build it again."""
    alter_manifest(place, lambda m: m.update(schema_version=version))
    with pytest.raises(ArtifactOutdated, match="rebuild it from the robot's description"):
        grid_core.load_artifact(place)


def test_an_artifact_of_schema_1_without_a_descriptor_is_refused(tmp_path: Path) -> None:
    """D41: nothing but the schema is asked of it; its files are not even listed."""
    place = tmp_path / "old"
    place.mkdir()
    (place / "artifact.json").write_text('{"format": "grid.artifact", "schema_version": 1}')
    (place / "kernel.cubin").write_bytes(b"old")
    with pytest.raises(ArtifactOutdated, match=r"schema version 1, .* reads version 2"):
        grid_core.load_artifact(place)


def test_a_newer_schema_is_refused(place: Path) -> None:
    alter_manifest(place, lambda m: m.update(schema_version=3))
    with pytest.raises(ArtifactOutdated, match="newer Grid"):
        grid_core.load_artifact(place)


@pytest.mark.parametrize("missing", ["descriptor_id", "content_id", "files", "operations", "model"])
def test_schema_2_needs_every_part(place: Path, missing: str) -> None:
    """D41: the association with a descriptor above all."""
    alter_manifest(place, lambda m: m.pop(missing))
    with pytest.raises(ArtifactCorrupt, match=f"{missing}: missing"):
        grid_core.load_artifact(place)


@pytest.mark.parametrize("missing", ["model_descriptor.json", "grid.cuh", "launch.txt"])
def test_the_descriptor_and_the_header_must_be_listed(place: Path, missing: str) -> None:
    """D41: an artifact that lists neither is none."""
    (place / missing).unlink()
    alter_manifest(place, lambda m: m["files"].pop(missing))
    with pytest.raises(ArtifactCorrupt, match=f"{missing} is not listed"):
        grid_core.load_artifact(place)


@pytest.mark.parametrize(
    "path",
    [
        "../outside",
        "/etc/hostname",
        "code/../../outside",
        "code//x",
        "./x",
        "code/cpu/",
        "a\\b",
        "a\0b",
        "",
        "ä",
        "CODE/cpu/crba.x86-64-v3.o",
    ],
)
def test_paths_that_lead_elsewhere_are_refused(place: Path, path: str) -> None:
    (place.parent / "outside").write_bytes(b"secret")

    def change(manifest: dict[str, Any]) -> None:
        manifest["files"][path] = {"sha256": "0" * 64, "size": 6}

    alter_manifest(place, change)
    with pytest.raises(ArtifactCorrupt, match="files"):
        grid_core.load_artifact(place)


def test_code_of_a_file_that_is_not_listed_is_refused(place: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["operations"][0]["variants"][0]["codes"][0]["file"] = "code/other.o"

    alter_manifest(place, change)
    with pytest.raises(ArtifactCorrupt, match="not among the files"):
        grid_core.load_artifact(place)


def test_a_launch_record_that_says_something_else_is_refused(place: Path) -> None:
    replace_file(place, "launch.txt", b"grid.launch 2\nend\n")
    with pytest.raises(ArtifactCorrupt, match=r"launch\.txt: does not say what artifact\.json"):
        grid_core.load_artifact(place)


@pytest.mark.parametrize("part", ["bodies", "joints"])
def test_a_model_of_another_size_is_refused(place: Path, part: str) -> None:
    alter_manifest(place, lambda m: m["model"][part].pop())
    with pytest.raises(ArtifactCorrupt, match="not of one robot"):
        grid_core.load_artifact(place)


def test_code_of_another_version_is_refused(place: Path) -> None:
    alter_manifest(place, lambda m: m["backends"]["cpu"].update(abi=99))
    with pytest.raises(ArtifactIncompatible, match=r"version 99, .* loads version 2"):
        grid_core.load_artifact(place)


def test_options_of_another_grid_are_refused(place: Path) -> None:
    alter_manifest(place, lambda m: m["options"].update(contacts=True))
    with pytest.raises(ArtifactIncompatible, match="options that this Grid does not have"):
        grid_core.load_artifact(place)


def needs(manifest: dict[str, Any], words: str) -> None:
    for target in manifest["backends"]["cpu"]["targets"].values():
        target["needs"] = words


def test_instruction_sets_that_the_processor_lacks_are_named(place: Path) -> None:
    alter_manifest(place, lambda m: needs(m, "fma quantum"))
    with pytest.raises(ArtifactIncompatible, match="x86-64-v3 needs quantum") as caught:
        grid_core.load_artifact(place, backend="cpu")
    assert "instruction_sets='native'" in str(caught.value)
    with pytest.raises(ArtifactIncompatible, match="none of its backends can run here: cpu: "):
        grid_core.load_artifact(place)


def test_the_widest_instruction_set_that_there_is_runs(place: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["backends"]["cpu"]["targets"]["x86-64-v4"]["needs"] = "quantum"

    alter_manifest(place, change)
    handle: Any = grid_core.load_artifact(place)
    assert handle.target == "x86-64-v3"


def test_another_systems_code_is_refused(place: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        for target in manifest["backends"]["cpu"]["targets"].values():
            target["triple"] = "aarch64-unknown-linux-gnu"

    alter_manifest(place, change)
    with pytest.raises(ArtifactIncompatible, match="is for aarch64-unknown-linux-gnu"):
        grid_core.load_artifact(place)


def test_arrays_of_other_widths_than_the_code_has_are_refused(place: Path) -> None:
    """Reading and writing past an array's end would be the other possibility."""

    def change(manifest: dict[str, Any]) -> None:
        (crba,) = (o for o in manifest["operations"] if o["name"] == "crba")
        crba["outputs"][0]["shape"] = ["nv", 1]

    alter_manifest(place, change)
    handle = grid_core.load_artifact(place)
    with pytest.raises(grid_core.errors.BackendError, match="not those that its code takes"):
        handle.crba([0.0, 0.0])
    assert handle.forward_dynamics([0, 0], [0, 0], [0, 0]).shape == (2,)


def test_a_backend_that_was_not_prepared_is_named() -> None:
    with pytest.raises(ArtifactIncompatible, match="no code for the backend 'cuda', only for cpu"):
        grid_core.load_artifact(small(), backend="cuda")


def test_object_code_that_does_not_link_is_an_error_of_the_backend(place: Path) -> None:
    for path in (place / "code" / "cpu").glob("*.o"):
        replace_file(place, f"code/cpu/{path.name}", b"no object file")
    handle = grid_core.load_artifact(place)
    with pytest.raises(grid_core.errors.BackendError, match="cannot be linked"):
        handle.crba([0.0, 0.0])


def test_the_same_document_in_other_words_is_refused(place: Path) -> None:
    """One form only: an escape, a blank or another order of keys is an altered byte."""
    path = place / "artifact.json"
    data = json.loads(path.read_bytes())
    for text in (
        json.dumps(data),
        json.dumps(data, indent=1, sort_keys=True, ensure_ascii=True) + "\n\n",
        path.read_text().replace('"arm"', '"\\u0061rm"', 1),
    ):
        path.write_text(text)
        with pytest.raises(ArtifactCorrupt, match="not those that were written"):
            grid_core.load_artifact(place)


def test_a_key_given_twice_is_refused(place: Path) -> None:
    path = place / "artifact.json"
    path.write_text(path.read_text().replace('"name": "arm"', '"name": "x", "name": "arm"', 1))
    with pytest.raises(ArtifactCorrupt, match="twice"):
        grid_core.load_artifact(place)
