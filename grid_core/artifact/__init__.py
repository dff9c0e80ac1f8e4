"""Builds kept between processes: what identifies one, and the store that holds them."""

from grid_core.artifact.identity import operation_key
from grid_core.artifact.store import BuildStore, StoreEntry

__all__ = ["BuildStore", "StoreEntry", "operation_key"]
