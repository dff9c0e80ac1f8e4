"""PyTorch on one GPU: tensors, clocks and graphs for the contenders that work there.

PyTorch is no dependency of Grid; it is imported when a boundary on the device is asked for.
"""

from __future__ import annotations

import importlib
import itertools
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.bench.card import Card, read_card
from grid_core.errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_core.model.types import Array

__all__ = ["CHECKED", "Device"]

MOST_SETS = 64
CHECKED = 256
"""Problems whose results are brought to the host to be compared."""


@frozen
class Device:
    """A GPU as PyTorch sees it."""

    torch: Any = field(repr=False)
    index: int
    card: Card

    @classmethod
    def open(cls) -> Device:
        """Open PyTorch's current device and measure its copy rate.

        Raises:
            BackendUnavailable: there is no PyTorch, or it sees no GPU.
        """
        try:
            torch = importlib.import_module("torch")
        except ImportError as error:
            raise BackendUnavailable(
                "timing arrays on the GPU needs PyTorch with CUDA: pip install torch; "
                "--boundary host does without"
            ) from error
        if not torch.cuda.is_available():
            raise BackendUnavailable(
                f"PyTorch {torch.__version__} sees no GPU: install its CUDA build "
                "(see https://pytorch.org/get-started), and see nvidia-smi"
            )
        index = int(torch.cuda.current_device())
        return cls(torch, index, read_card(torch, index, lambda r, n: _events(torch, r, n)))

    def events(self, run: Callable[[], object], runs: int) -> float:
        """Return the seconds that runs take on the device, by its events."""
        return _events(self.torch, run, runs)

    def wall(self, run: Callable[[], object], runs: int) -> float:
        """Return the seconds from the first call to when all results are there."""
        self.synchronise()
        start = time.perf_counter()
        for _ in range(runs):
            run()
        self.synchronise()
        return time.perf_counter() - start

    def synchronise(self) -> None:
        """Wait for all work."""
        self.torch.cuda.synchronize()

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Return a tensor of NaN, so that what is not written shows."""
        kind = getattr(self.torch, dtype)
        return self.torch.full(shape, math.nan, dtype=kind, device=f"cuda:{self.index}")

    def sets(
        self, arrays: Sequence[Array], *, batch: int, dtype: str, moved: int, states: str
    ) -> list[list[Any]]:
        """Return the states on the device: once, or over and over, in another order each time.

        In turns there are so many sets that together they do not fit the cache twice, within
        reason; the first is in the order given.

        Args:
            arrays: states; fewer than the batch are repeated up to it.
            batch: problems.
            dtype: precision.
            moved: bytes of one problem's inputs and outputs.
            states: of `grid_core.bench.results.STATES`.
        """
        turns = math.ceil(2 * self.card.l2_bytes / (batch * moved))
        count = max(1, min(MOST_SETS, turns)) if states == "turns" else 1
        first = [self._upload(array, batch, dtype) for array in arrays]
        shifts = [k * batch // count for k in range(1, count)]
        return [first, *([self.torch.roll(x, s, 0) for x in first] for s in shifts)]

    def floor(self, *, batch: int, dtype: str, moved: int, fused: int, states: str) -> float | None:
        """Return the least time of an evaluation that the card allows [ns]; None: not known.

        Device memory counts unless every launch finds its arrays in the cache.
        """
        warm = states == "same" and batch * moved <= self.card.l2_bytes
        return self.card.floor(0 if warm else moved, fused, dtype) or None

    def _upload(self, array: Array, batch: int, dtype: str) -> Any:
        host = np.ascontiguousarray(array, dtype)
        tensor = self.torch.from_numpy(host).to(f"cuda:{self.index}")
        if len(array) < batch:
            tensor = self.torch.cat([tensor] * math.ceil(batch / len(array)))[:batch]
        return tensor

    def capture(self, steps: Sequence[Callable[[], Any]], launches: int) -> tuple[Any, Any]:
        """Capture so many steps, in turns, in one graph.

        Returns:
            The graph, and what the last run of the first step returned.
        """
        torch = self.torch
        self.warm(steps)
        graph = torch.cuda.CUDAGraph()
        kept: Any = None
        with torch.cuda.graph(graph):
            for k, step in zip(range(launches), itertools.cycle(steps), strict=False):
                result = step()
                if k % len(steps) == 0:
                    # Held, so that later steps do not take its memory.
                    kept = result
        self.synchronise()
        return graph, kept

    def warm(self, steps: Sequence[Callable[[], Any]]) -> None:
        """Run steps on a side stream, as PyTorch asks for before a capture."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for step in steps[:3]:
                step()
        torch.cuda.current_stream().wait_stream(side)
        self.synchronise()

    def poison(self, tensors: Sequence[Any]) -> None:
        """Overwrite results with NaN."""
        for tensor in tensors:
            tensor.fill_(math.nan)

    def read(self, tensors: Sequence[Any], drawn: int) -> list[Array]:
        """Return the first results as float64; NaN if any of the batch is not as it should be.

        That is: a NaN anywhere, or problems of the same states with other results, near the end
        of the batch and at its start.

        Args:
            tensors: results, (B, ...) each.
            drawn: problems after which the states repeat.
        """
        self.synchronise()
        found = []
        for tensor in tensors:
            host = np.array(tensor[:CHECKED].cpu().numpy(), np.float64)
            last = (len(tensor) // drawn - 1) * drawn
            count = min(CHECKED, drawn)
            same = last <= 0 or self.torch.equal(tensor[last : last + count], tensor[:count])
            if not same or bool(self.torch.isnan(tensor).any()):
                host[:] = math.nan
            found.append(host)
        return found


def _events(torch: Any, run: Callable[[], object], runs: int) -> float:
    start = torch.cuda.Event(enable_timing=True)
    stop = torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(runs):
        run()
    stop.record()
    stop.synchronize()
    return 1e-3 * float(start.elapsed_time(stop))
