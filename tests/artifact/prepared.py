"""Small prepared artifacts, each built once a process, and ways to alter copies of them."""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grid_core
from grid_core.artifact import identity
from grid_core.artifact.prepared_manifest import manifest_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.artifact.consumer import ConsumerArtifact

__all__ = ["ARM", "OTHER", "alter_manifest", "build", "copy_of", "replace_file", "small"]

_LINK = (
    '<link name="{0}"><inertial><origin xyz="{1} 0 0.1"/><mass value="1.5"/><inertia ixx="0.02" '
    'iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
_JOINT = (
    '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>'
    '<origin xyz="0 0 {4}" rpy="0.1 0 0"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.1"/></joint>'
)


def arm(name: str = "arm", length: float = 0.4) -> str:
    links = [_LINK.format(*x) for x in (("base", 0), ("upper", 0.1), ("lower", 0.2))]
    joints = [
        _JOINT.format("shoulder", "revolute", "base", "upper", 0.3),
        _JOINT.format("elbow", "revolute", "upper", "lower", length),
        _JOINT.format("mount", "fixed", "lower", "tool", 0.2),
    ]
    return f'<robot name="{name}">{"".join(links)}<link name="tool"/>{"".join(joints)}</robot>'


ARM = arm()
OTHER = arm(length=0.5)
"""As ARM but for the length of a link, so with another descriptor."""


def know_sources() -> None:
    """Let builds be identified though somebody may be editing the sources meanwhile."""
    if identity._STARTED < 1e10:
        identity._STARTED += 1e10


def build(directory: Path, text: str = ARM, **options: Any) -> ConsumerArtifact:
    """Build an artifact for the CPU of few operations."""
    know_sources()
    given = {
        "backends": "cpu",
        "algorithm_list": ["forward_dynamics", "crba"],
        "dtype": "float64",
        **options,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return grid_core.build_artifact(None, directory, urdf_string=text, **given)


@functools.cache
def _small(key: str) -> Path:
    text, options = json.loads(key)
    folder = Path(tempfile.mkdtemp(prefix="grid-artifact-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    place = folder / "artifact"
    build(place, text, **options)
    return place


def small(text: str = ARM, **options: Any) -> Path:
    """Return an artifact that nobody may alter."""
    return _small(json.dumps([text, options], sort_keys=True))


def copy_of(source: Path, folder: Path) -> Path:
    """Return a copy that a test may alter."""
    target = folder / "copy"
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target)
    return target


def alter_manifest(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the document and give it the digest that it must have, as a forger would."""
    path = directory / "artifact.json"
    data = json.loads(path.read_bytes())
    change(data)
    path.write_bytes(manifest_bytes(data))


def replace_file(directory: Path, name: str, data: bytes) -> None:
    """Change a file and its record in the document."""
    (directory / name).write_bytes(data)

    def change(manifest: dict[str, Any]) -> None:
        manifest["files"][name] = {
            "sha256": hashlib.sha256(data).hexdigest(),
            "size": len(data),
        }

    alter_manifest(directory, change)
