"""Scanned text → nodes. The only file that knows lxml."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import field, frozen
from lxml import etree

from grid_core.model.urdf.report import UNNAMED

if TYPE_CHECKING:
    from grid_core.errors import ModelError
    from grid_core.model.urdf.report import Report
    from grid_core.model.urdf.scan import Scanned

__all__ = ["Node", "parse_xml"]


_FEW = 32
"""Up to so many attributes looking each up is the faster way to read them."""
_VALUES = etree.XPath("@*", smart_strings=False)


@frozen(eq=False)
class Node:
    """One XML element."""

    tag: str
    """Name as written, prefix included; without the prefix's or the default namespace."""
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(factory=list)


def parse_xml(document: Scanned, report: Report) -> Node:
    """Return the root element.

    Raises:
        ModelError: text that is not well-formed XML. Undeclared namespace prefixes, which robot
            tools never minded, are no error.
    """
    data = document.text.encode()
    parser = _parser(recover=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        _raise_first(parser, error, report)
        root = _recover(data, error, report)
    return _nodes(root, document.lines)


def _parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def _recover(data: bytes, cause: Exception, report: Report) -> etree._Element:
    """Parse again, past the namespace errors that were the only ones."""
    parser = _parser(recover=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        root = None
    _raise_first(parser, cause, report)
    if root is None:
        raise _malformed(str(cause), getattr(cause, "lineno", None), report) from cause
    return root


def _raise_first(parser: etree.XMLParser, cause: Exception, report: Report) -> None:
    """Raise the first error that is not about namespaces or ``xml:id``."""
    for entry in parser.error_log:
        forgiven = entry.domain_name == "NAMESPACE" or entry.type_name == "DTD_XMLID_VALUE"
        if entry.level_name != "WARNING" and not forgiven:
            raise _malformed(entry.message, entry.line, report) from cause


def _malformed(message: str, line: int | None, report: Report) -> ModelError:
    hint = ""
    if "'<' not found" in message or "Document is empty" in message:
        hint = " (a URDF is XML text, from its first tag on)"
        if report.file == UNNAMED:
            hint = " (to read a file, give its path instead of text)"
    elif "Entity" in message:
        hint = " (only &lt; &gt; &amp; &quot; &apos; and &#...; are known)"
    return report.error(f"not well-formed XML: {message.strip()}{hint}", line=line)


def _nodes(root: etree._Element, lines: list[int]) -> Node:
    elements = list(root.iter())
    made: dict[etree._Element, Node] = {}
    for element, line in zip(elements, lines, strict=True):  # one start tag, one element
        node = Node(_tag(element), _attributes(element), line)
        made[element] = node
        parent = element.getparent()
        if parent is not None:
            made[parent].children.append(node)
    return made[root]


def _attributes(element: etree._Element) -> dict[str, str]:
    """Return the attributes in time linear in their number."""
    names = element.keys()
    if len(names) <= _FEW:
        return {str(name): str(value) for name, value in element.attrib.items()}
    # lxml looks each value up by its name, one attribute after the other; XPath walks once.
    values = cast("list[str]", _VALUES(element))
    return {str(name): value for name, value in zip(names, values, strict=True)}


def _tag(element: etree._Element) -> str:
    name = str(element.tag)
    space, brace, local = name.rpartition("}")
    if not brace:
        return name
    if "xacro" in space:
        return f"xacro:{local}"
    return f"{element.prefix}:{local}" if element.prefix else local
