"""The synthetic descriptions, copied to where a test may change them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

__all__ = ["BENCHES", "EVERY", "FIXTURES", "R1400", "R1420", "ROBOTS", "copied", "edit"]

FIXTURES = Path(__file__).resolve().parents[2] / "robot_description" / "robots"
R1400, R1420 = "rosie_1400_v3", "rosie_1420_v1"
ROBOTS = (R1400, R1420)
BENCHES = ("bench_one_motor_1to1", "bench_nine_motors_1to1")
EVERY = (*ROBOTS, *BENCHES)


def copied(name: str, folder: Path) -> Path:
    """Return a new copy of a description, in a folder of its own."""
    return Path(shutil.copytree(FIXTURES / name, folder / name))


def edit(file: Path, *keys: Any, **changes: Any) -> None:
    """Change keys of the map at a path of keys in a JSON file; None takes a key away."""
    document = json.loads(file.read_text(encoding="utf-8"))
    node = document
    for key in keys:
        node = node[key]
    for key, value in changes.items():
        if value is None:
            node.pop(key, None)
        else:
            node[key] = value
    file.write_text(json.dumps(document), encoding="utf-8")
