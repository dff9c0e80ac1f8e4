"""Checks of what plugins return against the contract, field by field.

Each raises `ContractError` that names the record and the field; who returned it is added by
the plugin manager.
"""

from __future__ import annotations

import inspect
import keyword
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grid_core.algorithm import API_VERSION, ROLES, Algorithm, BenchmarkCase, Port
from grid_core.errors import ContractError
from grid_core.model.source import ModelSource
from grid_core.ports import CONSTANTS
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "DIMS",
    "HANDLE_ATTRIBUTES",
    "check_algorithm",
    "check_backend",
    "check_command",
    "check_header_writer",
    "check_model_source",
]

DIMS = ("nq", "nv", "nb", "nee")
"""Widths that a port's shape may name."""

DTYPES = ("float32", "float64")

HANDLE_ATTRIBUTES = frozenset(
    {
        *("algorithms", "backend", "body_names", "calls", "close", "closed", "difference", "dtype"),
        "ee_joint_names",
        *("floating_base", "integrate", "joint_effort_limits", "joint_names", "joint_pos_limits"),
        *(
            "joint_vel_limits",
            "model",
            "model_descriptor",
            "name",
            "nb",
            "neutral_configuration",
            "nj",
            "nq",
        ),
        *("num_bodies", "num_ees", "num_joints", "num_vel", "nv", "options"),
        *("parameter_names", "parameters"),
        *("random_configuration", "robot_cell"),
    }
)
"""Names that `RobotHandle` has already, so that no operation may take them."""

_ARGUMENTS = frozenset({"out", "self", "call"})
"""Arguments that a handle's method has already."""


def check_algorithm(record: object) -> None:
    """Check an algorithm and its ports.

    Raises:
        ContractError: what is wrong, with the algorithm and the field named.
    """
    if not isinstance(record, Algorithm):
        raise ContractError(f"{record!r} is a {type(record).__name__}, not an Algorithm")
    # The version first: another major may mean everything else differently.
    _check_version(record)
    where = f"algorithm {record.name!r}"
    _check_identifier(f"{where}: name", record.name, HANDLE_ATTRIBUTES | {"all"})
    _check_identifier(f"{where}: family", record.family, frozenset({"all"}))
    _check_line(f"{where}: summary", record.summary)
    _check_line(f"{where}: source", record.source)
    _check_ports(where, record)
    _check_callables(where, record)
    _check_names(f"{where}: needs", record.needs)
    _check_names(f"{where}: constants", record.constants)
    unknown = sorted(set(record.constants).difference(CONSTANTS))
    if unknown:
        raise ContractError(
            f"{where}: constants: {unknown[0]!r} is none of {listing(CONSTANTS, 'or')}"
        )
    if record.name in record.needs:
        raise ContractError(f"{where}: needs: it names itself")
    if record.template is not None:
        _check_line(f"{where}: template", record.template)
    _check_benchmarks(where, record)
    _check_bool(f"{where}: default", record.default)


def check_backend(record: object) -> None:
    """Check a backend.

    Raises:
        ContractError: what is wrong, with the backend and the field named.
    """
    where = _check_instance("backend", record, ("name", "summary", "priority", "dtypes"))
    backend: Any = record
    _check_identifier(f"{where}: name", backend.name, frozenset({"auto"}))
    _check_line(f"{where}: summary", backend.summary)
    if not isinstance(backend.priority, int) or isinstance(backend.priority, bool):
        raise ContractError(f"{where}: priority must be an integer; got {backend.priority!r}")
    _check_names(f"{where}: dtypes", backend.dtypes)
    if not backend.dtypes or not set(backend.dtypes) <= set(DTYPES):
        raise ContractError(
            f"{where}: dtypes must be some of {listing(DTYPES)}; got {backend.dtypes!r}"
        )
    _check_callable(f"{where}: unavailable", getattr(backend, "unavailable", None), 0)
    _check_callable(f"{where}: build", getattr(backend, "build", None), 2)
    _check_preparing(where, backend)


def _check_preparing(where: str, backend: Any) -> None:
    """Check what a backend needs for prepared artifacts: all of it, or nothing."""
    methods = {"prepared_targets": 1, "prepare": 3, "prepared_target": 2, "load_prepared": 4}
    if not any(hasattr(backend, name) for name in (*methods, "prepared_abi")):
        return
    for name, arguments in methods.items():
        _check_callable(f"{where}: {name}", getattr(backend, name, None), arguments)
    abi = getattr(backend, "prepared_abi", None)
    if type(abi) is not int or abi < 1:
        raise ContractError(f"{where}: prepared_abi must be an integer of at least 1; got {abi!r}")


