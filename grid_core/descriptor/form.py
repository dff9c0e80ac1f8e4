"""Keys and types of a descriptor, checked against the JSON Schema file that the package ships.

Interprets the few words of JSON Schema which that file uses, and is stricter about numbers:
an ``integer`` is an int and never a bool, a ``number`` is a finite float and never an int.
The two are encoded differently, so a lax reader would give one descriptor two identities.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
import re
from typing import Any

from grid_core.errors import DescriptorError
from grid_core.wording import listing, near

__all__ = ["SCHEMA_VERSION", "check_form", "json_schema"]

SCHEMA_VERSION = 1

_TYPES: dict[str, tuple[str, type]] = {
    "object": ("a map", dict),
    "array": ("a list", list),
    "string": ("a string", str),
    "integer": ("an integer", int),
    "number": ("a float", float),
    "boolean": ("true or false", bool),
    "null": ("null", type(None)),
}


@functools.cache
def _schema() -> dict[str, Any]:
    file = importlib.resources.files(__package__) / "model_descriptor.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a descriptor, a new copy."""
    return {**json.loads(json.dumps(_schema()))}


def check_form(descriptor: Any) -> None:
    """Raise `DescriptorError` unless every key, type and length is as the schema says."""
    if isinstance(descriptor, dict):
        _check_version(descriptor)
    _check(descriptor, _schema(), "")


def _check_version(descriptor: dict[str, Any]) -> None:
    version = descriptor.get("schema_version")
    if isinstance(version, int) and not isinstance(version, bool) and version != SCHEMA_VERSION:
        raise DescriptorError(
            f"schema version {version}, and this Grid reads version {SCHEMA_VERSION}; describe "
            "the robot again, or install a Grid that reads it",
            where="schema_version",
            invariant="schema version",
        )


def _check(value: Any, schema: dict[str, Any], where: str) -> None:
    if "$ref" in schema:
        _check(value, _schema()["$defs"][schema["$ref"].rpartition("/")[2]], where)
    elif "anyOf" in schema:
        # Every choice of ours is something or null.
        if value is not None:
            _check(value, schema["anyOf"][0], where)
    elif "const" in schema or "enum" in schema:
        _check_choice(value, schema.get("enum", [schema.get("const")]), where)
    else:
        _check_type(value, schema, where)


def _check_choice(value: Any, choices: list[Any], where: str) -> None:
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise _error(f"needs {listing(map(json.dumps, choices), 'or')}; got {_show(value)}", where)


def _check_type(value: Any, schema: dict[str, Any], where: str) -> None:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if type(value) not in {_TYPES[name][1] for name in types}:
        wanted = listing((_TYPES[name][0] for name in types), "or")
        raise _error(f"needs {wanted}; got {_show(value)}", where)
    if isinstance(value, dict):
        _check_map(value, schema, where)
    elif isinstance(value, list):
        _check_list(value, schema, where)
    elif isinstance(value, str):
        _check_string(value, schema, where)
    elif isinstance(value, float) and not math.isfinite(value):
        raise _error(f"{value} is not a finite number", where)
    elif isinstance(value, int) and value < schema.get("minimum", value):
        raise _error(f"needs at least {schema['minimum']}; got {_show(value)}", where)


def _check_map(value: dict[Any, Any], schema: dict[str, Any], where: str) -> None:
    known = schema["properties"]
    for key in value:
        if key not in known:
            raise _error(f"unknown key {_show(key)}{near(str(key), known)}", where)
    missing = [key for key in schema["required"] if key not in value]
    if missing:
        raise _error(f"lacks {listing(missing)}", where)
    for key, part in value.items():
        _check(part, known[key], f"{where}.{key}" if where else key)


def _check_list(value: list[Any], schema: dict[str, Any], where: str) -> None:
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not least <= len(value) <= most:
        wanted = f"{least}" if least == most else f"at least {least}"
        raise _error(f"needs {wanted} elements; got {len(value)}", where)
    for number, element in enumerate(value):
        _check(element, schema["items"], f"{where}[{number}]")


def _check_string(value: str, schema: dict[str, Any], where: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _error(f"{value!r} has an unpaired surrogate, which UTF-8 does not", where) from error
    if not re.fullmatch(schema.get("pattern", "(?s).*").strip("^$"), value):
        raise _error(f"needs 64 lower-case hexadecimal digits; got {_show(value)}", where)


def _show(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return f"a {type(value).__name__}"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "an integer out of all proportion"
    text = f"{value!r}" if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 80 else f"{text[:77]}..."


def _error(message: str, where: str) -> DescriptorError:
    return DescriptorError(message, where=where or "the descriptor", invariant="form")
