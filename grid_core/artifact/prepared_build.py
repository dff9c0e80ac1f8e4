"""`build_artifact`: compile a robot's operations ahead, for machines that cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.abi import slot_of
from grid_core.arguments import checked_options
from grid_core.artifact.consumer import ConsumerArtifact
from grid_core.artifact.prepared_check import check_expected, read_prepared, require_expected
from grid_core.artifact.prepared_compile import artifact_files, compile_plan
from grid_core.artifact.prepared_identity import content_identity
from grid_core.artifact.prepared_options import (
    encodable,
    find_backends,
    given_options,
    read_names,
    read_place,
)
from grid_core.artifact.prepared_plan import Plan, note_operations, read_calls
from grid_core.artifact.prepared_publish import locked, publish, require_replaceable
from grid_core.artifact.prepared_request import Request
from grid_core.backend import BuildSettings
from grid_core.binding import Binding
from grid_core.descriptor.build import describe
from grid_core.descriptor.validate import validate
from grid_core.errors import ArtifactError, DescriptorError, OptionError
from grid_core.header import header_text
from grid_core.load_options import DEFAULT_DTYPE, LoadOptions
from grid_core.loading import arithmetic_options
from grid_core.plugins import plugin_manager
from grid_core.reading import read_model, require_one_source
from grid_core.wording import listing

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from grid_core.artifact.prepared_check import Prepared
    from grid_core.artifact.prepared_options import Targets
    from grid_core.description.calibration import Calibration
    from grid_core.model.types import RobotModel
    from grid_core.plugins import PluginManager, Selection

__all__ = ["build_artifact"]

_ARCHITECTURES = ("sm_80", "sm_90", "sm_120")
_HEADER_MODULES = ("grid_core", "grid_backend_cuda")
"""Whose source the header follows from."""


@checked_options
def build_artifact(
    source: str | os.PathLike[str] | RobotModel | None = None,
    directory: str | os.PathLike[str] = "",
    *,
    urdf_string: str | bytes | None = None,
    expected_descriptor_id: str | None = None,
    floating_base: bool = False,
    algorithm_list: str | Sequence[str] | None = None,
    calls: Mapping[str, Any] | None = None,
    dtype: Any = DEFAULT_DTYPE,
    backends: str | Sequence[str] = ("cpu", "cuda"),
    architectures: str | Sequence[str] = _ARCHITECTURES,
    instruction_sets: str | Sequence[str] | None = None,
    ee_joint_names: str | Sequence[str] | None = None,
    output_convention: str = "pinocchio",
    name: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    num_threads: int | None = None,
    use_joint_dynamics: bool = False,
    regressor_terms: str | Sequence[str] | None = None,
    runtime_inertia: bool = False,
    runtime_transform: bool = False,
    strict: bool = False,
    calibration: str | os.PathLike[str] | Calibration | None = None,
) -> ConsumerArtifact:
    """Compile a robot's operations into a folder that `grid_core.load_artifact` loads elsewhere.

    Needs no GPU. Where the folder holds an artifact of the same content identity, it is checked
    and kept; anything else of Grid's in it is replaced in one step, so that a reader, or a
    process killed at any moment, finds the old artifact or the new one.

    Args:
        source: as in `grid_core.load_robot`.
        directory: the folder; made if it is not there. A file ``.<name>.lock`` stays beside it.
        urdf_string: text of a URDF, in place of `source`.
        expected_descriptor_id: the ``descriptor_id`` of a model that was inspected before; the
            build is refused where the robot's is another, whether it is compiled or was there.
        floating_base: as in `grid_core.load_robot`.
        algorithm_list: operations to prepare. Left out: all.
        calls: what is compiled on demand elsewhere and is to be prepared too, as calls of the
            handle's methods: ``{"forward_dynamics": {"f_ext": True}, "frame_jacobian":
            [{"frame": "tool0"}, {"frame": "flange"}]}``. True stands for an optional array that is
            given, ``"shared"`` for `inertias` or `placements` of the whole batch; other arguments
            are as the method takes them.
        dtype: ``float32`` or ``float64``.
        backends: what to compile for.
        architectures: GPUs that the backend ``cuda`` compiles for; newer ones take the PTX.
        instruction_sets: processors that the backend ``cpu`` compiles for: ``x86-64-v3``,
            ``x86-64-v4``, or ``native``, the one that it runs on. Left out: the first two, or the
            baseline of another architecture.
        ee_joint_names: as in `grid_core.load_robot`.
        output_convention: as in `grid_core.load_robot`.
        name: as in `grid_core.load_robot`.
        cache_dir: folder of the build cache, which single compilations are kept in as well.
        num_threads: threads to compile with.
        use_joint_dynamics: as in `grid_core.load_robot`.
        regressor_terms: as in `grid_core.load_robot`.
        runtime_inertia: as in `grid_core.load_robot`; what takes `inertias` is named in `calls`.
        runtime_transform: the same of `placements`.
        strict: as in `grid_core.load_robot`.
        calibration: as in `grid_core.load_robot`.

    Returns:
        The artifact, read back from the disk and checked.

    Raises:
        OptionError: an option of a value that it cannot have.
        DescriptorMismatch: the robot is not the one expected.
        BackendUnavailable: a backend's compiler is missing here.
        BackendError: an operation could not be compiled.
        ArtifactError: the folder cannot be written to, or holds something else.
        ModelError, UnknownAlgorithm, UnknownName, PluginConflict: as `grid_core.load_robot`.
    """
    require_one_source(source, urdf_string)
    place = read_place(directory)
    check_expected(expected_descriptor_id)
    options = LoadOptions.check(
        {
            "floating_base": floating_base,
            "algorithm_list": algorithm_list,
            "dtype": dtype,
            "ee_joint_names": ee_joint_names,
            "output_convention": output_convention,
            "name": name,
            "cache_dir": cache_dir,
            "num_threads": num_threads,
            "use_joint_dynamics": use_joint_dynamics,
            "regressor_terms": regressor_terms,
            "runtime_inertia": runtime_inertia,
            "runtime_transform": runtime_transform,
            "strict": strict,
            "calibration": calibration,
        }
    )
    plugins = plugin_manager()
    model = read_model(source, urdf_string, options, plugins)
    if options.name is not None:
        model = evolve(model, name=encodable(options.name))
    _check_descriptor(model, expected_descriptor_id, place)
    chosen = {
        "cpu": read_names(instruction_sets, "instruction_sets"),
        "cuda": read_names(architectures, "architectures"),
    }
    wanted = read_names(backends, "backends") or ()
    if instruction_sets is not None and "cpu" not in wanted:
        raise OptionError(f"instruction_sets are the backend cpu's; backends are {listing(wanted)}")
    if tuple(chosen["cuda"] or ()) != _ARCHITECTURES and "cuda" not in wanted:
        raise OptionError(f"architectures are the backend cuda's; backends are {listing(wanted)}")
    found = find_backends(wanted, chosen, options, plugins)
    request = _request(model, options, found, read_calls(calls), plugins)
    return _build(place, request, expected_descriptor_id)


def _check_descriptor(model: RobotModel, expected: str | None, place: Path) -> None:
    descriptor = describe(model)
    validate(descriptor)
    require_expected(descriptor, expected, place)


def _build(place: Path, request: Request, expected: str | None) -> ConsumerArtifact:
    identity = content_identity(request, _HEADER_MODULES)
    require_replaceable(place)
    kept = _kept(place, identity, expected)  # needs no right to write
    if kept is not None:
        return ConsumerArtifact.of(kept, reused=True)
    with locked(place):
        # Another process may have built meanwhile.
        kept = _kept(place, identity, expected)
        if kept is not None:
            return ConsumerArtifact.of(kept, reused=True)
        require_replaceable(place)
        publish(place, artifact_files(request, compile_plan(request), identity))
        return ConsumerArtifact.of(read_prepared(place, expected), reused=False)


def _kept(place: Path, identity: str | None, expected: str | None) -> Prepared | None:
    """Return the artifact that is there, if it is sound and what would be built."""
    if identity is None:
        return None
    try:
        prepared = read_prepared(place, expected)
    except (ArtifactError, DescriptorError):
        return None
    return prepared if prepared.manifest.content_id == identity else None


def _request(
    model: RobotModel,
    load: LoadOptions,
    backends: Targets,
    calls: tuple[tuple[str, Mapping[str, Any]], ...],
    plugins: PluginManager,
) -> Request:
    selection = plugins.select(load.algorithm_list)
    dtype = np.dtype(load.dtype or DEFAULT_DTYPE)
    options = arithmetic_options(load, model)

    def bind(backend: Any, settings: BuildSettings) -> Binding:
        return Binding(
            name=model.name,
            model=model,
            options=options,
            dtype=dtype,
            backend=backend,
            settings=settings,
            selection=selection,
        )

    plan = note_operations(bind, plugins, calls)
    return Request(
        model=model,
        descriptor=describe(model),
        options=options,
        dtype=dtype,
        selection=selection,
        plan=plan,
        backends=backends,
        header=lambda: header_text(
            model,
            options,
            selection,
            dtype=dtype.name,
            optional_inputs=_without_slot(plan, selection),
            plugins=plugins,
        ),
        given=given_options(load, dtype, backends, calls),
        settings=BuildSettings(cache_dir=load.cache_dir, num_threads=load.num_threads),
    )


def _without_slot(plan: Plan, selection: Selection) -> tuple[str, ...]:
    """Return the optional inputs that are prepared and that the header has to be asked for."""
    found = {
        port.name
        for operation in plan.operations
        if operation.algorithm.name in selection.chosen
        for port in selection.available[operation.algorithm.name].inputs
        if port.name in operation.present and slot_of(port) is None
    }
    return tuple(sorted(found))