def check_model_source(record: object) -> None:
    """Check a model source.

    Raises:
        ContractError: what is wrong, with the source and the field named.
    """
    if not isinstance(record, ModelSource):
        raise ContractError(f"{record!r} is a {type(record).__name__}, not a ModelSource")
    where = f"model source {record.name!r}"
    _check_line(f"{where}: name", record.name)
    _check_line(f"{where}: summary", record.summary)
    _check_callable(f"{where}: accepts", record.accepts, 1)
    _check_callable(f"{where}: load", record.load, None)


def check_command(record: object) -> None:
    """Check a command for the command line.

    Raises:
        ContractError: what is wrong, with the command named.
    """
    import click  # noqa: PLC0415 - only a plugin with commands pays for it

    if not isinstance(record, click.Command):
        raise ContractError(f"{record!r} is a {type(record).__name__}, not a click.Command")
    _check_line("command: name", record.name)


def check_header_writer(record: object) -> None:
    """Check a way to write headers.

    Raises:
        ContractError: what is wrong, with the writer and the field named.
    """
    fields = ("name", "summary", "file_name", "write")
    where = _check_instance("header writer", record, fields)
    writer: Any = record
    _check_line(f"{where}: name", writer.name)
    _check_line(f"{where}: summary", writer.summary)
    _check_line(f"{where}: file_name", writer.file_name)
    _check_callable(f"{where}: write", writer.write, 1)


def _check_version(record: Algorithm) -> None:
    version = record.api_version
    ours = ".".join(map(str, API_VERSION))
    if (
        not isinstance(version, tuple)
        or len(version) != len(API_VERSION)
        or not all(type(number) is int for number in version)
    ):
        raise ContractError(
            f"algorithm {record.name!r}: api_version must be a pair of integers, such as "
            f"{API_VERSION}; got {version!r}"
        )
    if version[0] != API_VERSION[0] or version[1] > API_VERSION[1]:
        cure = "Grid" if version > API_VERSION else "the plugin"
        raise ContractError(
            f"algorithm {record.name!r}: api_version: written for version "
            f"{version[0]}.{version[1]} of the contract, this Grid has {ours}; update {cure}"
        )


def _check_ports(where: str, record: Algorithm) -> None:
    for field in ("inputs", "outputs"):
        ports = getattr(record, field)
        if not isinstance(ports, tuple) or not ports:
            raise ContractError(f"{where}: {field} must be a tuple of at least one Port")
        for port in ports:
            _check_port(f"{where}: {field}", port)
    names = [port.name for port in (*record.inputs, *record.outputs)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ContractError(f"{where}: two ports are called {twice[0]!r}")
    for port in record.outputs:
        if port.optional or port.uniform:
            kind = "optional" if port.optional else "uniform"
            raise ContractError(f"{where}: outputs: port {port.name!r} cannot be {kind}")
    required = [not port.optional and not port.uniform for port in record.inputs]
    if not any(required):
        raise ContractError(
            f"{where}: inputs: at least one must be required and not uniform; it tells the batch"
        )
    if required != sorted(required, reverse=True):
        port = record.inputs[len(required) - 1 - required[::-1].index(True)]
        raise ContractError(
            f"{where}: inputs: port {port.name!r} is required and must stand before those "
            "that are optional or uniform"
        )


def _check_port(where: str, port: object) -> None:
    if not isinstance(port, Port):
        raise ContractError(f"{where}: {port!r} is a {type(port).__name__}, not a Port")
    where = f"{where}: port {port.name!r}"
    _check_identifier(f"{where}: name", port.name, _ARGUMENTS)
    if not isinstance(port.shape, tuple):
        raise ContractError(f"{where}: shape must be a tuple; got {port.shape!r}")
    _check_widths(where, port)
    for dim in port.shape:
        if not _is_width(dim, (*DIMS, *port.widths)):
            raise ContractError(
                f"{where}: shape: each width is a positive integer, one of {listing(DIMS)}, or a "
                f"multiple of one, such as '6*nee'; "
                f"got {dim!r}"
            )
    _check_line(f"{where}: doc", port.doc)
    if port.role not in ROLES:
        raise ContractError(
            f"{where}: role must be {listing(ROLES[1:], 'or')}, or empty; got {port.role!r}"
        )
    for field in ("unit", "frame"):
        if not isinstance(getattr(port, field), str):
            raise ContractError(f"{where}: {field} must be text; got {getattr(port, field)!r}")
    _check_flags(where, port)
    _check_uniform(where, port)


def _check_flags(where: str, port: Port) -> None:
    for field in ("optional", "on_demand", "uniform", "shared"):
        _check_bool(f"{where}: {field}", getattr(port, field))
    for field in ("on_demand", "shared"):
        if getattr(port, field) and not port.optional:
            raise ContractError(f"{where}: {field} is for optional inputs only")


def _check_widths(where: str, port: Port) -> None:
    if not isinstance(port.widths, Mapping):
        raise ContractError(f"{where}: widths must map names to functions; got {port.widths!r}")
    for name, width in port.widths.items():
        _check_identifier(f"{where}: widths: name", name, frozenset(DIMS))
        _check_callable(f"{where}: widths: {name!r}", width, 2)


def _is_width(dim: object, names: Sequence[str]) -> bool:
    if not isinstance(dim, str):
        return type(dim) is int and dim > 0
    factor, star, name = dim.rpartition("*")
    number = factor.isascii() and factor.isdecimal() and int(factor) > 0
    return name in names and (number if star else True)


def _check_uniform(where: str, port: Port) -> None:
    if not port.uniform:
        if port.default is not None:
            raise ContractError(f"{where}: default is for uniform inputs only")
        return
    if port.optional:
        raise ContractError(f"{where}: a uniform input has a default and cannot be optional")
    if type(port.default) not in (int, float) or not math.isfinite(port.default or 0.0):
        raise ContractError(
            f"{where}: a uniform input needs a finite default; got {port.default!r}"
        )


def _check_callables(where: str, record: Algorithm) -> None:
    _check_callable(f"{where}: reference", record.reference, 1)
    _check_callable(f"{where}: program", record.program, 1)
    if record.refuse is not None:
        _check_callable(f"{where}: refuse", record.refuse, 1)
    if record.method is not None:
        _check_callable(f"{where}: method", record.method, None)
        first = next(iter(inspect.signature(record.method).parameters.values()), None)
        if first is None or first.kind not in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        ):
            raise ContractError(f"{where}: method must take the generated call as its first")

    _check_helpers(where, record)


