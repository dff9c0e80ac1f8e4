"""Write ``conformance.md``: each statement of the contracts, its tests and where it stands.

A test belongs to a statement if its docstring begins with the number: ``D11, D12: ...``.
Run ``python docs/generate_conformance.py`` after adding one.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["PAGE", "carried", "page", "problems"]

DOCS = Path(__file__).parent
TESTS = DOCS.parent / "tests"
PAGE = DOCS / "conformance.md"

_NUMBERS = re.compile(r"(?:[A-Z]\d+(?:, )?)+(?=: )")

INTRODUCTION = """\
# Conformance

<!-- Written by generate_conformance.py from conformance.toml and the tests' docstrings. -->

Four contracts say what Grid's data, buffers, poses and robot directories mean: the
[model descriptor](descriptor.md) (D), [input block](abi.md) (A), [kinematics](kinematics.md) (K)
and [robot descriptions](robot-descriptions.md) (R). Each of their statements has a number, and each
test that shows one carries its number. Where a part of a statement waits for something, the status
says for what.
"""


def carried() -> dict[str, list[str]]:
    """Return the tests that carry each number, as ``path::name``."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                numbers = _NUMBERS.match(ast.get_docstring(node) or "")
                for number in re.findall(r"[A-Z]\d+", numbers[0] if numbers else ""):
                    name = f"{file.relative_to(DOCS.parent).as_posix()}::{node.name}"
                    found.setdefault(number, []).append(name)
    return found


def contracts() -> dict[str, Any]:
    """Return the statements as the TOML file has them."""
    return tomllib.loads((DOCS / "conformance.toml").read_text(encoding="utf-8"))


def page() -> str:
    """Return the whole page."""
    tests, counts, parts = carried(), {"covered": 0, "in part": 0, "not yet": 0}, []
    for letter, contract in contracts().items():
        rows = [
            f"## {contract['title']}",
            "",
            "| | Statement | Tests | Status |",
            "|---|---|---|---|",
        ]
        for number, statement in contract["statements"].items():
            key = f"{letter}{number}"
            names = tests.get(key, [])
            status = _status(statement, names)
            for word in counts:
                counts[word] += status.startswith(word)
            shown = ", ".join(f"`{name.removeprefix('tests/')}`" for name in names)
            rows.append(f"| {key} | {statement['says']} | {shown} | {status} |")
        parts.append("\n".join(rows))
    summary = ", ".join(f"{count} {word}" for word, count in counts.items())
    return "\n\n".join([INTRODUCTION.rstrip(), f"{summary}.", *parts]) + "\n"


def problems() -> list[str]:
    """Return what is wrong with statements and tests: numbers without either."""
    tests, known = carried(), {}
    for letter, contract in contracts().items():
        known |= {f"{letter}{n}": s for n, s in contract["statements"].items()}
    lines = [
        f"{key}: no test carries the number, and no reason is given"
        for key, statement in known.items()
        if key not in tests and not {"open", "none"} & set(statement)
    ]
    letters = set(contracts())
    return lines + [
        f"{names[0]}: there is no statement {key}"
        for key, names in tests.items()
        if key[0] in letters and key not in known
    ]


def _status(statement: dict[str, str], names: list[str]) -> str:
    if "none" in statement:
        return f"not applicable: {statement['none']}"
    if "open" in statement:
        return f"{'in part' if names else 'not yet'}: {statement['open']}"
    return "covered"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print("\n".join(problems()) or f"{PAGE.name} is written")  # noqa: T201 - a script's answer
