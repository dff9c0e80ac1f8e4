"""What an algorithm is: one frozen record that a plugin returns from its hook.

A port is declared once; its declaration drives the handle's checks and signature, the
kernels' layout, the benchmark inputs and the documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from attrs import field, frozen

from grid_core.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.random import Generator

    from grid_core.model.types import RobotModel

__all__ = [
    "API_VERSION",
    "ROLES",
    "Algorithm",
    "BenchmarkCase",
    "Context",
    "Dim",
    "Options",
    "Port",
]

API_VERSION = (1, 0)
"""Version of this contract: an algorithm's major must match, its minor be at most ours."""

ROLES = ("", "tangent", "velocity", "acceleration", "own")
"""What `Port.role` may be. ``tangent``: each axis ``nv``, and each half of ``2*nv``, turns as a
velocity does, as forces, Jacobians and mass matrices do; ``velocity`` is the state's own;
``acceleration`` its derivative; ``own``: the algorithm reads and writes the caller's coordinates
itself. With none, an operation cannot be had in MuJoCo's coordinates."""

Dim: TypeAlias = int | str
"""A width: a number, one of ``nq``, ``nv``, ``nb``, ``nee`` or the port's own `widths`, or a
multiple of one: ``6*nee``."""

T = TypeVar("T")


@frozen(kw_only=True)
class Options:
    """What a handle was loaded with that changes the arithmetic."""

    use_joint_dynamics: bool = False
    """Whether the joints' damping and friction act."""
    targets: tuple[int, ...] = ()
    """Frame IDs of the end effectors."""
    output_convention: str = "pinocchio"
    reference_frame: str = "local_world_aligned"
    """Axes and origin of frame Jacobians."""
    runtime_inertia: bool = False
    """Whether the bodies' inertial parameters are an input; the model's own are the nominal."""
    runtime_transform: bool = False
    """Whether the joints' placements are an input; the model's own are the nominal."""
    parameter_order: str = "pinocchio"
    """Order of a body's ten inertial parameters (`grid_core.model.parameters`)."""
    regressor_terms: tuple[str, ...] = ()
    """What joints add to the parameters, after those of the bodies."""


@frozen(kw_only=True)
class Port:
    """One named array that goes in or comes out."""

    name: str
    shape: tuple[Dim, ...]
    """Shape for one problem; the batch axis stands before it."""
    doc: str
    unit: str = ""
    frame: str = ""
    optional: bool = False
    """An input that may be None; the program is then traced without it."""
    on_demand: bool = False
    """An optional input whose variant is compiled at its first use, not at load."""
    uniform: bool = False
    """An input that the whole batch shares, such as gravity: a number, or a small array."""
    default: float | None = None
    """Of a uniform input, of each entry of an array."""
    role: str = ""
    """How an array with an axis ``nv`` reads in other coordinates (`ROLES`)."""
    shared: bool = False
    """An optional input that one array may stand for in all problems of a batch."""
    widths: Mapping[str, Callable[[RobotModel, Options], int]] = field(
        factory=dict, eq=False, repr=False
    )
    """Widths of the plugin's own by the names that `shape` has for them."""

    def size(self, model: RobotModel, options: Options) -> int:
        """Number of scalars for one problem."""
        result = 1
        for width in self.dims(model, options):
            result *= width
        return result

    def dims(self, model: RobotModel, options: Options) -> tuple[int, ...]:
        """The shape in numbers for this model."""
        known = {"nq": model.nq, "nv": model.nv, "nb": model.nb, "nee": len(options.targets)}
        known |= {name: width(model, options) for name, width in self.widths.items()}
        return tuple(_width(d, known) if isinstance(d, str) else d for d in self.shape)


def _width(dim: str, known: Mapping[str, int]) -> int:
    factor, _, name = dim.rpartition("*")
    return int(factor or 1) * known[name]


@frozen(kw_only=True)
class BenchmarkCase:
    """One thing worth timing: which optional inputs to give, and what to compare with."""

    label: str
    inputs: tuple[str, ...]
    """Names of the optional inputs to fill (all required ones always are)."""
    pinocchio: str | None = None
    """Name of the Pinocchio function that does the same, if any."""
    shared: Callable[[RobotModel, Options, Generator], Mapping[str, Any]] | None = None
    """Draws the uniform arrays to give, by name, for robot, options and a generator; None: each
    uniform input stays at its default."""


