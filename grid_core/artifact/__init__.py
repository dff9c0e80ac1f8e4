"""Builds kept between processes, and artifacts that are prepared for other machines.

What identifies a build, and the store that holds them, are exported here; `grid_core` has
`build_artifact` and `load_artifact`, which begin in `prepared_build` and `prepared_load`.
"""

from grid_core.artifact.fetching import fetch_build
from grid_core.artifact.identity import operation_key
from grid_core.artifact.store import BuildStore, StoreEntry

__all__ = ["BuildStore", "StoreEntry", "fetch_build", "operation_key"]
