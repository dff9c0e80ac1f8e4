"""Regressors over symbolic scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.model.parameters import inertial_permutation
from grid_core.program.cheapest import cheapest
from grid_core.program.kinematics import WorldTree
from grid_core.program.ldlt import LTDL
from grid_core.program.motion import Rate, postures, rates
from grid_core.program.scalar import sign
from grid_plugins.regressor.bodies import AXES, kinetic_energy, momenta
from grid_plugins.regressor.rows import (
    Moment,
    by_axes,
    by_wrenches,
    outward,
    screw_at,
    tree_of,
)
from grid_plugins.regressor.structure import structure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grid_core.algorithm import Context, Options

STILL = np.eye(4)


def inverse_dynamics_regressor(ctx: Context[Any]) -> Mapping[str, Any]:
    """Y with τ = Y π, in whichever of two ways takes fewer instructions for this robot."""

    def moment(inner: Context[Any]) -> Moment:
        return Moment(inner.model, inner["q"], inner["qd"], inner["qdd"], inner["gravity"])

    terms = term_columns(ctx.options, ctx["qd"], ctx["qdd"])
    return {"Y": np.hstack([ordered(ctx, _cheaper(ctx, moment)), *terms])}


def inverse_dynamics_regressor_packed(ctx: Context[Any]) -> Mapping[str, Any]:
    """The entries of Y that are not 0 whatever the state, row by row."""
    Y = inverse_dynamics_regressor(ctx)["Y"]
    return {"packed": Y[structure(ctx.model, ctx.options)]}


def regressor_rows(ctx: Context[Any]) -> Mapping[str, Any]:
    """What a sample adds to the sums of squares: [Y_1 τ_1 Y_2 τ_2 ...], zeros left out."""
    Y = inverse_dynamics_regressor(ctx)["Y"]
    rows: list[Any] = []
    for row, kept, tau in zip(Y, structure(ctx.model, ctx.options), ctx["tau"], strict=True):
        rows += [*row[kept], tau]
    return {"rows": rows}


def generalized_momentum_regressor(ctx: Context[Any]) -> Mapping[str, Any]:
    """P with M q̇ = P π: Y at rest, without gravity, for the acceleration q̇."""

    def moment(inner: Context[Any]) -> Moment:
        return Moment(inner.model, inner["q"], [0.0] * inner.model.nv, inner["qd"], 0.0)

    return {"P": ordered(ctx, _cheaper(ctx, moment))}


def momentum_regressor(ctx: Context[Any]) -> Mapping[str, Any]:
    """H with [linear; angular] = H π, about the world's origin and in its axes."""
    tree = tree_of(ctx.model)
    world = WorldTree(tree, ctx["q"], world_base=False)
    H = np.full((6, 10 * ctx.model.nb), 0.0, dtype=object)
    for body, own in _body_rates(ctx).items():
        pose = world.attached(body, STILL)
        for k, (force, about) in enumerate(momenta(own), start=10 * body):
            linear = pose.turn(force)
            H[:, k] = [*linear, *(pose.turn(about) + pose.p.cross(linear))]
    return {"H": ordered(ctx, H)}


def kinetic_energy_regressor(ctx: Context[Any]) -> Mapping[str, Any]:
    """The row ∂T/∂π."""
    row = np.full(10 * ctx.model.nb, 0.0, dtype=object)
    for body, own in _body_rates(ctx).items():
        row[10 * body : 10 * body + 10] = kinetic_energy(own)
    return {"dT": ordered(ctx, row)}


def potential_energy_regressor(ctx: Context[Any]) -> Mapping[str, Any]:
    """The row ∂V/∂π: weight times height."""
    world = WorldTree(tree_of(ctx.model), ctx["q"], world_base=False)
    row = np.full(10 * ctx.model.nb, 0.0, dtype=object)
    for body in range(ctx.model.nb):
        pose = world.attached(body, STILL)
        heights = [pose.p.z, *(pose.turn(axis).z for axis in AXES)]
        row[10 * body : 10 * body + 4] = [-ctx["gravity"] * height for height in heights]
    return {"dV": ordered(ctx, row)}


def forward_dynamics_parameter_gradient(ctx: Context[Any]) -> Mapping[str, Any]:
    """∂q̈/∂π = -M⁻¹ Y at the q̈ that u gives, M factored along the branches."""
    q, qd, gravity = ctx["q"], ctx["qd"], ctx["gravity"]
    h = ctx.call("nonlinear_effects", q=q, qd=qd, gravity=gravity, f_ext=ctx.get("f_ext"))["h"]
    factors = LTDL(ctx.call("crba", q=q)["M"])
    qdd = factors.solve([u - bias for u, bias in zip(ctx["u"], h, strict=True)])
    given = {"q": q, "qd": qd, "qdd": np.array(qdd, dtype=object), "gravity": gravity}
    Y = ctx.call("inverse_dynamics_regressor", **given)["Y"]
    result = np.empty_like(Y)
    for k, column in enumerate(Y.T):
        result[:, k] = factors.solve([-x for x in column])
    return {"dqdd": result}


def ordered(ctx: Context[Any], columns: Any) -> Any:
    """Put each body's ten, along the last axis, into the order that is asked for."""
    places = np.array(inertial_permutation(ctx.options.parameter_order))
    bodies = 10 * np.arange(ctx.model.nb)
    return columns[..., (bodies[:, None] + places).ravel()]


def term_columns(options: Options, qd: Any, qdd: Any) -> list[Any]:
    """What joints add to Y: for each term the diagonal matrix of what it goes with."""
    along: dict[str, Callable[[], list[Any]]] = {
        "viscous": lambda: list(qd),
        "coulomb": lambda: [sign(rate) for rate in qd],
        "offset": lambda: [1.0] * len(qd),
        "rotor_inertia": lambda: list(qdd),
    }
    blocks = []
    for term in options.regressor_terms:
        block = np.full((len(qd), len(qd)), 0.0, dtype=object)
        block[np.arange(len(qd)), np.arange(len(qd))] = along[term]()
        blocks.append(block)
    return blocks


def _cheaper(ctx: Context[Any], moment: Callable[[Context[Any]], Moment]) -> Any:
    ways = [lambda inner, way=way: {"Y": way(moment(inner))} for way in (by_wrenches, by_axes)]
    return cheapest(ctx, ways)["Y"]


def _body_rates(ctx: Context[Any]) -> dict[int, Rate]:
    """Velocity of every moving body's joint frame, in its axes, by body ID."""
    tree = tree_of(ctx.model)
    moving: list[Rate] = []
    result: dict[int, Rate] = {}
    pose = postures(tree, ctx["q"])
    for node, own in zip(tree.outward(), rates(tree, ctx["qd"]), strict=True):
        if node.parent >= 0:
            above = outward(pose[node.index], moving[node.parent])
            own = Rate(above.angular + own.angular, above.linear + own.linear)  # noqa: PLW2901
        moving.append(own)
        for body, at in enumerate(tree.attachments):
            if at.node == node.index:
                result[body] = screw_at(at, own)
    return result
