"""The center of mass as a program: loops over nodes run while it is traced.

Masses and first moments m c are summed from the leaves to the root, each in its own node's
frame, where their zeros cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.program import KinematicTree, Value, Vec3, body_placements, fold_forces, postures
from grid_core.program.motion import project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_core.algorithm import Context

ZERO = Vec3(0.0, 0.0, 0.0)


def center_of_mass(ctx: Context[Any]) -> Mapping[str, Any]:
    """First moment about the world's origin over the mass."""
    tree = KinematicTree.of(ctx.model, regroup=False)
    _, root = first_moments(tree, ctx["q"])
    return {"com": list(root * (1.0 / total_mass(tree)))}


def center_of_mass_jacobian(ctx: Context[Any]) -> Mapping[str, Any]:
    """Row k is what a unit force along the world's axis k, spread over the mass, does to joints.

    Pushing every body with its share of the force moves no body against another's weight: the
    power is the force times the velocity of the center of mass, so Jᵀ comes from a force
    recursion.
    """
    tree = KinematicTree.of(ctx.model, regroup=False)
    moments, _ = first_moments(tree, ctx["q"])
    masses, total = subtree_masses(tree), total_mass(tree)
    rotations = [rows for rows, _ in body_placements(tree, ctx["q"])]
    J = np.empty((3, ctx.model.nv), dtype=object)
    for k in range(3):
        forces = []
        for node in tree.nodes:
            # Row k of R_world_node is the world's axis k in the node's frame.
            force = rotations[node.index][k] * (1.0 / total)
            moment = moments[node.index].cross(force)
            forces.append(project(node, force * masses[node.index], moment))
        J[k] = fold_forces(tree, forces)
    return {"J": J}


def first_moments(tree: KinematicTree, q: Sequence[Value]) -> tuple[list[Vec3], Vec3]:
    """Σ m c of what each node carries, about its origin in its frame, and of all in the world."""
    moments = [node.h for node in tree.nodes]
    masses, pose = subtree_masses(tree), postures(tree, q)
    root = fixed_moment(tree)
    for node in reversed(tree.nodes):
        R, p = pose[node.index].R, pose[node.index].p
        carried = R.apply(moments[node.index]) + p * masses[node.index]
        if node.parent < 0:
            root = root + carried
        else:
            moments[node.parent] = moments[node.parent] + carried
    return moments, root


def subtree_masses(tree: KinematicTree) -> list[float]:
    """Mass of each node with all that it carries [kg]."""
    masses = [node.m for node in tree.nodes]
    for node in reversed(tree.nodes):
        if node.parent >= 0:
            masses[node.parent] += masses[node.index]
    return masses


def total_mass(tree: KinematicTree) -> float:
    """Mass of all bodies [kg], also of those behind joints that never move."""
    return sum(body.inertia.mass for body in tree.model.bodies)


def fixed_moment(tree: KinematicTree) -> Vec3:
    """Σ m c in the world of the bodies behind joints that never move [kg m]."""
    result = ZERO
    for body, at in zip(tree.model.bodies, tree.attachments, strict=True):
        if at.node < 0:
            c = Vec3.of(body.inertia.com.tolist())
            center = Vec3(*(row.dot(c) for row in at.rotation)) + at.position
            result = result + center * body.inertia.mass
    return result
