"""The generated header: from a robot to source text that other programs compile in.

A backend offers a `HeaderWriter` through the hook ``grid_headers``. What is written is chosen
here, as it is for a handle: the model, its options, and the operations with the inputs that each
of them takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, frozen

from grid_core.abi import slot_of
from grid_core.backend import Operation
from grid_core.cpp import require_namespace
from grid_core.errors import OperationRefused, OptionError
from grid_core.evaluation import refusal
from grid_core.load_options import DEFAULT_DTYPE, LoadOptions
from grid_core.loading import arithmetic_options
from grid_core.plugins import PluginManager, plugin_manager
from grid_core.program.runtime import INERTIAS, PLACEMENTS, with_runtime_ports
from grid_core.reading import read_model, require_one_source
from grid_core.wording import listing, near

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from grid_core.algorithm import Algorithm, Options
    from grid_core.description.calibration import Calibration
    from grid_core.model.types import RobotModel
    from grid_core.plugins import Selection

__all__ = ["Header", "HeaderWriter", "generate_header", "header_text"]

CUDA = "cuda"
"""The writer of ``grid.cuh``."""


@frozen(kw_only=True)
class Header:
    """What a header is written of."""

    model: RobotModel = field(repr=False)
    options: Options
    operations: tuple[Operation, ...] = field(repr=False)
    """In the order in which they are written; an operation may come once for each choice of
    optional inputs."""
    left_out: Mapping[str, str]
    """Why the robot cannot have an operation, by name."""
    dtype: np.dtype[Any]
    namespace: str
    """Of C++: ``grid``, ``robots::arm``."""


@frozen(kw_only=True)
class HeaderWriter:
    """A way to write headers."""

    name: str
    summary: str
    """One line."""
    file_name: str
    """What the file is usually called."""
    write: Callable[[Header], str]


def generate_header(
    source: str | os.PathLike[str] | RobotModel | None = None,
    *,
    urdf_string: str | bytes | None = None,
    floating_base: bool = False,
    algorithm_list: str | Iterable[str] | None = None,
    ee_joint_names: str | Iterable[str] | None = None,
    dtype: Any = DEFAULT_DTYPE,
    namespace: str = "grid",
    optional_inputs: Iterable[str] = (),
    output_convention: str = "pinocchio",
    use_joint_dynamics: bool = False,
    name: str | None = None,
    strict: bool = False,
    calibration: str | os.PathLike[str] | Calibration | None = None,
    regressor_terms: str | Iterable[str] | None = None,
    runtime_inertia: bool = False,
    runtime_transform: bool = False,
) -> str:
    """Return the text of ``grid.cuh``: a robot's constants, tables and operations for CUDA C++.

    Needs neither a GPU nor a compiler. docs/header.md says what the text holds.

    Args:
        source: as in `grid_core.load_robot`.
        urdf_string: text of a URDF, in place of `source`.
        floating_base: as in `grid_core.load_robot`.
        algorithm_list: operations to write, by name, family or ``all``. Left out: all.
        ee_joint_names: end-effector targets; left out: every leaf joint.
        dtype: ``float32`` or ``float64``, the type of every operation's arrays.
        namespace: the C++ namespace that everything is in.
        optional_inputs: optional inputs that the input block has no slot for, such as ``f_ext``:
            operations that take them are written a second time, with them.
        output_convention: ``pinocchio`` or ``mujoco``, of the operations; the tables are native.
        use_joint_dynamics: whether the joints' damping and friction act.
        name: the robot's name, in place of the description's own.
        strict: whether a suspicious description is an error instead of a warning.
        calibration: as in `grid_core.load_robot`.
        regressor_terms: as in `grid_core.load_robot`.
        runtime_inertia: whether there are operations that take the bodies' `inertias`.
        runtime_transform: whether there are operations that take the joints' `placements`. Those
            in the tables are then nominal, and the composer of frames refuses.

    Raises:
        OptionError: an option of a value that it cannot have.
        UnknownAlgorithm: no plugin offers such an algorithm or family, or no header writer.
        OperationRefused: the robot cannot have an operation that is asked for by its name.
        ModelError: the description cannot be read.
        UnknownName: the robot has no joint of a name in `ee_joint_names`.
    """
    require_one_source(source, urdf_string)
    options = LoadOptions.check(
        {
            "floating_base": floating_base,
            "algorithm_list": algorithm_list,
            "dtype": dtype,
            "ee_joint_names": ee_joint_names,
            "output_convention": output_convention,
            "name": name,
            "use_joint_dynamics": use_joint_dynamics,
            "strict": strict,
            "calibration": calibration,
            "regressor_terms": regressor_terms,
            "runtime_inertia": runtime_inertia,
            "runtime_transform": runtime_transform,
        }
    )
    plugins = plugin_manager()
    selection = plugins.select(options.algorithm_list)
    model = read_model(source, urdf_string, options, plugins)
    if options.name is not None:
        model = evolve(model, name=options.name)
    return header_text(
        model,
        arithmetic_options(options, model),
        selection,
        dtype=options.dtype or "float32",
        namespace=namespace,
        optional_inputs=optional_inputs,
        required=options.algorithm_list or (),
        plugins=plugins,
    )


def header_text(
    model: RobotModel,
    options: Options,
    selection: Selection,
    *,
    dtype: Any = "float32",
    namespace: str = "grid",
    optional_inputs: Iterable[str] = (),
    required: Iterable[str] = (),
    writer: str = CUDA,
    plugins: PluginManager | None = None,
) -> str:
    """Return a header's text for a model that was read and operations that were selected.

    Args:
        model: the robot.
        options: targets, convention and what else changes the arithmetic, as a handle has them.
            Inputs that they add are given like `optional_inputs`.
        selection: the operations, as `PluginManager.select` returns them. What the robot cannot
            have is left out; the header says so.
        dtype: ``float32`` or ``float64``.
        namespace: the C++ namespace.
        optional_inputs: as in `generate_header`.
        required: names among the operations that are not to be left out.
        writer: name of the header writer.
        plugins: whose writers; None: the installed ones.

    Raises:
        OptionError: a dtype, a namespace or an optional input that cannot be.
        OperationRefused: the robot cannot have one of `required`.
        UnknownAlgorithm: no plugin offers such a writer.
    """
    number = np.dtype(LoadOptions.check({"dtype": dtype}).dtype)
    require_namespace(namespace)
    chosen = [with_runtime_ports(selection.available[n], options) for n in selection.chosen]
    extra = _check_optional(chosen, optional_inputs)
    reasons = {a.name: refusal(a, selection.available, model, options) for a in chosen}
    for name in required:
        if reasons.get(name):
            raise OperationRefused(f"{name}: {model.name!r} cannot have it: {reasons[name]}")
    operations = [
        Operation(
            algorithm=algorithm,
            available=selection.available,
            model=model,
            options=options,
            dtype=number,
            present=present,
            providers=selection.providers,
        )
        for algorithm in chosen
        if not reasons[algorithm.name]
        for present in _variants(algorithm, extra)
    ]
    header = Header(
        model=model,
        options=options,
        operations=tuple(operations),
        left_out={name: reason for name, reason in reasons.items() if reason},
        dtype=number,
        namespace=namespace,
    )
    return (plugins or plugin_manager()).headers.take(writer).value.write(header)


def _variants(algorithm: Algorithm, extra: frozenset[str]) -> list[frozenset[str]]:
    """Return the choices of optional inputs.

    What has a slot is always there; of the rest nothing, each that is wanted alone, and all.
    """
    optional = [port for port in algorithm.inputs if port.optional]
    slots = frozenset(p.name for p in optional if slot_of(p) is not None)
    wanted = [p.name for p in optional if p.name in extra and p.name not in slots]
    choices = [slots, *(slots | {name} for name in wanted), slots | {*wanted}]
    return list(dict.fromkeys(choices))


def _check_optional(algorithms: list[Algorithm], wanted: Iterable[str]) -> frozenset[str]:
    names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    known = sorted(
        {p.name for a in algorithms for p in a.inputs if p.optional and slot_of(p) is None}
    )
    for name in names:
        if name not in known:
            hint = near(name, known) if isinstance(name, str) else ""
            raise OptionError(
                f"optional_inputs: none of the operations has an optional input {name!r} without "
                f"a slot{hint}; there are {listing(known)}"
            )
    added = {port.name for a in algorithms for port in a.inputs if port in (INERTIAS, PLACEMENTS)}
    return frozenset(names) | added
