"""Write the golden descriptors anew: ``python -m tests.descriptor.freeze``.

A change of any of them is a change of schema 1, and an announced one.
"""

from __future__ import annotations

from grid_core.descriptor import to_json
from tests.descriptor.robots import FIXTURES, HERE, descriptor

if __name__ == "__main__":
    for name in FIXTURES:
        target = HERE / "golden" / f"{name}.json"
        target.write_text(f"{to_json(descriptor(name))}\n", encoding="utf-8")
