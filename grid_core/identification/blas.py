"""Small matrices are multiplied fastest on one thread."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["one_blas_thread"]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which NumPy's linear algebra runs on one thread.

    Its threads wait for each other in a loop, after every product. With matrices of a hundred
    columns there is little to share, and beside anything else that runs, two take twenty times as
    long as one was seen to. Needs threadpoolctl (the extra ``identify``); nothing changes
    without.
    """
    try:
        import threadpoolctl  # noqa: PLC0415 - an extra
    except ImportError:
        return contextlib.nullcontext()
    limits: AbstractContextManager[Any] = threadpoolctl.threadpool_limits(1, user_api="blas")
    return limits
