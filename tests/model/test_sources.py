"""The plugin's sources: which takes what."""

from __future__ import annotations

from pathlib import Path

import pluggy
import pytest

from grid_core import hookspecs
from grid_core.model import load_urdf_string, plugin
from grid_core.model.source import ModelSource
from tests.model.texts import one_joint

FILE, TEXT = plugin.grid_model_sources()


def test_plugin_is_valid():
    """Pluggy finds the hook, and it returns records."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    manager.check_pending()
    (sources,) = manager.hook.grid_model_sources()
    assert all(isinstance(source, ModelSource) for source in sources)
    assert [source.name for source in sources] == ["urdf-file", "urdf-text"]


@pytest.mark.parametrize(
    ("source", "file", "text"),
    [
        ("robot.urdf", True, False),
        (Path("robot.urdf"), True, False),
        ("", True, False),
        ("a\0b", True, False),
        ("x" * 5000, True, False),
        (".", False, False),
        (Path("/"), False, False),
        ("<robot/>", False, True),
        ("\ufeff\n <robot/>", False, True),
        (b"<robot/>", False, True),
        (b"\xef\xbb\xbf\r\n<robot/>", False, True),
        ("<robot/>".encode("utf-16"), False, True),
        ("\n<robot/>".encode("utf-16-be"), False, True),
        (b"robot.urdf", False, False),
        (None, False, False),
        (7, False, False),
        ({"name": "r"}, False, False),
    ],
)
def test_what_is_accepted(source, file, text):
    """Paths to the one, documents to the other, directories and strangers to neither."""
    assert (FILE.accepts(source), TEXT.accepts(source)) == (file, text)


def test_both_load(tmp_path):
    """Each source loads what it accepts, with the loader's options."""
    path = tmp_path / "r.urdf"
    path.write_text(one_joint(), encoding="utf-8")
    expected = load_urdf_string(one_joint(), floating_base=True)
    assert FILE.load(path, floating_base=True, strict=True) == expected
    assert TEXT.load(one_joint(), floating_base=True, strict=True) == expected
