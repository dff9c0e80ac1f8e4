"""The identity: what it is of, what changes it, and which directories have none."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grid_core.description import RobotDescription, description_identity
from grid_core.errors import DescriptionError
from tests.description.directories import EVERY, FIXTURES, R1400, copied, edit

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = "sha256:d4884df6765144daca1bb4d184eed979d09160be54d323912e19f848223e7da3"
KNOWN = {
    "rosie_1400_v3": "sha256:acc86ba9c235904723713e4b7a8b024611da585702731d04464c5859e0dcdcf9",
    "rosie_1420_v1": "sha256:03d2fd4a7ac89c70b60d6b63c43ce2b157bccca0c258ae507ece4881473d99dd",
    "bench_one_motor_1to1": (
        "sha256:ba1ed934ac6cc8cb74875acd4efa71b99548c92ee01eb6fc1ef9edef1ef1d097"
    ),
    "bench_nine_motors_1to1": (
        "sha256:3a13219ca65ffad9beae3c67d5c5f931a256064e68c6fece04d22d7639e0c9af"
    ),
}
"""Frozen: a change of the layout, or of line ends at a checkout, shows here."""


def registered(name: str) -> list[str]:
    manifest = json.loads((FIXTURES / name / "manifest.json").read_text(encoding="utf-8"))
    return ["manifest.json", *manifest["files"]]


def make(folder: Path, files: dict[str, bytes], listed: list[str] | None = None) -> Path:
    """Write a description called ``m`` with a manifest that lists these files."""
    root = folder / "m"
    root.mkdir(exist_ok=True)
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    names = sorted(files) if listed is None else listed
    manifest = {"files": names, "model_id": "m", "schema": "grid.robot-description.v1"}
    (root / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return root


def test_the_golden_directory(tmp_path: Path) -> None:
    """R9: three files, byte by byte, give the published identity."""
    root = make(
        tmp_path, {"config.json": b'{"model_id":"m"}\n', "robot.urdf": b'<robot name="m"/>\n'}
    )
    (root / "manifest.json").write_bytes(
        b'{"files":["config.json","robot.urdf"],"model_id":"m",'
        b'"schema":"grid.robot-description.v1"}\n'
    )
    assert description_identity(root) == GOLDEN


@pytest.mark.parametrize("name", EVERY)
def test_the_form_and_the_layout(name: str) -> None:
    """R9: `sha256:` and 64 hex digits, as a second implementation of the layout computes it."""
    root = FIXTURES / name
    first, *files = registered(name)
    digest = hashlib.sha256(b"grid.robot-description.v1\0")
    for path in [first, *sorted(files, key=str.encode)]:
        content = (root / path).read_bytes()
        digest.update(struct.pack(">Q", len(path)) + path.encode())
        digest.update(struct.pack(">Q", len(content)) + hashlib.sha256(content).digest())
    found = description_identity(root)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", found)
    assert found == f"sha256:{digest.hexdigest()}" == KNOWN[name]
    assert RobotDescription.load(root).identity == found


def test_the_directory_alone_suffices(tmp_path: Path) -> None:
    """R1: a copy elsewhere loads, and has the same identity."""
    moved = copied(R1400, tmp_path / "elsewhere")
    assert RobotDescription.load(moved).identity == KNOWN[R1400]


@pytest.mark.parametrize("name", EVERY)
def test_unregistered_files_are_outside(name: str, tmp_path: Path) -> None:
    """R10: adding, editing and deleting a file that is not registered changes nothing."""
    root = copied(name, tmp_path)
    before = description_identity(root)
    report = root / "cad" / "report.step"
    report.parent.mkdir()
    for content in (b"one", b"two"):
        report.write_bytes(content)
        assert description_identity(root) == before
    report.unlink()
    assert description_identity(root) == before


@pytest.mark.parametrize("path", registered(R1400))
@pytest.mark.parametrize("place", [0, -1])
def test_one_byte_of_a_registered_file(path: str, place: int, r1400: Path) -> None:
    """R11: any one byte of any registered file, the mesh included."""
    content = bytearray((r1400 / path).read_bytes())
    if path == "manifest.json":  # and still a manifest
        content[place:place] = b" "
    else:
        content[place] ^= 1
    (r1400 / path).write_bytes(content)
    assert description_identity(r1400) != KNOWN[R1400]


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(data=st.data())
def test_any_edit(data: st.DataObject, tmp_path: Path) -> None:
    """R11: bytes moved, added, taken away: equal bytes are the only way to an equal identity."""
    contents = st.dictionaries(
        st.sampled_from(["a", "b", "ab", "d/a", "d/b"]), st.binary(max_size=3), min_size=1
    )
    one, two = data.draw(contents), data.draw(contents)
    found = [description_identity(make(tmp_path, files)) for files in (one, two)]
    assert (found[0] == found[1]) == (one == two)


def test_registering_a_file(r1400: Path) -> None:
    """R11: a file that becomes registered is a change of the robot."""
    (r1400 / "report.pdf").write_bytes(b"%PDF")
    files = [*registered(R1400)[1:], "report.pdf"]
    edit(r1400 / "manifest.json", files=files)
    assert description_identity(r1400) != KNOWN[R1400]


def test_the_order_of_the_list_is_in_the_manifest_only(tmp_path: Path) -> None:
    """R9: files are hashed in the order of their bytes, whatever the manifest's order."""
    files = {"b": b"1", "a": b"2"}
    one = description_identity(make(tmp_path, files, ["a", "b"]))
    two = description_identity(make(tmp_path, files, ["b", "a"]))
    assert one != two  # the manifest's own bytes differ


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (["/etc/passwd"], "an absolute path"),
        (["../m/a"], "'..' step"),
        (["d/../a"], "'..' step"),
        (["./a"], "'.'"),
        (["d//a"], "an empty"),
        (["a/"], "an empty"),
        ([""], "needs a path"),
        (["d\\a"], "ASCII letters"),
        (["a\0"], "ASCII letters"),
        (["a\n"], "ASCII letters"),
        (["\u00e9"], "ASCII letters"),
        (["e\u0301"], "ASCII letters"),
        (["a", "a"], "listed twice"),
        (["a", "A"], "differs from 'a' by case only"),
        (["manifest.json"], "does not list itself"),
        (["Manifest.JSON"], "does not list itself"),
        (["d"], "'d' is not a regular file"),
        (["a/b"], "'a' is not a directory"),
        (["link"], "'link' is a symbolic link"),
        (["linked/a"], "'linked' is a symbolic link"),
        (["pipe"], "'pipe' is not a regular file"),
        (["gone"], "no such file"),
        ([7], "needs a path, as a string; got 7"),
    ],
)
def test_paths_that_are_refused(listed: list[str], message: str, tmp_path: Path) -> None:
    """R9: what cannot be hashed the same way everywhere is refused, with the reason."""
    root = make(tmp_path, {"a": b"1", "d/a": b"2"}, listed)
    (root / "link").symlink_to(root / "a")
    (root / "linked").symlink_to(root / "d")
    os.mkfifo(root / "pipe")
    with pytest.raises(DescriptionError) as caught:
        description_identity(root)
    assert message in str(caught.value)
    assert str(root) in str(caught.value)


def test_a_manifest_behind_a_link(tmp_path: Path) -> None:
    """R9: the manifest is a file of the directory itself."""
    root = make(tmp_path, {"a": b"1"})
    (root / "manifest.json").rename(tmp_path / "elsewhere.json")
    (root / "manifest.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(DescriptionError, match="symbolic link"):
        description_identity(root)


def test_the_bytes_hashed_are_the_bytes_parsed(r1400: Path) -> None:
    """R11: what was loaded keeps its identity and its numbers, whatever becomes of the files."""
    description = RobotDescription.load(r1400)
    for file in ("spheres.json", "rtcore_definition.json"):
        (r1400 / file).write_text("{}", encoding="utf-8")
    assert description.identity == KNOWN[R1400]
    assert description.planner_view.spheres
    assert description.rt_view.motors


def test_each_resource_has_its_own_hash(r1400: Path) -> None:
    """R15: the manifest and every registered file, by path, size and SHA-256."""
    found = {r.path: r for r in RobotDescription.load(r1400).resources}
    assert sorted(found) == sorted(registered(R1400))
    for path, resource in found.items():
        content = (r1400 / path).read_bytes()
        assert resource.sha256 == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert resource.size == len(content)
