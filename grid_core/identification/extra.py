"""The packages of the extra ``identify``, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from grid_core.errors import OptionError

__all__ = ["require"]

_FOR = {
    "scipy": "filtering a log and looking for an exciting trajectory",
    "pyarrow": "a Parquet log",
    "matplotlib": "the report's plots",
}


def require(*modules: str) -> tuple[Any, ...]:
    """Import modules and return them.

    Raises:
        OptionError: one of them is not installed; says what needs it and how to install it.
    """
    try:
        return tuple(importlib.import_module(name) for name in modules)
    except ImportError as error:
        package = modules[0].partition(".")[0]
        raise OptionError(
            f"{_FOR.get(package, 'this')} needs {package}: pip install '.[identify]'"
        ) from error
