"""Several processes at one store, one of them killed."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from grid_core.artifact import BuildStore
from tests.artifact.processes import finish, python, start

if TYPE_CHECKING:
    from pathlib import Path

KEY = "12" * 32

FETCH = f"""
import pathlib, sys, time
from grid_core.artifact import BuildStore

root, log = map(pathlib.Path, sys.argv[1:])

def build():
    with log.open("a") as file:
        file.write("built\\n")
    time.sleep(0.3)
    return b"code" * 1000

payload = BuildStore(root).fetch({KEY!r}, {{}}, build)
print(payload == b"code" * 1000)
"""

KILLED = f"""
import os, pathlib, signal, sys
from grid_core.artifact import BuildStore

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[2] == "writing":
    os.replace = die
    BuildStore(pathlib.Path(sys.argv[1])).fetch({KEY!r}, {{}}, lambda: b"half")
BuildStore(pathlib.Path(sys.argv[1])).fetch({KEY!r}, {{}}, die)
"""


def test_processes_build_one_key_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    processes = [start(FETCH, tmp_path / "cache", log) for _ in range(4)]
    assert [finish(p) for p in processes] == ["True"] * 4
    assert log.read_text() == "built\n"


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
@pytest.mark.parametrize("stage", ["building", "writing"])
def test_a_killed_writer_leaves_no_half_entry_and_no_lock(tmp_path: Path, stage: str) -> None:
    process = start(KILLED, tmp_path / "cache", stage)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    cache = BuildStore(tmp_path / "cache")
    assert list(cache.entries()) == []
    assert cache.fetch(KEY, {}, lambda: b"whole") == b"whole"
    assert [entry.sound for entry in cache.entries()] == [True]
    assert cache.clear() == 1
    assert list(cache.root.iterdir()) == []


def test_a_killed_builder_is_not_waited_for(tmp_path: Path) -> None:
    """Whoever waits for the lock of a process that dies goes on and builds."""
    killed = start(KILLED, tmp_path / "cache", "building")
    log = tmp_path / "log"
    assert python(FETCH, tmp_path / "cache", log) == "True"
    killed.communicate(timeout=60)
    assert log.read_text() == "built\n"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_warns_and_builds(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o555)
    log = tmp_path / "log"
    process = start(FETCH, folder, log)
    out, err = process.communicate(timeout=60)
    assert out.strip() == "True"
    assert "CacheWarning: builds are not kept" in err
    assert list(folder.iterdir()) == []
