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
    # The names, not the bare package: it imports each at its first use.
    from grid_core import get_robot, load_robot  # noqa: PLC0415 - their time is taken

    imported = time.perf_counter()
    if task["path"] is None:
        handle = get_robot(task["name"], **task["options"])
    else:
        handle = load_robot(task["path"], **task["options"])
    loaded = time.perf_counter()
    times = {"import_s": imported - start, "load_s": loaded - imported}
    sys.stdout.write(json.dumps({**times, "operations": list(handle.algorithms)}))


if __name__ == "__main__":
    main()
