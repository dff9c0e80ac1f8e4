"""Split programs whose long results are gathered: how many blocks, and of how many warps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from grid_backend_cuda.cards import multiprocessor_bytes
from grid_backend_cuda.gather import gather
from grid_backend_cuda.jobs import limbs_of
from grid_backend_cuda.pressure import most_alive, registers
from grid_backend_cuda.split import split_program
from grid_backend_cuda.split_mapping import SPLIT_BLOCKS, SplitMapping, lay_out
from grid_backend_cuda.staged import WHOLE

if TYPE_CHECKING:
    from grid_backend_cuda.emit import Real
    from grid_core.program.program import Program

__all__ = ["map_gathered"]

_FORMS = ((32, True), (16, True), (8, True), (32, False), (16, False), (8, False))
"""Problems of a tile, and whether tables lie in shared memory too: the first that fits.

Tables that are read from device memory cost more than fewer problems a tile: a humanoid's Hessians
of poses took 51 and 569 µs for 1024 and 16384 problems with the former, 38 and 516 with the latter.
"""
_BLOCKS = 3, 2, 1
"""Blocks that a multiprocessor is to hold: the first that fit."""
_WARPS = 8
"""Warps of a block, if they have the registers: what computes, and helpers that write only."""
_BESIDE_VALUES = 30
"""Registers for addresses, operands out of shared memory and the like."""


def map_gathered(program: Program, real: Real, arch: str) -> SplitMapping | None:
    """A limb a warp, and wide results gathered; None where that is no help.

    The trunk stands beside a limb where registers hold what both need, else in a warp of its own.

    Args:
        program: the program, traced with even signs.
        real: its precision.
        arch: the card's architecture.
    """
    limbs = limbs_of(program)
    if limbs is None:
        return None
    rows = {
        index: values
        for index, (port, values) in enumerate(program.results_by_port())
        if port.size > WHOLE
    }
    kept = {value for row in rows.values() for value in row}
    for apart in (False, True):
        split = split_program(limbs, apart=apart, kept=kept)
        if split is None or not split.balanced:
            return None
        mapping = evolve(
            lay_out(program, real, split, buffers=2),
            gathered=gather(split, program.first_instruction, rows),
            waves=1,
        )
        needed = most_alive(split) * real.bytes // 4 + _BESIDE_VALUES
        fit = _filled(mapping, real, arch, needed)
        if fit is None or registers(fit.min_blocks, fit.warps) >= needed:
            break
    return fit


def _filled(mapping: SplitMapping, real: Real, arch: str, needed: int) -> SplitMapping | None:
    """As many blocks as memory and registers allow, and as many helpers as registers then do."""
    assert mapping.gathered is not None
    for problems, near in _FORMS:
        gathered = evolve(mapping.gathered, problems=problems, near=near)
        if not gathered.named:
            continue
        for blocks in _BLOCKS:
            given = registers(blocks, mapping.workers)
            if blocks > SPLIT_BLOCKS and given < needed:
                continue
            for buffers in (2, 1):
                fit = evolve(mapping, gathered=gathered, buffers=buffers, min_blocks=blocks)
                if fit.shared_bytes(real) <= multiprocessor_bytes(arch, blocks) // blocks:
                    helpers = _helpers(blocks, mapping.workers, min(needed, given))
                    return evolve(fit, helpers=helpers)
    return None


def _helpers(blocks: int, workers: int, least: int) -> int:
    """The most helpers that leave a thread so many registers."""
    able = range(max(0, _WARPS - workers), -1, -1)
    return next(n for n in able if registers(blocks, workers + n) >= least)
