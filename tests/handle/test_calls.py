"""Calling an operation: shapes, batches, dtypes, optional and uniform inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_core.algorithm import Port
from grid_core.custom_call import require_flag
from grid_core.errors import ArgumentError, InputError
from grid_core.load_options import LoadOptions
from grid_core.loading import load
from grid_core.model import load_urdf_string
from tests.plugins.builders import (
    FORCE,
    GRAVITY,
    QD,
    FakeBackend,
    P,
    Q,
    algorithm,
    announce,
    load_arm,
    manager,
    plugin,
)

RNG = np.random.default_rng(0)
ONE = np.ones(2)


def state(batch: int | None, nq: int = 2, nv: int = 2) -> tuple[Any, Any]:
    lead = () if batch is None else (batch,)
    return RNG.standard_normal((*lead, nq)), RNG.standard_normal((*lead, nv))


@pytest.mark.parametrize("batch", [0, 1, 7])
def test_a_batch_comes_out_as_it_goes_in(batch: int) -> None:
    q, qd = state(batch)
    result = load_arm().product(q, qd)
    assert result.shape == (batch, 2)
    np.testing.assert_array_equal(result, -9.81 * qd)


def test_one_problem_comes_out_without_a_batch_axis() -> None:
    q, qd = state(None)
    result = load_arm().product(q, qd, np.ones((2, 6)))
    assert result.shape == (2,)
    np.testing.assert_allclose(result, -9.81 * qd + 12.0)


def test_a_robot_without_joints_works() -> None:
    model = load_urdf_string('<robot name="rock"><link name="rock"/></robot>')
    plugins = manager(announce(plugin(algorithms=[algorithm()], backends=[FakeBackend()])))
    rock = load(model, None, LoadOptions.check({"backend": "fake"}), plugins)
    assert (rock.nq, rock.num_ees) == (0, 0)
    assert rock.product(np.zeros((3, 0)), np.zeros((3, 0))).shape == (3, 0)
    assert rock.product([], []).shape == (0,)


def test_inputs_by_keyword_in_any_order() -> None:
    q, qd = state(3)
    force = np.ones((3, 2, 6))
    result = load_arm().product(gravity=2, f_ext=force, qd=qd, q=q)
    np.testing.assert_allclose(result, 2.0 * qd + 12.0)


@pytest.mark.parametrize("gravity", [1, -1.5, np.float32(0.5), np.int64(2), np.float64(3)])
def test_gravity_may_be_any_real_number(gravity: Any) -> None:
    q, qd = state(3)
    np.testing.assert_allclose(load_arm().product(q, qd, gravity=gravity), float(gravity) * qd)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("given", [np.float64, np.float32, np.float16, np.int32, np.uint8, ">f8"])
def test_real_dtypes_are_converted_to_the_handles(dtype: str, given: Any) -> None:
    q, qd = (np.abs(4 * x).astype(given) for x in state(3))
    result = load_arm(dtype=dtype).product(q, qd, gravity=1)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, qd.astype(dtype))


def test_lists_and_strided_arrays_are_taken() -> None:
    robot = load_arm()
    _, qd = state(6)
    expected = -9.81 * qd
    np.testing.assert_allclose(robot.product(qd.tolist(), qd.tolist()), expected)
    np.testing.assert_allclose(robot.product(qd, np.asfortranarray(qd)), expected)
    np.testing.assert_allclose(robot.product(qd[::2], qd[::2]), expected[::2])
    np.testing.assert_allclose(robot.product(qd[::-1], qd[::-1]), expected[::-1])
    np.testing.assert_allclose(robot.product(qd.view(np.matrix), qd), expected)
    readonly = qd.copy()
    readonly.flags.writeable = False
    np.testing.assert_allclose(robot.product(readonly, readonly), expected)


def test_inputs_are_not_written_to() -> None:
    q, qd = state(3)
    before = q.copy(), qd.copy()
    load_arm().product(q, qd)
    np.testing.assert_array_equal((q, qd), before)


def test_a_nan_stays_in_its_problem() -> None:
    q, qd = state(3)
    qd[1] = np.nan
    result = load_arm().product(q, qd)
    assert np.isnan(result[1]).all()
    assert np.isfinite(result[[0, 2]]).all()


def test_several_outputs_come_as_a_named_tuple() -> None:
    two = algorithm(
        "two_results",
        inputs=(Q, QD),
        outputs=(P, Port(name="energy", shape=(), doc="one number", unit="J")),
        reference=lambda ctx: {"p": ctx["qd"], "energy": (ctx["qd"] ** 2).sum(-1)},
    )
    robot = load_arm(two)
    q, qd = state(4)
    p, energy = result = robot.two_results(q, qd)
    assert type(result).__name__ == "TwoResults"
    assert result._fields == ("p", "energy")
    assert energy.shape == (4,)
    one = robot.two_results(q[0], qd[0])
    assert one.energy.shape == ()
    assert one.energy == energy[0]
    assert p.shape == (4, 2)


def test_a_port_of_no_axis_takes_one_number_a_problem() -> None:
    scaled = algorithm(
        "scaled",
        inputs=(QD, Port(name="scale", shape=(), doc="factor")),
        reference=lambda ctx: {"p": ctx["qd"] * ctx["scale"][:, None]},
    )
    robot = load_arm(scaled)
    _, qd = state(3)
    np.testing.assert_allclose(robot.scaled(qd, [1, 2, 3]), qd * [[1], [2], [3]])
    np.testing.assert_allclose(robot.scaled(qd[0], 2), qd[0] * 2)
    with pytest.raises(InputError, match=r"scale must be \(B,\); got \(3, 1\)"):
        robot.scaled(qd, np.ones((3, 1)))


def test_optional_inputs_choose_the_variant_that_is_built() -> None:
    backend = FakeBackend()
    extra = Port(name="extra", shape=("nv",), doc="more", optional=True)
    both = algorithm(inputs=(Q, QD, FORCE, extra, GRAVITY))
    plugins = manager(announce(plugin(algorithms=[both], backends=[backend])))
    robot = load_arm(plugins=plugins)
    q, qd = state(3)
    assert backend.built == []
    for _ in range(2):
        robot.product(q, qd)
        robot.product(q, qd, None, extra=qd)
        robot.product(q, qd, np.zeros((3, 2, 6)), qd)
    assert [sorted(op.present) for op in backend.built] == [[], ["extra"], ["extra", "f_ext"]]


def test_arguments_are_checked_as_python_would() -> None:
    robot = load_arm()
    q, qd = state(3)
    cases = {
        "qd is missing": lambda: robot.product(q),
        "q is missing": lambda: robot.product(None, qd),
        "there is no argument 'tau'": lambda: robot.product(q, qd, tau=qd),
        "no argument 'gravty' (did you mean 'gravity'?)": lambda: robot.product(q, qd, gravty=1),
        "qd is given twice": lambda: robot.product(q, qd, qd=qd),
        "4 positional arguments": lambda: robot.product(q, qd, None, -9.81),
    }
    for message, call in cases.items():
        with pytest.raises(ArgumentError) as caught:
            call()
        assert message in str(caught.value)
        assert isinstance(caught.value, TypeError)
        assert "product(q, qd, f_ext=None, *, gravity=-9.81, out=None)" in str(caught.value)


def written(call: Any, q: Any, scale: float = 1.0, *, loud: bool = False, out: Any = None) -> Any:
    """Multiply, as a plugin may."""
    if require_flag(call, "loud", loud):
        return q + "text"
    return scale * call(q, q, out=out)


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((), {}, "q is missing"),
        ((ONE,), {"scael": 2.0}, "there is no argument 'scael' (did you mean 'scale'?)"),
        ((ONE, 2.0, True), {}, "3 positional arguments"),
        ((ONE,), {"q": ONE}, "q is given twice"),
    ],
)
def test_a_hand_written_method_is_checked_like_a_generated_one(
    arguments: Any, keywords: Any, message: str
) -> None:
    robot = load_arm(algorithm(method=written))
    with pytest.raises(ArgumentError) as caught:
        robot.product(*arguments, **keywords)
    takes = "it is product(q, scale=1.0, *, loud=False, out=None)"
    assert str(caught.value) == f"product: {message}; {takes}"


def test_a_type_error_inside_a_hand_written_method_stays_what_it_is() -> None:
    robot = load_arm(algorithm(method=written))
    with pytest.raises(TypeError) as caught:
        robot.product([1.0], loud=True)
    assert not isinstance(caught.value, ArgumentError)
    with pytest.raises(ArgumentError, match="product: loud must be True or False; got 'yes'"):
        robot.product(ONE, loud="yes")


def test_the_handles_own_methods_are_checked_alike() -> None:
    robot = load_arm()
    for call, message in (
        (lambda: robot.integrate(ONE), r"integrate: v is missing; it is integrate\(q, v\)"),
        (lambda: robot.difference(ONE, ONE, ONE), "difference: 3 positional arguments"),
        (lambda: robot.random_configuration(bach=1), r"'bach' \(did you mean 'batch'\?\)"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
    for seed in ("a", -1):
        with pytest.raises(InputError, match="random_configuration: rng must be a NumPy generator"):
            robot.random_configuration(seed)
