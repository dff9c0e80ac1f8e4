"""How the header's functions of one operation take their arrays and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.header.text import identifier
from grid_core.abi import input_block, slot_of

if TYPE_CHECKING:
    from grid_core.abi import Slot
    from grid_core.algorithm import Port
    from grid_core.backend import Operation

__all__ = ["Interface", "Parameter", "interface"]


@frozen
class Parameter:
    """An input or output."""

    port: Port
    name: str
    """In C++."""
    size: int
    """Scalars of one problem, or of a launch where all problems share them."""
    dims: tuple[int, ...]
    slot: Slot | None = None
    """Of the block, that an input is read from; None: it comes by itself."""

    @property
    def is_number(self) -> bool:
        """Whether it is passed by value."""
        return self.port.uniform and not self.port.shape

    @property
    def default(self) -> float:
        """Of a number."""
        return float(self.port.default or 0.0)


@frozen
class Interface:
    """The parameters of an operation, in the order in which every function takes them."""

    name: str
    """What the functions' names begin with."""
    outputs: tuple[Parameter, ...]
    inputs: tuple[Parameter, ...]

    @property
    def slots(self) -> tuple[Parameter, ...]:
        """Inputs in the block."""
        return tuple(p for p in self.inputs if p.slot is not None)

    @property
    def own(self) -> tuple[Parameter, ...]:
        """Arrays that the block has no slot for."""
        return tuple(p for p in self.inputs if p.slot is None and not p.is_number)

    @property
    def numbers(self) -> tuple[Parameter, ...]:
        """What the whole batch shares, by value."""
        return tuple(p for p in self.inputs if p.is_number)

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        """Inputs that are arrays, in the order of the ports."""
        return tuple(p for p in self.inputs if not p.is_number)


def interface(operation: Operation) -> Interface:
    """Return an operation's interface; optional inputs without a slot are part of its name."""
    algorithm = operation.algorithm
    present = [p for p in algorithm.inputs if not p.optional or p.name in operation.present]
    extra = [p.name for p in present if p.optional and slot_of(p) is None]
    slots = {slot.name: slot for slot in input_block(operation.model).slots}
    inputs: list[Parameter] = []
    for port in present:
        slot = slots.get(slot_of(port) or "")
        if slot is not None and any(p.slot and p.slot.offset == slot.offset for p in inputs):
            slot = None  # u and qdd share a slot: the second of them comes by itself
        inputs.append(_parameter(port, operation, slot))
    return Interface(
        name=identifier("_".join([algorithm.name, *extra])),
        outputs=tuple(_parameter(port, operation) for port in algorithm.outputs),
        inputs=tuple(inputs),
    )


def _parameter(port: Port, operation: Operation, slot: Slot | None = None) -> Parameter:
    model, options = operation.model, operation.options
    size, dims = port.size(model, options), port.dims(model, options)
    return Parameter(port, identifier(port.name), size, dims, slot)
