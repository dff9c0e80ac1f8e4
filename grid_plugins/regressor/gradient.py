"""Derivatives of Y over symbolic scalars: of Y π for any π, and of every entry."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.model.parameters import inertial_permutation, parameters
from grid_core.program.composite import Composite
from grid_core.program.derivative import Function
from grid_core.program.linalg import ZERO3, Rotation, Symmetric, Vec3
from grid_core.program.motion import Posture, postures
from grid_core.program.sensitivity import force_sensitivity
from grid_core.program.tangent import along_tangent
from grid_core.program.tree import KinematicTree
from grid_plugins.regressor.program import ordered
from grid_plugins.regressor.rows import Moment, by_axes, tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context

__all__ = ["inverse_dynamics_regressor_gradient", "inverse_dynamics_regressor_gradient_whole"]


def inverse_dynamics_regressor_gradient(ctx: Context[Any]) -> Mapping[str, Any]:
    """[∂(Y π)/∂q | ∂(Y π)/∂q̇] for given parameters, or the robot's own."""
    model, terms = ctx.model, ctx.options.regressor_terms
    pi = ctx.get("pi")
    tree = KinematicTree.of(model, regroup=True) if pi is None else _weighed(ctx, pi)
    rate = list(ctx["qd"]), list(ctx["qdd"])
    dq, dqd = force_sensitivity(tree, postures(tree, ctx["q"]), rate, ctx["gravity"])
    if "viscous" in terms:
        start = 10 * model.nb + terms.index("viscous") * model.nv
        values = parameters(model, terms=terms) if pi is None else pi
        for k in range(model.nv):
            dqd[k, k] = dqd[k, k] + values[start + k]
    return {"dtau": np.concatenate([dq, dqd], axis=1)}


def inverse_dynamics_regressor_gradient_whole(ctx: Context[Any]) -> Mapping[str, Any]:
    """[∂Y/∂q | ∂Y/∂q̇]: Y in forward mode, one tangent coordinate after the other."""
    model, nv = ctx.model, ctx.model.nv
    widths = {"q": model.nq, "qd": nv, "qdd": nv}
    shapes: dict[str, Any] = {name: (width,) for name, width in widths.items()}

    def rows(given: Mapping[str, Any]) -> dict[str, Any]:
        state = (given[name] for name in ("q", "qd", "qdd", "gravity"))
        return {"Y": by_axes(Moment(model, *state))}

    function = Function.trace(rows, {**shapes, "gravity": ()})
    slopes = {}
    for k in range(nv):
        unit = [float(i == k) for i in range(nv)]
        along = along_tangent(model, function.inputs["q"], unit)
        slopes[f"{k}"] = function.jvp({"q": along})["Y"]
        slopes[f"{nv + k}"] = function.jvp({"qd": unit})["Y"]
    found = function.replay(slopes, {name: ctx[name] for name in ("q", "qd", "qdd", "gravity")})
    bodies = np.full((nv, 10 * model.nb, 2 * nv), 0.0, dtype=object)
    for k in range(2 * nv):
        bodies[:, :, k] = ordered(ctx, found[f"{k}"])
    return {"dY": np.concatenate([bodies, *_of_terms(ctx)], axis=1)}


def _of_terms(ctx: Context[Any]) -> list[Any]:
    """What joints add: of all terms only viscous friction has a slope, 1 by its own rate."""
    nv = ctx.model.nv
    blocks = []
    for term in ctx.options.regressor_terms:
        block = np.full((nv, nv, 2 * nv), 0.0, dtype=object)
        if term == "viscous":
            block[np.arange(nv), np.arange(nv), nv + np.arange(nv)] = 1.0
        blocks.append(block)
    return blocks


def _weighed(ctx: Context[Any], pi: Any) -> KinematicTree:
    """The robot's tree with masses that are known at run time only."""
    own = tree_of(ctx.model)
    back = np.argsort(inertial_permutation(ctx.options.parameter_order))
    total = [Composite(0.0, ZERO3, _symmetric([0.0] * 6))] * len(own.nodes)
    for body, at in enumerate(own.attachments):
        if at.node < 0:
            continue
        m, x, y, z, *I = pi[10 * body : 10 * body + 10][back]
        mass = Composite(m, Vec3(x, y, z), _symmetric(I))
        fixed = Posture(Rotation(at.rotation), at.position)
        total[at.node] = total[at.node] + mass.seen_from_parent(fixed)
    tree = copy.copy(own)
    tree.nodes = tuple(
        evolve(node, m=mass.m, h=mass.h, second=mass.second)
        for node, mass in zip(own.nodes, total, strict=True)
    )
    return tree


def _symmetric(inertia: Any) -> Symmetric:
    """∫ x xᵀ dm = ½ tr(I) 1 - I from Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    xx, xy, yy, xz, yz, zz = inertia
    half = 0.5 * (xx + yy + zz)
    return Symmetric(half - xx, half - yy, half - zz, -xy, -xz, -yz)
