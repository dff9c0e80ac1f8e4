"""One element being read: its attributes and children, each failure with its whereabouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from grid_core.model.urdf.numbers import parse_number, parse_vector

if TYPE_CHECKING:
    from grid_core.errors import ModelError
    from grid_core.model.urdf.report import Report
    from grid_core.model.urdf.xml import Node

__all__ = ["Element"]


@frozen
class Element:
    """A node, with the link or joint it belongs to."""

    node: Node
    report: Report
    owner: str = ""
    """Such as ``joint``; empty for the root element."""
    name: str | None = None
    """Name of the owner."""

    @property
    def line(self) -> int:
        """Line where the element starts."""
        return self.node.line

    def error(self, message: str, attribute: str | None = None) -> ModelError:
        """Make, but do not raise, an error about this element."""
        return self.report.error(
            message + self._of_owner(),
            line=self.node.line,
            element=self.node.tag,
            name=self.name,
            attribute=attribute,
        )

    def warn(self, message: str, attribute: str | None = None) -> None:
        """Note something suspicious about this element."""
        self.report.warn(
            message + self._of_owner(),
            line=self.node.line,
            element=self.node.tag,
            name=self.name,
            attribute=attribute,
        )

    def _of_owner(self) -> str:
        if not self.owner or self.owner == self.node.tag:
            return ""
        return f" (in {self.owner} {self.name!r})"

    def child(self, tag: str) -> Element | None:
        """Return the first child of that tag, or None; more than one is suspicious."""
        found = [node for node in self.node.children if node.tag == tag]
        if not found:
            return None
        if len(found) > 1:
            second = evolve(self, node=found[1])
            second.warn(f"a second <{tag}>; the first, on line {found[0].line}, is taken")
        return evolve(self, node=found[0])

    def text(self, attribute: str) -> str:
        """Return a name. It must be there, must not be empty, and is never stripped."""
        value = self.node.attributes.get(attribute)
        if value is None:
            raise self.error(f"the attribute {attribute!r} is missing", attribute)
        if not value:
            raise self.error(f"the attribute {attribute!r} is empty", attribute)
        if "${" in value or "$(" in value:
            raise self.error(
                f"{value!r} is an unexpanded xacro expression: expand the file with xacro first",
                attribute,
            )
        return value

    def number(self, attribute: str) -> float | None:
        """Return a finite number, or None where the attribute is missing."""
        value = self.node.attributes.get(attribute)
        if value is None:
            return None
        try:
            return parse_number(value)
        except ValueError as error:
            raise self.error(str(error), attribute) from None

    def required(self, attribute: str) -> float:
        """Return a finite number that must be there."""
        value = self.number(attribute)
        if value is None:
            raise self.error(f"the attribute {attribute!r} is missing", attribute)
        return value

    def vector(self, attribute: str, size: int) -> tuple[float, ...] | None:
        """Return ``size`` finite numbers, or None where the attribute is missing."""
        value = self.node.attributes.get(attribute)
        if value is None:
            return None
        try:
            return parse_vector(value, size)
        except ValueError as error:
            raise self.error(str(error), attribute) from None
