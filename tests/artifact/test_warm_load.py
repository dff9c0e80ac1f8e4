"""A second process reads what the first one built: it traces nothing and compiles nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.artifact.processes import python

if TYPE_CHECKING:
    from pathlib import Path

LOAD = """
import json, sys, time
import numpy as np
import grid_core
from grid_core.artifact import identity
from grid_core.assets import asset_path

identity._STARTED += 1e6  # the sources are as they are, though somebody may be editing them
start = time.process_time()
robot = grid_core.load_robot(
    asset_path("iiwa14"), algorithm_list="forward_dynamics", backend="cpu", cache_dir=sys.argv[1],
    dtype=sys.argv[2],
)
seconds = time.process_time() - start
q, qd, u = np.random.default_rng(0).normal(size=(3, 5, 7))
print(json.dumps({
    "seconds": seconds,
    "qdd": robot.forward_dynamics(q, qd, u).tolist(),
    "lowered": "grid_backend_cpu.lower" in sys.modules,
    "locked": "filelock" in sys.modules,
}))
"""


def load(cache: Path, dtype: str = "float32") -> dict[str, Any]:
    result: dict[str, Any] = json.loads(python(LOAD, cache, dtype))
    return result


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    """Processor time from the import to the handle: 0.07 s, half of it to import LLVM and lxml."""
    first = load(tmp_path)
    loads = [load(tmp_path) for _ in range(3)]
    assert (first["lowered"], first["locked"]) == (True, True)
    for later in loads:
        assert (later["lowered"], later["locked"]) == (False, False)
        assert later["qdd"] == first["qdd"]
    assert min(later["seconds"] for later in loads) < 0.5
    assert len(list(tmp_path.glob("*.build"))) == 1


def test_each_precision_has_its_own_build(tmp_path: Path) -> None:
    assert load(tmp_path, "float64")["qdd"] != load(tmp_path, "float32")["qdd"]
    assert len(list(tmp_path.glob("*.build"))) == 2


@pytest.mark.parametrize("damage", ["payload", "code"])
def test_a_damaged_build_is_compiled_again(tmp_path: Path, damage: str) -> None:
    first = load(tmp_path)
    (path,) = tmp_path.glob("*.build")
    data = bytearray(path.read_bytes())
    data[-1 if damage == "payload" else len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    again = load(tmp_path)
    assert again["lowered"]
    assert again["qdd"] == first["qdd"]


def test_a_folder_that_cannot_be_used_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    result = load(tmp_path / "file")
    assert result["lowered"]
    assert len(result["qdd"]) == 5
