"""An exit that a plugin's code asks for is a failure of the plugin, not the end of the process."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["exits_fail"]


@contextlib.contextmanager
def exits_fail(what: str) -> Iterator[None]:
    """Turn `SystemExit` into an error like any other, which whoever knows the plugin names.

    Args:
        what: the code that runs, such as ``the program of 'crba'``.

    Raises:
        RuntimeError: the code asked the process to exit.
    """
    try:
        yield
    except SystemExit as error:
        raise RuntimeError(f"{what} asked the process to exit (SystemExit: {error})") from error
