"""The buffers of ``gridData``: what `init_gridData` allocates on host and device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cuda.header.interface import Interface, Parameter

__all__ = ["Buffer", "Memory"]


@frozen
class Buffer:
    """Two arrays, ``h_<name>`` on the host and ``d_<name>`` on the device."""

    name: str
    entries: str
    """Scalars of one time step, as an expression."""
    shared: bool
    """Whether one copy serves every time step."""
    doc: str

    @property
    def count(self) -> str:
        """Scalars in all, as an expression of ``std::size_t``."""
        return f"std::size_t({self.entries})" + ("" if self.shared else " * num_timesteps")


@frozen
class Memory:
    """All buffers, and which of them each operation uses."""

    block: Buffer
    own: dict[str, Buffer]
    """Inputs without a slot, by the buffer's name."""
    outputs: dict[str, Buffer]
    names: dict[tuple[str, str], str]
    """Buffer of a parameter, by the interface's name and its own."""

    @classmethod
    def of(cls, faces: Sequence[Interface]) -> Memory:
        """Plan the buffers: inputs of one name and size are one buffer, outputs are apart."""
        own: dict[str, Buffer] = {}
        outputs: dict[str, Buffer] = {}
        names: dict[tuple[str, str], str] = {}
        for face in faces:
            for parameter in face.own:
                name = parameter.name
                if name in own and own[name] != _own(name, parameter):
                    name = f"{face.name}_{name}"
                own[name] = _own(name, parameter)
                names[face.name, parameter.name] = name
            for parameter in face.outputs:
                single = len(face.outputs) == 1
                name = face.name if single else f"{face.name}_{parameter.name}"
                outputs[name] = Buffer(name, str(parameter.size), False, parameter.port.doc)  # noqa: FBT003
                names[face.name, parameter.name] = name
        # The statement of the contract, written as it stands there.
        block = Buffer("q_qd_u", "3 * NUM_JOINTS", False, "the input blocks")  # noqa: FBT003
        return cls(block, own, outputs, names)

    def buffer(self, face: Interface, parameter: Parameter) -> Buffer:
        """Return the buffer of an input without a slot, or of an output."""
        name = self.names[face.name, parameter.name]
        return self.outputs[name] if parameter in face.outputs else self.own[name]

    @property
    def buffers(self) -> list[Buffer]:
        """All, in the order in which they are allocated."""
        return [self.block, *self.own.values(), *self.outputs.values()]


def _own(name: str, parameter: Parameter) -> Buffer:
    return Buffer(name, str(parameter.size), parameter.port.uniform, parameter.port.doc)
