"""Which joint owns which entries of q and v: a view of the joints, kept nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["configuration_layout"]


def configuration_layout(descriptor: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of the independent joints, sorted by ``q_start``.

    Args:
        descriptor: a valid one.

    Returns:
        One map a block: ``joint`` (ID), ``name``, ``kind``, ``q_start``, ``local_nq``,
        ``v_start``, ``local_nv``. The blocks partition [0, nq) and [0, nv).
    """
    blocks = [
        {
            "joint": joint["id"],
            "name": joint["name"],
            "kind": joint["kind"],
            "q_start": joint["q_start"],
            "local_nq": joint["local_nq"],
            "v_start": joint["v_start"],
            "local_nv": joint["local_nv"],
        }
        for joint in descriptor["joints"]
        if joint["q_start"] is not None
    ]
    return sorted(blocks, key=lambda block: int(block["q_start"]))
