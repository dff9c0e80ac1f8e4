"""Loading a robot: check the options, read the description, select, bind, compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from grid_core.algorithm import Options
from grid_core.arguments import checked_options
from grid_core.backend import BuildSettings
from grid_core.backends import choose_backend, choose_dtype
from grid_core.binding import Binding
from grid_core.compiling import compile_all
from grid_core.errors import OptionError
from grid_core.handle import RobotHandle
from grid_core.load_options import DEFAULT_DTYPE, LoadOptions
from grid_core.plugins import PluginManager, plugin_manager
from grid_core.reading import read_model, require_one_source
from grid_core.targets import find_targets

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from grid_core.backend import Backend
    from grid_core.description.calibration import Calibration
    from grid_core.model.types import RobotModel

__all__ = ["AlgorithmInfo", "arithmetic_options", "list_algorithms", "load", "load_robot"]


@checked_options
def load_robot(
    source: str | os.PathLike[str] | RobotModel | None = None,
    *,
    urdf_string: str | bytes | None = None,
    floating_base: bool = False,
    algorithm_list: str | Sequence[str] | None = None,
    backend: str = "auto",
    dtype: Any = DEFAULT_DTYPE,
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
    device: int | None = None,
    calibration: str | os.PathLike[str] | Calibration | None = None,
) -> RobotHandle:
    """Load a robot and return a handle whose methods are its operations.

    Args:
        source: path of a URDF file or of a robot-description directory.
        urdf_string: text of a URDF, in place of `source`.
        floating_base: whether the root link moves freely; it then is joint 0, with
            q = [x y z, qx qy qz qw, ...] and v = [linear; angular; ...] in the base frame.
        algorithm_list: operations to compile now, by name, family (``fd``) or ``all``. Left out:
            all, each compiled at its first call.
        backend: a backend's name; ``auto`` takes the best that this machine can run.
        dtype: ``float32`` or ``float64``. Left out: float32, unless the backend lacks it.
        ee_joint_names: end-effector targets, as names of joints or fixed joints. Left out: every
            moving joint that carries no other, in the order of `RobotHandle.joint_names`.
        output_convention: ``pinocchio``, or ``mujoco``: quaternions w x y z, a floating base's
            linear velocity, acceleration and force along the world's axes.
        name: the robot's name, in place of the description's own.
        cache_dir: folder of the build cache. Left out: ``GRID_CACHE_DIR``, or the user's own.
        num_threads: threads to compile with and to spread a batch over. Left out: the physical
            cores that the process may use.
        use_joint_dynamics: whether the joints' damping and friction act.
        regressor_terms: what regressors have columns for after the bodies', one a coordinate of
            the velocity each: ``viscous``, ``coulomb``, ``offset``, ``rotor_inertia``.
        runtime_inertia: whether operations of the dynamics take the bodies' inertial parameters,
            `inertias`; left out, the description's own.
        runtime_transform: whether kinematics and dynamics take the joints' placements,
            `placements`; left out, the description's own.
        strict: whether a suspicious description is an error instead of a warning.
        device: number of the GPU that the handle is bound to. Left out: the first.
        calibration: how the cell differs from the model of a robot-description directory: its
            file. Left out: not at all.

    Raises:
        OptionError: an option of a value that it cannot have.
        UnknownAlgorithm: no plugin offers such an algorithm, family or backend.
        PluginConflict: two plugins claim a name that is wanted.
        BackendUnavailable: this machine cannot run the backend.
        ModelError: the description cannot be read.
        DescriptionError: a robot-description directory or a calibration at fault.
        UnknownName: the robot has no joint of a name in `ee_joint_names`.
        BackendError: an operation in `algorithm_list` could not be compiled.
    """
    require_one_source(source, urdf_string)
    options = LoadOptions.check(
        {
            "floating_base": floating_base,
            "algorithm_list": algorithm_list,
            "backend": backend,
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
            "device": device,
            "calibration": calibration,
        }
    )
    return load(source, urdf_string, options, plugin_manager())


def load(
    source: str | os.PathLike[str] | RobotModel | None,
    urdf_string: str | bytes | None,
    options: LoadOptions,
    plugins: PluginManager,
) -> RobotHandle:
    """Load a robot with checked options and the plugins given; see `load_robot`."""
    backend = choose_backend(plugins, options.backend)
    dtype = choose_dtype(backend, options.dtype)
    selection = plugins.select(options.algorithm_list)
    model = read_model(source, urdf_string, options, plugins)
    if options.name is not None:
        model = evolve(model, name=options.name)
    binding = Binding(
        name=model.name,
        model=model,
        options=arithmetic_options(options, model),
        dtype=dtype,
        backend=backend,
        settings=_settings(backend, options),
        selection=selection,
    )
    handle = RobotHandle(binding, plugins)
    if options.algorithm_list is not None:
        compile_all(handle.calls(), options.num_threads)
    return handle


def arithmetic_options(options: LoadOptions, model: RobotModel) -> Options:
    """Return what of the options changes the arithmetic, for this robot."""
    return Options(
        use_joint_dynamics=options.use_joint_dynamics,
        targets=find_targets(model, options.ee_joint_names),
        output_convention=options.output_convention,
        regressor_terms=options.regressor_terms,
        runtime_inertia=options.runtime_inertia,
        runtime_transform=options.runtime_transform,
    )


def _settings(backend: Backend, options: LoadOptions) -> BuildSettings:
    if options.device is not None and not hasattr(backend, "edge"):
        raise OptionError(
            f"device={options.device}: the backend {backend.name!r} has no devices to choose from"
        )
    return BuildSettings(
        cache_dir=options.cache_dir, num_threads=options.num_threads, device=options.device
    )


@frozen
class AlgorithmInfo:
    """One algorithm that is installed."""

    name: str
    family: str
    summary: str
    plugin: str
    distribution: str
    version: str
    needs: tuple[str, ...]


def list_algorithms() -> tuple[AlgorithmInfo, ...]:
    """Return every algorithm of every plugin that loaded, sorted by family and name.

    A name that two plugins claim is listed for each of them.
    """
    found = [
        AlgorithmInfo(
            name=offer.value.name,
            family=offer.value.family,
            summary=offer.value.summary,
            plugin=offer.provider.plugin,
            distribution=offer.provider.distribution,
            version=offer.provider.version,
            needs=offer.value.needs,
        )
        for offers in plugin_manager().algorithms.claims.values()
        for offer in offers
    ]
    return tuple(sorted(found, key=lambda info: (info.family, info.name, info.distribution)))
