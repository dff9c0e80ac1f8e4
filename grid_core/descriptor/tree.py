"""Invariants of the tree: counts, IDs, order and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_core.errors import DescriptorError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_ids", "check_tree", "require_unique"]


def check_tree(descriptor: dict[str, Any]) -> None:
    """Raise `DescriptorError` unless joints and bodies are numbered from the root outwards."""
    joints, bodies = descriptor["joints"], descriptor["bodies"]
    for key, table in (("nj", joints), ("nb", bodies)):
        if descriptor[key] != len(table):
            raise _error(f"{descriptor[key]}, but the table has {len(table)} rows", key, "counts")
    if len(joints) != len(bodies):
        message = f"{len(bodies)} bodies and {len(joints)} joints; each joint moves one body"
        raise _error(message, "nb", "counts")
    check_ids(joints, "joints")
    check_ids(bodies, "bodies")
    for joint in joints:
        _check_place(joint)
    floats = bool(joints) and joints[0]["kind"] == "floating"
    if descriptor["floating_base"] != floats:
        message = f"{descriptor['floating_base']}, but joint 0 says {floats}"
        raise _error(message, "floating_base", "floating root")
    require_unique((joint["name"] for joint in joints), "joints")
    require_unique((body["name"] for body in bodies), "bodies")


def _check_place(joint: dict[str, Any]) -> None:
    where = f"joints[{joint['id']}]"
    if joint["child_body"] != joint["id"]:
        message = f"joint {joint['id']} moves body {joint['id']}; got {joint['child_body']}"
        raise _error(message, f"{where}.child_body", "tree order")
    if joint["parent_body"] >= joint["child_body"]:
        message = f"{joint['parent_body']} does not precede body {joint['child_body']}"
        raise _error(message, f"{where}.parent_body", "tree order")
    if joint["kind"] == "floating" and joint["parent_body"] != -1:
        message = f"a floating joint hangs from the root, -1; got {joint['parent_body']}"
        raise _error(message, f"{where}.parent_body", "floating root")


def check_ids(table: list[dict[str, Any]], name: str) -> None:
    """Raise `DescriptorError` unless each row's ID is its index."""
    for number, row in enumerate(table):
        if row["id"] != number:
            raise _error(f"needs {number}; got {row['id']}", f"{name}[{number}].id", "ids")


def require_unique(names: Iterable[str], where: str) -> None:
    """Raise `DescriptorError` if a name occurs twice."""
    seen = set()
    for name in names:
        if name in seen:
            raise _error(f"two are called {name!r}", where, "names")
        seen.add(name)


def _error(message: str, where: str, invariant: str) -> DescriptorError:
    return DescriptorError(message, where=where, invariant=invariant)
