"""Announce the source tree's plugins where it is not installed.

A machine with a GPU may have every package and no way to install ours. This writes the
metadata that an installation would (name, version, entry points) into a folder, which on
``PYTHONPATH`` beside the source tree makes the plugins known.

    python tests/gpu/announce.py FOLDER
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def announce(folder: Path) -> Path:
    """Write the metadata and return its folder."""
    root = Path(__file__).resolve().parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    name = project["name"].replace("-", "_")
    info = folder / f"{name}-{project['version']}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [f"{point} = {target}" for point, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return info


if __name__ == "__main__":
    announce(Path(sys.argv[1]))
