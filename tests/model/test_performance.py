"""Loading takes time in proportion to the robot."""

from __future__ import annotations

import time

import pytest

from grid_core.model import load_urdf_string
from grid_core.model.urdf.report import Report
from grid_core.model.urdf.scan import scan
from grid_core.model.urdf.xml import parse_xml
from tests.model.texts import INERTIAL, LIMIT, joint, link, robot

ORIGIN = '<origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/>'


def chain(count: int, kind: str) -> str:
    links = [link(f"l{n}", INERTIAL) for n in range(count + 1)]
    joints = [joint(f"j{n:05}", f"l{n}", f"l{n + 1}", LIMIT + ORIGIN, kind) for n in range(count)]
    return robot(*links, *joints)


@pytest.mark.parametrize("kind", ["revolute", "fixed", "planar"])
def test_two_thousand_links(kind):
    """A chain of 2,000 links loads in under two seconds, welded or moving."""
    document = chain(2000, kind)
    began = time.perf_counter()
    model = load_urdf_string(document, floating_base=True)
    assert time.perf_counter() - began < 2.0
    assert len(model.links) == 2001


def test_many_attributes_on_one_element():
    """40,000 attributes are read in under a second, each with its own value."""
    many = " ".join(f'a{n}="{n}"' for n in range(40_000))
    began = time.perf_counter()
    root = parse_xml(scan(f'<robot name="r" {many}/>', Report("r")), Report("r"))
    assert time.perf_counter() - began < 1.0
    assert root.attributes == {"name": "r", **{f"a{n}": str(n) for n in range(40_000)}}


def test_many_attributes_with_prefixes_that_nobody_declared():
    many = " ".join(f'x:a{n}="{n}"' for n in range(100))
    root = parse_xml(scan(f'<robot xmlns:y="u" {many}/>', Report("r")), Report("r"))
    assert root.attributes == {f"x:a{n}": str(n) for n in range(100)}
