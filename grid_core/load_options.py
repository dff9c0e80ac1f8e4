"""The options of `load_robot`, checked before anything else is done."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, fields_dict, frozen

from grid_core.contract import DTYPES
from grid_core.cores import available_cores
from grid_core.errors import OptionError
from grid_core.model.parameters import TERMS
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from grid_core.description.calibration import Calibration

__all__ = ["CONVENTIONS", "DEFAULT_DTYPE", "LoadOptions", "as_path", "default_cache_dir"]

CONVENTIONS = ("pinocchio", "mujoco")
"""Conventions of q, v and outputs that exist."""


class _DefaultDtype(str):
    """Tells the default apart from the same text given by a caller."""

    __slots__ = ()


DEFAULT_DTYPE = _DefaultDtype("float32")


def default_cache_dir() -> Path:
    """Return the folder of the build cache: ``GRID_CACHE_DIR``, or the user's own.

    Raises:
        OptionError: ``GRID_CACHE_DIR`` names no folder that there could be.
    """
    named = os.environ.get("GRID_CACHE_DIR")
    if named:
        return as_path(named, "GRID_CACHE_DIR")
    import platformdirs  # noqa: PLC0415 - a load pays for it, not the import

    return platformdirs.user_cache_path("grid")


def as_path(value: str | os.PathLike[str], name: str) -> Path:
    """Return a path with ``~`` replaced by the home folder; `name` says what it was given as.

    Raises:
        OptionError: text that no path can be, or a user without a home folder.
    """
    text = os.fsdecode(value)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise OptionError(f"{name} has characters that no path can have: {text!r}") from None
    if "\0" in text:
        raise OptionError(f"{name} has a NUL character, which no path can have: {text!r}")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise OptionError(
            f"{name}={text!r}: there is no user with a home folder for the ~ in it; "
            "write the whole path"
        ) from None


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{name} must be True or False; got {value!r}")
    return bool(value)


@frozen(kw_only=True)
class LoadOptions:
    """Checked options; see `grid_core.load_robot` for what each means."""

    floating_base: bool = False
    algorithm_list: tuple[str, ...] | None = None
    backend: str = "auto"
    dtype: str | None = None
    """None: the caller left it to the backend."""
    ee_joint_names: tuple[str, ...] | None = None
    output_convention: str = "pinocchio"
    name: str | None = None
    cache_dir: Path = field(factory=default_cache_dir)
    num_threads: int = field(factory=available_cores)
    use_joint_dynamics: bool = False
    regressor_terms: tuple[str, ...] = ()
    runtime_inertia: bool = False
    runtime_transform: bool = False
    strict: bool = False
    device: int | None = None
    calibration: Path | Calibration | None = None

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> LoadOptions:
        """Check options as a caller gave them; absent ones and None take their defaults.

        Raises:
            OptionError: an option of unknown name or value.
        """
        known = fields_dict(cls)
        for name in given:
            if name not in known:
                raise OptionError(
                    f"there is no option {name!r}{near(name, known)}; there are {listing(known)}"
                )
        checks: dict[str, Callable[[Any], Any]] = {
            "floating_base": lambda v: _flag(v, "floating_base"),
            "algorithm_list": lambda v: _names(v, "algorithm_list"),
            "backend": lambda v: _text(v, "backend"),
            "dtype": _dtype,
            "ee_joint_names": _targets,
            "output_convention": _convention,
            "name": lambda v: _text(v, "name"),
            "cache_dir": _folder,
            "num_threads": _threads,
            "use_joint_dynamics": lambda v: _flag(v, "use_joint_dynamics"),
            "regressor_terms": _terms,
            "runtime_inertia": lambda v: _flag(v, "runtime_inertia"),
            "runtime_transform": lambda v: _flag(v, "runtime_transform"),
            "strict": lambda v: _flag(v, "strict"),
            "device": _device,
            "calibration": _calibration,
        }
        return cls(**{k: checks[k](v) for k, v in given.items() if v is not None})


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise OptionError(f"{name} must be a name; got {value!r}")
    return value


def _names(value: object, name: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    try:
        names = tuple(value) if isinstance(value, Iterable) else None
    except TypeError:  # an array of no dimensions
        names = None
    if names is None or not all(isinstance(n, str) for n in names):
        raise OptionError(f"{name} must be a name or a list of names; got {value!r}")
    return names


def _targets(value: object) -> tuple[str, ...]:
    names = _names(value, "ee_joint_names")
    if not names:
        raise OptionError("ee_joint_names is empty; leave it out to take every leaf joint")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise OptionError(f"ee_joint_names names {twice[0]!r} twice")
    return names


def _terms(value: object) -> tuple[str, ...]:
    names = _names(value, "regressor_terms")
    for name in names:
        if name not in TERMS:
            raise OptionError(
                f"regressor_terms: there is no term {name!r}{near(name, TERMS)}; "
                f"there are {listing(TERMS)}"
            )
        if names.count(name) > 1:
            raise OptionError(f"regressor_terms names {name!r} twice")
    return names


def _dtype(value: object) -> str | None:
    if value is DEFAULT_DTYPE:
        return None
    try:
        name = np.dtype(value).name  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError):  # NumPy parses text such as "i,,f"
        name = None
    if name not in DTYPES:
        raise OptionError(f"dtype must be {listing(DTYPES, 'or')}; got {value!r}")
    return str(name)


def _convention(value: object) -> str:
    if not isinstance(value, str) or value not in CONVENTIONS:
        known = listing(CONVENTIONS, "or")
        raise OptionError(f"output_convention must be {known}; got {value!r}")
    return str(value)


def _folder(value: object) -> Path:
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise OptionError(f"cache_dir must be a folder; got {value!r}")
    return as_path(value, "cache_dir")


def _threads(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise OptionError(f"num_threads must be an integer of at least 1; got {value!r}")
    return int(value)


def _device(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise OptionError(f"device must be a number from 0 on; got {value!r}")
    return int(value)


def _calibration(value: object) -> Path | Calibration:
    if isinstance(value, str | os.PathLike) and os.fspath(value):
        return as_path(value, "calibration")
    from grid_core.description.calibration import Calibration  # noqa: PLC0415 - few have one

    if not isinstance(value, Calibration):
        raise OptionError(f"calibration must be a file or a Calibration; got {value!r}")
    return value
