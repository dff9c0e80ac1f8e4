"""`load_artifact`: a handle from a prepared artifact, without source, tracing or compilers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.arguments import checked_options
from grid_core.artifact.prepared_binding import PreparedBinding, variant_key
from grid_core.artifact.prepared_check import Prepared, check_expected, read_prepared
from grid_core.artifact.prepared_handle import PreparedHandle
from grid_core.artifact.prepared_manifest import MANIFEST
from grid_core.artifact.prepared_methods import find_method
from grid_core.artifact.prepared_model import options_from
from grid_core.artifact.prepared_ports import algorithm_from
from grid_core.backend import BuildSettings
from grid_core.contract import check_algorithm
from grid_core.errors import (
    ArtifactCorrupt,
    ArtifactIncompatible,
    BackendError,
    BackendUnavailable,
    ContractError,
    GridError,
    OperationNotLoaded,
    OptionError,
)
from grid_core.load_options import LoadOptions, as_path
from grid_core.model.types import RobotCell
from grid_core.plugins import plugin_manager
from grid_core.plugins.selection import Selection
from grid_core.wording import listing

if TYPE_CHECKING:
    from grid_core.algorithm import Algorithm, Options
    from grid_core.artifact.prepared_manifest import BackendRecord, CodeRecord
    from grid_core.backend import PreparingBackend
    from grid_core.plugins import PluginManager

__all__ = ["load_artifact"]

AUTO = "auto"
_WIDEST = 2**31
"""Entries of no axis of an array are so many."""


@checked_options
def load_artifact(
    directory: str | os.PathLike[str],
    *,
    expected_descriptor_id: str | None = None,
    backend: str = AUTO,
    device: int | None = None,
    num_threads: int | None = None,
    robot_cell: RobotCell | None = None,
) -> PreparedHandle:
    """Load a prepared artifact and return a handle, as `grid_core.load_robot` does of a robot.

    Every file is checked against ``artifact.json``, the descriptor against its schema and the
    generated header against the descriptor, before anything is loaded. The robot's source is not
    read, nothing is traced and nothing is compiled; PTX, where no machine code for the GPU was
    prepared, is finished by its driver.

    Args:
        directory: the folder that `grid_core.build_artifact` made.
        expected_descriptor_id: the ``descriptor_id`` that the caller was written for.
        backend: what runs it; ``auto`` takes the best that the artifact and this machine have.
        device: number of the GPU that the handle is bound to. Left out: the first.
        num_threads: threads to spread a batch over. Left out: the physical cores that the
            process may use.
        robot_cell: what a plan that is made with the handle is valid for, as `Cell.describe` of
            `grid_core.description` says it; it is in no artifact, and taken at its word.

    Raises:
        OptionError: an option of a value that it cannot have.
        ArtifactMissing: there is no artifact.
        ArtifactOutdated: it is of another schema; it is to be built again.
        ArtifactCorrupt: a file is missing, altered or not listed.
        DescriptorMismatch: the descriptor is not the one expected, or the header's is another.
        DescriptorError: the descriptor breaks a rule of its schema.
        ArtifactIncompatible: it has no code for this machine.
        BackendUnavailable: this machine cannot run the backend.
    """
    if not isinstance(directory, str | os.PathLike) or not os.fspath(directory):
        raise OptionError(f"directory must be an artifact's folder; got {directory!r}")
    check_expected(expected_descriptor_id)
    options = LoadOptions.check({"backend": backend, "device": device, "num_threads": num_threads})
    if robot_cell is not None and not isinstance(robot_cell, RobotCell):
        raise OptionError(f"robot_cell must be a RobotCell; got {robot_cell!r}")
    place = as_path(directory, "directory").absolute()
    prepared = read_prepared(place, expected_descriptor_id)
    prepared = evolve(prepared, model=evolve(prepared.model, robot_cell=robot_cell))
    plugins = plugin_manager()
    settings = BuildSettings(cache_dir=None, num_threads=options.num_threads, device=options.device)
    chosen, target = _choose(prepared, options.backend, settings, plugins)
    if device is not None and not hasattr(chosen, "edge"):
        raise OptionError(
            f"device={device}: the backend {chosen.name!r} has no devices to choose from"
        )
    return PreparedHandle(_binding(prepared, chosen, target, settings, plugins), plugins)


def _choose(
    prepared: Prepared, name: str, settings: BuildSettings, plugins: PluginManager
) -> tuple[PreparingBackend, str]:
    """Return the backend, and which of its targets runs here."""
    records = prepared.manifest.backends
    if name != AUTO:
        if name not in records:
            raise ArtifactIncompatible(
                f"it has no code for the backend {name!r}, only for {listing(records)}; build it "
                f"again with backends=({name!r}, ...)",
                directory=prepared.directory,
            )
        return _usable(prepared, name, records[name], settings, plugins)
    reasons: list[tuple[str, GridError]] = []
    found = []
    for other, record in records.items():
        try:
            backend, target = _usable(prepared, other, record, settings, plugins)
        except GridError as error:
            reasons.append((other, error))
        else:
            found.append((-backend.priority, backend.name, backend, target))
    if not found:
        said = "; ".join(f"{other}: {_short(error)}" for other, error in reasons)
        raise ArtifactIncompatible(
            f"none of its backends can run here: {said or 'it has none'}",
            directory=prepared.directory,
        )
    _, _, backend, target = min(found, key=lambda item: item[:2])
    return backend, target


def _short(error: GridError) -> str:
    return error.reason if isinstance(error, ArtifactIncompatible) else str(error)


def _usable(
    prepared: Prepared,
    name: str,
    record: BackendRecord,
    settings: BuildSettings,
    plugins: PluginManager,
) -> tuple[PreparingBackend, str]:
    backend: Any = plugins.backends.take(name).value
    where = prepared.directory
    if not hasattr(backend, "load_prepared"):
        raise ArtifactIncompatible(
            f"the backend {name!r} that is installed loads no prepared code", directory=where
        )
    if backend.prepared_abi != record.abi:
        raise ArtifactIncompatible(
            f"its code for the backend {name!r} is of version {record.abi}, and the one that is "
            f"installed loads version {backend.prepared_abi}; build it again with this Grid",
            directory=where,
        )
    try:
        return backend, backend.prepared_target(record.targets, settings)
    except BackendUnavailable:
        raise
    except BackendError as error:
        raise ArtifactIncompatible(str(error), directory=where) from error
    except ImportError as error:
        raise BackendUnavailable(f"the backend {name!r} cannot run here: {error}") from error
    except Exception as error:
        raise ArtifactCorrupt(
            f"backends: the targets of {name!r} are not described as the backend does it: "
            f"{type(error).__name__}: {error}",
            directory=where,
            file=MANIFEST,
        ) from error


def _binding(
    prepared: Prepared,
    backend: PreparingBackend,
    target: str,
    settings: BuildSettings,
    plugins: PluginManager,
) -> PreparedBinding:
    manifest = prepared.manifest
    options = options_from(prepared)
    algorithms = {}
    for record in manifest.operations:
        own = find_method(record, plugins)
        algorithm = algorithm_from(record, method=own.function, helpers=own.helpers)
        algorithms[record.name] = _checked(algorithm, prepared, options)
    codes: dict[str, tuple[CodeRecord, ...]] = {
        variant_key(record.name, variant.options, variant.present, variant.uniform): tuple(
            code for code in variant.codes if code.backend == backend.name and code.target == target
        )
        for record in manifest.operations
        for variant in record.variants
    }
    files = {code.file for some in codes.values() for code in some}
    contents = {path: data for path, data in prepared.contents.items() if path in files}
    return PreparedBinding(
        name=manifest.name,
        model=prepared.model,
        options=options,
        dtype=np.dtype(manifest.dtype),
        backend=backend,
        settings=settings,
        selection=Selection(
            chosen=tuple(
                r.name
                for r in sorted(manifest.operations, key=lambda r: (r.family, r.name))
                if r.chosen
            ),
            available=algorithms,
            providers={record.name: record.provider for record in manifest.operations},
        ),
        prepared=evolve(prepared, contents=contents),  # the other targets' code is let go of
        target=target,
        codes=codes,
        refused={r.name: r.refused for r in manifest.operations if r.refused},
    )


def _checked(algorithm: Algorithm, prepared: Prepared, options: Options) -> Algorithm:
    """Return a declaration that keeps the contract, as a plugin's does when it is loaded."""
    try:
        check_algorithm(algorithm)
        widest = max(
            width
            for port in (*algorithm.inputs, *algorithm.outputs)
            for width in (0, *port.dims(prepared.model, options))
        )
    except OperationNotLoaded:  # a part of another's method, under other options only
        return algorithm
    except ContractError as error:
        raise ArtifactCorrupt(str(error), directory=prepared.directory, file=MANIFEST) from error
    if widest > _WIDEST:
        raise ArtifactCorrupt(
            f"operation {algorithm.name!r}: {widest} entries are more than there can be",
            directory=prepared.directory,
            file=MANIFEST,
        )
    return algorithm
