r"""Bytes of a document → its text, with line ends made ``\n`` and trailing NULs dropped.

The text is decoded here and handed to libxml2 without its XML declaration, so what is scanned
for entities is exactly what is parsed, in any encoding and with any XML version.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grid_core.model.urdf.report import Report

__all__ = ["MAX_BYTES", "decode", "find_encoding"]

MAX_BYTES = 32 * 1024 * 1024
"""Largest document read [bytes]; the largest robots people publish are below a tenth of it."""

_BOMS = (  # UTF-32's little-endian mark begins with UTF-16's, so it comes first
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = (  # where one ASCII character and its NULs lie, in a document without a mark
    (re.compile(rb"[\t\n\r <]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0\0\0[\t\n\r <]"), "utf-32-be"),
    (re.compile(rb"[\t\n\r <]\0"), "utf-16-le"),
    (re.compile(rb"\0[\t\n\r <]"), "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._\-]{1,40})["']"""
)
_REFUSED_CODECS = frozenset(
    {
        "idna",
        "punycode",
        "unicode-escape",
        "raw-unicode-escape",
        "utf-7",
        "undefined",
        "mbcs",
        "oem",
    }
)


def decode(data: bytes | str, report: Report) -> str:
    """Return the document's text.

    Raises:
        ModelError: too large, empty, an unknown encoding, or bytes that are not in it.
    """
    if len(data) > MAX_BYTES:
        raise report.error(
            f"the document is larger than {MAX_BYTES // 2**20} MiB, too large for a robot"
        )
    text = data if isinstance(data, str) else _decode_bytes(data, report)
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.rstrip("\0 \t\n")  # some exporters write C strings, NUL and all
    if not text.strip(" \t\n"):
        raise report.error("the document is empty")
    _refuse_characters(text, report)
    return text


def _decode_bytes(data: bytes, report: Report) -> str:
    encoding = find_encoding(data, report)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise report.error(
            f"byte {data[error.start]:#04x} at offset {error.start} is not {encoding.upper()};"
            " save the file as UTF-8, or declare its encoding in the XML declaration",
            line=line,
        ) from error


def find_encoding(data: bytes, report: Report) -> str:
    """Return the encoding that a document is in: by its mark, its declaration, or UTF-8.

    Raises:
        ModelError: it declares one that is unknown or not supported.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    for pattern, encoding in _WIDE:
        if pattern.match(data):
            return encoding
    declared = _DECLARED.match(data)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii")
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # refuses the codecs that are not of text
    except (LookupError, UnicodeError) as error:
        raise report.error(f"unknown encoding {name!r} in the XML declaration", line=1) from error
    if codec.name.replace("_", "-") in _REFUSED_CODECS:
        raise report.error(f"encoding {name!r} in the XML declaration is not supported", line=1)
    # A declaration that ASCII can read is not in a wide encoding, whatever it says.
    return "utf-8" if codec.name.startswith(("utf-16", "utf-32")) else codec.name


_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _refuse_characters(text: str, report: Report) -> None:
    found = _NOT_XML.search(text)
    if found is not None:
        raise report.error(
            f"character U+{ord(found[0]):04X} is not allowed in XML",
            line=text.count("\n", 0, found.start()) + 1,
        )
