"""What a command reads is not what it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["check_not_source"]


def check_not_source(option: str, path: Path | None, sources: Iterable[Path | None]) -> None:
    """Refuse, before anything is computed, to write over a file that the command reads.

    Args:
        option: that names the file to write, for the message.
        path: the file; None: nothing is written.
        sources: what is read; None, and what is not there, is passed over.

    Raises:
        OptionError: the file is one of them, be it by a link or another spelling.
    """
    for source in sources:
        if path is not None and source is not None and _same(path, source):
            raise OptionError(
                f"{option} {path} would be written over {source}, which is read; give it another "
                "name"
            )


def _same(a: Path, b: Path) -> bool:
    try:
        return a.is_file() and a.samefile(b)
    except OSError:
        return False
