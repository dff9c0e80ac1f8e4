"""``artifact.json``: what a prepared artifact holds, as one strict document.

Its bytes are the canonical form of its data and end with their own SHA-256, so that any other
byte in it is noticed like one in any other file.
"""

# ruff: noqa: RUF009 - `item` declares a field, as `attrs.field` does

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from grid_core.artifact.prepared_kinds import Flag, Plain, Scalar, nullable
from grid_core.contract import DTYPES
from grid_core.description.kinds import Choice, ListOf, MapOf, Number, Record, Text, Whole, item

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CODE",
    "DESCRIPTOR",
    "FORMAT",
    "HEADER",
    "LAUNCH",
    "MANIFEST",
    "SCHEMA_VERSION",
    "BackendRecord",
    "BodyRecord",
    "CodeRecord",
    "FileRecord",
    "JointRecord",
    "LinkRecord",
    "Manifest",
    "ModelRecord",
    "OperationRecord",
    "PortRecord",
    "VariantRecord",
    "WidthRecord",
    "manifest_bytes",
    "plain",
]

MANIFEST = "artifact.json"
DESCRIPTOR = "model_descriptor.json"
HEADER = "grid.cuh"
LAUNCH = "launch.txt"
CODE = "code"
"""Folder of what backends compiled, one folder a backend."""
FORMAT = "grid.artifact"
SCHEMA_VERSION = 2

_HEX = Text(r"[0-9a-f]{64}", "64 hex digits")
_NAME = Text()
_TEXT = Text(r".*", "text")
_REAL = Number()


@frozen
class FileRecord:
    """One file of the artifact beside ``artifact.json``."""

    sha256: str = item(_HEX, "SHA-256 of its bytes, 64 hex digits")
    size: int = item(Whole(0), "bytes")


@frozen
class LinkRecord:
    """Where a link of the description ended up."""

    name: str = item(_TEXT, "name of the link")
    body: int = item(Whole(-1), "body that carries it; -1: the root")
    placement: tuple[tuple[float, ...], ...] = item(
        ListOf(ListOf(_REAL)), "T_body_link by rows, 4 x 4 [m]"
    )


@frozen
class BodyRecord:
    """What the descriptor does not say of a body."""

    mass: float = item(_REAL, "[kg]")
    com: tuple[float, ...] = item(ListOf(_REAL), "centre of mass in the joint frame [m]")
    rotational: tuple[tuple[float, ...], ...] = item(
        ListOf(ListOf(_REAL)), "rotational inertia as `grid_core.model.types.Inertia` has it"
    )


@frozen
class JointRecord:
    """What the descriptor does not say of a joint."""

    damping: float = item(_REAL, "viscous coefficient [N m s/rad or N s/m]")
    friction: float = item(_REAL, "Coulomb coefficient [N m or N]")
    source: str = item(_TEXT, "name of the joint of the description that it was made from")


@frozen
class ModelRecord:
    """What the descriptor does not say of the robot."""

    name: str = item(_TEXT, "the robot's name")
    root_link: str = item(_TEXT, "the link without a parent")
    bodies: tuple[BodyRecord, ...] = item(ListOf(Record(BodyRecord)), "by body ID")
    joints: tuple[JointRecord, ...] = item(ListOf(Record(JointRecord)), "by joint ID")
    links: tuple[LinkRecord, ...] = item(ListOf(Record(LinkRecord)), "in document order")


@frozen
class PortRecord:
    """One array or number that goes in or comes out; see `grid_core.algorithm.Port`."""

    name: str = item(_NAME, "name of the argument or result")
    shape: tuple[Any, ...] = item(ListOf(Scalar()), "for one problem, in widths' names")
    doc: str = item(_TEXT, "one line")
    unit: str = item(_TEXT, "unit")
    frame: str = item(_TEXT, "frame")
    optional: bool = item(Flag(), "whether it may be left out")
    on_demand: bool = item(Flag(), "whether what is compiled with it is prepared when asked for")
    uniform: bool = item(Flag(), "whether the batch shares it")
    default: float | None = item(nullable(_REAL), "of a uniform input")
    role: str = item(_TEXT, "how it reads in other coordinates")
    shared: bool = item(Flag(), "whether one array may stand for a whole batch")


