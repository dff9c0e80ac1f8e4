"""No byte of an artifact can change, come or go without the load saying which file it was."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

import grid_core
from grid_core.artifact.prepared_check import read_prepared
from grid_core.errors import ArtifactCorrupt, ArtifactError, ArtifactMissing
from tests.artifact.prepared import copy_of, small

if TYPE_CHECKING:
    from pathlib import Path

FILES = [
    "artifact.json",
    "code/cpu/crba.x86-64-v3.o",
    "code/cpu/crba.x86-64-v4.o",
    "code/cpu/forward_dynamics.x86-64-v3.o",
    "code/cpu/forward_dynamics.x86-64-v4.o",
    "grid.cuh",
    "launch.txt",
    "model_descriptor.json",
]
ALL_BELOW = 200
"""Of a file of fewer bytes each is altered, of others this many."""


def test_the_artifact_has_the_files_that_it_should() -> None:
    found = [path for path in small().rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(small())) for path in found) == FILES


@pytest.mark.parametrize("name", FILES)
def test_an_altered_byte_is_found(tmp_path: Path, name: str) -> None:
    """D39: each byte, its ends included, with each of its bits turned or another value."""
    place = copy_of(small(), tmp_path)
    path = place / name
    sound = path.read_bytes()
    rng = np.random.default_rng()
    offsets = range(len(sound))
    if len(sound) > ALL_BELOW:
        inner = rng.choice(len(sound) - 16, ALL_BELOW - 16, replace=False) + 8
        offsets = [*range(8), *sorted(inner.tolist()), *range(len(sound) - 8, len(sound))]
    handle = os.open(path, os.O_RDWR)
    for offset in offsets:
        other = int(rng.integers(1, 256)) if rng.random() < 0.5 else 1 << int(rng.integers(8))
        os.pwrite(handle, bytes([sound[offset] ^ other]), offset)
        with pytest.raises(ArtifactError) as caught:
            read_prepared(place)
        os.pwrite(handle, sound[offset : offset + 1], offset)
        if name != "artifact.json":
            assert isinstance(caught.value, ArtifactCorrupt)
            assert caught.value.file == name
    os.close(handle)
    assert read_prepared(place).manifest.descriptor_id


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", ["shorter", "longer", "empty", "missing"])
def test_a_file_of_another_length_is_found(tmp_path: Path, name: str, change: str) -> None:
    """D39: cut off, appended to, emptied, deleted."""
    place = copy_of(small(), tmp_path)
    path = place / name
    data = path.read_bytes()
    if change == "missing":
        path.unlink()
    else:
        path.write_bytes({"shorter": data[:-1], "longer": data + b"\n", "empty": b""}[change])
    with pytest.raises(
        ArtifactMissing if change == "missing" and name == "artifact.json" else ArtifactError
    ) as caught:
        grid_core.load_artifact(place)
    if name != "artifact.json":
        assert caught.value.file == name
        assert str(caught.value).startswith(f"{place}/{name}: ")


def test_a_file_that_is_not_listed_is_refused(tmp_path: Path) -> None:
    place = copy_of(small(), tmp_path)
    (place / "notes.txt").write_text("mine")
    with pytest.raises(ArtifactCorrupt, match=r"notes\.txt: artifact\.json does not list it"):
        grid_core.load_artifact(place)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    place = copy_of(small(), tmp_path)
    (place / "code" / "npu").mkdir()
    with pytest.raises(ArtifactCorrupt, match="code/npu: an empty folder"):
        grid_core.load_artifact(place)


@pytest.mark.parametrize("name", [n for n in FILES if n != "artifact.json"])
def test_a_link_to_the_very_same_bytes_is_refused(tmp_path: Path, name: str) -> None:
    place = copy_of(small(), tmp_path)
    path = place / name
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    with pytest.raises(ArtifactCorrupt, match="a symbolic link"):
        grid_core.load_artifact(place)


def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    place = copy_of(small(), tmp_path)
    (place / "code").rename(tmp_path / "moved")
    (place / "code").symlink_to(tmp_path / "moved")
    with pytest.raises(ArtifactCorrupt, match="code: a symbolic link"):
        grid_core.load_artifact(place)


def test_the_document_itself_may_not_be_a_link(tmp_path: Path) -> None:
    place = copy_of(small(), tmp_path)
    (place / "artifact.json").rename(tmp_path / "moved")
    (place / "artifact.json").symlink_to(tmp_path / "moved")
    with pytest.raises(ArtifactCorrupt, match=r"artifact\.json"):
        grid_core.load_artifact(place)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    place = copy_of(small(), tmp_path)
    (place / "launch.txt").unlink()
    os.mkfifo(place / "launch.txt")
    with pytest.raises(ArtifactCorrupt, match="no plain file"):
        grid_core.load_artifact(place)


def test_a_link_to_the_whole_artifact_is_fine(tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(small())
    assert grid_core.load_artifact(tmp_path / "current").nq == 2


@pytest.mark.parametrize("what", ["nothing", "a file", "an empty folder", "another document"])
def test_what_is_no_artifact_is_said_to_be_none(tmp_path: Path, what: str) -> None:
    place = tmp_path / "there"
    if what == "a file":
        place.write_text("x")
    elif what != "nothing":
        place.mkdir()
        if what == "another document":
            (place / "artifact.json").write_text('{"schema_version": 2}')
    with pytest.raises(ArtifactMissing, match=r"no such folder|a file, where|no prepared artifact"):
        grid_core.load_artifact(place)


@pytest.mark.parametrize("bad", ["", None, 3, b""])
def test_what_is_no_path_is_an_option_at_fault(bad: object) -> None:
    with pytest.raises(grid_core.errors.OptionError, match="directory must be an artifact's"):
        grid_core.load_artifact(bad)  # type: ignore[arg-type]
