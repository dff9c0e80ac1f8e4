"""States in a file: reading an ``.npz`` against an operation's inputs, and writing one."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import InputError, OptionError
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grid_core.algorithm import Algorithm

__all__ = [
    "check_folder",
    "check_npz",
    "known_names",
    "method_arguments",
    "read_states",
    "write_states",
]

_RENAMED = "_out"
"""What `write_states` appends to an output that is called as an input is."""
_ZIP, _NPY = b"PK", b"\x93N"
_HINT = "(numpy.savez writes such a file)"


def known_names(algorithms: Iterable[Algorithm]) -> frozenset[str]:
    """Return every name that `write_states` may give an array."""
    outputs = set()
    inputs = set()
    for algorithm in algorithms:
        inputs |= {port.name for port in algorithm.inputs} | {*method_arguments(algorithm)}
        outputs |= {port.name for port in algorithm.outputs}
    return frozenset({*inputs, *outputs, *(f"{name}{_RENAMED}" for name in outputs & inputs)})


def method_arguments(algorithm: Algorithm) -> tuple[str, ...]:
    """Return what an operation's own method takes beside its ports: ``frame``, say."""
    if algorithm.method is None:
        return ()
    _call, *parameters = inspect.signature(algorithm.method).parameters.values()
    ports = {port.name for port in algorithm.inputs}
    return tuple(
        p.name
        for p in parameters
        if p.name not in {*ports, "out"} and p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}
    )


def read_states(
    path: Path, algorithm: Algorithm, others: Iterable[str]
) -> tuple[dict[str, Any], list[str]]:
    """Read the inputs of an operation: arrays by name, plain numbers for uniform ones.

    Arguments of the operation's own method are read as well: names as text, one or an array of
    them, flags as booleans.

    Args:
        path: the ``.npz``.
        algorithm: the operation.
        others: names that other operations know, `known_names`: their arrays are left out.

    Returns:
        The inputs, and the names of what was left out.

    Raises:
        InputError: the file is no ``.npz``, lacks an input, or has an array that nobody knows.
    """
    arrays = _read(path)
    own = method_arguments(algorithm)
    known = [*(port.name for port in algorithm.inputs), *own]
    needed = [p.name for p in algorithm.inputs if not p.optional and not p.uniform]
    missing = [name for name in needed if name not in arrays]
    extra = [name for name in arrays if name not in known]
    unknown = set(extra).difference(others)
    if missing or unknown:
        faults = [f"{listing(missing)} missing"] if missing else []
        faults += [
            f"{name!r} is no input of it{near(name, known)}" for name in extra if name in unknown
        ]
        if missing and extra and not unknown:
            faults.append(f"the file has {listing(extra)} beside; an input goes by its own name")
        raise InputError(
            f"{path}: {algorithm.name} takes {listing(known)}, and needs {listing(needed)}; "
            f"{'; '.join(faults)}"
        )
    for name in extra:
        del arrays[name]
    for port in algorithm.inputs:
        if port.uniform and not port.shape and port.name in arrays:
            arrays[port.name] = _number(path, port.name, arrays[port.name])
    for name in own:
        if name in arrays:
            arrays[name] = _argument(arrays[name])
    return arrays, extra


def write_states(path: Path, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    """Write inputs and outputs as named arrays of one ``.npz``.

    Raises:
        OptionError: the file cannot be written.
    """
    named = dict(inputs)
    for name, array in outputs.items():
        named[f"{name}{_RENAMED}" if name in inputs else name] = array
    try:
        with path.open("wb") as file:
            np.savez(file, **named)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error


def check_folder(path: Path | None) -> None:
    """Raise `OptionError`, before anything is computed, if a file cannot be where it should."""
    if path is not None and not path.absolute().parent.is_dir():
        raise OptionError(f"{path} cannot be written: there is no folder {path.parent}")


def check_npz(path: Path | None) -> None:
    """Raise `OptionError` if a file's name says that it is no ``.npz``."""
    if path is not None and path.suffix.lower() not in {"", ".npz"}:
        raise OptionError(
            f"{path}: named arrays are written as .npz, and {path.suffix} is another format; "
            f"call it {path.with_suffix('.npz').name!r}"
        )


def _read(path: Path) -> dict[str, Any]:
    try:
        # Opened here: NumPy leaves a damaged archive open.
        with path.open("rb") as file:
            start = file.read(len(_ZIP))
            file.seek(0)
            if start == _ZIP:
                with np.load(file, allow_pickle=False) as loaded:
                    return {name: loaded[name] for name in loaded.files}
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except Exception as error:  # a damaged archive fails in many ways
        reason = "an array holds Python objects" if "allow_pickle" in str(error) else error
        raise InputError(f"{path}: cannot be read as named arrays {_HINT}: {reason}") from error
    if start == _NPY:
        raise InputError(f"{path}: one array without a name; write named ones with numpy.savez")
    raise InputError(f"{path}: cannot be read as named arrays {_HINT}: it is no .npz")


def _number(path: Path, name: str, array: Any) -> Any:
    if array.shape != ():
        raise InputError(
            f"{path}: {name} is one number for the whole batch; got shape {array.shape}"
        )
    return array.item()


def _argument(array: Any) -> Any:
    """Return what a method is called with: text, texts, a flag or number, or an array as it is."""
    return array if array.ndim and array.dtype.kind != "U" else array.tolist()
