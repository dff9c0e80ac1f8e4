"""The build store: what it gives back is what was built, whatever happened to the file."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import filelock
import numpy as np
import pytest

from grid_core.artifact import BuildStore, store
from grid_core.errors import CacheWarning

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY, OTHER = "ab" * 32, "cd" * 32
PAYLOAD = bytes(range(256)) + b"\n\0\n{}"
WHAT = {"operation": "crba", "robot": "näme"}


class Builder:
    """Counts how often it was asked."""

    def __init__(self, payload: bytes = PAYLOAD) -> None:
        self.payload = payload
        self.calls = 0

    def __call__(self) -> bytes:
        self.calls += 1
        return self.payload


@pytest.fixture
def cache(tmp_path: Path) -> BuildStore:
    return BuildStore(tmp_path / "not" / "there" / "yet")


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_WARNED", set())


def filled(cache: BuildStore) -> Path:
    cache.fetch(KEY, WHAT, Builder())
    return cache.root / f"{KEY}.build"


def test_what_was_built_is_kept(cache: BuildStore) -> None:
    build = Builder()
    assert cache.fetch(KEY, WHAT, build) == PAYLOAD
    assert BuildStore(cache.root).fetch(KEY, WHAT, build) == PAYLOAD
    assert cache.fetch(OTHER, WHAT, build) == PAYLOAD
    assert build.calls == 2
    assert not list(cache.root.glob("*.part"))


def test_an_empty_payload_is_a_payload(cache: BuildStore) -> None:
    build = Builder(b"")
    assert cache.fetch(KEY, {}, build) == cache.fetch(KEY, {}, build) == b""
    assert build.calls == 1


def test_entries_say_what_they_are(cache: BuildStore) -> None:
    assert list(cache.entries()) == []
    path = filled(cache)
    cache.fetch(OTHER, {}, Builder(b"x"))
    first, second = cache.entries()
    assert (first.path, first.what, first.sound) == (path, WHAT, True)
    assert first.size == path.stat().st_size
    assert second.what == {}
    path.write_bytes(path.read_bytes()[:-1])
    assert [entry.sound for entry in cache.entries()] == [False, True]


def test_clearing_deletes_builds_locks_and_rests(cache: BuildStore) -> None:
    assert cache.clear() == 0
    filled(cache)
    (cache.root / "killed.part").write_bytes(b"half")
    (cache.root / "mine.txt").write_text("kept")
    assert cache.clear() == 1
    assert [p.name for p in cache.root.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80, 0xFF])
def test_a_flipped_byte_anywhere_is_rebuilt(cache: BuildStore, mask: int) -> None:
    path = filled(cache)
    sound = path.read_bytes()
    start = len(sound) - len(PAYLOAD)
    described = sound.index(b'"what"'), sound.index(b"\n")
    for k in range(len(sound)):
        damaged = bytearray(sound)
        damaged[k] ^= mask
        path.write_bytes(damaged)
        build = Builder()
        assert cache.fetch(KEY, WHAT, build) == PAYLOAD
        # Only the words for people may change unseen.
        assert build.calls == 1 or (described[0] <= k < described[1] and k < start)
        assert path.read_bytes() == sound or not build.calls


def test_a_shorter_or_longer_file_is_rebuilt(cache: BuildStore) -> None:
    path = filled(cache)
    sound = path.read_bytes()
    for data in (*(sound[:k] for k in range(len(sound))), sound + b"\0", sound + sound):
        path.write_bytes(data)
        build = Builder()
        assert cache.fetch(KEY, WHAT, build) == PAYLOAD
        assert build.calls == 1
    assert path.read_bytes() == sound


def _edited(**changes: object) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        line, _, payload = data.partition(b"\n")
        return json.dumps({**json.loads(line), **changes}).encode() + b"\n" + payload

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _edited(format="grid.build.v2"),
        _edited(key=OTHER),
        _edited(key=None),
        _edited(sha256="0" * 64),
        _edited(length=str(len(PAYLOAD))),
        lambda data: b"[]\n" + data,
        lambda data: b"null\n" + data,
        lambda data: b"\xff\xfe\n" + data,
        lambda data: b"\n" + data,
        lambda _: b"[" * 100_000,
        lambda _: np.random.default_rng(0).bytes(4096),
    ],
)
def test_what_is_no_entry_of_this_key_is_rebuilt(
    cache: BuildStore, edit: Callable[[bytes], bytes]
) -> None:
    path = filled(cache)
    path.write_bytes(edit(path.read_bytes()))
    build = Builder()
    assert cache.fetch(KEY, WHAT, build) == PAYLOAD
    assert build.calls == 1
    assert [entry.sound for entry in cache.entries()] == [True]


def test_another_keys_file_under_this_name_is_rebuilt(cache: BuildStore) -> None:
    cache.fetch(OTHER, WHAT, Builder(b"other code"))
    (cache.root / f"{OTHER}.build").rename(cache.root / f"{KEY}.build")
    assert cache.fetch(KEY, WHAT, Builder()) == PAYLOAD


def test_threads_build_one_key_once(cache: BuildStore) -> None:
    build, start = Builder(), threading.Barrier(8)

    def work(_: int) -> bytes:
        start.wait()
        return cache.fetch(KEY, WHAT, build)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(8))) == {PAYLOAD}
    assert build.calls == 1


def test_a_failing_build_leaves_nothing(cache: BuildStore) -> None:
    def fail() -> bytes:
        raise FileNotFoundError("of the build's own")

    with pytest.raises(FileNotFoundError, match="of the build's own"):
        cache.fetch(KEY, WHAT, fail)
    assert not list(cache.root.glob("*.build"))
    assert cache.fetch(KEY, WHAT, Builder()) == PAYLOAD


def _no_space(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def _no_locks(*_: object, **__: object) -> None:
    raise NotImplementedError("no flock here")


def test_a_folder_that_cannot_be_made_warns_once_and_builds(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    build, cache = Builder(), BuildStore(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning, match=r"cannot be used: .*choose another with cache_dir=") as w:
        assert cache.fetch(KEY, WHAT, build) == PAYLOAD
    assert len(w) == 1
    assert str(cache.root) in str(w[0].message)
    assert cache.fetch(OTHER, WHAT, build) == PAYLOAD  # a second warning would be an error
    assert build.calls == 2


@pytest.mark.parametrize(
    ("name", "replacement", "message"),
    [
        ("grid_core.artifact.store._create", _no_space, "No space left"),
        ("os.replace", _no_space, "No space left"),
        ("pathlib.Path.mkdir", _no_space, "No space left"),
        ("filelock.FileLock", _no_locks, "no flock here"),
    ],
)
def test_whatever_fails_the_build_is_returned(
    cache: BuildStore,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    replacement: Callable[..., None],
    message: str,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(name, replacement)
        with pytest.warns(CacheWarning, match=message):
            assert cache.fetch(KEY, WHAT, Builder()) == PAYLOAD
    assert not list(cache.root.glob("*.part"))
    assert not list(cache.root.glob("*.build"))
    build = Builder()
    assert cache.fetch(KEY, WHAT, build) == PAYLOAD
    assert build.calls == 1


def test_a_lock_held_too_long_is_not_waited_for(
    cache: BuildStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_LOCK_SECONDS", 0.05)
    cache.root.mkdir(parents=True)
    with filelock.FileLock(cache.root / f"{KEY}.lock"):
        with pytest.warns(CacheWarning, match="another process has held the lock"):
            assert cache.fetch(KEY, WHAT, Builder()) == PAYLOAD
        assert not list(cache.root.glob("*.build"))
    assert cache.fetch(KEY, WHAT, Builder()) == PAYLOAD


def test_a_kept_build_needs_no_lock_and_no_writing(
    cache: BuildStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache on a medium that only reads."""
    filled(cache)
    monkeypatch.setattr("filelock.FileLock", _no_locks)
    monkeypatch.setattr(store, "_create", _no_space)
    build = Builder()
    assert cache.fetch(KEY, WHAT, build) == PAYLOAD
    assert build.calls == 0


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_builds_mode_is_the_umasks(cache: BuildStore, umask: int, mode: int) -> None:
    """What root built beforehand, a user reads."""
    before = os.umask(umask)
    try:
        path = filled(cache)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode
