"""States in a file: reading an ``.npz`` against an operation's inputs, and writing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import InputError, OptionError
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grid_core.algorithm import Algorithm

__all__ = ["check_folder", "read_states", "write_states"]


def read_states(path: Path, algorithm: Algorithm) -> dict[str, Any]:
    """Read the inputs of an operation, arrays by name and plain numbers for uniform ones.

    Raises:
        InputError: the file is no ``.npz``, lacks an input, or has an array that is none.
    """
    arrays = _read(path)
    known = [port.name for port in algorithm.inputs]
    needed = [p.name for p in algorithm.inputs if not p.optional and not p.uniform]
    missing = [name for name in needed if name not in arrays]
    extra = [name for name in arrays if name not in known]
    if missing or extra:
        faults = [f"{listing(missing)} missing"] if missing else []
        faults += [f"{name!r} is no input of it{near(name, known)}" for name in extra]
        raise InputError(
            f"{path}: {algorithm.name} takes {listing(known)}, and needs {listing(needed)}; "
            f"{'; '.join(faults)}"
        )
    for port in algorithm.inputs:
        if port.uniform and port.name in arrays:
            arrays[port.name] = _number(path, port.name, arrays[port.name])
    return arrays


def write_states(path: Path, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    """Write inputs and outputs as named arrays of one ``.npz``.

    Raises:
        OptionError: the file cannot be written.
    """
    named = dict(inputs)
    for name, array in outputs.items():
        named[f"{name}_out" if name in inputs else name] = array
    try:
        with path.open("wb") as file:
            np.savez(file, **named)
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error


def check_folder(path: Path | None) -> None:
    """Raise `OptionError`, before anything is computed, if a file cannot be where it should."""
    if path is not None and not path.absolute().parent.is_dir():
        raise OptionError(f"{path} cannot be written: there is no folder {path.parent}")


def _read(path: Path) -> dict[str, Any]:
    try:
        # Opened here: NumPy leaves a damaged archive open.
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.lib.npyio.NpzFile):
                return {name: loaded[name] for name in loaded.files}
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except Exception as error:  # a damaged archive fails in many ways
        raise InputError(
            f"{path}: cannot be read as named arrays (numpy.savez writes such a file): {error}"
        ) from error
    raise InputError(f"{path}: one array without a name; write named ones with numpy.savez")


def _number(path: Path, name: str, array: Any) -> Any:
    if array.shape != ():
        raise InputError(
            f"{path}: {name} is one number for the whole batch; got shape {array.shape}"
        )
    return array.item()
