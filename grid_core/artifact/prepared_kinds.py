"""Kinds of values in ``artifact.json`` beside those of every strict document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from grid_core.description.faults import Place
    from grid_core.description.kinds import Kind

__all__ = ["Flag", "Plain", "Scalar", "nullable"]


@frozen
class Flag:
    """True or false."""

    def read(self, value: Any, at: Place) -> bool:
        """See `Kind`."""
        if not isinstance(value, bool):
            at.fault("needs true or false")
        return value is True

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "boolean"}


@frozen
class Scalar:
    """A string or an integer."""

    def read(self, value: Any, at: Place) -> str | int:
        """See `Kind`."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            at.fault("needs a string or an integer")
            return 0
        return value

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": ["string", "integer"]}


@frozen
class Plain:
    """JSON that others give a meaning to."""

    of: type

    def read(self, value: Any, at: Place) -> Any:
        """See `Kind`."""
        if not isinstance(value, self.of):
            at.fault("needs a map")
            return self.of()
        return self.of(value)

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "object"}


@frozen
class _Optional:
    of: Kind

    def read(self, value: Any, at: Place) -> Any:
        return None if value is None else self.of.read(value, at)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.of.schema(), {"type": "null"}]}


def nullable(kind: Kind) -> Kind:
    """Return the kind that also takes null."""
    return _Optional(kind)
