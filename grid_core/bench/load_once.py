"""Load one robot in a fresh process and print how long that took, as JSON.

A script, run by `grid_core.bench.loads`; its one argument is what to load:
``{"path": "iiwa14.urdf", "name": "iiwa14", "options": {}}``.
"""

import json
import sys
import time

__all__ = ["main"]


def main() -> None:
    """Read what to load from the first argument; print import and load times [s]."""
    task = json.loads(sys.argv[1])
    start = time.perf_counter()
    import grid_core  # noqa: PLC0415 - its time is taken

    imported = time.perf_counter()
    if task["path"] is None:
        handle = grid_core.get_robot(task["name"], **task["options"])
    else:
        handle = grid_core.load_robot(task["path"], **task["options"])
    loaded = time.perf_counter()
    times = {"import_s": imported - start, "load_s": loaded - imported}
    sys.stdout.write(json.dumps({**times, "operations": list(handle.algorithms)}))


if __name__ == "__main__":
    main()
