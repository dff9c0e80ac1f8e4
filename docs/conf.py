"""How Sphinx builds the documentation: ``sphinx-build -W -b html docs docs/_build/html``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate_algorithms  # noqa: E402 - found beside this file
import generate_commands  # noqa: E402
import generate_programs  # noqa: E402

from grid_core.loading import list_algorithms  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Pages that would go stale if they were written by hand are written anew with each build.
generate_algorithms.main(HERE / "_generated")
generate_commands.main(HERE / "_generated")
generate_programs.main(HERE / "_generated")

project = "Grid"
author = "The Grid authors"
version = next(info.version for info in list_algorithms() if info.distribution == "grid-robotics")
release = version

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "_generated"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Single backticks in docstrings name things; they are no cross-references.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Grid {release}"


_LITERAL = re.compile(r"(``.+?``|`.+?`)")
_attributes: dict[str, list[str]] = {}


def _escape(_app: Sphinx, what: str, name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Keep |x| and (B, *shape) of docstrings, which are no reStructuredText, as they stand."""
    for k, line in enumerate(lines):
        pieces = _LITERAL.split(line)
        pieces[::2] = [re.sub(r"([*|])", r"\\\1", piece) for piece in pieces[::2]]
        lines[k] = "".join(pieces)
    if what in {"attribute", "data", "property"}:
        _attributes[name] = list(lines)


def _restore(
    _app: Sphinx, _what: str, name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Undo what napoleon does to "An input with a default: gravity", which names no type."""
    if name in _attributes:
        lines[:] = _attributes[name]


def setup(app: Sphinx) -> None:
    """Run before and after napoleon, which reads the docstrings at priority 500."""
    app.connect("autodoc-process-docstring", _escape, priority=400)
    app.connect("autodoc-process-docstring", _restore, priority=600)
