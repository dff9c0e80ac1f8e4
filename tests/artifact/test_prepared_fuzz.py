"""Documents that somebody wrote with right hashes and wrong contents: refused in Grid's words."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import numpy as np

import grid_core
from grid_core.artifact.prepared_manifest import manifest_bytes
from grid_core.errors import GridError
from tests.artifact.prepared import copy_of, small

if TYPE_CHECKING:
    from pathlib import Path

TRIES = 250
WRONG: tuple[Any, ...] = (None, True, 0, -1, 2**70, 1.5, "", "x", [], {}, ["x"], {"x": 1}, [[0.0]])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a document."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += places(value[key], (*path, key))
    return found


def altered(data: dict[str, Any], path: tuple[Any, ...], wrong: Any) -> dict[str, Any]:
    """Return the document with one value replaced, or deleted for Ellipsis."""
    result = copy.deepcopy(data)
    inner: Any = result
    for key in path[:-1]:
        inner = inner[key]
    if wrong is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = wrong
    return result


def test_no_document_is_answered_with_a_foreign_error(tmp_path: Path) -> None:
    """Each value in turn is another, or gone; the load or the call refuses, or it does not matter.

    What code is told of its own layout is not among them: that is as much the code as its bytes.
    """
    place = copy_of(small(), tmp_path)
    sound = json.loads((place / "artifact.json").read_bytes())
    paths = [p for p in places(sound) if "launch" not in p[:-1]]
    rng = np.random.default_rng()
    refused = 0
    for k in rng.choice(len(paths), TRIES):
        wrong = ... if rng.random() < 0.2 else WRONG[int(rng.integers(len(WRONG)))]
        changed = altered(sound, paths[k], wrong)
        (place / "artifact.json").write_bytes(manifest_bytes(changed))
        try:
            robot = grid_core.load_artifact(place)
            for call in robot.calls():
                given = [np.zeros((2, *slot.port.dims)) for slot in call.slots if slot.required]
                call(*given)
        except GridError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{'.'.join(map(str, paths[k]))} = {wrong!r}") from error
    assert refused > TRIES // 2
