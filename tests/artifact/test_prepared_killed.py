"""A builder killed at any step, two builders at once, and readers meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from grid_core.artifact.prepared_check import read_prepared
from grid_core.artifact.prepared_files import read_files
from grid_core.artifact.prepared_publish import exchange, locked, publish
from grid_core.errors import ArtifactError
from tests.artifact.prepared import OTHER, build, small
from tests.artifact.processes import finish, python, start

ROOT = Path(__file__).parents[2]

BUILD = """
import sys
from pathlib import Path
from tests.artifact.prepared import build

made = build(Path(sys.argv[1]))
print(made.identity, made.reused, made.load().crba([0.1, 0.2])[0, 0])
"""


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
def test_killed_at_any_step_it_leaves_the_old_artifact_or_the_new_one(tmp_path: Path) -> None:
    code = "import runpy; runpy.run_module('tests.artifact.killed_builder', run_name='__main__')"
    fresh, replacing = map(int, python(code, tmp_path, path=ROOT).split())
    assert fresh > 40
    assert replacing > fresh + 10  # the old one's files are deleted one by one


def test_two_builders_of_one_artifact_both_succeed(tmp_path: Path) -> None:
    """Both get the same artifact; the lock is held by one of them at a time."""
    place = tmp_path / "artifact"
    env = {"GRID_CACHE_DIR": str(tmp_path / "cache")}
    both = [start(BUILD, place, path=ROOT, **env) for _ in range(2)]
    said = [finish(process).split() for process in both]
    assert said[0][0] == said[1][0]
    assert said[0][2] == said[1][2]
    assert read_prepared(place).manifest.content_id == said[0][0]
    assert not [p for p in tmp_path.iterdir() if p.name.endswith(".part")]


def files_of(place: Path) -> dict[str, bytes]:
    found = {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file()}
    return dict(sorted(found.items()))


def test_readers_see_whole_artifacts_while_they_are_replaced(tmp_path: Path) -> None:
    place = tmp_path / "artifact"
    versions = [files_of(small()), files_of(small(OTHER))]
    with locked(place):
        publish(place, versions[0])
    stop = threading.Event()

    def replace() -> None:
        count = 0
        while not stop.is_set():
            count += 1
            with locked(place):
                publish(place, versions[count % 2])

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        seen = {read_files(place)[0].content_id for _ in range(150)}
    finally:
        stop.set()
        writer.join()
    assert len(seen) == 2


def test_what_is_not_an_artifact_is_never_replaced(tmp_path: Path) -> None:
    place = tmp_path / "precious"
    place.mkdir()
    (place / "thesis.tex").write_text("...")
    with pytest.raises(ArtifactError, match=r"'thesis\.tex' is in this folder"):
        build(place)
    assert (place / "thesis.tex").read_text() == "..."
    (place / "artifact.json").write_text("{}")
    with pytest.raises(ArtifactError, match=r"'thesis\.tex' is in this folder"):
        build(place)
    (place / "thesis.tex").rename(tmp_path / "thesis.tex")
    with pytest.raises(ArtifactError, match=r"'artifact\.json' is in this folder"):
        build(place)
    (place / "artifact.json").unlink()
    assert build(place).operations == ("crba", "forward_dynamics")


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArtifactError, match="cannot be built here: Not a directory"):
        build(tmp_path / "file")
    with pytest.raises(ArtifactError, match="cannot be"):
        build(tmp_path / "file" / "below")


def test_an_empty_folder_is_built_into(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert not build(tmp_path / "empty").reused


def test_where_a_link_leads_is_built_into(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    made = build(tmp_path / "link")
    assert made.directory == tmp_path / "real"
    assert (tmp_path / "link").is_symlink()


def test_a_file_system_that_cannot_exchange_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is lost: the old artifact stays, and the error says how to go on."""
    place = tmp_path / "artifact"
    old = build(place)
    monkeypatch.setattr("grid_core.artifact.prepared_publish._EXCHANGE", 1 << 20)
    with pytest.raises(ArtifactError, match="delete it first, or build into a new folder"):
        build(place, OTHER)
    assert read_prepared(place).manifest.content_id == old.identity
    assert sorted(p.name for p in tmp_path.iterdir()) == [".artifact.lock", "artifact"]


def test_exchanging_what_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "a", tmp_path / "b")


def test_a_full_disk_leaves_the_old_artifact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "artifact"
    old = build(place)

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(ArtifactError, match="cannot be written: No space left on device"):
            build(place, OTHER)
    assert read_prepared(place).manifest.content_id == old.identity
    assert sorted(p.name for p in tmp_path.iterdir()) == [".artifact.lock", "artifact"]
