"""Read a descriptor from JSON, and refuse what JSON readers are lax about."""

from __future__ import annotations

import codecs
import json
import math
import os
from pathlib import Path
from typing import Any

from grid_core.descriptor.validate import validate
from grid_core.errors import DescriptorError

__all__ = ["is_descriptor_text", "load_descriptor"]

MAX_BYTES = 64 * 2**20
"""A file larger than this is not read."""


def load_descriptor(path_or_text: str | bytes | os.PathLike[str]) -> dict[str, Any]:
    """Read and validate a descriptor.

    Args:
        path_or_text: a file, or the JSON itself: text whose first character is ``{``.

    Returns:
        Plain JSON data, as `grid_core.describe_model` returns it.

    Raises:
        DescriptorError: it cannot be read, is no JSON, or is no valid descriptor of schema 1;
            its ``file``, ``where`` and ``invariant`` say which.
    """
    if not isinstance(path_or_text, str | bytes | os.PathLike):
        raise DescriptorError(f"a path or text is needed, not {type(path_or_text).__name__}")
    if is_descriptor_text(path_or_text):
        descriptor = _parse(path_or_text, None)  # type: ignore[arg-type]
        validate(descriptor)
        return descriptor
    file = os.fsdecode(path_or_text)
    descriptor = _parse(_read(file), file)
    try:
        validate(descriptor)
    except DescriptorError as error:
        raise error.in_file(file) from error
    return descriptor


def is_descriptor_text(source: object) -> bool:
    """Whether the source is a JSON map rather than a path."""
    if isinstance(source, bytes):
        return source[:4096].removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")
    return isinstance(source, str) and source[:4096].lstrip("\ufeff \t\r\n").startswith("{")


def _read(file: str) -> bytes:
    try:
        with Path(file).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise DescriptorError(f"cannot be read: {reason}", file=file) from error
    if len(data) > MAX_BYTES:
        raise DescriptorError(f"larger than {MAX_BYTES // 2**20} MiB", file=file)
    return data


class _Refused(Exception):
    """Raised inside the JSON reader's hooks, which cannot know the file."""


def _parse(data: str | bytes, file: str | None) -> dict[str, Any]:
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        parsed: dict[str, Any] = json.loads(
            text,
            object_pairs_hook=_map,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except _Refused as refused:
        raise DescriptorError(str(refused), file=file, invariant="form") from None
    except UnicodeDecodeError as error:
        message = f"byte {error.start} is not UTF-8"
        raise DescriptorError(message, file=file, invariant="form") from error
    except RecursionError as error:
        raise DescriptorError("nested too deeply", file=file, invariant="form") from error
    except ValueError as error:  # json.JSONDecodeError, or an integer of thousands of digits
        raise DescriptorError(f"not JSON: {error}", file=file, invariant="form") from error
    return parsed


def _map(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(f"the key {twice!r} occurs twice in one map")
    return result


def _no_constant(text: str) -> float:
    raise _Refused(f"{text} is not a finite number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Refused(f"{text} is not a finite number")
    return value