@frozen(kw_only=True)
class Context(Generic[T]):
    """What `Algorithm.reference` and `Algorithm.program` receive.

    For a reference, arrays are float64 NumPy arrays of shape (B, *port.shape) (uniform ones:
    plain floats). For a program, they are NumPy object arrays of symbolic scalars of shape
    port.shape (uniform ones: one scalar). An optional input that was not given is None.
    """

    model: RobotModel
    options: Options
    algorithm: Algorithm
    inputs: Mapping[str, T | None]
    available: Mapping[str, Algorithm]
    """Every loaded algorithm by name, for `call`."""
    run: Callable[[Context[T]], Mapping[str, T]]
    """How an algorithm is evaluated in this context: `reference` or `program`."""
    rest: T | None = None
    """The acceleration that the caller's coordinates call zero; None: it is zero here too."""

    def __getitem__(self, name: str) -> T:
        value = self.inputs[name]
        if value is None:
            raise ContractError(
                f"{self.algorithm.name}: input {name!r} was not given; use .get({name!r})"
            )
        return value

    def get(self, name: str) -> T | None:
        """Return the input, or None when the optional input was not given."""
        return self.inputs[name]

    def call(self, name: str, **inputs: Any) -> Mapping[str, T]:
        """Evaluate another algorithm that this one `needs`; returns its outputs by name.

        In a program its arithmetic is traced into the same program and shared with it.

        Raises:
            ContractError: `name` is not among the algorithm's `needs`.
        """
        if name not in self.algorithm.needs:
            raise ContractError(
                f"{self.algorithm.name} calls {name!r} without naming it in its `needs` "
                f"{self.algorithm.needs}"
            )
        other = self.available[name]
        given: dict[str, Any] = {p.name: p.default if p.uniform else None for p in other.inputs}
        unknown = set(inputs) - set(given)
        if unknown:
            raise ContractError(f"{self.algorithm.name}: {name} has no input {sorted(unknown)}")
        given.update(inputs)
        missing = [p.name for p in other.inputs if given[p.name] is None and not p.optional]
        if missing:
            raise ContractError(f"{self.algorithm.name}: {name} needs its input {missing}")
        return self.run(
            Context(
                model=self.model,
                options=self.options,
                algorithm=other,
                inputs=given,
                available=self.available,
                run=self.run,
            )
        )


@frozen(kw_only=True)
class Algorithm:
    """One operation on batches of robot states.

    Attributes:
        name: the field's standard name, a Python identifier: ``forward_dynamics``.
        family: name of the folder it lives in; a family can be loaded as a whole.
        summary: one line.
        inputs: ports in the order of the handle method's arguments.
        outputs: ports; several are returned as a named tuple.
        reference: textbook NumPy implementation, float64, batched.
        program: the same over symbolic scalars; loops over joints run at trace time.
        source: paper and equation, or specification.
        needs: algorithms that `Context.call` may evaluate.
        template: path of a ``.cu.j2`` beside the plugin; None takes the shared one.
        refuse: says why a model cannot have this operation, or None when it can.
        method: replaces the generated handle method: ``method(call, ...)``, where ``call``
            is the generated one and the rest is the signature that users see.
        helpers: functions that go with `method`, found as its attributes by these names:
            ``helper(call, ...)``.
        benchmarks: what `grid bench` times.
        constants: of ``inertias`` and ``placements``, what it takes as inputs with the options
            ``runtime_inertia`` and ``runtime_transform``; without, it knows the nominal robot.
        default: whether ``all`` and an absent ``algorithm_list`` include it.
        api_version: version of this contract that the plugin was written for.
    """

    name: str
    family: str
    summary: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    reference: Callable[[Context[Any]], Mapping[str, Any]]
    program: Callable[[Context[Any]], Mapping[str, Any]]
    source: str
    needs: tuple[str, ...] = ()
    template: str | None = None
    refuse: Callable[[Context[Any]], str | None] | None = None
    method: Callable[..., Any] | None = None
    helpers: Mapping[str, Callable[..., Any]] = field(factory=dict, eq=False)
    benchmarks: tuple[BenchmarkCase, ...] = ()
    constants: tuple[str, ...] = ()
    default: bool = True
    api_version: tuple[int, int] = field(default=API_VERSION)
