"""The page about plugins names every hook and field, and includes files that exist."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import fields_dict

from grid_core import hookspecs
from grid_core.algorithm import Algorithm, Port

PAGE = Path(__file__).parents[2] / "docs/writing-a-plugin.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_hook_and_field_is_in_a_table() -> None:
    hooks = [name for name in dir(hookspecs) if name.startswith("grid_")]
    rows = " ".join(line.split("|")[1] for line in TEXT.splitlines() if line.startswith("|"))
    for name in [*hooks, *fields_dict(Algorithm), *fields_dict(Port)]:
        assert f"`{name}`" in rows, name


def test_the_included_files_exist() -> None:
    included = re.findall(r"\{literalinclude\} (\S+)", TEXT)
    assert len(included) == 5
    for path in included:
        assert (PAGE.parent / path).is_file(), path
