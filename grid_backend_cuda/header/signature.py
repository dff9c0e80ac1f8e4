"""Parameter and argument lists of an operation's functions, from one interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.header.text import number

if TYPE_CHECKING:
    from grid_backend_cuda.header.interface import Interface, Parameter
    from grid_backend_cuda.header.memory import Memory
    from grid_backend_cuda.header.staging import Stages

__all__ = ["Signature"]

_BLOCK = "s_q_qd_u"
_ROW = "(first + lane)"


@frozen
class Signature:
    """Outputs come first, then arrays in the order of the ports, then numbers."""

    face: Interface
    stages: Stages
    memory: Memory
    filled: tuple[str, ...]
    """Outputs that a caller may have filled with zeros."""

    @property
    def thread(self) -> str:
        """Parameters of the thread-scope function: a pointer a port."""
        arrays = [f"const real* GRID_RESTRICT {p.name}" for p in self.face.arrays]
        return _joined(self._outputs("real", ""), arrays, _numbers(self.face), self._zeroed)

    @property
    def timestep(self) -> str:
        """Parameters of the function of one problem's block."""
        block = [f"const real* GRID_RESTRICT {_BLOCK}"] if self.face.slots else []
        own = [f"const real* GRID_RESTRICT {p.name}" for p in self.face.own]
        return _joined(self._outputs("real", ""), block, own, _numbers(self.face), self._zeroed)

    @property
    def timestep_to_thread(self) -> str:
        """Arguments with which it calls the thread-scope function."""
        arrays = [f"s_{p.name}" if p.slot else p.name for p in self.face.arrays]
        zeroed = ["zeroed"] if self.filled else []
        return _joined(_names(self.face.outputs), arrays, _names(self.face.numbers), zeroed)

    @property
    def kernel(self) -> str:
        """Parameters of the kernel."""
        return _joined(
            self._outputs("T", "d_"),
            ["const T* GRID_RESTRICT d_q_qd_u", "const int stride_q_qd_u"]
            if self.face.slots
            else [],
            [f"const T* GRID_RESTRICT d_{p.name}" for p in self.face.own],
            [f"const real {p.name}" for p in self.face.numbers],
            ["const int num_timesteps"],
        )

    @property
    def kernel_to_timestep(self) -> str:
        """Arguments with which a thread of the kernel computes its problem."""
        outputs = [
            f"s_{p.name} + lane * {self.stages.pitch(p.size)}"
            if p.name in self.stages.outputs
            else f"GRID_ALIGNED(T, d_{p.name} + {_ROW} * {p.size}, {self.stages.alignment(p.name)})"
            for p in self.face.outputs
        ]
        block = []
        if self.face.slots:
            pitch = self.stages.pitch(self.stages.block)
            staged = f"s_q_qd_u + lane * {pitch}"
            block = [staged if self.stages.block else f"d_q_qd_u + {_ROW} * stride_q_qd_u"]
        own = [
            f"d_{p.name}" if p.port.uniform else f"d_{p.name} + {_ROW} * {p.size}"
            for p in self.face.own
        ]
        zeroed = ["true"] if self.filled else []
        return _joined(outputs, block, own, _names(self.face.numbers), zeroed)

    @property
    def compute_only(self) -> str:
        """Parameters of the launch over device pointers."""
        return _joined(
            self._outputs("T", "d_", restrict=False),
            ["const T* d_q_qd_u"] if self.face.slots else [],
            [f"const T* d_{p.name}" for p in self.face.own],
            ["const int num_timesteps"],
            _numbers(self.face),
            ["cudaStream_t stream = nullptr"],
        )

    @property
    def compute_only_to_kernel(self) -> str:
        """Arguments of the launch."""
        return _joined(
            [f"d_{p.name}" for p in self.face.outputs],
            ["d_q_qd_u", "Q_QD_U_STRIDE"] if self.face.slots else [],
            [f"d_{p.name}" for p in self.face.own],
            _names(self.face.numbers),
            ["num_timesteps"],
        )

    @property
    def host(self) -> str:
        """Parameters of the entries that take a ``gridData``."""
        return _joined(
            ["gridData<T>* data", "const int num_timesteps"],
            _numbers(self.face),
            ["cudaStream_t stream = nullptr"],
        )

    @property
    def host_to_compute_only(self) -> str:
        """Arguments with which such an entry launches."""
        return _joined(
            [f"data->d_{self._buffer(p)}" for p in self.face.outputs],
            ["data->d_q_qd_u"] if self.face.slots else [],
            [f"data->d_{self._buffer(p)}" for p in self.face.own],
            ["num_timesteps"],
            _names(self.face.numbers),
            ["stream"],
        )

    @property
    def host_arguments(self) -> str:
        """Arguments with which the copying entry calls the one that only computes."""
        return _joined(["data", "num_timesteps"], _names(self.face.numbers), ["stream"])

    @property
    def _zeroed(self) -> list[str]:
        return ["const bool zeroed = false"] if self.filled else []

    def _buffer(self, parameter: Parameter) -> str:
        return self.memory.buffer(self.face, parameter).name

    def _outputs(self, kind: str, prefix: str, *, restrict: bool = True) -> list[str]:
        pointer = f"{kind}* GRID_RESTRICT" if restrict else f"{kind}*"
        return [f"{pointer} {prefix}{p.name}" for p in self.face.outputs]


def _names(parameters: tuple[Parameter, ...]) -> list[str]:
    return [p.name for p in parameters]


def _numbers(face: Interface) -> list[str]:
    return [f"const real {p.name} = real({number(p.default)})" for p in face.numbers]


def _joined(*lists: list[str]) -> str:
    return ", ".join(part for parts in lists for part in parts)
