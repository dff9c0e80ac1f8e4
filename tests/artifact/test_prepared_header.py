"""Reading the two constants out of a header as a C++ compiler would."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid_backend_cuda.header.text import quoted
from grid_core.artifact.prepared_header import read_header

OTHER = 'inline constexpr char descriptor_json[] = "{}";\n'


def identity(text: str) -> str | None:
    return read_header(text).descriptor_id


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('const char descriptor_id[] = "abc";', "abc"),
        ('constexpr const char *descriptor_id = "abc";', "abc"),
        ('char descriptor_id [ 4 ] = "ab" "c";', "abc"),
        ('char descriptor_id[]="a"\n  // not "this"\n  "b" /* nor "this" */ "c";', "abc"),
        (r'char descriptor_id[] = "a\"b\\\n\t\?\101\x41\u00e4";', 'a"b\\\n\t?AAä'),
        (r'char descriptor_id[] = "\303\244";', "ä"),
        ('char descriptor_id[] = R"(a "quoted" \\ line)" "!";', 'a "quoted" \\ line!'),
        ('char descriptor_id[] = R"x(a)" )x";', 'a)" '),
        ('char descriptor_id[] = u8"ä";', "ä"),
        ('char my_descriptor_id[] = "x"; char descriptor_id[] = "abc";', "abc"),
        ("int descriptor_id = 3;", None),
        ("char descriptor_id[] = {'a', 'b'};", None),
        ('char descriptor_id[] = "abc', None),
        ('char descriptor_id[] = "ab\nc";', None),
        ('char descriptor_id[] = R"x(abc)y";', None),
        (r'char descriptor_id[] = "\uZZ";', None),
        (r'char descriptor_id[] = "\377";', None),
        ('char descriptor_id[] = "a"; char descriptor_id[] = "b";', None),
        ("descriptor_id();", None),
        ("", None),
    ],
)
def test_what_a_header_may_say(text: str, value: str | None) -> None:
    assert identity(text) == value
    assert identity(OTHER + text) == value
    assert read_header(OTHER + text).descriptor_json == "{}"


@given(st.text(st.characters(codec="utf-8")))
def test_what_the_writer_quotes_is_read_back(text: str) -> None:
    said = json.dumps({"name": text}, ensure_ascii=False)
    lines = "\n".join(quoted(line) for line in said.splitlines(keepends=True))
    assert read_header(f"const char descriptor_json[] =\n{lines};").descriptor_json == said
