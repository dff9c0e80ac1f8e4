"""Identified parameters back into the URDF that the robot was read from.

Everything else stays as it is, to the byte. Masses, centres of mass and inertias go into the
``<inertial>`` of the link that a body's joint moves, in the axes that it has; what the joint's
friction is known for goes into its ``<dynamics>``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import define, field, frozen

from grid_core.errors import OperationRefused
from grid_core.identification.pseudo_inertia import is_consistent
from grid_core.identification.urdf_positions import Edits, Element, locate
from grid_core.model.urdf.decode import find_encoding
from grid_core.model.urdf.report import Report
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.model.types import Array, RobotModel
    from grid_core.model.urdf.elements import InertialElement

__all__ = ["WrittenUrdf", "write_urdf"]

_UNCHANGED = 1e-12
"""How little a body's parameters may differ, of the largest of their kind, to count as the same."""
_ROOM = 1e-9
"""What must be left of the least eigenvalue when the masses of fixed links are taken away."""


@frozen
class WrittenUrdf:
    """A document with other parameters in it."""

    document: bytes
    links: tuple[str, ...]
    """Links whose ``<inertial>`` is another."""
    gathered: tuple[str, ...]
    """Links behind fixed joints whose mass went into the link that carries them."""
    joints: tuple[str, ...]
    """Joints whose ``<dynamics>`` is another."""
    notes: tuple[str, ...]
    """What could not be written, and what to know about the rest."""


def write_urdf(
    document: bytes,
    model: RobotModel,
    parameters: Array,
    terms: Mapping[str, Array] | None = None,
    *,
    file: str = "<string>",
) -> WrittenUrdf:
    """Put parameters into a URDF.

    A body is a link with all links that are fixed to it. Those keep their own masses, which are
    taken away from the body's, where what is left is a possible body; if not, they get none, and
    the link that the joint moves gets all.

    Args:
        document: the URDF that the model was read from.
        model: the robot.
        parameters: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body, in the joint's frame and
            about its origin, shape (10 nb,) or more.
        terms: ``viscous`` and ``coulomb`` coefficients, each shape (nv,), to be written as
            damping and friction; others cannot be, and are noted.
        file: what messages call the document.

    Raises:
        OperationRefused: a body that cannot be, such as one of negative mass, or one that the
            document has no link for.
        ModelError: the document does not describe a robot, or another one.
    """
    # lxml comes with the first robot that is read.
    from grid_core.model.urdf.read_robot import read_robot  # noqa: PLC0415

    report = Report(file)
    encoding = find_encoding(document, report)
    text = document.decode(encoding)
    if text.encode(encoding) != document:
        raise report.error(f"its bytes are no plain {encoding.upper()}; save it as UTF-8")
    robot = read_robot(document, Report(file))
    writer = _Writer(
        model,
        Edits(text),
        _by_name(text, locate(text)),
        {link.name: link.inertial for link in robot.links if link.inertial is not None},
        file,
    )
    new = np.asarray(parameters, dtype=np.float64)[: 10 * model.nb].reshape(model.nb, 10)
    for body in range(model.nb):
        writer.body(body, new[body])
    for term, values in (terms or {}).items():
        writer.term(term, np.asarray(values, dtype=np.float64))
    writer.finish()
    return WrittenUrdf(
        document=writer.edits.apply().encode(encoding),
        links=tuple(writer.links),
        gathered=tuple(writer.gathered),
        joints=tuple(writer.dynamics),
        notes=tuple(writer.notes),
    )


