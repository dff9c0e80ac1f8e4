"""`check_algorithm` passes what is right and says what is wrong with the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import frozen

from grid_core.algorithm import Options
from grid_core.model import load_urdf_string
from grid_core.plugins import plugin_manager
from grid_core.testing import check_algorithm, random_inputs
from tests.plugins.builders import ARM, FORCE, GRAVITY, QD, FakeBackend, P, Q, algorithm

MODEL = load_urdf_string(ARM, floating_base=True)
FIXED = load_urdf_string(ARM)


def good(ctx: Any) -> dict[str, Any]:
    force = ctx.get("f_ext")
    p = ctx["gravity"] * ctx["qd"] * ctx["q"][..., :1]
    return {"p": p if force is None else p + force[..., 0, :1]}


def made(**changes: Any) -> Any:
    fields = {"inputs": (Q, QD, FORCE, GRAVITY), "outputs": (P,)}
    return algorithm(**{**fields, "reference": good, "program": good, **changes})


def test_a_right_algorithm_passes() -> None:
    check_algorithm(made(), MODEL)


def test_our_own_algorithms_pass() -> None:
    catalogue = plugin_manager().algorithms
    for name in catalogue.names:
        check_algorithm(catalogue.take(name).value, FIXED, batches=(3,), backends=())


def only_first(ctx: Any) -> dict[str, Any]:
    return {"p": good(ctx)["p"] * (1.0 + 1e-6)}


def mixes_the_batch(ctx: Any) -> dict[str, Any]:
    return {"p": good(ctx)["p"] + ctx["qd"].sum(axis=0)}


def forgets_the_force(ctx: Any) -> dict[str, Any]:
    return {"p": ctx["gravity"] * ctx["qd"] * ctx["q"][..., :1]}


def overflows(ctx: Any) -> dict[str, Any]:
    return {"p": good(ctx)["p"] + np.inf}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"summary": ""}, r"the contract: algorithm 'product': summary must be one line"),
        ({"program": only_first}, r"product\(\.\.\.\), batch 1: program: p\[\d\] of problem 0 is"),
        ({"program": forgets_the_force}, r"product\(\.\.\., f_ext\), batch 1: program: p\["),
        ({"reference": mixes_the_batch, "program": good}, r"batch 1: program: p\["),
        ({"reference": overflows}, r"batch 1: the reference's p is not finite"),
        ({"refuse": lambda _: "too heavy"}, r"product: 'arm' cannot have it: too heavy"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_algorithm(made(**changes), MODEL, backends=())


def test_a_reference_that_mixes_problems_is_found() -> None:
    centred = made(reference=lambda ctx: {"p": good(ctx)["p"] - good(ctx)["p"].sum(axis=0)})
    with pytest.raises(AssertionError, match="reference of problem 0 alone: p"):
        check_algorithm(centred, MODEL, batches=(2,), backends=())


@frozen
class Wrong(FakeBackend):
    """Adds a little to every result."""

    def build(self, operation: Any, settings: Any) -> Any:
        right = super().build(operation, settings)

        def kernel(batch: int, inputs: Any, outputs: Any) -> None:
            right(batch, inputs, outputs)
            outputs["p"][...] += 1e-6

        return kernel


def test_a_backend_is_compared_with_the_reference() -> None:
    check_algorithm(made(), MODEL, backends=["reference", FakeBackend()])
    with pytest.raises(AssertionError, match="batch 1: backend 'fake' in float64: p"):
        check_algorithm(made(), MODEL, backends=[Wrong()])


def test_what_it_needs_may_come_along() -> None:
    needy = made(
        name="needy",
        needs=("product",),
        reference=lambda ctx: ctx.call("product", q=ctx["q"], qd=ctx["qd"]),
        program=lambda ctx: ctx.call("product", q=ctx["q"], qd=ctx["qd"]),
    )
    check_algorithm(needy, MODEL, others=[made()], backends=())


def test_inputs_are_the_same_every_time_and_do_not_depend_on_each_other() -> None:
    options = Options()
    alone = random_inputs(made(), MODEL, options, batch=4, seed=3)
    both = random_inputs(made(), MODEL, options, batch=4, seed=3, present=["f_ext"])
    assert sorted(alone) == ["gravity", "q", "qd"]
    assert both["f_ext"].shape == (4, 3, 6)
    for name, value in alone.items():
        np.testing.assert_array_equal(value, both[name])
    np.testing.assert_allclose(np.linalg.norm(alone["q"][:, 3:7], axis=1), 1.0)
