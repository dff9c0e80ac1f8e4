"""Builds kept between processes: what identifies one, and the store that holds them."""

from grid_core.artifact.fetching import fetch_build
from grid_core.artifact.identity import operation_key
from grid_core.artifact.store import BuildStore, StoreEntry

__all__ = ["BuildStore", "StoreEntry", "fetch_build", "operation_key"]
