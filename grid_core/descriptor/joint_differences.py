"""What differs between a joint and the same joint of another descriptor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.descriptor.transforms import rotation_angle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.descriptor.matching import Match, Row
    from grid_core.descriptor.transforms import Rows

__all__ = ["Sides", "joint_differences", "place_differences"]


@frozen
class Sides:
    """Two descriptors, and which body of one is which of the other."""

    a: Row
    b: Row
    twins: dict[int, int]
    """Body of `b` by body of `a`, the root's included; bodies without a twin are absent."""

    @classmethod
    def of(cls, a: Row, b: Row, joints: Match) -> Sides:
        """Pair the bodies whose joints are a pair."""
        twins = {x["child_body"]: y["child_body"] for x, y in joints.pairs}
        return cls(a, b, {-1: -1, **twins})


def joint_differences(x: Row, y: Row, sides: Sides) -> Iterator[str]:
    """Yield what differs from joint x of the first descriptor to joint y of the second."""
    name = f"joint {x['name']!r}"
    if x["name"] != y["name"]:
        yield f"{name} is called {y['name']!r}"
    if x["kind"] != y["kind"]:
        yield f"{name} is {y['kind']}, was {x['kind']}"
    bodies = [_body(x["child_body"], sides.a), _body(y["child_body"], sides.b)]
    if bodies[0] != bodies[1]:
        yield f"{name} moves {bodies[1]}, was {bodies[0]}"
    carriers = (x["parent_body"], y["parent_body"])
    placements = (x["T_parent_joint_zero"], y["T_parent_joint_zero"])
    yield from place_differences(f"{name} hangs from", name, carriers, placements, sides)
    yield from _axis(name, x, y)
    yield from _limits(name, x, y)
    yield from _mimic(name, x, y, sides)
    yield from _numbers(name, x, y)


def place_differences(
    hangs: str, name: str, carriers: tuple[int, int], placements: tuple[Rows, Rows], sides: Sides
) -> Iterator[str]:
    """Yield how a placement differs; on another body, both are told and not compared."""
    A, B = placements
    p, r = ([row[3] for row in T[:3]] for T in placements)
    if sides.twins.get(carriers[0]) != carriers[1]:
        before, after = _body(carriers[0], sides.a), _body(carriers[1], sides.b)
        yield f"{hangs} {after} at {_vector(r)} m, was {before} at {_vector(p)} m"
        return
    parts = []
    if p != r:
        by = math.dist(p, r)
        parts.append(f"moved by {by:.6g} m, from {_vector(p)} to {_vector(r)}")
    if [row[:3] for row in A] != [row[:3] for row in B]:
        angle = rotation_angle(A, B)
        parts.append(f"turned by {angle:.6g} rad ({math.degrees(angle):.6g}°)")
    if parts:
        yield f"{name} {' and '.join(parts)}"


def _body(number: int, descriptor: Row) -> str:
    return "the root" if number < 0 else f"body {descriptor['bodies'][number]['name']!r}"


def _axis(name: str, x: Row, y: Row) -> Iterator[str]:
    a, b = x["axis"], y["axis"]
    if a != b and None not in (a, b):
        cosine = sum(p * q for p, q in zip(a, b, strict=True))
        sine = math.sqrt(max(0.0, _square(a) * _square(b) - cosine**2))
        # Close to parallel, the chord is exact where the sine is rounding noise.
        angle = math.dist(a, b) if cosine > 0.999999 else math.atan2(sine, cosine)
        yield (
            f"the axis of {name} turned by {math.degrees(angle):.6g}°, "
            f"from {_vector(a)} to {_vector(b)}"
        )
    if x["pitch"] != y["pitch"]:
        yield f"the pitch of {name} is {_bound(y['pitch'], 'm/rad')}, was {_bound(x['pitch'])}"


def _limits(name: str, x: Row, y: Row) -> Iterator[str]:
    unit = "m" if y["kind"] == "prismatic" else "rad"
    units = {"lower": unit, "upper": unit, "velocity": f"{unit}/s"}
    effort = "N" if unit == "m" else "N m"
    for key in ("lower", "upper", "velocity", "effort"):
        before, after = x["limits"][key], y["limits"][key]
        if before == after:
            continue
        worst = -math.inf if key == "lower" else math.inf
        low, high = (worst if value is None else value for value in (before, after))
        narrowed = high > low if key == "lower" else high < low
        yield (
            f"the {key} limit of {name} {'narrowed' if narrowed else 'widened'} "
            f"from {_bound(before)} to {_bound(after, units.get(key, effort))}"
        )


def _mimic(name: str, x: Row, y: Row, sides: Sides) -> Iterator[str]:
    laws = [_law(x["mimic"], sides.a), _law(y["mimic"], sides.b)]
    if laws[0] != laws[1]:
        yield f"{name} {laws[1]}; before, it {laws[0]}"


def _law(mimic: Row | None, descriptor: Row) -> str:
    if mimic is None:
        return "is independent"
    if mimic["leader"] is None:
        return f"is constant at {mimic['offset']!r}"
    leader = descriptor["joints"][mimic["leader"]]["name"]
    return f"follows {leader!r} times {mimic['multiplier']!r} plus {mimic['offset']!r}"


def _numbers(name: str, x: Row, y: Row) -> Iterator[str]:
    for key, what in (("id", "ID of"), ("q_start", "q entry of"), ("v_start", "v entry of")):
        if x[key] != y[key]:
            yield f"the {what} {name} is {_none(y[key])}, was {_none(x[key])}"


def _none(value: int | None) -> str:
    return "none" if value is None else str(value)


def _bound(value: float | None, unit: str = "") -> str:
    text = "none" if value is None else repr(value)
    return text if value is None or not unit else f"{text} {unit}"


def _vector(values: list[float]) -> str:
    return f"[{', '.join(f'{value:.6g}' for value in values)}]"


def _square(values: list[float]) -> float:
    return sum(value * value for value in values)
