"""The grammar of numbers in attributes."""

from __future__ import annotations

import pytest

from grid_core.model.urdf.numbers import parse_number, parse_vector


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0), ("+1", 1.0), ("-1", -1.0), (".5", 0.5), ("5.", 5.0), ("1e-3", 1e-3),
        ("1E+3", 1e3), ("1.e2", 100.0), (" \t\r\n2\n", 2.0), ("007", 7.0), ("-0", 0.0),
        ("1e-999", 0.0), ("0.1", 0.1), ("0." + "3" * 5000, 1 / 3),
    ],
)  # fmt: skip
def test_numbers(text, value):
    """The grammar of XML Schema's double."""
    assert parse_number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "1_0", "\uff11", "\u0663", "nan", "NaN", "inf", "-INF", "Infinity", "0x10",
        "1e999", "-1e999", "1,5", "1 2", "1e", "e1", ".", "+", "--1", "1f", "1.2.3",
        "\u00a01",
        "1\u2003", "true", "1/2", "pi", "9" * 400, "\u00bd",
    ],
)  # fmt: skip
def test_other_numbers_are_refused(text):
    """Nothing that Python's float takes beyond it, and nothing that is not finite."""
    with pytest.raises(ValueError, match=r"number|large"):
        parse_number(text)


def test_a_comma_is_told_what_to_do_about_it():
    """Between numbers, or in place of a decimal point."""
    hint = "numbers have a decimal point, and spaces between them, no commas"
    for text in ("0,0,1", "1, 2, 3"):
        with pytest.raises(ValueError, match=hint):
            parse_vector(text, 3)
    with pytest.raises(ValueError, match=hint):
        parse_number("0,5")


@pytest.mark.parametrize("text", ["", "1 2", "1 2 3 4", "1, 2, 3", "1,2,3", "1 2 x", "1\u00a02 3"])
def test_vectors_have_their_size(text):
    """A vector has as many numbers as it needs, separated by white space alone."""
    assert parse_vector("\n1\t2\r\n3 ", 3) == (1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="number"):
        parse_vector(text, 3)
