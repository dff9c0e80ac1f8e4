"""Which columns of a log are which: names of tables, and the order of joints in arrays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from attrs import define, frozen

from grid_core.errors import InputError
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from grid_core.model.types import Joint, RobotModel

__all__ = [
    "NEEDED",
    "QUANTITIES",
    "TIME",
    "TRAJECTORY",
    "Table",
    "TableLog",
    "column_names",
    "joint_order",
    "match_table",
    "width",
]

QUANTITIES = ("q", "qd", "qdd", "tau")
"""What is read for each joint."""
NEEDED = ("q", "tau")
"""What cannot be derived from the rest."""
TIME = ("time", "t")
TRAJECTORY = "trajectory"
_OF_JOINT = re.compile(r"(qdd|qd|q|tau)_(.+)", re.DOTALL)
_NUMBERED = re.compile(r"(qdd|qd|q|tau)([0-9]+)")
_SHOWN = 6
"""Names that a message lists before it says how many more there are."""


def width(model: RobotModel, quantity: str) -> tuple[str, int]:
    """Return what a quantity's width is called, and the width."""
    return ("nq", model.nq) if quantity == "q" else ("nv", model.nv)


def column_names(model: RobotModel, quantity: str) -> tuple[str, ...]:
    """Return the columns of a quantity in a table: ``tau_elbow``, or ``tau_ball[0]`` and so on."""
    names = [""] * width(model, quantity)[1]
    for joint in _independent(model):
        start, count = _span(joint, quantity)
        for k in range(count):
            names[start + k] = f"{quantity}_{joint.name}" + (f"[{k}]" if count > 1 else "")
    return tuple(names)


@frozen
class Table:
    """Where in a table's header each quantity is."""

    columns: dict[str, tuple[str, ...]]
    """Names in the robot's order, by quantity; only quantities that are there."""
    time: str | None
    trajectory: str | None
    ignored: tuple[str, ...]
    """Names that say nothing to Grid."""

    @property
    def used(self) -> tuple[str, ...]:
        """Every column to read."""
        own = tuple(name for names in self.columns.values() for name in names)
        return (*(n for n in (self.time, self.trajectory) if n is not None), *own)


@define
class TableLog:
    """A file whose rows are those of a table."""

    path: Path
    table: Table

    @property
    def has(self) -> frozenset[str]:
        """Its quantities, and ``time`` where it has that."""
        time = {"time"} if self.table.time is not None else set()
        return frozenset({*self.table.columns, *time})

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names of what it holds beside."""
        return self.table.ignored

    @property
    def divided(self) -> bool:
        """Whether it has a column ``trajectory``."""
        return self.table.trajectory is not None


def match_table(path: Path, header: Sequence[str], model: RobotModel) -> Table:
    """Find the quantities in a header.

    Raises:
        InputError: a column that is needed is missing, is there twice, or names no joint.
    """
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"{path}: column {twice[0]!r} is there {header.count(twice[0])} times")
    _refuse_unknown(path, header, model)
    columns = {}
    for quantity in QUANTITIES:
        found = _find(path, quantity, header, model)
        if found is not None:
            columns[quantity] = found
    time = next((name for name in TIME if name in header), None)
    trajectory = TRAJECTORY if TRAJECTORY in header else None
    table = Table(columns, time, trajectory, ())
    used = set(table.used)
    ignored = tuple(name for name in header if name not in used)
    return Table(columns, time, trajectory, ignored)


def joint_order(
    path: Path, names: Sequence[str], model: RobotModel
) -> dict[str, tuple[int, NDArray[np.intp]]]:
    """Return how arrays whose joints are in another order become the robot's.

    Args:
        path: the log, for messages.
        names: joints in the arrays' order. A floating base may be left out: it then comes first.
            Joints that follow another may be there; their columns are dropped.
        model: the robot.

    Returns:
        For each quantity how wide the arrays are, and which column each of the robot's is.

    Raises:
        InputError: a name that is no moving joint's, is there twice, or is missing.
    """
    known = {joint.name: joint for joint in model.joints}
    for index, name in enumerate(names):
        if name not in known:
            raise InputError(
                f"{path}: joint_names[{index}] is {name!r}, and the robot has no such moving "
                f"joint{near(name, known)}; it has {_few(list(known))}"
            )
        if name in names[:index]:
            raise InputError(f"{path}: joint_names has {name!r} twice")
    given = [known[name] for name in names]
    if model.floating_base and model.joints[0] not in given:
        given.insert(0, model.joints[0])
    missing = [joint.name for joint in _independent(model) if joint not in given]
    if missing:
        raise InputError(f"{path}: joint_names lacks {_few(missing)}")
    return {quantity: _permutation(given, model, quantity) for quantity in QUANTITIES}


def _permutation(
    given: Sequence[Joint], model: RobotModel, quantity: str
) -> tuple[int, NDArray[np.intp]]:
    take = np.zeros(width(model, quantity)[1], dtype=np.intp)
    at = 0
    for joint in given:
        count = joint.nq if quantity == "q" else joint.nv
        if joint.q_start is not None:
            start, _ = _span(joint, quantity)
            take[start : start + count] = np.arange(at, at + count)
        at += count
    return at, take


def _refuse_unknown(path: Path, header: Sequence[str], model: RobotModel) -> None:
    """Refuse columns that are called like a joint's, but of no joint there is."""
    wanted = [name for quantity in QUANTITIES for name in column_names(model, quantity)]
    frames = {frame.name for frame in model.frames} | {joint.source for joint in model.joints}
    for name in header:
        match = _OF_JOINT.fullmatch(name)
        if match and name not in wanted and match[2] not in frames:
            raise InputError(
                f"{path}: column {name!r}: the robot has no joint {match[2]!r}{near(name, wanted)}"
            )


def _find(
    path: Path, quantity: str, header: Sequence[str], model: RobotModel
) -> tuple[str, ...] | None:
    """Return a quantity's columns in the robot's order, or None where there is none of it."""
    named = column_names(model, quantity)
    numbered = tuple(f"{quantity}{k}" for k in range(len(named)))
    by_number = [m[0] for m in map(_NUMBERED.fullmatch, header) if m and m[1] == quantity]
    wanted = numbered if by_number else named
    missing = [name for name in wanted if name not in header]
    if by_number and (missing or len(by_number) != len(numbered)):
        called, count = width(model, quantity)
        raise InputError(
            f"{path}: {quantity} must be {called}={count} columns, {numbered[0]} to "
            f"{numbered[-1]}; got {len(by_number)}: {_few(by_number)}"
        )
    if not missing:
        return wanted
    if len(missing) == len(wanted) and quantity not in NEEDED:
        return None
    raise InputError(
        f"{path}: column{'s' * (len(missing) > 1)} {_few([repr(name) for name in missing])} missing"
        f"{'' if by_number else f' (or {quantity}0, {quantity}1, ...)'}; the header has "
        f"{_few(header)}"
    )


def _independent(model: RobotModel) -> Iterator[Joint]:
    return (joint for joint in model.joints if joint.q_start is not None)


def _span(joint: Joint, quantity: str) -> tuple[int, int]:
    start = joint.q_start if quantity == "q" else joint.v_start
    assert start is not None
    return start, joint.nq if quantity == "q" else joint.nv


def _few(names: Sequence[str]) -> str:
    if len(names) <= _SHOWN:
        return listing(names)
    return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
