"""A loaded robot: its numbers, its names and its operations."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NoReturn, Self, SupportsIndex

import numpy as np

from grid_core.arguments import checked_arguments
from grid_core.custom_call import customise
from grid_core.descriptor.build import describe
from grid_core.errors import ArgumentError, GridError, HandleClosed, OperationNotLoaded
from grid_core.model.parameters import parameter_names, parameters, require_order
from grid_core.operation_call import OperationCall
from grid_core.plugins.selection import ALL, select
from grid_core.spaces import Spaces
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from numpy.typing import ArrayLike, NDArray

    from grid_core.algorithm import Options
    from grid_core.binding import Binding
    from grid_core.model.types import Array, Limits, RobotCell, RobotModel
    from grid_core.plugins import PluginManager

__all__ = ["RobotHandle"]


class RobotHandle:
    """A robot whose operations are called like methods: ``robot.forward_dynamics(q, qd, tau)``.

    Made by `grid_core.load_robot`. Operations are compiled by the load or at their first call;
    both are safe from several threads. Every array that comes out has the handle's dtype.
    """

    def __init__(self, binding: Binding, plugins: PluginManager) -> None:
        self._binding = binding
        self._plugins = plugins
        self._lock = threading.Lock()
        self._calls: dict[str, OperationCall] = {}
        self._spaces = Spaces(
            binding.model, binding.dtype, binding.options.output_convention == "mujoco"
        )

    @property
    def model(self) -> RobotModel:
        """The kinematic tree."""
        return self._binding.model

    @property
    def model_descriptor(self) -> dict[str, Any]:
        """What the model's coordinates and frames mean, as `grid_core.describe_model` says it.

        A new copy each time; Pinocchio's conventions whatever the operations' own are.
        """
        return describe(self.model)

    @property
    def robot_cell(self) -> RobotCell | None:
        """Which description and calibration the robot was loaded from; None of a plain URDF.

        A program that is planned with this handle records it: docs/robot-descriptions.md.
        """
        return self.model.robot_cell

    @property
    def options(self) -> Options:
        """The options that change the arithmetic."""
        return self._binding.options

    @property
    def name(self) -> str:
        """The robot's name."""
        return self._binding.name

    @property
    def backend(self) -> str:
        """Name of the backend that runs the operations."""
        return self._binding.backend.name

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the arithmetic and of every array that comes out."""
        return self._binding.dtype

    @property
    def floating_base(self) -> bool:
        """Whether joint 0 is the free motion of the base."""
        return self.model.floating_base

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._binding.closed

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Names of the operations of this handle."""
        return self._binding.selection.chosen

    @property
    def nq(self) -> int:
        """Entries in q."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Entries in every velocity-like vector."""
        return self.model.nv

    @property
    def nj(self) -> int:
        """Effective joints."""
        return self.model.nj

    @property
    def nb(self) -> int:
        """Effective bodies; the root reference does not count."""
        return self.model.nb

    @property
    def num_joints(self) -> int:
        """Entries in q, `nq`; `nj` counts the joints."""
        return self.model.nq

    @property
    def num_vel(self) -> int:
        """Entries in every velocity-like vector, `nv`."""
        return self.model.nv

    @property
    def num_bodies(self) -> int:
        """Effective bodies, `nb`."""
        return self.model.nb

    @property
    def num_ees(self) -> int:
        """End-effector targets."""
        return len(self.options.targets)

    @property
    def ee_joint_names(self) -> tuple[str, ...]:
        """Names of the end-effector targets, in the order of the results' rows."""
        return tuple(self.model.frames[target].name for target in self.options.targets)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the effective joints by ID."""
        return tuple(joint.name for joint in self.model.joints)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the effective bodies by ID."""
        return tuple(body.name for body in self.model.bodies)

    @property
    def joint_pos_limits(self) -> Array:
        """Least and greatest position of each joint, as in `joint_names` [rad or m], (nj, 2).

        Without a bound it is -inf or inf.
        """
        lower = self._limits(lambda limits: limits.lower, -np.inf)
        return np.stack([lower, self._limits(lambda limits: limits.upper, np.inf)], axis=1)

    @property
    def joint_vel_limits(self) -> Array:
        """Greatest speed of each joint, as in `joint_names` [rad/s or m/s], (nj,); inf: none."""
        return self._limits(lambda limits: limits.velocity, np.inf)

    @property
    def joint_effort_limits(self) -> Array:
        """Greatest effort of each joint, as in `joint_names` [N m or N], (nj,); inf: none."""
        return self._limits(lambda limits: limits.effort, np.inf)

    def neutral_configuration(self) -> NDArray[Any]:
        """Return the configuration of zero motion, shape (nq,)."""
        return self._spaces.neutral()

    @checked_arguments
    def random_configuration(
        self, rng: np.random.Generator | int | None = None, batch: int | None = None
    ) -> NDArray[Any]:
        """Return random configurations within the limits, shape (batch, nq), or (nq,) for None.

        Args:
            rng: a generator, or its seed.
            batch: number of configurations.
        """
        return self._spaces.random(rng, batch)

    @checked_arguments
    def integrate(self, q: ArrayLike, v: ArrayLike) -> NDArray[Any]:
        """Move configurations by tangent vectors, unit time: q ⊕ v.

        Unlike in operations, one of q and v may be a batch and the other a single one.

        Args:
            q: configurations, shape (B, nq) or (nq,).
            v: velocities times time, shape (B, nv) or (nv,) [rad or m].
        """
        return self._spaces.integrate(q, v)

    @checked_arguments
    def difference(self, q0: ArrayLike, q1: ArrayLike) -> NDArray[Any]:
        """Return the tangent vectors that move q0 to q1, shape (B, nv) or (nv,) [rad or m].

        Unlike in operations, one of q0 and q1 may be a batch and the other a single one.

        Args:
            q0: start, shape (B, nq) or (nq,).
            q1: end, shape (B, nq) or (nq,).
        """
        return self._spaces.difference(q0, q1)

    @checked_arguments
    def parameter_names(self, *, order: str = "pinocchio") -> tuple[str, ...]:
        """Return what each column of a regressor stands for: ``<body>.m``, ..., ``<body>.Izz``.

        After the ten of every body come those of the handle's `regressor_terms`:
        ``<joint>.viscous``, ...

        Args:
            order: of a body's ten: ``pinocchio`` has Ixx, Ixy, Iyy, Ixz, Iyz, Izz, ``grid`` has
                Ixx, Ixy, Ixz, Iyy, Iyz, Izz.
        """
        wanted = require_order("parameter_names", order)
        return parameter_names(self.model, order=wanted, terms=self.options.regressor_terms)

    @checked_arguments
    def parameters(self, *, order: str = "pinocchio") -> Array:
        """Return the description's own parameters π, float64, in the order of `parameter_names`.

        Args:
            order: as for `parameter_names`.
        """
        wanted = require_order("parameters", order)
        return parameters(self.model, order=wanted, terms=self.options.regressor_terms)

    def calls(self) -> tuple[OperationCall, ...]:
        """Return the generated call of every operation of this handle."""
        return tuple(self._call(name) for name in self.algorithms)

    def close(self) -> None:
        """Let go of all compiled operations. Closing twice is harmless."""
        with self._lock:
            self._binding.closed = True
            for call in self._calls.values():
                call.close()

    def __enter__(self) -> Self:
        if self.closed:
            raise HandleClosed(f"the handle of {self.name!r} is closed; load the robot again")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        # Reached once for each operation: it is then an attribute of the instance.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name not in self.algorithms:
            raise self._not_loaded(name)
        call = self._call(name)
        algorithm = call.algorithm
        method: Any = call if algorithm.method is None else customise(algorithm, call)
        return self.__dict__.setdefault(name, method)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.algorithms})

    def __copy__(self) -> Self:
        # The same robot and compiled operations: `__reduce_ex__` would be asked otherwise.
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise ArgumentError(
            "a handle cannot be pickled; load the robot in each process that needs it"
        )

    def __repr__(self) -> str:
        if self.closed:
            return f"<RobotHandle {self.name!r}, closed>"
        base = "floating" if self.floating_base else "fixed"
        return (
            f"<RobotHandle {self.name!r}: nq={self.nq}, nv={self.nv}, {self.nj} joints, "
            f"{base} base, {self.num_ees} end effectors; {self.backend}, {self.dtype}; "
            f"operations: {', '.join(self.algorithms) or 'none'}>"
        )

    def _call(self, name: str) -> OperationCall:
        """Return the generated call of a loaded operation."""
        with self._lock:
            if name not in self._calls:
                algorithm = self._binding.selection.available[name]
                self._calls[name] = OperationCall(algorithm, self._binding)
            return self._calls[name]

    def _limits(self, get: Callable[[Limits], float | None], default: float) -> Array:
        values = [get(joint.limits) for joint in self.model.joints]
        return np.array([default if v is None else v for v in values], dtype=np.float64)

    def _wanted(self, name: str) -> list[str]:
        """Return the shortest `algorithm_list` for this handle's operations and one more."""
        try:
            whole = select(self._plugins.algorithms, (ALL,)).chosen
        except GridError:  # two plugins claim a name
            return [*self.algorithms, name]
        had = set(self.algorithms)
        if len(whole) < 2 or not had.issuperset(whole):
            return [*self.algorithms, name]
        return [ALL, *(n for n in self.algorithms if n not in whole), name]

    def _not_loaded(self, name: str) -> OperationNotLoaded:
        catalogue = self._plugins.algorithms
        loaded = listing(self.algorithms)
        if name in catalogue.claims:
            return OperationNotLoaded(
                f"{name} is not loaded into the handle of {self.name!r}, which has {loaded}; "
                f"load the robot with algorithm_list={self._wanted(name)}"
            )
        failed = [r.failure() for r in self._plugins.failures if name in r.algorithms]
        if failed:
            return OperationNotLoaded(f"{name} is not there: {failed[0]}")
        known = {*self.__dir__(), *catalogue.names}
        public = [attribute for attribute in known if not attribute.startswith("_")]
        return OperationNotLoaded(
            f"the handle of {self.name!r} has no attribute or operation {name!r}"
            f"{near(name, public)}; its operations: {loaded}"
        )
