"""Mimic chains → each follower's independent leader, or a constant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.model.urdf.elements import JointElement, JointType

if TYPE_CHECKING:
    from grid_core.errors import ModelError
    from grid_core.model.urdf.report import Report

__all__ = ["Law", "flatten_mimics"]


@frozen
class Law:
    """θ = multiplier · q[leader] + offset; a constant where there is no leader."""

    leader: str | None
    multiplier: float
    offset: float


def flatten_mimics(joints: tuple[JointElement, ...], report: Report) -> dict[str, Law]:
    """Return the law of every follower by joint name.

    A follower of a fixed or held joint, or with multiplier 0, is a constant; so is a held joint.

    Raises:
        ModelError: an unknown leader, a ring, a follower or leader of several coordinates.
    """
    by_name = {joint.name: joint for joint in joints}
    laws = {joint.name: Law(None, 0.0, joint.held) for joint in joints if joint.held is not None}
    for joint in joints:
        chain = _chain(joint, by_name, laws, report)
        for follower in reversed(chain):
            laws[follower.name] = _law(follower, by_name, laws, report)
    return laws


def _chain(
    joint: JointElement,
    by_name: dict[str, JointElement],
    laws: dict[str, Law],
    report: Report,
) -> list[JointElement]:
    """Return the followers from ``joint`` up to one that is settled or leads itself."""
    chain: dict[str, JointElement] = {}
    while joint.mimic is not None and joint.name not in laws:
        if joint.name in chain:
            names = list(chain)
            ring = [*names[names.index(joint.name) :], joint.name]
            if len(ring) == 2:
                raise _error(joint, f"joint {joint.name!r} mimics itself", report)
            path = " → ".join(repr(name) for name in ring)
            raise _error(joint, f"mimic joints form a ring: {path}", report)
        chain[joint.name] = joint
        leader = by_name.get(joint.mimic.leader)
        if leader is None:
            message = f"joint {joint.name!r} mimics {joint.mimic.leader!r}, which does not exist"
            raise _error(joint, message, report)
        _check_kinds(joint, leader, report)
        joint = leader
    return list(chain.values())


def _check_kinds(follower: JointElement, leader: JointElement, report: Report) -> None:
    if not follower.type.is_scalar:
        message = f"{follower.type.value} joint {follower.name!r} cannot mimic {leader.name!r}:"
        raise _error(follower, f"{message} a follower has one coordinate", report)
    if leader.type is not JointType.FIXED and not leader.type.is_scalar:
        message = f"joint {follower.name!r} cannot mimic {leader.type.value} joint"
        raise _error(follower, f"{message} {leader.name!r}: a leader has one coordinate", report)


def _law(
    follower: JointElement,
    by_name: dict[str, JointElement],
    laws: dict[str, Law],
    report: Report,
) -> Law:
    mimic = follower.mimic
    assert mimic is not None
    leader = by_name[mimic.leader]
    if mimic.multiplier == 0.0 or leader.type is JointType.FIXED:
        return Law(None, 0.0, mimic.offset)
    above = laws.get(leader.name, Law(leader.name, 1.0, 0.0))
    multiplier = mimic.multiplier * above.multiplier
    offset = mimic.multiplier * above.offset + mimic.offset
    if not (math.isfinite(multiplier) and math.isfinite(offset)):
        message = f"the chain from {follower.name!r} through {leader.name!r} overflows"
        raise _error(follower, message, report)
    if multiplier == 0.0:  # the leader is a constant, or the product underflows
        return Law(None, 0.0, offset)
    return Law(above.leader, multiplier, offset)


def _error(joint: JointElement, message: str, report: Report) -> ModelError:
    assert joint.mimic is not None
    return report.error(
        message, line=joint.mimic.line, element="mimic", name=joint.name, attribute="joint"
    )
