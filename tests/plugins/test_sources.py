"""Which model source reads what `load_robot` is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grid_core.errors import ModelError, OptionError, PluginConflict, PluginError
from grid_core.load_options import LoadOptions
from grid_core.model import load_urdf_string
from grid_core.model.source import ModelSource
from grid_core.reading import read_model, require_one_source
from tests.plugins.builders import ARM, announce, manager, plugin

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.model.types import RobotModel
    from grid_core.plugins import PluginManager


def read(source: Any, plugins: PluginManager | None = None, **options: Any) -> RobotModel:
    return read_model(source, None, LoadOptions.check(options), plugins or manager())


def source(name: str = "mjcf", accepts: Any = None, load: Any = None) -> PluginManager:
    accepts = accepts or (lambda s: isinstance(s, str) and s.endswith(".xml"))
    load = load or (lambda *_, **__: load_urdf_string(ARM))
    made = ModelSource(name, "an MJCF file", accepts, load)
    return manager(announce(plugin(model_sources=[made])))


def test_a_path_and_a_text_and_a_model(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(ARM, encoding="utf-8")
    assert read(file).name == read(str(file)).name == read(ARM).name == "arm"
    model = load_urdf_string(ARM)
    assert read(model) is model


def test_a_model_that_was_read_cannot_get_another_base() -> None:
    with pytest.raises(OptionError, match="'arm' was read with a fixed base"):
        read(load_urdf_string(ARM), floating_base=True)


def test_both_or_neither_source_is_an_error() -> None:
    with pytest.raises(OptionError, match="nothing to load"):
        require_one_source(None, None)
    with pytest.raises(OptionError, match=r"two robots to load: both 'a\.urdf' and urdf_string"):
        require_one_source("a.urdf", ARM)
    with pytest.raises(OptionError, match="urdf_string must be text; got int"):
        require_one_source(None, 3)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ModelError, match=r"nowhere\.urdf"):
        read("nowhere.urdf")


def test_what_no_source_takes_is_answered_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no model source takes") as caught:
        read(tmp_path)
    assert "urdf-file (a URDF file, by its path)" in str(caught.value)
    with pytest.raises(OptionError, match="no model source takes 3"):
        read(3)


def test_what_two_sources_take_is_a_conflict() -> None:
    with pytest.raises(PluginConflict, match="taken by the model sources mjcf and urdf-file"):
        read("robot.xml", source())


def test_a_source_that_fails_is_named() -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("oops")

    def only(source: object) -> bool:
        return source == ("the", "robot")

    with pytest.raises(PluginError, match=r"'mjcf' of grid-made-up 1\.2 .* ZeroDivisionError"):
        read(("the", "robot"), source(accepts=only, load=fail))
    with pytest.raises(PluginError, match="could not tell whether it takes"):
        read(("the", "robot"), source(accepts=fail))
    with pytest.raises(PluginError, match="returned a dict, not a RobotModel"):
        read(("the", "robot"), source(accepts=only, load=lambda *_, **__: {}))