@frozen
class CodeRecord:
    """One file of code."""

    backend: str = item(_NAME, "what runs it")
    target: str = item(_NAME, "what it runs on")
    suffix: str = item(_NAME, "what kind of code it is")
    file: str = item(_NAME, "its path in the artifact")
    launch: Mapping[str, Any] = item(Plain(dict), "all that a call must know beside the code")


@frozen
class VariantRecord:
    """An operation with one choice of optional inputs, under one choice of options."""

    present: tuple[str, ...] = item(ListOf(_NAME, unique=True), "optional inputs that are given")
    uniform: tuple[str, ...] = item(ListOf(_NAME, unique=True), "inputs that the batch shares")
    options: Mapping[str, Any] = item(Plain(dict), "`grid_core.algorithm.Options`")
    codes: tuple[CodeRecord, ...] = item(ListOf(Record(CodeRecord)), "its code, by target")


@frozen
class WidthRecord:
    """Widths that an operation's plugin computes, under one choice of options."""

    options: Mapping[str, Any] = item(Plain(dict), "`grid_core.algorithm.Options`")
    values: Mapping[str, int] = item(MapOf(Whole(0)), "by port and width: ``pi.nr``")


@frozen
class OperationRecord:
    """One operation of the robot."""

    name: str = item(_NAME, "name of the handle's method")
    family: str = item(_NAME, "family")
    summary: str = item(_TEXT, "one line")
    source: str = item(_TEXT, "where it is from")
    provider: str = item(_TEXT, "distribution and version that it comes from")
    chosen: bool = item(Flag(), "whether it is a method by itself, not only a part of another's")
    hand_written: bool = item(Flag(), "whether its plugin writes the method")
    constants: tuple[str, ...] = item(ListOf(_NAME), "what options turn into inputs of it")
    refused: str | None = item(nullable(_TEXT), "why the robot cannot have it")
    inputs: tuple[PortRecord, ...] = item(ListOf(Record(PortRecord)), "in the kernels' order")
    outputs: tuple[PortRecord, ...] = item(ListOf(Record(PortRecord)), "in order")
    widths: tuple[WidthRecord, ...] = item(ListOf(Record(WidthRecord)), "its ports' own widths")
    variants: tuple[VariantRecord, ...] = item(ListOf(Record(VariantRecord)), "what is prepared")


@frozen
class BackendRecord:
    """A backend that code was built for."""

    abi: int = item(Whole(1), "version of what its records of launches mean")
    targets: Mapping[str, Mapping[str, str]] = item(
        MapOf(MapOf(_TEXT)), "what each target's code depends on"
    )


@frozen
class Manifest:
    """The whole document."""

    format: str = item(Choice((FORMAT,)), "what this document is")
    schema_version: int = item(Whole(SCHEMA_VERSION), f"{SCHEMA_VERSION}")
    content_id: str = item(_HEX, "what the artifact was built from: two alike are one build")
    descriptor_id: str = item(_HEX, f"identity of {DESCRIPTOR}")
    name: str = item(_TEXT, "the robot's name")
    dtype: str = item(Choice(DTYPES), "precision of all arithmetic and arrays")
    options: Mapping[str, Any] = item(Plain(dict), "`grid_core.algorithm.Options` of the handle")
    built_from: Mapping[str, Any] = item(Plain(dict), "the options that it was built with")
    built_with: Mapping[str, str] = item(MapOf(_TEXT), "versions of all that built it")
    model: ModelRecord = item(Record(ModelRecord), "what the descriptor does not say")
    backends: Mapping[str, BackendRecord] = item(MapOf(Record(BackendRecord)), "by name")
    operations: tuple[OperationRecord, ...] = item(ListOf(Record(OperationRecord)), "by name")
    files: Mapping[str, FileRecord] = item(MapOf(Record(FileRecord)), "by path")
    sha256: str = item(_HEX, "of this document's canonical form with an empty text here")


def plain(record: Any) -> Any:
    """Return a record as plain JSON data."""
    return json.loads(json.dumps(asdict(record)))


def manifest_bytes(data: Mapping[str, Any]) -> bytes:
    """Return the document's one form, with its SHA-256 filled in; `data` is plain JSON data."""
    empty = _canonical({**data, "sha256": ""})
    return _canonical({**data, "sha256": hashlib.sha256(empty).hexdigest()})


def _canonical(data: Mapping[str, Any]) -> bytes:
    text = json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"
