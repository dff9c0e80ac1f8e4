"""Names that C++ allows."""

from __future__ import annotations

import re

from grid_core.errors import OptionError

__all__ = ["CPP_KEYWORDS", "require_namespace"]

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
    char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor xor_eq
    """
CPP_KEYWORDS = frozenset(_KEYWORDS.split())
"""Words that are no names in C++20."""

_MACROS = re.compile("linux|unix|GRID_.*")
"""Words that GNU's dialects, which nvcc takes by default, and the header itself replace."""
_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(::[A-Za-z][A-Za-z0-9_]*)*")


def require_namespace(namespace: object) -> None:
    """Raise `OptionError` unless a C++ namespace can be called so: ``grid``, ``robots::arm``."""
    if not isinstance(namespace, str) or not _NAMESPACE.fullmatch(namespace):
        raise OptionError(
            "namespace must be a C++ namespace of ASCII letters, digits and _, such as grid or "
            f"robots::arm; got {namespace!r}"
        )
    for part in namespace.split("::"):
        if part in CPP_KEYWORDS or part == "std" or "__" in part:
            raise OptionError(f"namespace {namespace!r}: C++ keeps {part!r} for itself")
        if _MACROS.fullmatch(part):
            raise OptionError(f"namespace {namespace!r}: {part!r} is a macro")
