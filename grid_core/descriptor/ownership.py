"""Invariants of ownership: which joint has entries of q and v, and which follow another."""

from __future__ import annotations

from typing import Any

from grid_core.errors import DescriptorError

__all__ = ["check_ownership"]

_SCALAR = ("revolute", "continuous", "prismatic", "helical")


def check_ownership(descriptor: dict[str, Any]) -> None:
    """Raise `DescriptorError` unless blocks are disjoint and covering, and followers lead home."""
    joints = descriptor["joints"]
    for joint in joints:
        _check_starts(joint)
    _check_partition(joints, "q_start", "local_nq", "nq", descriptor["nq"])
    _check_partition(joints, "v_start", "local_nv", "nv", descriptor["nv"])
    for joint in joints:
        if joint["mimic"] is not None:
            _check_mimic(joint, joints)


def _check_starts(joint: dict[str, Any]) -> None:
    where = f"joints[{joint['id']}]"
    independent = joint["mimic"] is None
    for key in ("q_start", "v_start"):
        if independent and joint[key] is None:
            message = "an independent joint owns a block; got null"
            raise DescriptorError(message, where=f"{where}.{key}", invariant="ownership")
        if not independent and joint[key] is not None:
            message = f"a joint that mimics owns no block; got {joint[key]}"
            raise DescriptorError(message, where=f"{where}.{key}", invariant="ownership")


def _check_partition(
    joints: list[dict[str, Any]], start: str, width: str, symbol: str, total: int
) -> None:
    """Walk the blocks in order: each begins where the one before ends, the last at the end."""
    owners = sorted((j for j in joints if j[start] is not None), key=lambda j: int(j[start]))
    end = 0
    for joint in owners:
        if joint[start] != end:
            how = "overlaps the block before it" if joint[start] < end else "leaves a gap"
            raise DescriptorError(
                f"{joint[start]} {how}, which ends at {end}",
                where=f"joints[{joint['id']}].{start}",
                invariant="ownership",
            )
        end += joint[width]
    if end != total:
        message = f"{total}, but the blocks cover {end} entries"
        raise DescriptorError(message, where=symbol, invariant="ownership")


def _check_mimic(joint: dict[str, Any], joints: list[dict[str, Any]]) -> None:
    leader, multiplier = joint["mimic"]["leader"], joint["mimic"]["multiplier"]
    problem = None
    if joint["kind"] not in _SCALAR:
        problem = f"a {joint['kind']} joint cannot follow: it has several coordinates"
    elif leader is None:
        if multiplier != 0.0:
            problem = f"a constant joint has multiplier 0; got {multiplier!r}"
    elif multiplier == 0.0:
        problem = f"multiplier 0 is a constant joint, whose leader is null; got {leader}"
    elif leader >= len(joints):
        problem = f"there is no joint {leader}"
    elif joints[leader]["mimic"] is not None:
        problem = f"joint {leader} follows as well; name the independent joint at the chain's end"
    elif joints[leader]["kind"] not in _SCALAR:
        problem = f"joint {leader} is {joints[leader]['kind']} and has several coordinates"
    if problem is not None:
        raise DescriptorError(problem, where=f"joints[{joint['id']}].mimic", invariant="mimic")
