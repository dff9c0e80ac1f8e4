"""The input block of the raw kernels: one table that header, kernels and handle read.

One problem's q, qd and u (or qdd) lie in three slots, each as wide as q:

    block + 0            q      nq entries
    block + NUM_POS      qd     nv entries, then nq - nv zeros
    block + 2 NUM_POS    u      nv entries, then nq - nv zeros

Problem k starts at k * Q_QD_U_STRIDE. Without quaternions nq == nv, and q, qd and u simply
follow one another; with a floating base or a spherical joint they do not, and a buffer packed
tightly gives plausible wrong numbers. A handle's operations take nq and nv wide arrays instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from attrs import frozen

from grid_core.errors import InputError, OptionError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from grid_core.algorithm import Port
    from grid_core.model.types import RobotModel

__all__ = [
    "Constant",
    "InputBlock",
    "QQdU",
    "Slot",
    "Widths",
    "input_block",
    "pack_q_qd_u",
    "slot_of",
    "unpack_q_qd_u",
]


class Widths(Protocol):
    """What has the widths of q and v: a model, a handle, an input block."""

    @property
    def nq(self) -> int:
        """Entries in q."""

    @property
    def nv(self) -> int:
        """Entries in every velocity-like vector."""


@frozen
class Constant:
    """A constant of the generated header."""

    name: str
    value: int
    doc: str


@frozen
class Slot:
    """A slot of the input block."""

    name: str
    """The argument: ``q``, ``qd``, ``u`` or ``qdd``."""
    constant: str
    """Name of the offset in the header."""
    offset: int
    """First entry within the block."""
    width: int
    """Entries that have a meaning; the rest of the slot is zero."""
    pads: int
    """Entries after them."""


@frozen
class InputBlock:
    """The published layout for one model; a change of it is announced, never a refactor."""

    nq: int
    nv: int
    nb: int
    nee: int
    """End-effector targets."""

    @property
    def stride(self) -> int:
        """Entries from one problem's block to the next."""
        return 3 * self.nq

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots in order; qdd shares the last one with u."""
        pads = self.nq - self.nv
        return (
            Slot("q", "GRID_Q_OFFSET", 0, self.nq, 0),
            Slot("qd", "GRID_QD_OFFSET", self.nq, self.nv, pads),
            Slot("u", "GRID_U_OFFSET", 2 * self.nq, self.nv, pads),
            Slot("qdd", "GRID_QDD_OFFSET", 2 * self.nq, self.nv, pads),
        )

    @property
    def constants(self) -> tuple[Constant, ...]:
        """The header's constants in the order in which it states them."""
        return (
            Constant("NUM_POS", self.nq, "entries in q, and the width of each slot"),
            Constant("NUM_VEL", self.nv, "entries in qd, qdd, u and every tangent vector"),
            Constant("NUM_JOINTS", self.nq, "NUM_POS under its historical name"),
            Constant("NUM_BODIES", self.nb, "effective bodies"),
            Constant("NUM_EES", self.nee, "end-effector targets"),
            Constant("Q_QD_U_STRIDE", self.stride, "entries from a problem's block to the next"),
            *(Constant(slot.constant, slot.offset, _slot_doc(slot)) for slot in self.slots),
        )

    @property
    def contract(self) -> tuple[str, ...]:
        """What who fills a block must know, line by line, to stand beside the constants."""
        return (
            "One block a problem, of three slots that are each NUM_POS entries wide.",
            "Problem k occupies [k * Q_QD_U_STRIDE, (k + 1) * Q_QD_U_STRIDE).",
            *(f"    block + {slot.constant:<16} {_slot_doc(slot)}" for slot in self.slots),
            "Do not pack q, qd and u tightly: with a floating base or a spherical joint,",
            "NUM_VEL < NUM_POS, and the kernels then read plausible wrong numbers in bounds.",
            "Take offsets from these constants; a change of them is announced.",
        )

    def size(self, timesteps: int) -> int:
        """Return the entries of a buffer for so many problems."""
        if timesteps < 0:
            raise OptionError(f"timesteps must be at least 0; got {timesteps}")
        return self.stride * timesteps


class QQdU(NamedTuple):
    """The three arrays of a block."""

    q: NDArray[Any]
    """(B, nq) or (nq,)"""
    qd: NDArray[Any]
    """(B, nv) or (nv,)"""
    u: NDArray[Any]
    """(B, nv) or (nv,): efforts, or the accelerations qdd"""


