"""Mutated robots: every one must end in a `RobotModel` or a `GridError`, soon.

``python -m tests.model.fuzz --count 10000 --seed 1`` from the repository's root runs many and
prints what fails; the test suite runs a few thousand.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from lxml import etree

from grid_core.assets import asset_path
from grid_core.errors import GridError, ModelWarning
from grid_core.model import (
    RobotModel,
    difference,
    integrate,
    load_urdf_string,
    neutral_configuration,
    random_configuration,
)

TESTS = Path(__file__).parent.parent
SECONDS = 2.0
LARGEST = 25_000
TOKENS = [
    b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>", b"<?xml version='1.1'?>", b"\0",
    b"&", b"&lt;", b"&x;", b"&#0;", b"&#x110000;", b"<!DOCTYPE a [<!ENTITY x 'y'>]>",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"<a:b/>", b"xmlns:a=''", b"</robot>", b"<robot>",
    b"<link name='x'/>", b'"', b"'", b"<", b">", b"/", b"nan", b"1e999", b"-", b"1_0",
    b"\xc2\xa0", b"\xed\xa0\x80", b"${x}", b"<xacro:if/>", b" " * 3000,
]  # fmt: skip
VALUES = [
    "", " ", "0", "-0", "1", "-1", "nan", "inf", "1e999", "1e308", "-1e308", "1e-320",
    "0 0 0", "1 0 0", "1e200 1e200 1e200", "0,0,0", "1 2", "1 2 3 4", "world", "base",
    "joint", "é", "\U0001f600", "a b", "${a}", "$(find a)", "revolute", "continuous",
    "prismatic", "fixed", "floating", "planar", "spherical", "helical", "ball", "screw",
    "Revolute", "x" * 5000, "9" * 400, "0."+"1" * 2000, "1.5707963267948966",
]  # fmt: skip
TAGS = [
    "link", "joint", "inertial", "mass", "inertia", "origin", "axis", "limit", "mimic",
    "parent", "child", "dynamics", "robot", "gazebo", "visual",
]  # fmt: skip


def seeds() -> list[bytes]:
    """Return the well-formed documents to start from."""
    paths = [*sorted((TESTS / "cases").glob("*.urdf")), *sorted((TESTS / "oracle").glob("*.urdf"))]
    paths += [asset_path("iiwa14"), asset_path("go2")]
    documents = [path.read_bytes() for path in paths]
    return [item for item in documents if len(item) <= LARGEST and b"<!DOCTYPE" not in item]


def mutate(document: bytes, rng: np.random.Generator) -> bytes:
    """Break a document in up to four places, in its bytes or in its structure."""
    root = etree.fromstring(document.rstrip(b"\0 \n"))
    for _ in range(rng.integers(0, 3)):
        _break_structure(root, rng)
    document = etree.tostring(root, encoding="utf-8")
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        document = _break_bytes(document, rng)
    if rng.random() < 0.05:
        encoding = rng.choice(["utf-16", "utf-16-be", "utf-32", "latin-1", "utf-8-sig"])
        document = document.decode("utf-8", "replace").encode(encoding, "replace")
    return document


def _break_bytes(document: bytes, rng: np.random.Generator) -> bytes:
    at, to = sorted(rng.integers(0, len(document) + 1, 2))
    to = min(to, at + int(rng.choice([1, 4, 30, 2000])))
    match rng.integers(0, 6):
        case 0:
            return document[:at] + document[to:]
        case 1:
            return document[:to] + document[at:to] * int(rng.integers(1, 4)) + document[to:]
        case 2:
            return document[:at] + TOKENS[rng.integers(len(TOKENS))] + document[at:]
        case 3:
            return document[:at] + rng.bytes(int(rng.integers(1, 6))) + document[to:]
        case 4:
            return document[:at]
        case _:
            flipped = bytearray(document)
            if flipped:
                flipped[at % len(flipped)] ^= 1 << int(rng.integers(8))
            return bytes(flipped)


def _break_structure(root: etree._Element, rng: np.random.Generator) -> None:
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    element, other = (elements[index] for index in rng.integers(0, len(elements), 2))
    names = [value for value in (item.get("name") for item in elements) if value]
    match rng.integers(0, 9):
        case 0 | 1 if element.attrib:
            key = list(element.attrib)[rng.integers(len(element.attrib))]
            value = VALUES[rng.integers(len(VALUES))]
            element.set(key, value)
        case 2 if element.attrib and names:
            key = list(element.attrib)[rng.integers(len(element.attrib))]
            element.set(key, names[rng.integers(len(names))])
        case 3 if element.attrib:
            del element.attrib[list(element.attrib)[rng.integers(len(element.attrib))]]
        case 4 if element is not root:
            element.getparent().remove(element)
        case 5 if element is not root:
            element.getparent().append(etree.fromstring(etree.tostring(element, with_tail=False)))
        case 6 if other not in element.iter():
            other.append(element)
        case 7:
            element.tag = TAGS[rng.integers(len(TAGS))]
        case _:
            child = etree.SubElement(element, TAGS[rng.integers(len(TAGS))])
            for key in ("joint", "link", "xyz", "value"):
                child.set(key, VALUES[rng.integers(len(VALUES))])


def outcome(document: bytes, *, floating_base: bool) -> str:
    """Load a document and use the model; return how it ended.

    Raises:
        AssertionError: it took too long, or the model breaks a rule.
        Exception: anything but a GridError.
    """
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        try:
            model = load_urdf_string(document, floating_base=floating_base)
        except GridError as error:
            result = "refused" if str(error) else "refused without a word"
        else:
            check(model)
            result = "loaded"
    seconds = time.perf_counter() - began
    assert seconds < SECONDS, f"took {seconds:.1f} s"
    return result


def check(model: RobotModel) -> None:
    """Assert what holds of every model."""
    assert model.nb == model.nj == len({joint.name for joint in model.joints})
    assert model.nb == len({body.name for body in model.bodies})
    q_at = v_at = 0
    for number, joint in enumerate(model.joints):
        assert joint.id == number > joint.parent >= -1
        if joint.mimic is None:
            assert (joint.q_start, joint.v_start) == (q_at, v_at)
            q_at, v_at = q_at + joint.nq, v_at + joint.nv
        else:
            assert joint.q_start is joint.v_start is None
            leader = joint.mimic.leader
            assert leader is None or model.joints[leader].mimic is None
            assert (leader is None) == (joint.mimic.multiplier == 0.0)
        assert joint.axis is None or abs(np.linalg.norm(joint.axis) - 1) < 1e-12
        assert np.isfinite(joint.placement).all()
    assert (model.nq, model.nv) == (q_at, v_at)
    assert all(np.isfinite(body.inertia.at_origin).all() for body in model.bodies)
    assert all(-1 <= item.body < model.nb for item in (*model.links, *model.frames))
    q = random_configuration(model, np.random.default_rng(0), 2)
    step = difference(model, q, integrate(model, q, np.full((2, model.nv), 0.1)))
    assert step.shape == (2, model.nv)
    assert neutral_configuration(model).shape == (model.nq,)


def run(count: int, seed: int) -> tuple[Counter[str], list[tuple[int, bytes, str]]]:
    """Try ``count`` mutants; return how they ended, and the failures with their documents."""
    documents = seeds()
    ends: Counter[str] = Counter()
    failures = []
    for number in range(count):
        rng = np.random.default_rng((seed, number))
        document = mutate(documents[rng.integers(len(documents))], rng)
        try:
            ends[outcome(document, floating_base=bool(number % 2))] += 1
        except Exception:  # noqa: BLE001  (the point is that nothing else may come)
            failures.append((number, document, traceback.format_exc()))
    return ends, failures


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.perf_counter()
    ends, failures = run(options.count, options.seed)
    for number, document, trace in failures[:10]:
        sys.stdout.write(f"--- {number}\n{document[:2000]!r}\n{trace}\n")
    seconds = time.perf_counter() - began
    sys.stdout.write(f"{dict(ends)}, {len(failures)} failures, {seconds:.0f} s\n")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
