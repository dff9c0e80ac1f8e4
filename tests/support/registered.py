"""Plugins that are registered in a test's process, and taken back."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from grid_core.plugins import manager

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["taken_back"]


@contextmanager
def taken_back() -> Iterator[None]:
    """Take back what is registered inside: other tests ask for all operations that there are."""
    before = dict(manager._registered)
    try:
        yield
    finally:
        manager._registered.clear()
        manager._registered.update(before)
        manager.plugin_manager.cache_clear()
