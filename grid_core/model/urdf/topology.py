"""Links and joints → one tree, or a refusal that names the links at fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from grid_core.model.urdf.elements import JointElement, LinkElement, RobotElement

if TYPE_CHECKING:
    from grid_core.errors import ModelError
    from grid_core.model.urdf.report import Report

__all__ = ["Tree", "build_tree"]

_MANY = 8
"""Names shown in a message before it says how many more there are."""


@frozen
class Tree:
    """A robot whose links hang together."""

    name: str
    links: tuple[LinkElement, ...]
    """In document order; an implicit ``world`` comes first."""
    joints: tuple[JointElement, ...]
    """In document order."""
    root: str
    order: tuple[JointElement, ...]
    """Depth first, siblings by the UTF-8 bytes of their names, fixed joints included."""


def build_tree(robot: RobotElement, report: Report) -> Tree:
    """Check that parents and children make one tree, and order it.

    Raises:
        ModelError: a joint to a link that does not exist or to itself; a link with two parents;
            two roots; a ring.
    """
    robot = _with_world(robot, report)
    parents = _parent_joints(robot, report)
    roots = [link for link in robot.links if link.name not in parents]
    if len(roots) > 1:
        raise report.error(
            f"{len(roots)} root links, where a robot has one: {_names([r.name for r in roots])};"
            " connect them with joints",
            line=roots[1].line,
            element="link",
            name=roots[1].name,
        )
    order = _depth_first(robot.joints, roots[0].name) if roots else ()
    if len(order) < len(robot.joints):
        raise _ring(robot, parents, order, report)
    return Tree(robot.name, robot.links, robot.joints, roots[0].name, order)


def _with_world(robot: RobotElement, report: Report) -> RobotElement:
    """Add the root link ``world`` where joints hang from it and no one declares it."""
    if any(link.name == "world" for link in robot.links):
        return robot
    for joint in robot.joints:
        if joint.parent == "world":
            report.warn(
                "the parent link 'world' is not declared: taken as a massless root"
                f" (in joint {joint.name!r})",
                line=joint.parent_line,
                element="parent",
                name=joint.name,
                attribute="link",
            )
            world = LinkElement("world", joint.parent_line)
            return evolve(robot, links=(world, *robot.links))
    return robot


def _parent_joints(robot: RobotElement, report: Report) -> dict[str, JointElement]:
    """Return each link's parent joint; the root has none."""
    names = {link.name for link in robot.links}
    parents: dict[str, JointElement] = {}
    for joint in robot.joints:
        _check_ends(joint, names, report)
        other = parents.setdefault(joint.child, joint)
        if other is not joint:
            raise report.error(
                f"link {joint.child!r} has two parents: joint {other.name!r} (line {other.line})"
                f" from {other.parent!r} and joint {joint.name!r} from {joint.parent!r}",
                line=joint.child_line,
                element="child",
                name=joint.name,
                attribute="link",
            )
    return parents


def _check_ends(joint: JointElement, names: set[str], report: Report) -> None:
    ends = (("parent", joint.parent, joint.parent_line), ("child", joint.child, joint.child_line))
    for tag, link, line in ends:
        if link not in names:
            raise report.error(
                f"joint {joint.name!r} names the link {link!r}, which does not exist",
                line=line,
                element=tag,
                name=joint.name,
                attribute="link",
            )
    if joint.parent == joint.child:
        raise report.error(
            f"link {joint.child!r} is its own parent in joint {joint.name!r}",
            line=joint.line,
            element="joint",
            name=joint.name,
        )


def _depth_first(joints: tuple[JointElement, ...], root: str) -> tuple[JointElement, ...]:
    children: dict[str, list[JointElement]] = {}
    # Reversed, because the last pushed is the first popped.
    for joint in sorted(joints, key=lambda j: j.name.encode(), reverse=True):
        children.setdefault(joint.parent, []).append(joint)
    order: list[JointElement] = []
    stack = list(children.get(root, ()))
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(children.get(joint.child, ()))
    return tuple(order)


def _ring(
    robot: RobotElement,
    parents: dict[str, JointElement],
    order: tuple[JointElement, ...],
    report: Report,
) -> ModelError:
    """Follow parents from a link that the root does not reach until one comes again."""
    reached = {joint.name for joint in order}
    link = next(joint.child for joint in robot.joints if joint.name not in reached)
    seen: dict[str, None] = {}
    while link not in seen:
        seen[link] = None
        link = parents[link].parent
    path = list(seen)
    ring = path[path.index(link) :][::-1]
    joint = parents[ring[0]]
    return report.error(
        f"links form a ring: {_names([*ring, ring[0]], ' → ')}; a robot is a tree",
        line=joint.line,
        element="joint",
        name=joint.name,
    )


def _names(names: list[str], separator: str = ", ") -> str:
    shown = separator.join(repr(name) for name in names[:_MANY])
    more = len(names) - _MANY
    return shown if more <= 0 else f"{shown} and {more} more"
