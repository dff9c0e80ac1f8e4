"""Where in a URDF's text its elements and attributes stand, so that numbers can be exchanged.

Parsing and writing a document anew would lose what XML does not count: the order and quotes of
attributes, blanks, line ends. Here only the characters of what changes are replaced.
"""

from __future__ import annotations

import html
import re

from attrs import define, field

__all__ = ["Edits", "Element", "locate"]

_MARKUP = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    r"|</(?P<end>[^\s<>/]+)\s*>"
    r"""|<(?P<start>[^\s<>/!?]+)(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*?)(?P<empty>/?)>""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([^\s=<>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


@define(eq=False)
class Element:
    """One element and its place."""

    tag: str
    start: int
    """Where its start tag begins."""
    inside: int
    """Where its content begins, after the start tag."""
    empty: bool
    """Whether the start tag is also its end: ``<link name="a"/>``."""
    attributes: dict[str, tuple[int, int]]
    """Where each attribute's value stands, without the quotes."""
    children: list[Element] = field(factory=list)
    close: int = -1
    """Where its end tag begins; of an empty element the end of the start tag."""

    def child(self, tag: str) -> Element | None:
        """Return the first child of that tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def value(self, text: str, attribute: str) -> str | None:
        """Return what an attribute says."""
        place = self.attributes.get(attribute)
        return None if place is None else html.unescape(text[slice(*place)])


def locate(text: str) -> Element:
    """Return the root element of a document that was read before, and so is well-formed."""
    root: Element | None = None
    stack: list[Element] = []
    for found in _MARKUP.finditer(text):
        if found["start"] is not None:
            element = _element(found)
            if stack:
                stack[-1].children.append(element)
            elif root is None:
                root = element
            if not element.empty:
                stack.append(element)
        elif found["end"] is not None and stack:
            stack.pop().close = found.start()
    assert root is not None
    return root


def _element(found: re.Match[str]) -> Element:
    start = found.start("attributes")
    attributes = {}
    for one in _ATTRIBUTE.finditer(found["attributes"]):
        group = 2 if one[2] is not None else 3
        attributes[one[1]] = (start + one.start(group), start + one.end(group))
    empty = bool(found["empty"])
    close = found.end() if empty else -1
    return Element(found["start"], found.start(), found.end(), empty, attributes, [], close)


@define(eq=False)
class Edits:
    """Changes to a text, made all at once."""

    text: str
    _changes: list[tuple[int, int, str]] = field(factory=list)

    def set(self, element: Element, attribute: str, value: str) -> None:
        """Give an attribute another value; add it where there is none."""
        place = element.attributes.get(attribute)
        if place is not None:
            self._changes.append((*place, value))
            return
        end = element.inside - (2 if element.empty else 1)
        while self.text[end - 1].isspace():
            end -= 1
        self._changes.append((end, end, f' {attribute}="{value}"'))

    def insert_first(self, parent: Element, lines: list[str]) -> None:
        """Put lines of markup before whatever is in an element."""
        self._insert(parent, parent.inside, lines)

    def insert_last(self, parent: Element, lines: list[str]) -> None:
        """Put lines of markup after whatever is in an element."""
        at = parent.children[-1].close if parent.children else parent.inside
        if parent.children and not parent.children[-1].empty:
            at = self.text.index(">", at) + 1
        self._insert(parent, at, lines)

    def apply(self) -> str:
        """Return the text with every change made."""
        pieces, position = [], 0
        for start, end, value in sorted(self._changes, key=lambda change: change[:2]):
            pieces += [self.text[position:start], value]
            position = end
        return "".join([*pieces, self.text[position:]])

    def _insert(self, parent: Element, at: int, lines: list[str]) -> None:
        outer, inner = self._indents(parent)
        block = "".join(f"{inner}{line}" for line in lines)
        if parent.empty:
            # <link name="a"/> becomes <link name="a">...</link>.
            slash = parent.inside - 2
            end = f"{block}{outer}</{parent.tag}>"
            self._changes.append((slash, parent.inside, f">{end}"))
        else:
            self._changes.append((at, at, block))

    def _indents(self, parent: Element) -> tuple[str, str]:
        """Return line end and indentation of an element, and of what is in it."""
        newline = "\r\n" if "\r\n" in self.text else "\n"
        line = self.text.rfind("\n", 0, parent.start) + 1
        before = self.text[line : parent.start]
        stop = parent.children[0].start if parent.children else parent.close
        gap = self.text[parent.inside : stop]
        if before.strip() or (not parent.empty and "\n" not in gap):
            return "", ""  # written in one line
        outer = newline + before
        last = gap[gap.rfind("\n") + 1 :]
        if parent.children and not last.strip():
            return outer, newline + last
        return outer, f"{outer}{'	' if before.startswith('	') else '  '}"
