"""Products with an operation's derivatives, as operations of their own.

`jvp_of` and `vjp_of` make an algorithm from an algorithm: its program is traced and then
differentiated, so no matrix of derivatives is ever written. A plugin returns them from its hook
beside the algorithm that they differentiate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.algorithm import Algorithm, Context, Port
from grid_core.backend import Operation
from grid_core.errors import ContractError
from grid_core.program.base_turn import TURN, held_fixed, run_turned, turn_shapes, turn_values
from grid_core.program.derivative import Function
from grid_core.program.runtime import RuntimeModel, renewed
from grid_core.program.tangent import along_tangent, onto_tangent
from grid_core.program.trace import run_program, trace
from grid_core.uniform import UniformArray

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["Jacobians", "jvp_of", "vjp_of"]

Jacobians = Callable[[Context[Any]], Mapping[tuple[str, str], Any]]
"""For the reference: ∂output/∂input, (B, *output, *input's tangent), by (output, input)."""


def jvp_of(
    algorithm: Algorithm,
    *,
    wrt: Sequence[str],
    jacobians: Jacobians | None = None,
    needs: Sequence[str] = (),
) -> Algorithm:
    """Return the operation that differentiates another along a tangent.

    It is named ``<name>_jvp`` and takes, after the inputs that it differentiates by, a tangent
    ``d<input>`` of each; it returns the change ``d<output>`` of each output. A configuration's
    tangent has the width nv.

    Args:
        algorithm: what to differentiate.
        wrt: inputs to differentiate by; optional ones become required.
        jacobians: reference for the derivatives, (B, *output, *tangent) by (output, input),
            independent of the program; None: the program in reverse mode.
        needs: algorithms that `jacobians` calls.
    """
    ports = _chosen(algorithm, wrt)
    tangents = tuple(_changed(p, f"d{p.name}", f"change of {p.name}") for p in ports)
    outputs = tuple(_changed(p, f"d{p.name}", f"change of {p.name}") for p in algorithm.outputs)

    def program(ctx: Context[Any]) -> Mapping[str, Any]:
        function = _function(algorithm, ctx, tangents)
        directions = {p.name: function.inputs[f"d{p.name}"] for p in ports}
        for name in _configurations(ports):
            q, tangent = function.inputs[name], directions[name]
            directions[name] = along_tangent(ctx.model, q, tangent)
            if TURN in function.inputs and name == _of_base(algorithm):
                directions[TURN] = tangent[3:6]
        changes = {f"d{name}": x for name, x in function.jvp(directions).items()}
        return function.replay(changes, _given(algorithm, ctx))

    def reference(ctx: Context[Any]) -> Mapping[str, Any]:
        known = jacobians(ctx) if jacobians else _in_reverse(algorithm, ctx, ports)
        batch, result = len(ctx[ports[0].name]), {}
        for out, change in zip(algorithm.outputs, outputs, strict=True):
            result[change.name] = np.zeros((batch, *change.dims(ctx.model, ctx.options)))
            rows = change.size(ctx.model, ctx.options)
            for port, along in zip(ports, tangents, strict=True):
                columns = along.size(ctx.model, ctx.options)
                tangent = ctx[along.name].reshape(batch, columns, 1)
                slope = known[out.name, port.name].reshape(batch, rows, columns)
                result[change.name] += (slope @ tangent).reshape(result[change.name].shape)
        return result

    return _derived(
        algorithm,
        name=f"{algorithm.name}_jvp",
        summary=f"Change of {algorithm.name} along a tangent, in forward mode.",
        inputs=_inputs(algorithm, wrt, tangents),
        outputs=outputs,
        reference=reference,
        program=program,
        needs=needs,
    )


def vjp_of(
    algorithm: Algorithm,
    *,
    wrt: Sequence[str],
    jacobians: Jacobians | None = None,
    needs: Sequence[str] = (),
) -> Algorithm:
    """Return the operation that carries weights of another's outputs back to its inputs.

    It is named ``<name>_vjp`` and takes, after the inputs that it differentiates by, a weight
    ``<output>_bar`` of each output; it returns ``<input>_bar``, the gradient of the weighted
    sum, for each of those inputs. A configuration's gradient has the width nv.

    Args:
        algorithm: what to differentiate.
        wrt: inputs to differentiate by; optional ones become required.
        jacobians: as for `jvp_of`; None: the program in forward mode.
        needs: algorithms that `jacobians` calls.
    """
    ports = _chosen(algorithm, wrt)
    weights = tuple(_changed(p, f"{p.name}_bar", f"weight of {p.name}") for p in algorithm.outputs)
    outputs = tuple(_changed(p, f"{p.name}_bar", f"gradient by {p.name}") for p in ports)

    def program(ctx: Context[Any]) -> Mapping[str, Any]:
        function = _function(algorithm, ctx, weights)
        worth = {p.name: function.inputs[f"{p.name}_bar"] for p in algorithm.outputs}
        turns = [TURN] if TURN in function.inputs else []
        found = function.vjp(worth, [*(p.name for p in ports), *turns])
        for name in _configurations(ports):
            found[name] = onto_tangent(ctx.model, function.inputs[name], found[name])
            if turns and name == _of_base(algorithm):
                by_turn = zip(found[name][3:6], found[TURN], strict=True)
                found[name][3:6] = [own + more for own, more in by_turn]
        gradients = {f"{p.name}_bar": found[p.name] for p in ports}
        return function.replay(gradients, _given(algorithm, ctx))

    def reference(ctx: Context[Any]) -> Mapping[str, Any]:
        known = jacobians(ctx) if jacobians else _forward(algorithm, ctx, ports)
        batch, result = len(ctx[ports[0].name]), {}
        for port, bar in zip(ports, outputs, strict=True):
            result[bar.name] = np.zeros((batch, *bar.dims(ctx.model, ctx.options)))
            columns = bar.size(ctx.model, ctx.options)
            for out, weights_of in zip(algorithm.outputs, weights, strict=True):
                rows = weights_of.size(ctx.model, ctx.options)
                weight = ctx[weights_of.name].reshape(batch, 1, rows)
                slope = known[out.name, port.name].reshape(batch, rows, columns)
                result[bar.name] += (weight @ slope).reshape(result[bar.name].shape)
        return result

    return _derived(
        algorithm,
        name=f"{algorithm.name}_vjp",
        summary=f"Gradient of weighted outputs of {algorithm.name}, in reverse mode.",
        inputs=_inputs(algorithm, wrt, weights),
        outputs=outputs,
        reference=reference,
        program=program,
        needs=needs,
    )


def _chosen(algorithm: Algorithm, wrt: Sequence[str]) -> list[Port]:
    known = {p.name: p for p in algorithm.inputs if not p.uniform}
    for name in wrt:
        if name not in known:
            raise ContractError(
                f"{algorithm.name}: there is no input {name!r} to differentiate by; it has "
                f"{sorted(known)}"
            )
    return [known[name] for name in wrt]


def _changed(port: Port, name: str, doc: str) -> Port:
    """Return a port for a derivative along or by another."""
    if port.shape == ("nq",):
        # Where an algorithm reads the caller's own configuration, nobody knows its tangent.
        role = "" if port.role else "tangent"
        return Port(name=name, shape=("nv",), doc=doc, frame=port.frame, role=role)
    role = "" if port.role in {"", "own"} else "tangent"
    return Port(name=name, shape=port.shape, doc=doc, frame=port.frame, role=role)


def _inputs(algorithm: Algorithm, wrt: Sequence[str], more: Sequence[Port]) -> tuple[Port, ...]:
    ports = [
        evolve(p, optional=False, on_demand=False) if p.name in wrt else p for p in algorithm.inputs
    ]
    required = [p for p in ports if not p.optional and not p.uniform]
    return (*required, *more, *(p for p in ports if p.optional or p.uniform))


def _derived(algorithm: Algorithm, *, needs: Sequence[str], **fields: Any) -> Algorithm:
    return Algorithm(
        family=algorithm.family,
        source="Griewank & Walther 2008, Evaluating derivatives, chapter 3",
        needs=tuple(dict.fromkeys((*algorithm.needs, *needs))),
        refuse=algorithm.refuse,
        constants=algorithm.constants,
        default=False,
        api_version=algorithm.api_version,
        **fields,
    )


def _function(algorithm: Algorithm, ctx: Context[Any], more: Sequence[Port]) -> Function:
    """Trace an algorithm apart, with further inputs that it does not read."""
    ports = [p for p in (*algorithm.inputs, *more) if ctx.inputs.get(p.name) is not None]
    names = [p.name for p in algorithm.inputs]
    turns = held_fixed(ctx)

    def run(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        given = {name: inputs.get(name) for name in names}
        model = renewed(ctx.model, lambda name, _: inputs[name])
        here = evolve(ctx, algorithm=algorithm, inputs=given, run=run_program, model=model)
        return run_turned(algorithm, here, given, inputs) if turns else run_program(here)

    shapes = {p.name: p.dims(ctx.model, ctx.options) for p in ports}
    shapes |= {name: np.shape(values) for name, values in _constants(ctx).items()}
    return Function.trace(run, shapes | (turn_shapes(algorithm, ctx) if turns else {}))


def _given(algorithm: Algorithm, ctx: Context[Any]) -> dict[str, Any]:
    given = {name: value for name, value in ctx.inputs.items() if value is not None}
    given |= _constants(ctx)
    return given | (turn_values(algorithm, ctx) if held_fixed(ctx) else {})


def _constants(ctx: Context[Any]) -> Mapping[str, Any]:
    """What of the robot is a program's input."""
    return ctx.model.values if isinstance(ctx.model, RuntimeModel) else {}


def _of_base(algorithm: Algorithm) -> str | None:
    """The configuration that says how the base stands."""
    return next((p.name for p in algorithm.inputs if p.shape == ("nq",)), None)


def _configurations(ports: Sequence[Port]) -> list[str]:
    return [p.name for p in ports if p.shape == ("nq",)]


def _in_reverse(
    algorithm: Algorithm, ctx: Context[Any], ports: Sequence[Port]
) -> dict[tuple[str, str], Array]:
    """Jacobians row by row, by the program in reverse mode."""
    product = vjp_of(algorithm, wrt=[p.name for p in ports])
    rows = _units(product, algorithm.outputs, "{}_bar", ctx)
    return {
        (out.name, port.name): np.moveaxis(rows[out.name, f"{port.name}_bar"], 0, 1)
        for out in algorithm.outputs
        for port in ports
    }


def _forward(
    algorithm: Algorithm, ctx: Context[Any], ports: Sequence[Port]
) -> dict[tuple[str, str], Array]:
    """Jacobians column by column, by the program in forward mode."""
    product = jvp_of(algorithm, wrt=[p.name for p in ports])
    columns = _units(product, [_changed(p, p.name, "") for p in ports], "d{}", ctx)
    return {
        (out.name, port.name): np.moveaxis(columns[port.name, f"d{out.name}"], 0, 2)
        for out in algorithm.outputs
        for port in ports
    }


def _units(
    product: Algorithm, ports: Sequence[Port], title: str, ctx: Context[Any]
) -> dict[tuple[str, str], Array]:
    """Evaluate a product's program for every unit entry of some ports.

    Returns:
        By port and output of the product: shape (entries of the port, B, entries of the output).
    """
    model, options = ctx.model, ctx.options
    inputs: dict[str, Any] = {}
    for port in product.inputs:
        value = ctx.inputs.get(port.name)
        if port.uniform:
            inputs |= UniformArray.of(port, model, options).spread(product.name, value)
        elif value is not None:
            inputs[port.name] = value
    batch = len(ctx[product.inputs[0].name])
    sizes = {p.name: p.size(model, options) for p in ports}
    inputs |= {title.format(name): np.zeros((batch, size)) for name, size in sizes.items()}
    program = trace(
        Operation(
            algorithm=product,
            available=ctx.available,
            model=model,
            options=options,
            dtype=np.dtype(np.float64),
            present=frozenset(p.name for p in product.inputs if p.optional and p.name in inputs),
        ),
        doors=False,
    )
    result = {
        (name, out.name): np.zeros((size, batch, out.size(model, options)))
        for name, size in sizes.items()
        for out in product.outputs
    }
    for name, size in sizes.items():
        for k, unit in enumerate(np.eye(size)):
            given = {**inputs, title.format(name): np.tile(unit, (batch, 1))}
            for out, value in program.evaluate(given).items():
                result[name, out][k] = value.reshape(result[name, out][k].shape)
    return result
