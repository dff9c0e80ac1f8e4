"""Sums of squares of τ = Y π over a log, summed up while Y is evaluated, never kept."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.errors import ArgumentError, InputError
from grid_core.gram import Gram
from grid_core.model.parameters import parameter_names, require_order
from grid_plugins.regressor.methods import with_order
from grid_plugins.regressor.structure import structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grid_core.algorithm import Options
    from grid_core.model.types import Array, RobotModel
    from grid_core.operation_call import OperationCall

__all__ = ["regressor_gram", "row_ends", "rows_width"]

_CHUNK_BYTES = 2**19
"""Rows that a thread evaluates at a time: they stay in its core's cache until they are summed."""
_CHUNKS = 64
"""Chunks whose sums may wait for their turn."""
_SAMPLES, _COLUMNS = 64, 64
"""Most samples and columns of a matrix product: 2^18 multiplications, up to which OpenBLAS uses
one thread."""


def row_ends(model: RobotModel, options: Options) -> list[int]:
    """Return where each row ends in what a sample adds: [Y_1 τ_1 Y_2 τ_2 ...], zeros left out."""
    ends: NDArray[np.int64] = np.cumsum(structure(model, options).sum(axis=1) + 1)
    return [int(end) for end in ends]


def rows_width(model: RobotModel, options: Options) -> int:
    """Width of what a sample adds."""
    return row_ends(model, options)[-1] if model.nv else 0


def regressor_gram(
    call: OperationCall,
    q: Any,
    qd: Any,
    qdd: Any,
    tau: Any,
    *,
    weights: Any = None,
    initial: Gram | None = None,
    gravity: float = -9.81,
    order: str = "pinocchio",
) -> Gram:
    """Sum YᵀY, Yᵀτ and τᵀτ over samples, in float64, whatever their number.

    Y is evaluated some hundred samples at a time, in the handle's precision, and never kept, so
    that memory does not grow with the log. A NaN in a sample is one in the sums. A longer log is
    summed chunk by chunk, with the sums so far as `initial`, or the chunks' sums are added:
    ``a + b``.

    Args:
        call: the generated call.
        q: configurations, (B, nq).
        qd: velocities, (B, nv).
        qdd: accelerations, (B, nv).
        tau: measured joint forces, (B, nv).
        weights: what the square of each row counts, (nv,); None: 1 each, or those of `initial`.
        initial: sums to add to.
        gravity: along the world's z [m/s²].
        order: of a body's ten parameters, as for `inverse_dynamics_regressor`.

    Returns:
        A `grid_core.gram.Gram`: ``YtY`` (p, p), ``Yttau`` (p,), ``tautau``, ``count``.
    """
    call = with_order(call, order)
    total = _start(call, initial, order)
    if weights is not None:
        total = total.weighted(weights)
    widths = [len(square) for square in total.squares]
    there = call.sum_squares(widths, q, qd, qdd, tau, gravity=gravity) if widths else None
    if there is not None:
        found, batch = there
        squares = [a + b for a, b in zip(total.squares, found, strict=True)]
        return evolve(total, squares=tuple(squares), count=total.count + batch)
    arrays = _arrays(call, {"q": q, "qd": qd, "qdd": qdd, "tau": tau})
    step = _chunk(call)

    def chunk(first: int) -> list[Array]:
        rows = call(*(array[first : first + step] for array in arrays), gravity=gravity)
        return _squares(rows, widths)

    squares, batch = list(total.squares), len(arrays[0])
    with ThreadPoolExecutor(call.num_threads) as pool:
        # In the samples' order, whichever thread was first: the same sums each time.
        for begin in range(0, batch, _CHUNKS * step):
            end = min(begin + _CHUNKS * step, batch)
            for found in pool.map(chunk, range(begin, end, step)):
                squares = [a + b for a, b in zip(squares, found, strict=True)]
    return evolve(total, squares=tuple(squares), count=total.count + batch)


def _squares(rows: NDArray[Any], widths: list[int]) -> list[Array]:
    """Return XᵀX of every row's samples X = [Y_j τ_j]."""
    count = len(rows)
    samples = np.zeros((-(-count // _SAMPLES) * _SAMPLES, rows.shape[1]))
    samples[:count] = rows
    begin, found = 0, []
    for width in widths:
        found.append(_square(samples[:, begin : begin + width]))
        begin += width
    return found


def _square(X: Array) -> Array:
    """Return XᵀX by products of few samples and columns, each too small for BLAS's threads.

    Those cost more than a small product where others use the cores too.
    """
    width = X.shape[1]
    result = np.empty((width, width))
    edges = np.linspace(0, width, -(-width // _COLUMNS) + 1).astype(int)
    blocks = [slice(a, b) for a, b in itertools.pairwise(edges.tolist())]
    for i, rows in enumerate(blocks):
        parts = X[:, rows].reshape(-1, _SAMPLES, rows.stop - rows.start)
        # A copy, lest NumPy calls BLAS's syrk, which spreads the smallest product over threads.
        left = np.ascontiguousarray(parts.transpose(0, 2, 1))
        for columns in blocks[: i + 1]:
            right = X[:, columns].reshape(len(left), _SAMPLES, -1)
            result[rows, columns] = np.matmul(left, right).sum(axis=0)
            result[columns, rows] = result[rows, columns].T
    return result


def _chunk(call: OperationCall) -> int:
    width = max(rows_width(call.model, call.options), 1)
    return max(_CHUNK_BYTES // (8 * width * _SAMPLES), 1) * _SAMPLES


def _arrays(call: OperationCall, given: dict[str, Any]) -> list[NDArray[Any]]:
    """Check the samples as any operation does, before the first is summed."""
    arrays = []
    batches = []
    ports = {slot.name: slot.port for slot in call.slots if slot.port is not None}
    dtype = np.dtype(call.dtype_name)
    for name, value in given.items():
        port = ports[name]
        array, batch = port.take(call.__name__, value, dtype)
        if batch is None:
            raise InputError(f"{call.__name__}: {name} needs the axis B, over which is summed")
        batches.append(batch)
        arrays.append(array)
        if batch != batches[0]:
            raise call.batch_error(ports["q"], batches[0], port, batch)
    return arrays


def _start(call: OperationCall, initial: Gram | None, order: str) -> Gram:
    model, options = call.model, call.options
    names = parameter_names(
        model, order=require_order(call.__name__, order), terms=options.regressor_terms
    )
    columns = tuple(np.flatnonzero(row) for row in structure(model, options))
    if initial is None:
        return Gram.zeros(names, columns)
    if (
        not isinstance(initial, Gram)
        or initial.names != names
        or not all(map(np.array_equal, initial.columns, columns))
    ):
        raise ArgumentError(
            f"{call.__name__}: initial must be sums of this robot's parameters in this order"
        )
    return initial
