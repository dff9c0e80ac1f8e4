"""The identity of a description: SHA-256 over the manifest and every file that it registers.

The bytes that are hashed: ``grid.robot-description.v1`` and a NUL; then, for ``manifest.json``
and after it for every registered path in the order of its UTF-8 bytes, the path's length as eight
bytes, big-endian, the path, the content's length likewise, and the content's raw SHA-256.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from grid_core.description.documents import MANIFEST_SCHEMA
from grid_core.description.files import MANIFEST, Content

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["identity_of", "prefixed"]


def identity_of(manifest: Content, files: Mapping[str, Content]) -> str:
    """Return ``sha256:`` and 64 hex digits."""
    digest = hashlib.sha256(MANIFEST_SCHEMA.encode() + b"\0")
    ordered = sorted(files.items(), key=lambda pair: pair[0].encode())
    for path, content in [(MANIFEST, manifest), *ordered]:
        name = path.encode()
        digest.update(len(name).to_bytes(8, "big") + name)
        digest.update(content.size.to_bytes(8, "big") + content.digest)
    return f"sha256:{digest.hexdigest()}"


def prefixed(digest: bytes) -> str:
    """Return a raw SHA-256 as it is written everywhere but in an address."""
    return f"sha256:{digest.hex()}"