@define
class _Writer:
    model: RobotModel
    edits: Edits
    elements: dict[tuple[str, str], Element]
    inertials: dict[str, InertialElement]
    file: str
    links: list[str] = field(factory=list)
    gathered: list[str] = field(factory=list)
    dynamics: dict[str, dict[str, float]] = field(factory=dict)
    notes: list[str] = field(factory=list)

    def body(self, body: int, new: Array) -> None:
        """Write one body, unless it is what it was."""
        own = self.model.bodies[body].name
        parts = {
            link.name: _parameters(link.placement @ inertial.placement, inertial)
            for link in self.model.links
            if link.body == body and (inertial := self.inertials.get(link.name)) is not None
        }
        old = np.sum([np.zeros(10), *parts.values()], axis=0)
        if _same(old, new):
            return
        if ("link", own) not in self.elements:
            raise OperationRefused(
                f"{self.file}: body {own!r} moves without a link of its own; its parameters "
                "cannot be written"
            )
        carried = {name: part for name, part in parts.items() if name != own and part.any()}
        rest = new - np.sum([np.zeros(10), *carried.values()], axis=0)
        if not is_consistent(rest, _ROOM) and carried:
            for name in carried:
                self._empty(name)
            self.notes.append(
                f"{own}: all of the body's mass is written into it, and none into "
                f"{listing(carried)}, for what would be left without theirs is no possible body"
            )
            rest = new
        elif carried:
            self.notes.append(f"{own}: the masses of {listing(carried)} stay as they were")
        if not is_consistent(rest):
            raise OperationRefused(
                f"{self.file}: link {own!r} would be an impossible body, of mass {rest[0]:.6g} kg "
                "with inertias that no distribution of mass has; it is not written. The method "
                "'consistent' finds possible ones"
            )
        self._write(own, rest)

    def term(self, term: str, values: Array) -> None:
        """Write one term of the joints."""
        key = {"viscous": "damping", "coulomb": "friction"}.get(term)
        if key is None:
            self.notes.append(f"{term}: a URDF has no place for it")
            return
        for joint in self.model.joints:
            if joint.v_start is None:
                continue
            value = float(values[joint.v_start])
            several = [j.name for j in self.model.joints if j.source == joint.source]
            if not joint.source:
                self.notes.append(f"{joint.name}: no joint of the document; no {key} is written")
            elif joint.nv > 1 or len(several) > 1:
                self.notes.append(f"{joint.name}: <dynamics> holds one {key} for all directions")
            elif value < 0.0:
                self.notes.append(f"{joint.name}: a negative {key}, {value:.6g}, is not written")
            else:
                self.dynamics.setdefault(joint.source, {})[key] = value
                self._release_followers(joint.id, key)

    def _release_followers(self, leader: int, key: str) -> None:
        """What followers add is in their leader's coefficient already."""
        for joint in self.model.joints:
            if joint.mimic is None or joint.mimic.leader != leader:
                continue
            if joint.damping if key == "damping" else joint.friction:
                self.dynamics.setdefault(joint.source, {})[key] = 0.0
                self.notes.append(f"{joint.name}: its {key} is in that of the joint it follows")

    def finish(self) -> None:
        """Write what the terms of the joints came to."""
        for joint, values in self.dynamics.items():
            element = self.elements["joint", joint]
            dynamics = element.child("dynamics")
            if dynamics is None:
                pairs = " ".join(f'{key}="{_number(x)}"' for key, x in values.items())
                self.edits.insert_last(element, [f"<dynamics {pairs}/>"])
            else:
                for key, x in values.items():
                    self.edits.set(dynamics, key, _number(x))

    def _empty(self, link: str) -> None:
        """Take the mass of a link away; its centre stays, which says nothing without one."""
        inertial = self._inertial(link)
        mass, inertia = inertial.child("mass"), inertial.child("inertia")
        assert mass is not None
        assert inertia is not None
        self.edits.set(mass, "value", "0")
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
            self.edits.set(inertia, key, "0")
        self.gathered.append(link)

    def _write(self, link: str, parameters: Array) -> None:
        """Put the parameters of one link into its ``<inertial>``, or make one."""
        self.links.append(link)
        mass = float(parameters[0])
        com = parameters[1:4] / mass
        rotational = _tensor(parameters) - mass * (com @ com * np.eye(3) - np.outer(com, com))
        xyz = " ".join(map(_number, com))
        known = self.inertials.get(link)
        if known is None:
            self.edits.insert_first(
                self.elements["link", link],
                [
                    "<inertial>",
                    f'  <origin xyz="{xyz}"/>',
                    f'  <mass value="{_number(mass)}"/>',
                    f"  <inertia {_moments(rotational)}/>",
                    "</inertial>",
                ],
            )
            return
        inertial = self._inertial(link)
        mass_element, inertia = inertial.child("mass"), inertial.child("inertia")
        assert mass_element is not None
        assert inertia is not None
        self.edits.set(mass_element, "value", _number(mass))
        origin = inertial.child("origin")
        if origin is None:
            self.edits.insert_first(inertial, [f'<origin xyz="{xyz}"/>'])
        else:
            self.edits.set(origin, "xyz", xyz)
        R = known.placement[:3, :3]
        for key, value in _entries(R.T @ rotational @ R):
            self.edits.set(inertia, key, value)

    def _inertial(self, link: str) -> Element:
        inertial = self.elements["link", link].child("inertial")
        assert inertial is not None
        return inertial


def _by_name(text: str, root: Element) -> dict[tuple[str, str], Element]:
    """Return links and joints by tag and name."""
    return {
        (element.tag, name): element
        for element in root.children
        if element.tag in {"link", "joint"} and (name := element.value(text, "name")) is not None
    }


def _parameters(T: Array, inertial: InertialElement) -> Array:
    """Return the ten parameters of a link in the frame of its body."""
    R, c, m = T[:3, :3], T[:3, 3], inertial.mass
    if m == 0.0:
        c = np.zeros(3)  # the reader gives no weight to a centre without mass
    I = R @ inertial.tensor @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def _tensor(p: Array) -> Array:
    return np.array([[p[4], p[5], p[7]], [p[5], p[6], p[8]], [p[7], p[8], p[9]]])


def _same(old: Array, new: Array) -> bool:
    return all(
        np.allclose(new[part], old[part], rtol=0.0, atol=_UNCHANGED * np.max(np.abs(old[part])))
        for part in (slice(0, 1), slice(1, 4), slice(4, 10))
    )


def _entries(I: Array) -> list[tuple[str, str]]:
    places = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2)}
    return [(key, _number(I[at])) for key, at in {**places, "izz": (2, 2)}.items()]


def _moments(I: Array) -> str:
    return " ".join(f'{key}="{value}"' for key, value in _entries(I))


def _number(value: float) -> str:
    """Return all digits, and no negative zero."""
    return repr(float(value) + 0.0)
