"""Whether a descriptor is one: its form, every structural invariant, its identity."""

from __future__ import annotations

from typing import Any

from grid_core.descriptor.canonical import ID_KEY, compute_descriptor_id
from grid_core.descriptor.form import check_form
from grid_core.descriptor.frames import check_frames
from grid_core.descriptor.joints import check_joints
from grid_core.descriptor.ownership import check_ownership
from grid_core.descriptor.tree import check_tree
from grid_core.errors import DescriptorError

__all__ = ["validate"]


def validate(descriptor: Any) -> None:
    """Check plain JSON data as a descriptor of schema 1.

    A descriptor with a wrong table is refused even where its identity was computed anew.

    Raises:
        DescriptorError: its ``invariant`` says which rule is broken, its ``where`` at which field.
    """
    check_form(descriptor)
    check_tree(descriptor)
    check_joints(descriptor)
    check_ownership(descriptor)
    check_frames(descriptor)
    expected = compute_descriptor_id(descriptor)
    if descriptor[ID_KEY] != expected:
        raise DescriptorError(
            f"{descriptor[ID_KEY]} is not the identity of these fields, which is {expected}; the "
            "descriptor was edited, so describe the robot again",
            where=ID_KEY,
            invariant="descriptor id",
        )
