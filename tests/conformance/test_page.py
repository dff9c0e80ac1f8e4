"""The page of conformance is what the tests carry."""

from __future__ import annotations

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs/generate_conformance.py"


def generator():
    spec = importlib.util.spec_from_file_location("generate_conformance", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date() -> None:
    """Run ``python docs/generate_conformance.py`` when this fails."""
    script = generator()
    assert script.PAGE.read_text(encoding="utf-8") == script.page()


def test_every_statement_has_a_test_or_a_reason() -> None:
    assert generator().problems() == []


def test_every_statement_is_listed() -> None:
    statements = {letter: c["statements"] for letter, c in generator().contracts().items()}
    assert list(statements["D"]) == [str(n) for n in range(1, 44)]
    assert list(statements["A"]) == [str(n) for n in range(1, 18)]
    assert list(statements["K"]) == [str(n) for n in range(1, 16)]
    assert list(statements["R"]) == [str(n) for n in range(1, 48)]