def input_block(model: RobotModel, num_ees: int | None = None) -> InputBlock:
    """Return the input block of a model.

    Args:
        model: the robot.
        num_ees: end-effector targets; None: every leaf joint.
    """
    nee = len(model.leaves) if num_ees is None else num_ees
    return InputBlock(nq=model.nq, nv=model.nv, nb=model.nb, nee=nee)


_SLOT_SHAPES = {"q": ("nq",), "qd": ("nv",), "u": ("nv",), "qdd": ("nv",)}


def slot_of(port: Port) -> str | None:
    """Return the slot of the block that an operation's input is read from, by the slot's name.

    None: the block has none for it, and a kernel takes it by itself.
    """
    fits = not port.uniform and port.shape == _SLOT_SHAPES.get(port.name)
    return port.name if fits else None


def pack_q_qd_u(
    q: ArrayLike, qd: ArrayLike, u: ArrayLike, *, model: Widths | None = None
) -> NDArray[Any]:
    """Fill input blocks; the pads are zero.

    Args:
        q: configurations, (B, nq) or (nq,) [rad or m].
        qd: velocities, (B, nv) or (nv,) [rad/s or m/s].
        u: efforts, or accelerations for kernels that read qdd, (B, nv) or (nv,).
        model: whose widths to require: a model, a handle or an input block. None: nq is q's
            width and nv is qd's.

    Returns:
        The blocks, C-contiguous, shape (B, 3 nq), or (3 nq,) for three unbatched arrays; of the
        arrays' common precision.

    Raises:
        InputError: a wrong width, rank or dtype, or batches that differ.
    """
    given = {"q": _numbers(q, "q"), "qd": _numbers(qd, "qd"), "u": _numbers(u, "u")}
    ranks = {array.ndim for array in given.values()}
    shapes = ", ".join(f"{name} {array.shape}" for name, array in given.items())
    if len(ranks) != 1 or len({array.shape[:-1] for array in given.values()}) != 1:
        raise InputError(f"q, qd and u need one batch size, or none has one; got {shapes}")
    nq = given["q"].shape[-1] if model is None else model.nq
    nv = given["qd"].shape[-1] if model is None else model.nv
    if nv > nq:
        raise InputError(f"qd cannot be wider than q; got {shapes}")
    for name, symbol, width in (("q", "nq", nq), ("qd", "nv", nv), ("u", "nv", nv)):
        if given[name].shape[-1] != width:
            raise InputError(
                f"{name} must be (B, {symbol}={width}) or ({symbol}={width},); got "
                f"{given[name].shape}; the pads of a block are written here, not by the caller"
            )
    block = np.zeros((*given["q"].shape[:-1], 3 * nq), np.result_type(*given.values()))
    for slot in InputBlock(nq, nv, 0, 0).slots[:3]:
        block[..., slot.offset : slot.offset + slot.width] = given[slot.name]
    return block


def unpack_q_qd_u(q_qd_u: ArrayLike, model: Widths) -> QQdU:
    """Take input blocks apart; the pads are not read.

    Args:
        q_qd_u: blocks, (B, 3 nq) or (3 nq,).
        model: whose block it is: a model, a handle or an input block.

    Returns:
        Copies of q, qd and u, the last two without their pads.

    Raises:
        InputError: a wrong width, rank or dtype.
    """
    block = _numbers(q_qd_u, "q_qd_u")
    layout = InputBlock(model.nq, model.nv, 0, 0)
    if block.shape[-1] != layout.stride:
        raise InputError(
            f"q_qd_u must be (B, 3*nq={layout.stride}) or ({layout.stride},); got {block.shape}"
        )
    return QQdU(*(block[..., s.offset : s.offset + s.width].copy() for s in layout.slots[:3]))


def _numbers(value: ArrayLike, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of unequal length
        raise InputError(f"{name} is not a rectangular array: {error}") from error
    if array.dtype not in (np.float32, np.float64):
        if array.dtype.kind not in "iu" and array.size:
            raise InputError(f"{name} must be float32 or float64; got {array.dtype}")
        array = array.astype(np.float64)
    if array.ndim not in {1, 2}:
        raise InputError(f"{name} must have one or two dimensions; got {array.shape}")
    return array


def _slot_doc(slot: Slot) -> str:
    symbol = "NUM_POS" if slot.name == "q" else "NUM_VEL"
    pads = f", then {slot.pads} of zero" if slot.pads else ""
    shared = "; shares the slot of u" if slot.name == "qdd" else ""
    return f"{slot.name}: {symbol} entries{pads}{shared}"
