"""What the README and the pages show runs, from any directory, and says what they say."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import grid_core
from grid_core import errors
from grid_core.loading import list_algorithms

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"^(?:<!-- (run)(?:: (\w+))? -->\n)?```python\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def scripts() -> list:
    """The blocks of a page that are marked to be run, together by the library they need."""
    found: dict[tuple[str, str], list[str]] = {}
    for page in sorted((ROOT / "docs").glob("*.md")):
        for run, needs, code in BLOCK.findall(page.read_text(encoding="utf-8")):
            if run:
                found.setdefault((page.stem, needs), []).append(code)
    return [
        pytest.param(needs, "\n".join(blocks), id="-".join(filter(None, (page, needs))))
        for (page, needs), blocks in found.items()
    ]


def run(code: str, folder: Path) -> str:
    env = {**os.environ, "GRID_CACHE_DIR": str(folder / "cache"), "GRID_DATA_DIR": str(folder)}
    script = folder / "example.py"
    script.write_text(code, encoding="utf-8")
    command = [sys.executable, "-X", "utf8", str(script)]
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_the_readme_prints_what_it_says(tmp_path: Path) -> None:
    (code,) = [code for _, _, code in BLOCK.findall(README)]
    said = README.split("```text\n")[1].split("```")[0].splitlines()
    got = run(code, tmp_path).splitlines()
    assert len(code.splitlines()) <= 20
    assert got[1:] == said[1:]
    # The last digit is the processor's: how it rounds is not the README's to promise.
    error = float(got[0].split()[2])
    assert got[0].split()[:2] == said[0].split()[:2] == ["round", "trip:"]
    assert error < 1e-11


@pytest.mark.parametrize(("needs", "code"), scripts())
def test_pages_run(needs: str, code: str, tmp_path: Path) -> None:
    if needs and find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    run(code, tmp_path)


def test_pages_have_examples() -> None:
    assert {"getting-started", "conventions-pinocchio", "conventions-mujoco"} <= {
        param.id for param in scripts()
    }


def test_the_readme_lists_every_operation() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", README, re.MULTILINE)
    table = [name.strip("`") for row in rows for name in row.split(", ")]
    ours = [info.name for info in list_algorithms() if info.distribution == "grid-robotics"]
    assert sorted(table) == sorted(ours)


def test_the_pages_name_every_option_and_public_name() -> None:
    guide = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
    api = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    for option in list(inspect.signature(grid_core.load_robot).parameters)[1:]:
        assert f"`{option}`" in guide, option
    for name in grid_core.__all__:
        assert f":: grid_core.{name}" in api, name


def test_the_page_of_errors_lists_every_class() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    assert set(errors.__all__) <= set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target
