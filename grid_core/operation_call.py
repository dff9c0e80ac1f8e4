"""An operation of a handle: checks its arguments, runs the kernel, shapes the results."""

from __future__ import annotations

import collections
import itertools
import math
import threading
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np
from attrs import evolve, frozen

from grid_core.arrays import ArrayPort, check_out, to_number
from grid_core.errors import ArgumentError, GridError, InputError
from grid_core.operation_doc import document, signature
from grid_core.program.runtime import sharing, with_runtime_ports
from grid_core.uniform import UniformArray
from grid_core.wording import near

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from grid_core.algorithm import Algorithm, Options
    from grid_core.backend import DeviceEdge, Kernel, SquaresKernel
    from grid_core.binding import Binding
    from grid_core.model.types import Array, RobotModel

__all__ = ["OperationCall", "Slot"]


@frozen
class Slot:
    """One argument of an operation."""

    name: str
    default: float | None
    required: bool
    port: ArrayPort | None
    """None for a uniform input."""
    bit: int
    """What it adds to the number of a variant, for an optional input."""
    shared: bool = False
    """Whether one array may stand for a whole batch."""


class OperationCall:
    """A loaded operation, called like a method of the handle.

    NumPy arrays, or anything that `numpy.asarray` takes, come in as (B, width) or, for one
    problem, (width,); NumPy arrays of the handle's dtype come out, batched like the inputs, also
    where PyTorch or JAX arrays in host memory came in. Other real dtypes are converted. A NaN
    stays in its own problem.

    Attributes:
        algorithm: what it computes.
        slots: its arguments: arrays, then numbers.
        numbers: what the numbers are where none is given.
        outputs: its results.
    """

    __name__: str
    __signature__: Any

    def __init__(self, algorithm: Algorithm, binding: Binding) -> None:
        self.algorithm = algorithm = with_runtime_ports(algorithm, binding.options)
        self.__name__ = algorithm.name
        self.__qualname__ = f"RobotHandle.{algorithm.name}"
        self.__signature__ = signature(algorithm)
        self.__doc__ = document(algorithm, binding.model, binding.options, binding.dtype)
        self._binding = binding
        self.slots = _slots(algorithm, binding)
        self._wide = {
            port.name: UniformArray.of(port, binding.model, binding.options)
            for port in algorithm.inputs
            if port.uniform and port.shape
        }
        self._names = tuple(slot.name for slot in self.slots)
        self._places = {name: at for at, name in enumerate(self._names)}
        self._defaults = tuple(slot.default for slot in self.slots)
        self._shared = tuple(at for at, slot in enumerate(self.slots) if slot.shared)
        self._positional = sum(slot.port is not None for slot in self.slots)
        self.numbers: Sequence[Any] = self._defaults[self._positional :]
        self._dtype = binding.dtype
        self.outputs = tuple(
            ArrayPort.of(port, binding.model, binding.options) for port in algorithm.outputs
        )
        self._result = _result_type(algorithm)
        self._kernels: dict[int, Kernel] = {}
        self._locks: dict[int, threading.Lock] = {}
        self._squares: SquaresKernel | None = None
        self._specialised: dict[Hashable, OperationCall] = {}
        self._specialising = threading.Lock()
        self._ready = False
        edge = getattr(binding.backend, "edge", None)
        self._edge: DeviceEdge | None = None if edge is None else edge(binding.settings)
        self.dtype_name = binding.dtype.name
        short = getattr(binding.backend, "short", None)
        if self._edge is not None:
            self._short = self._edge.short
        else:
            self._short = {} if short is None else short(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise ArgumentError(
            f"{self.__name__} of a handle cannot be pickled; load the robot in each "
            "process that needs it"
        )

    def __repr__(self) -> str:
        return f"<{self.__name__}{self.__signature__} of {self._binding.name!r}>"

    def __call__(self, *args: Any, out: Any = None, **keywords: Any) -> Any:
        """Run the operation; the arguments are those of ``__signature__``.

        Raises:
            ArgumentError: an argument is missing, unknown or one too many.
            InputError: an array of the wrong width, rank, batch or dtype.
            OperationRefused: this robot cannot have the operation.
            HandleClosed: the handle was closed.
            BackendError: it could not be compiled or run.
        """
        if not self._ready:
            self._open()
        arrays: Sequence[Any] = args
        numbers = self.numbers
        if keywords:
            values = self._bind(args, keywords)
            arrays = values
            if self.numbers:
                arrays, numbers = values[: self._positional], values[self._positional :]
        short = self._short.get(type(arrays[0])) if arrays else None
        if short is not None:
            done = short(arrays, numbers, out)
            if done is not NotImplemented:
                return done
        return self._look_closely(values if keywords else self._bind(args, keywords), out)

    def _look_closely(self, values: Sequence[Any], out: Any) -> Any:
        """Do a call for which there is no short way: check each argument, and say what is wrong."""
        if self._shared:
            done = self._call_shared(values, out)
            if done is not NotImplemented:
                return done
        if self._edge is not None:
            done = self._edge.try_call(self, values, out)
            if done is not NotImplemented:
                return done
        inputs, batch, variant = self._check(values)
        count = 1 if batch is None else batch
        dtype, ports = self._dtype, self.outputs
        if out is None:
            arrays = given = [np.empty((count, *port.dims), dtype) for port in ports]
        else:
            arrays = given = check_out(
                self.__name__, ports, out, batch=batch, inputs=inputs, dtype=dtype
            )
            if batch is None:
                arrays = [array[None] for array in given]
        if count:
            outputs = {port.name: array for port, array in zip(ports, arrays, strict=True)}
            self._run(variant, count, inputs, outputs)
        if batch is None and out is None:
            given = [array[0] for array in arrays]
        return self.wrap(given)

    def wrap(self, results: Sequence[Any]) -> Any:
        """One result as it is, several as a named tuple."""
        return results[0] if self._result is None else self._result(*results)

    def number(self, slot: Slot, value: Any) -> float:
        """Return a uniform argument as a finite float, or raise `InputError`."""
        if type(value) is float and math.isfinite(value):
            return value
        return to_number(self.__name__, slot.name, value)

    def require_given(self, slot: Slot) -> None:
        """Raise `ArgumentError` where a required argument is None."""
        if slot.required:
            raise self._wrong_arguments(0, {}, slot.name)

    def batch_error(
        self, first: ArrayPort, batch: int | None, port: ArrayPort, lead: int | None
    ) -> InputError:
        """Make the error for two arguments of different batches."""

        def say(count: int | None) -> str:
            return "one problem without a batch axis" if count is None else f"B={count}"

        return InputError(
            f"{self.__name__}: {port.name} must have the batch of {first.name}, {say(batch)}; "
            f"got {say(lead)}"
        )

    def kernel(self, variant: int) -> Kernel:
        """Return the kernel of a variant, compiling it at its first use."""
        return self._kernels.get(variant) or self.build(variant)

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self._binding.model

    @property
    def options(self) -> Options:
        """What the operation is compiled for."""
        return self._binding.options

    @property
    def num_threads(self) -> int:
        """Threads that a call may take."""
        return self._binding.settings.num_threads

    def sum_squares(
        self, segments: Sequence[int], *args: Any, **keywords: Any
    ) -> tuple[list[Array], int] | None:
        """Sum the squares of the only output over the batch where the backend can, in float64.

        Args:
            segments: widths into which the output is cut; sums are of each segment's own.
            args: as a call has them, with a batch.
            keywords: the same.

        Returns:
            Σ x xᵀ of every segment x, (width, width), and the batch; None where the backend
            leaves that to the caller.

        Raises:
            as a call, and InputError for one problem without a batch.
        """
        if not self._binding.sums_squares:
            return None
        if not self._ready:
            self._open()
        values = self._bind(args, keywords)
        there = None if self._edge is None else self._edge.arguments(self, values)
        inputs: dict[str, Any] = {}
        batch = there[0] if there is not None else None
        if there is None:
            inputs, batch, _ = self._check(values)
        if batch is None:
            raise InputError(f"{self.__name__}: its arrays need the axis B, over which is summed")
        kernel = self._squares_kernel(tuple(segments))
        try:
            if there is not None:
                return kernel.launch(batch, there[1], there[2]), batch
            return kernel(batch, inputs), batch
        except GridError:
            raise
        except Exception as error:
            raise self._binding.failure(self.algorithm, "failed", error) from error

    def _squares_kernel(self, segments: tuple[int, ...]) -> SquaresKernel:
        with self._specialising:
            self._binding.require_open(self.__name__)
            if self._squares is None:
                self._squares = self._binding.build_squares(self.algorithm, segments)
            return self._squares

    def companion(self, algorithm: Algorithm) -> OperationCall:
        """Return another operation on the same robot, made once.

        For methods whose arguments choose what comes out. It needs no more algorithms than this
        one, and is compiled at its first call.
        """
        return self._related(("companion", algorithm.name), algorithm, lambda options: options)

    def specialised(self, key: Hashable, change: Callable[[Options], Options]) -> OperationCall:
        """Return the same operation under other options, made once for each key.

        For methods whose arguments choose among programs: a frame, a number of targets. It is
        compiled at its first call.
        """
        return self._related(key, self.algorithm, change)

    def _related(
        self, key: Hashable, algorithm: Algorithm, change: Callable[[Options], Options]
    ) -> OperationCall:
        with self._specialising:
            other = self._specialised.get(key)
            if other is None:
                self._binding.require_open(self.__name__)
                binding = evolve(self._binding, options=change(self.options))
                other = self._specialised[key] = OperationCall(algorithm, binding)
            return other

    def retire(self) -> None:
        """Close, as an operation under other options of a handle that is being closed."""
        self._binding.closed = True
        self.close()

    def close(self) -> None:
        """Let go of the kernels; the next call says that the handle is closed."""
        self._ready = False
        with self._specialising:
            for other in self._specialised.values():
                other.retire()
            self._specialised.clear()
        kernels: list[Any] = [*self._kernels.values(), self._squares]
        self._kernels.clear()
        self._squares = None
        self._short = {}  # it may hold kernels, too
        for kernel in kernels:
            release = getattr(kernel, "close", None)
            if release is not None:
                release()

    def variants(self) -> list[int]:
        """Return the variants to compile at load: every choice of optional inputs.

        Those with inputs that are compiled on demand only are left out.
        """
        bits = [
            slot.bit
            for slot, port in zip(self.slots, _ordered(self.algorithm), strict=False)
            if port.optional and not port.on_demand
        ]
        choices = itertools.product(*((0, bit) for bit in bits))
        return sorted(sum(choice) for choice in choices)

    def build(self, variant: int) -> Kernel:
        """Compile a variant, once, whichever thread comes first.

        Raises:
            HandleClosed: the handle was closed.
            BackendError: it could not be compiled.
        """
        with self._locks.setdefault(variant, threading.Lock()):
            self._binding.require_open(self.__name__)
            kernel = self._kernels.get(variant)
            if kernel is None:
                present = frozenset(slot.name for slot in self.slots if slot.bit & variant)
                kernel = self._binding.build(self.algorithm, present)
                self._kernels[variant] = kernel
            return kernel

    def require_possible(self) -> None:
        """Raise `OperationRefused` when this robot cannot have the operation."""
        self._binding.require_possible(self.algorithm)

    def _run(self, variant: int, count: int, inputs: Any, outputs: Any) -> None:
        kernel = self.kernel(variant)
        try:
            kernel(count, inputs, outputs)
        except GridError:
            raise
        except Exception as error:
            raise self._binding.failure(self.algorithm, "failed", error) from error

    def _open(self) -> None:
        self._binding.require_open(self.__name__)
        self.require_possible()
        self._ready = True

    def _bind(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Sequence[Any]:
        """Return the arguments in the order of the slots."""
        given = len(args)
        if given > self._positional:
            raise self._wrong_arguments(given, keywords)
        if not keywords:
            return args + self._defaults[given:]
        if self._wide:
            keywords = self._spread(keywords)
        values = [*args, *self._defaults[given:]]
        places = self._places
        for name, value in keywords.items():
            at = places.get(name, -1)
            if at < given:
                raise self._wrong_arguments(given, keywords)
            values[at] = value
        return values

    def _spread(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """Replace uniform arrays by their entries."""
        result = dict(keywords)
        for name, array in self._wide.items():
            if name in result:
                result |= array.spread(self.__name__, result.pop(name))
        return result

    def _call_shared(self, values: Sequence[Any], out: Any) -> Any:
        """Do a call with an array that stands for all of a batch; NotImplemented without one.

        It goes to a program of its own, whose kernels take such an array's entries as numbers.
        """
        first = self.slots[0].port
        assert first is not None
        if _axes(values[0]) == len(first.dims):
            return NotImplemented
        names = [
            self.slots[at].name
            for at in self._shared
            if values[at] is not None and _axes(values[at]) == len(self.slots[at].port.dims)  # type: ignore[union-attr]
        ]
        if not names:
            return NotImplemented
        other = self._related(("shared", *names), sharing(self.algorithm, names), lambda o: o)
        given = zip(self._names, values, strict=True)
        return other(out=out, **{name: value for name, value in given if value is not None})

    def _check(self, values: Sequence[Any]) -> tuple[dict[str, Any], int | None, int]:
        """Return the kernel's inputs, the batch (None: one problem) and the variant."""
        inputs: dict[str, Any] = {}
        batch: int | None = None
        first: ArrayPort | None = None
        variant = 0
        for slot, value in zip(self.slots, values, strict=True):
            port = slot.port
            if port is None:
                inputs[slot.name] = self.number(slot, value)
                continue
            if value is None:
                self.require_given(slot)
                continue
            inputs[slot.name], lead = port.take(self.__name__, value, self._dtype)
            if first is None:
                first, batch = port, lead
            elif lead != batch:
                raise self.batch_error(first, batch, port, lead)
            variant |= slot.bit
        return inputs, batch, variant

    def _wrong_arguments(
        self, given: int, keywords: Mapping[str, Any], missing: str | None = None
    ) -> ArgumentError:
        takes = f"it is {self.__name__}{self.__signature__}"
        names = self._names
        if missing is not None:
            return ArgumentError(f"{self.__name__}: {missing} is missing; {takes}")
        for name in keywords:
            if name not in names:
                return ArgumentError(
                    f"{self.__name__}: there is no argument {name!r}"
                    f"{near(name, [*names, 'out'])}; {takes}"
                )
            if name in names[:given]:
                return ArgumentError(f"{self.__name__}: {name} is given twice; {takes}")
        return ArgumentError(f"{self.__name__}: {given} positional arguments; {takes}")


def _ordered(algorithm: Algorithm) -> list[Any]:
    """Return the inputs as arguments: arrays, then uniform ones, which are keywords only."""
    return sorted(algorithm.inputs, key=lambda port: port.uniform)


def _slots(algorithm: Algorithm, binding: Binding) -> tuple[Slot, ...]:
    slots = []
    bit = 1
    for port in _ordered(algorithm):
        if port.uniform:
            names = UniformArray.of(port, binding.model, binding.options).names
            slots += [Slot(name, float(port.default), False, None, 0) for name in names]  # noqa: FBT003
            continue
        array = ArrayPort.of(port, binding.model, binding.options)
        own = bit if port.optional else 0
        slots.append(Slot(port.name, None, not port.optional, array, own, port.shared))
        bit <<= port.optional
    return tuple(slots)


def _axes(value: Any) -> int:
    """Count an array's axes, wherever it lies."""
    axes = getattr(value, "ndim", None)
    return axes if isinstance(axes, int) else np.ndim(value)


def _result_type(algorithm: Algorithm) -> Any:
    if len(algorithm.outputs) == 1:
        return None
    title = "".join(part.capitalize() for part in algorithm.name.split("_"))
    return collections.namedtuple(title, [port.name for port in algorithm.outputs])  # noqa: PYI024
