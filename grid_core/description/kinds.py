"""The kinds of value that a document may have, each a check and a piece of JSON Schema.

A document is an attrs class whose fields are made by `item`: that one declaration reads the
document, refuses what it does not name, and is published as its JSON Schema.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

import attrs
from attrs import frozen

from grid_core.wording import listing, near

if TYPE_CHECKING:
    from grid_core.description.faults import Place

__all__ = [
    "Choice",
    "Kind",
    "ListOf",
    "MapOf",
    "Number",
    "Record",
    "Text",
    "Vector",
    "Whole",
    "item",
]

_MANY = 100
_NAMES = {dict: "a map", list: "a list", str: "a string", bool: "true or false", type(None): "null"}


class Kind(Protocol):
    """A kind of value."""

    def read(self, value: Any, at: Place) -> Any:
        """Return the value as a document holds it, or note what is wrong with it."""

    def schema(self) -> dict[str, Any]:
        """Return the kind as JSON Schema."""


def item(kind: Kind, doc: str, *, default: Any = attrs.NOTHING) -> Any:
    """Declare a field of a document; with a default, or a factory of one, it may be absent."""
    return attrs.field(default=default, metadata={"kind": kind, "doc": doc})


def _is(value: Any, python: type, wanted: str, at: Place) -> bool:
    if isinstance(value, python):
        return True
    at.fault(f"needs {wanted}; got {_show(value)}")
    return False


def _show(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else f"{value[:57]!r}..."
    return next(name for python, name in _NAMES.items() if isinstance(value, python))


@frozen
class Number:
    """A finite number in binary64, with bounds that it may or may not equal."""

    low: float | None = None
    above: float | None = None

    def read(self, value: Any, at: Place) -> float:
        """See `Kind`; an integer counts as the same number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            at.fault(f"needs a number; got {_show(value)}")
            return 0.0
        try:
            number = float(value)
        except OverflowError:
            at.fault("an integer beyond the range of binary64")
            return 0.0
        if self.low is not None and number < self.low:
            at.fault(f"must be at least {self.low:g}; got {number!r}")
        if self.above is not None and number <= self.above:
            at.fault(f"must be above {self.above:g}; got {number!r}")
        return number

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        bounds = {"minimum": self.low, "exclusiveMinimum": self.above}
        return {"type": "number", **{key: b for key, b in bounds.items() if b is not None}}


@frozen
class Whole:
    """An integer of at least ``low``."""

    low: int

    def read(self, value: Any, at: Place) -> int:
        """See `Kind`."""
        if isinstance(value, bool) or not isinstance(value, int) or value < self.low:
            at.fault(f"needs an integer of at least {self.low}; got {_show(value)}")
            return self.low
        return value

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "integer", "minimum": self.low}


@frozen
class Text:
    """A string that matches a pattern."""

    pattern: str = r".+"
    meaning: str = "a name"

    def read(self, value: Any, at: Place) -> str:
        """See `Kind`."""
        if _is(value, str, f"{self.meaning}, as a string", at):
            if not re.fullmatch(self.pattern, value, re.DOTALL):
                at.fault(f"needs {self.meaning}; got {_show(value)}")
            return str(value)
        return ""

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "string", "pattern": f"^{self.pattern}$"}


@frozen
class Choice:
    """One of some strings."""

    values: tuple[str, ...]

    def read(self, value: Any, at: Place) -> str:
        """See `Kind`."""
        if not isinstance(value, str) or value not in self.values:
            at.fault(f"needs {listing(map(repr, self.values), 'or')}; got {_show(value)}")
            return self.values[0]
        return value

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"enum": list(self.values)}


@frozen
class Vector:
    """Three numbers."""

    of: Number = Number()

    def read(self, value: Any, at: Place) -> tuple[float, ...]:
        """See `Kind`."""
        if not isinstance(value, list) or len(value) != 3:
            got = f"{len(value)} elements" if isinstance(value, list) else _show(value)
            at.fault(f"needs three numbers; got {got}")
            return (0.0, 0.0, 0.0)
        return tuple(self.of.read(x, at.item(number)) for number, x in enumerate(value))

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "array", "items": self.of.schema(), "minItems": 3, "maxItems": 3}


@frozen
class ListOf:
    """A list of values of one kind."""

    of: Kind
    unique: bool = False

    def read(self, value: Any, at: Place) -> tuple[Any, ...]:
        """See `Kind`."""
        if not _is(value, list, "a list", at):
            return ()
        found = tuple(self.of.read(x, at.item(number)) for number, x in enumerate(value))
        if self.unique and len(set(found)) < len(found):
            twice = [repr(x) for x, count in Counter(found).items() if count > 1]
            at.fault(f"{listing(twice)} stand twice in the list")
        return found

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        unique = {"uniqueItems": True} if self.unique else {}
        return {"type": "array", "items": self.of.schema(), **unique}


@frozen
class MapOf:
    """Values of one kind by a name that the document chooses."""

    of: Kind

    def read(self, value: Any, at: Place) -> dict[str, Any]:
        """See `Kind`."""
        if not _is(value, dict, "a map", at):
            return {}
        return {key: self.of.read(member, at.key(key)) for key, member in value.items()}

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "object", "additionalProperties": self.of.schema()}


@frozen
class Record:
    """A map with the keys of an attrs class, and no other."""

    of: Any
    """The attrs class."""

    def read(self, value: Any, at: Place) -> Any:
        """See `Kind`; None where something inside is wrong."""
        before = len(at.faults.found)
        if not _is(value, dict, "a map", at):
            return None
        known = {made.name: made for made in attrs.fields(self.of)}
        for key in value:
            if key not in known:
                # Looking for near names takes long; who has so many keys has no slip of the pen.
                close = near(key, known) if len(value) < _MANY else ""
                at.key(key).fault(f"unknown key{close}; there are {listing(known)}")
        values = {}
        for key, made in known.items():
            if key in value:
                values[key] = made.metadata["kind"].read(value[key], at.key(key))
            elif made.default is attrs.NOTHING:
                at.key(key).fault("missing")
        return self.of(**values) if len(at.faults.found) == before else None

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        known = attrs.fields(self.of)
        properties = {
            f.name: {**f.metadata["kind"].schema(), "description": f.metadata["doc"]} for f in known
        }
        return {
            "type": "object",
            "additionalProperties": False,
            "required": [f.name for f in known if f.default is attrs.NOTHING],
            "properties": properties,
        }
