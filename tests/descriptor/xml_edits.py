"""Edits of a URDF that leave its meaning alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["change_inertias", "permute", "reformat", "rewrite"]


def permute(text: str, seed: int) -> str:
    """Shuffle the robot's elements, those inside each, and attributes; fixed joints keep order."""
    rng = random.Random(seed)
    root = etree.fromstring(text.encode())
    fixed = [joint for joint in root.iter("joint") if joint.get("type") == "fixed"]
    others = [element for element in root if element not in fixed]
    rng.shuffle(others)
    places = sorted(rng.sample(range(len(root)), len(fixed)))
    for place, joint in zip(places, fixed, strict=True):
        others.insert(place, joint)
    root[:] = others
    for element in root:
        inner = list(element)
        rng.shuffle(inner)
        element[:] = inner
        for part in element.iter():
            attributes = list(part.items())
            rng.shuffle(attributes)
            part.attrib.clear()
            part.attrib.update(attributes)
    return etree.tostring(root, encoding="unicode")


def reformat(text: str) -> str:
    """Write every number another way, with comments, unknown visuals and other white space."""

    def change(root: etree._Element) -> None:
        etree.indent(root, "\t\t")
        root.insert(0, etree.Comment("made by hand"))
        for element in root.iter("origin", "axis", "limit", "mimic"):
            for key, value in element.items():
                numbers = value.split()
                if key != "joint":
                    element.set(key, "  ".join(f"{float(n):+.17e}" for n in numbers))
        for link in root.iter("link"):
            etree.SubElement(etree.SubElement(link, "visual"), "geometry")

    return rewrite(text, change)


def change_inertias(text: str) -> str:
    """Double every mass and add to every inertia; drop joint dynamics."""

    def change(root: etree._Element) -> None:
        for mass in root.iter("mass"):
            mass.set("value", repr(2.0 * float(mass.get("value"))))
        for joint in root.iter("joint"):
            for dynamics in joint.findall("dynamics"):
                joint.remove(dynamics)
            etree.SubElement(joint, "dynamics", damping="0.5", friction="0.25")

    return rewrite(text, change)


def rewrite(text: str, change: Callable[[etree._Element], None]) -> str:
    root = etree.fromstring(text.encode())
    change(root)
    return etree.tostring(root, encoding="unicode")
