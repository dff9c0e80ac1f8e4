"""Robots kept by name for other processes: one JSON file each, with the URDF's text inside."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.arguments import checked_options
from grid_core.assets import asset_names
from grid_core.errors import CacheError, ModelError, OptionError, UnknownRobot
from grid_core.load_options import LoadOptions, as_path
from grid_core.loading import load
from grid_core.plugins import PluginManager, plugin_manager
from grid_core.reading import read_model, require_one_source
from grid_core.targets import find_targets
from grid_core.wording import brief, listing, near

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.handle import RobotHandle

__all__ = ["data_dir", "get_robot", "list_registered", "register_robot"]

FORMAT = 1
"""Version of the files."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def data_dir() -> Path:
    """Return the folder of registered robots: under ``GRID_DATA_DIR``, or the user's own."""
    named = os.environ.get("GRID_DATA_DIR")
    if named:
        return as_path(named, "GRID_DATA_DIR") / "robots"
    import platformdirs  # noqa: PLC0415 - who registers no robot needs none

    return platformdirs.user_data_path("grid") / "robots"


@checked_options
def register_robot(
    name: str,
    source: str | os.PathLike[str] | None = None,
    *,
    urdf_string: str | bytes | None = None,
    replace: bool = False,
    **options: Any,
) -> None:
    """Keep a robot under a name; `get_robot` loads it, in this process or another.

    The URDF's text is copied, so its file may go. No registration is replaced unasked, and the
    names of the robots that come with Grid are taken: `grid_core.assets.asset_path`.

    Args:
        name: letters, digits, ``.``, ``_`` and ``-``; at most 100.
        source: path of a robot description, as for `grid_core.load_robot`.
        urdf_string: text of a URDF, in place of `source`.
        replace: whether a robot that has the name already is forgotten.
        **options: what `grid_core.load_robot` takes but ``name``, checked now. A backend need not
            be able to run here.

    Raises:
        OptionError: a bad option, or a name that is bad or taken.
        UnknownAlgorithm: no plugin offers such an algorithm, family or backend.
        ModelError: the description cannot be read.
        UnknownName: the robot has no joint of a name in ``ee_joint_names``.
        CacheError: the file cannot be written.
    """
    _check_name(name)
    if not isinstance(replace, bool):
        raise OptionError(f"replace must be True or False; got {brief(replace)}")
    checked = LoadOptions.check(options)
    _require_free(name, replace=replace)
    require_one_source(source, urdf_string)
    entry: dict[str, Any] = {"format": FORMAT, "name": name}
    if urdf_string is not None:
        entry["urdf"] = _decode(urdf_string)
    elif source is not None and Path(source).is_file():
        entry["urdf"] = _decode(_read(Path(source)))
    else:
        entry["source"] = str(Path(os.fspath(source or "")).absolute())
    entry["options"] = _plain(checked, [k for k, value in options.items() if value is not None])
    _check(entry, checked, plugin_manager())
    _write(name, json.dumps(entry, indent=1, ensure_ascii=False), replace=replace)


@checked_options
def get_robot(name: str, **options: Any) -> RobotHandle:
    """Load a registered robot.

    Args:
        name: what it was registered as.
        **options: options of `grid_core.load_robot` that replace the registered ones.

    Raises:
        UnknownRobot: no robot is registered under the name.
        ModelError: its file is damaged.
        GridError: what `grid_core.load_robot` raises.
    """
    entry = _stored(name)
    checked = LoadOptions.check({"name": name, **entry["options"], **options})
    return load(entry.get("source"), entry.get("urdf"), checked, plugin_manager())


def list_registered() -> tuple[str, ...]:
    """Return the names of all registered robots, sorted."""
    return tuple(sorted(path.stem for path in data_dir().glob("*.json")))


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise OptionError(
            f"a robot's name has letters, digits, '.', '_' and '-', at most 100, and starts with "
            f"a letter or digit; got {name!r}"
        )
    return name


def _require_free(name: str, *, replace: bool) -> None:
    """Raise `OptionError` where a name is another robot's; a file system may fold its case."""
    if any(name.casefold() == stem.casefold() for stem in asset_names()):
        raise OptionError(f"{name!r} is a robot that comes with Grid; register under another name")
    if not replace and (data_dir() / f"{name}.json").exists():
        raise OptionError(
            f"{name!r} is registered already; give replace=True to replace it, or another name"
        )


def _check(entry: dict[str, Any], checked: LoadOptions, plugins: PluginManager) -> None:
    """Find now what `get_robot` would stumble over, short of compiling."""
    if checked.backend != "auto":
        plugins.backends.take(checked.backend)
    plugins.select(checked.algorithm_list)
    model = read_model(entry.get("source"), entry.get("urdf"), checked, plugins)
    find_targets(model, checked.ee_joint_names)


def _plain(checked: LoadOptions, given: Iterable[str]) -> dict[str, Any]:
    """Return the options that were given as JSON has them."""
    result: dict[str, Any] = {}
    for key in given:
        value = getattr(checked, key)
        if key == "calibration" and not isinstance(value, Path):
            raise OptionError("a registered robot's calibration is given as a file")
        if isinstance(value, Path):
            value = str(value.absolute())
        result[key] = list(value) if isinstance(value, tuple) else value
    return result


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", file=str(path)) from error


def _decode(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")


def _write(name: str, text: str, *, replace: bool) -> None:
    import filelock  # noqa: PLC0415 - who registers no robot needs none

    folder = data_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (
            filelock.FileLock(folder / ".lock"),
            tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False) as file,
        ):
            file.write(text)
            file.close()
            try:
                _require_free(name, replace=replace)  # again, now that no other process writes
            except OptionError:
                Path(file.name).unlink()
                raise
            Path(file.name).replace(folder / f"{name}.json")
    except OSError as error:
        raise CacheError(
            f"{name!r} cannot be registered in {folder}: {error}; GRID_DATA_DIR names another"
        ) from error


def _stored(name: str) -> dict[str, Any]:
    known = list_registered()
    if name not in known:
        hint = f"{near(str(name), known)}; there are {listing(known)}"
        if name in asset_names():
            hint = f"; it comes with Grid: load_robot(grid_core.assets.asset_path({name!r}))"
        raise UnknownRobot(f"no robot is registered as {name!r}{hint}")
    path = data_dir() / f"{_check_name(name)}.json"
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot be read ({error}); register again", file=str(path)) from error
    if not isinstance(entry, dict) or entry.get("format") != FORMAT or "options" not in entry:
        raise ModelError("not a registered robot of this version; register again", file=str(path))
    return entry
