"""Compiling the operations that a load asks for, in parallel."""

from __future__ import annotations

import functools
import sys
from concurrent.futures import FIRST_COMPLETED, FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from grid_core.errors import OperationRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from grid_core.operation_call import OperationCall

__all__ = ["compile_all", "run_all"]

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds after which a terminal gets a progress bar."""


def compile_all(calls: Iterable[OperationCall], num_threads: int) -> None:
    """Compile every variant of the operations that is not compiled on demand.

    An operation that the robot cannot have is passed over: it says so when it is called.

    Raises:
        GridError: the first failure; what has not started by then is dropped.
    """
    tasks = [(call, variant) for call in calls if _possible(call) for variant in call.variants()]
    run_all([functools.partial(call.build, variant) for call, variant in tasks], num_threads)


def run_all(tasks: Sequence[Callable[[], T]], num_threads: int) -> list[T]:
    """Run tasks side by side and return their results in order.

    Raises:
        Exception: the first failure; what has not started by then is dropped.
    """
    if len(tasks) < 2:
        return [task() for task in tasks]
    pool = ThreadPoolExecutor(min(num_threads, len(tasks)), thread_name_prefix="grid-compile")
    try:
        futures: list[Future[T]] = [pool.submit(task) for task in tasks]
        done, pending = wait(futures, PATIENCE, return_when=FIRST_EXCEPTION)
        failed = any(future.exception() for future in done)
        if pending and not failed and sys.stderr.isatty():
            _watch(futures)
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _possible(call: OperationCall) -> bool:
    try:
        call.require_possible()
    except OperationRefused:
        return False
    return True


def _watch(futures: Sequence[Future[Any]]) -> None:
    """Show a bar on stderr until all are done or one fails."""
    from rich.console import Console  # noqa: PLC0415 - only a slow load on a terminal needs it
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("Compiling operations", total=len(futures))
        pending = set(futures)
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            progress.update(bar, completed=len(futures) - len(pending))
            if any(future.exception() for future in done):
                return
