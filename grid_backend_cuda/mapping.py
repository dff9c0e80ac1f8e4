"""Which way a program goes: one problem a thread, or parts of the robot over several warps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cuda.gathered_mapping import map_gathered
from grid_backend_cuda.split_mapping import map_split
from grid_backend_cuda.staged import WHOLE
from grid_backend_cuda.thread_mapping import map_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_backend_cuda.emit import Real
    from grid_backend_cuda.split_mapping import SplitMapping
    from grid_backend_cuda.thread_mapping import Mapping
    from grid_core.program.program import Program

__all__ = ["map_program"]

_SPLIT_OPERATIONS = 8000
"""Operations from which a program's code outgrows the instruction cache (128 KB), and..."""
_SPLIT_LIVE_BYTES = 2000
"""... bytes of live values from which spills cost more than parts that wait for each other."""
_GATHERED_LIVE_BYTES = 1200
"""The same where wide results are gathered: a little more than registers hold."""


def map_program(
    program: Program, real: Real, arch: str, even: Callable[[], Program] | None = None
) -> tuple[Program, Mapping | SplitMapping]:
    """Decide the mapping from the program's widths and counts, and the card's shared memory.

    Args:
        program: the program.
        real: its precision.
        arch: the card's architecture.
        even: traces the program anew with even signs, so that limbs that are mirror images come
            out alike and share their code where it is split.

    Returns:
        The program to compile, of the two, and how it lies on the card.
    """
    wide = any(p.size > WHOLE for p in program.outputs)
    long = program.counts.operations > _SPLIT_OPERATIONS
    live = program.counts.live * real.bytes
    spills = live > (_GATHERED_LIVE_BYTES if wide else _SPLIT_LIVE_BYTES)
    if any(program.regions) and (long or spills):
        fit = program if even is None else even()
        split = map_gathered(fit, real, arch) if wide else None
        if split is None and (long or not wide):
            split = map_split(fit, real, arch)
        if split is not None:
            return fit, split
    return program, map_threads(program, real, arch)
