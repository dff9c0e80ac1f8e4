"""Document → `RobotElement`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.model.urdf.decode import decode
from grid_core.model.urdf.elements import JointElement, LinkElement, RobotElement
from grid_core.model.urdf.fields import Element
from grid_core.model.urdf.read_joint import read_joint
from grid_core.model.urdf.read_link import read_link
from grid_core.model.urdf.scan import scan
from grid_core.model.urdf.xml import Node, parse_xml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grid_core.model.urdf.report import Report

__all__ = ["read_robot"]


def read_robot(document: bytes | str, report: Report) -> RobotElement:
    """Read every link and joint; elements that say nothing of the dynamics are passed over.

    Raises:
        ModelError: the first thing that is wrong.
    """
    root = parse_xml(scan(decode(document, report), report), report)
    _check_root(root, report)
    links: list[LinkElement] = []
    joints: list[JointElement] = []
    for node in root.children:
        if node.tag == "link":
            links.append(read_link(node, report))
        elif node.tag == "joint":
            joints.append(read_joint(node, report))
    _refuse_duplicates("link", links, report)
    _refuse_duplicates("joint", joints, report)
    if not links:
        raise report.error("no <link> in this robot", line=root.line, element="robot")
    name = Element(root, report, "robot").text("name")
    return RobotElement(name, tuple(links), tuple(joints))


def _check_root(root: Node, report: Report) -> None:
    if root.tag != "robot":
        raise report.error(
            f"the root element is <{root.tag}>, where URDF has <robot>",
            line=root.line,
            element=root.tag,
        )
    for node in _walk(root):
        if node.tag.startswith("xacro:"):
            raise report.error(
                "this is an unexpanded xacro file: expand it with xacro first"
                " (xacro robot.urdf.xacro > robot.urdf)",
                line=node.line,
                element=node.tag,
                name=node.attributes.get("name"),
            )


def _walk(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _refuse_duplicates(
    tag: str, elements: Iterable[LinkElement | JointElement], report: Report
) -> None:
    lines: dict[str, int] = {}
    for element in elements:
        if element.name in lines:
            raise report.error(
                f"a second {tag} of this name; the first is on line {lines[element.name]}",
                line=element.line,
                element=tag,
                name=element.name,
                attribute="name",
            )
        lines[element.name] = element.line