def _check_helpers(where: str, record: Algorithm) -> None:
    if not isinstance(record.helpers, Mapping):
        raise ContractError(f"{where}: helpers must map names to functions")
    if record.helpers and record.method is None:
        raise ContractError(f"{where}: helpers are for a method of the plugin's own")
    for name, helper in record.helpers.items():
        _check_identifier(f"{where}: helpers: name", name, frozenset())
        _check_callable(f"{where}: helpers: {name!r}", helper, None)


def _check_callable(where: str, value: object, arguments: int | None) -> None:
    if not callable(value):
        raise ContractError(f"{where} must be callable; got {value!r}")
    try:
        signature = inspect.signature(value)
    except ValueError:  # a built-in that does not tell
        return
    if arguments is None:
        return
    try:
        signature.bind(*[None] * arguments)
    except TypeError as error:
        raise ContractError(f"{where} must take {arguments} arguments: {error}") from error


def _check_benchmarks(where: str, record: Algorithm) -> None:
    if not isinstance(record.benchmarks, tuple):
        raise ContractError(f"{where}: benchmarks must be a tuple of BenchmarkCase")
    optional = {port.name for port in record.inputs if port.optional}
    labels = []
    for case in record.benchmarks:
        if not isinstance(case, BenchmarkCase):
            raise ContractError(f"{where}: benchmarks: {case!r} is not a BenchmarkCase")
        _check_line(f"{where}: benchmarks: label", case.label)
        _check_names(f"{where}: benchmarks: {case.label!r}: inputs", case.inputs)
        unknown = sorted(set(case.inputs) - optional)
        if unknown:
            raise ContractError(
                f"{where}: benchmarks: {case.label!r}: {unknown[0]!r} is no optional input"
            )
        if case.shared is not None:
            _check_callable(f"{where}: benchmarks: {case.label!r}: shared", case.shared, 3)
        labels.append(case.label)
    if len(set(labels)) != len(labels):
        raise ContractError(f"{where}: benchmarks: two cases have one label")


def _check_instance(kind: str, record: object, fields: Sequence[str]) -> str:
    if isinstance(record, type):
        raise ContractError(f"{kind} {record.__name__} is a class; return an instance of it")
    missing = [field for field in fields if not hasattr(record, field)]
    if missing:
        raise ContractError(f"{record!r} is no {kind}: it has no {missing[0]!r}")
    return f"{kind} {getattr(record, 'name', None)!r}"


def _check_identifier(where: str, value: object, reserved: frozenset[str]) -> None:
    if not isinstance(value, str) or not value.isidentifier() or keyword.iskeyword(value):
        raise ContractError(f"{where} must be a Python identifier; got {value!r}")
    if value.startswith("_"):
        raise ContractError(f"{where} must not start with an underscore; got {value!r}")
    if value in reserved:
        raise ContractError(f"{where} {value!r} is taken already; choose another")


def _check_line(where: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip() or "\n" in value:
        raise ContractError(f"{where} must be one line of text; got {value!r}")


def _check_names(where: str, value: object) -> None:
    if not isinstance(value, tuple) or not all(isinstance(name, str) for name in value):
        raise ContractError(f"{where} must be a tuple of names; got {value!r}")
    if len(set(value)) != len(value):
        raise ContractError(f"{where} names one thing twice: {value!r}")


def _check_bool(where: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ContractError(f"{where} must be True or False; got {value!r}")
