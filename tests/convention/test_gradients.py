"""Derivatives of the dynamics with ``output_convention="mujoco"`` (K9), against MuJoCo's own."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from attrs import evolve

import grid_core
from grid_core.evaluation import evaluate_reference
from grid_core.model import load_urdf_string
from grid_core.program.products import jvp_of, vjp_of
from grid_core.program.trace import trace
from grid_core.spaces import Spaces
from tests.convention.test_mujoco import robot, setup
from tests.program.operations import operation, traced
from tests.support import urdf
from tests.support.compare import assert_close
from tests.support.evaluate import ALGORITHMS, Reference

CASES = [
    *((name, "from_urdf", free) for name in ("tree_9", "branching") for free in (False, True)),
    *((name, "from_records", True)
      for name in ("tree_1", "spherical", "balls", "prismatic", "go2")),
]  # fmt: skip
each_case = pytest.mark.parametrize(
    ("name", "source", "floating"), CASES, ids=lambda v: str(v).removeprefix("from_")
)
MUJOCO = {"output_convention": "mujoco"}
PRODUCTS = [
    f"{base}_{mode}" for base in ("inverse_dynamics", "forward_dynamics") for mode in ("jvp", "vjp")
]


def evaluated(model, name, inputs, **options):
    """The traced program's results, by name."""
    present = [p.name for p in ALGORITHMS[name].inputs if p.optional and p.name in inputs]
    program = traced(model, name, present, **MUJOCO, **options)
    return program.evaluate({"gravity": -9.81, **inputs})


@each_case
def test_inverse_dynamics_is_mjd_inverse_fd(name, source, floating) -> None:
    """K9: ∂qfrc_inverse/∂qpos along mj_integratePos, ∂/∂qvel and ∂/∂qacc."""
    grid, oracle, q, v, a, _ = setup(name, source, floating)
    nv, (dtau,) = grid.model.nv, evaluated(
        grid.model, "inverse_dynamics_gradient", {"q": q, "qd": v, "qdd": a}
    ).values()  # fmt: skip
    M = grid("crba", q=q)
    for b in range(len(q)):
        oracle.set(q[b], v[b])
        oracle.data.qacc[oracle.v] = a[b]
        by = [np.zeros((nv, nv)) for _ in range(3)]
        mujoco.mjd_inverseFD(oracle.mj, oracle.data, 1e-6, 0, *by, *[None] * 4)
        by_q, by_v, by_a = (slope.T[np.ix_(oracle.v, oracle.v)] for slope in by)
        # One-sided differences with a step of 1e-6.
        for ours, theirs in ((dtau[b, :, :nv], by_q), (dtau[b, :, nv:], by_v), (M[b], by_a)):
            np.testing.assert_allclose(ours, theirs, atol=3e-5 * max(1.0, np.abs(theirs).max()))


@each_case
def test_forward_dynamics_is_mjd_transition_fd(name, source, floating) -> None:
    """K9: ∂qacc/∂(qpos, qvel) out of the step of Euler's method that MuJoCo differentiates."""
    grid, oracle, q, v, _, u = setup(name, source, floating)
    nv, step = grid.model.nv, 1e-3
    inputs = {"q": q, "qd": v, "u": u}
    (dqdd,) = evaluated(grid.model, "forward_dynamics_gradient", inputs).values()
    oracle.mj.opt.timestep, size = step, 2 * nv
    for b in range(len(q)):
        oracle.set(q[b], v[b])
        oracle.data.qfrc_applied[oracle.v] = u[b]
        A = np.zeros((size, size))
        mujoco.mjd_transitionFD(oracle.mj, oracle.data, 1e-5, 1, A, None, None, None)
        by_q = A[nv:, :nv][np.ix_(oracle.v, oracle.v)] / step
        by_v = (A[nv:, nv:] - np.eye(nv))[np.ix_(oracle.v, oracle.v)] / step
        oracle.data.qfrc_applied[:] = 0.0
        theirs = np.concatenate([by_q, by_v], axis=1)
        np.testing.assert_allclose(dqdd[b], theirs, atol=1e-4 * max(1.0, np.abs(theirs).max()))


@each_case
def test_reference_and_program_agree_and_differences_confirm(name, source, floating) -> None:
    """K9: to 1e-9 of each other; central differences along MuJoCo's own retraction to 1e-7."""
    grid, oracle, q, v, a, u = setup(name, source, floating)
    model, nv = grid.model, grid.model.nv
    f_ext = np.random.default_rng(5).normal(size=(len(q), model.nb, 6))
    for base, given in (("inverse_dynamics", {"qdd": a}), ("forward_dynamics", {"u": u})):
        rest = {**given, "f_ext": f_ext}
        found = grid(f"{base}_gradient", q=q, qd=v, **rest)
        (program,) = evaluated(model, f"{base}_gradient", {"q": q, "qd": v, **rest}).values()
        assert_close(program, found, rtol=1e-9, noise=1e-10)

        def along(dq, dv, base=base, rest=rest):
            moved = np.array([oracle.integrate(one, step) for one, step in zip(q, dq, strict=True)])
            return grid(base, q=moved, qd=v + dv, **rest)

        rng, h = np.random.default_rng(6), 1e-3
        for _ in range(3):
            dq, dv = rng.normal(size=(2, *v.shape)) / np.sqrt(nv)
            one, two = (along(k * h * dq, k * h * dv) - along(-k * h * dq, -k * h * dv)
                        for k in (1, 2))  # fmt: skip
            slope = (8.0 * one - two) / (12.0 * h)
            ours = found @ np.concatenate([dq, dv], axis=1)[..., None]
            assert_close(ours[..., 0], slope, rtol=1e-7, noise=1e-8)


@each_case
def test_products_are_those_of_the_gradients(name, source, floating) -> None:
    """K9: the programs in forward and reverse mode against matrices of the references."""
    grid, _, q, v, a, u = setup(name, source, floating)
    model, nv = grid.model, grid.model.nv
    rng = np.random.default_rng(7)
    dq, dv, last, bar = rng.normal(size=(4, *v.shape))
    M = grid("crba", q=q)
    for base, key, given, by_last in (
        ("inverse_dynamics", "qdd", a, M),
        ("forward_dynamics", "u", u, np.linalg.inv(M)),
    ):
        point = {"q": q, "qd": v, key: given}
        slopes = np.concatenate([grid(f"{base}_gradient", **point), by_last], axis=2)
        expected = (slopes @ np.concatenate([dq, dv, last], axis=1)[..., None])[..., 0]
        tangents = {"dq": dq, "dqd": dv, f"d{key}": last}
        (ours,) = evaluated(model, f"{base}_jvp", {**point, **tangents}).values()
        assert_close(ours, expected, rtol=1e-9, noise=1e-10)
        assert_close(grid(f"{base}_jvp", **point, **tangents), expected, rtol=1e-9, noise=1e-10)
        output = {"inverse_dynamics": "tau", "forward_dynamics": "qdd"}[base]
        found = evaluated(model, f"{base}_vjp", {**point, f"{output}_bar": bar})
        expected = (bar[:, None] @ slopes)[:, 0]
        ours = np.concatenate(list(found.values()), axis=1)
        assert ours.shape == (len(q), 3 * nv)
        assert_close(ours, expected, rtol=1e-9, noise=1e-10)


@pytest.mark.parametrize(("base", "given"), [("nonlinear_effects", "qd"), ("aba", "u")])
def test_products_of_any_operation(base, given) -> None:
    """What `jvp_of` and `vjp_of` make of an operation that has no gradient of its own."""
    grid, oracle, q, v, _, u = setup("spherical", "from_records", floating=True)
    inputs = {"q": q, "qd": v} | ({"u": u} if given == "u" else {})
    wrt, rng = tuple(inputs), np.random.default_rng(8)
    tangents = {f"d{name}": rng.normal(size=v.shape) for name in wrt}
    (output,) = ALGORITHMS[base].outputs
    bar = rng.normal(size=v.shape)

    def at(h):
        moved = {n: x + h * tangents[f"d{n}"] for n, x in inputs.items() if n != "q"}
        moved["q"] = np.array([oracle.integrate(one, h * d)
                               for one, d in zip(q, tangents["dq"], strict=True)])  # fmt: skip
        return grid(base, **moved)

    h = 1e-3
    slope = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
    for product, more in ((jvp_of, tangents), (vjp_of, {f"{output.name}_bar": bar})):
        algorithm = product(ALGORITHMS[base], wrt=wrt)
        known = {**ALGORITHMS, algorithm.name: algorithm}
        point = {"gravity": -9.81, **inputs, **more}
        found = trace(operation(grid.model, algorithm, **MUJOCO)).evaluate(point)
        again = evaluate_reference(algorithm, known, grid.model, grid.options, point)
        for name, value in found.items():
            assert_close(value, again[name], rtol=1e-9, noise=1e-10)
        if product is jvp_of:
            assert_close(found[f"d{output.name}"], slope, rtol=1e-7, noise=1e-8)
        else:
            paired = sum((found[f"{n}_bar"] * tangents[f"d{n}"]).sum(axis=1) for n in wrt)
            assert_close(paired[:, None], (bar * slope).sum(axis=1)[:, None], rtol=1e-7, noise=1e-8)


def test_joint_dynamics_of_a_free_joint_too() -> None:
    """Damping and friction of the base count its own axes, and turn with it."""
    body = {"mass": 2.0, "com": (0.1, 0.2, -0.1), "inertia": np.diag([0.2, 0.3, 0.4])}
    text = urdf.robot(
        "dragged",
        urdf.link("world"),
        urdf.link("base", **body),
        urdf.link("tip", **body),
        urdf.joint("free", "floating", "world", "base"),
        urdf.joint("turn", "continuous", "base", "tip", axis=(0, 0.6, 0.8), dynamics=(0.2, 0.1)),
    )
    model = load_urdf_string(text)
    assert model.floating_base
    # A URDF's free joint has none; a model may.
    free, *others = model.joints
    model = evolve(model, joints=(evolve(free, damping=0.7, friction=0.3), *others))
    rng = np.random.default_rng(9)
    q = np.concatenate([rng.normal(size=(2, 7)), rng.normal(size=(2, 1))], axis=1)
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    v, a, u = rng.normal(size=(3, 2, model.nv))
    options = {"use_joint_dynamics": True, **MUJOCO}
    grid = Reference(model, **options)
    spaces = Spaces(model, np.dtype(float), mujoco=True)
    for base, given in (("inverse_dynamics", {"qdd": a}), ("forward_dynamics", {"u": u})):
        found = grid(f"{base}_gradient", q=q, qd=v, **given)
        (program,) = evaluated(
            model, f"{base}_gradient", {"q": q, "qd": v, **given}, use_joint_dynamics=True
        ).values()
        assert_close(program, found, rtol=1e-9, noise=1e-10)
        dq, dv, h = *rng.normal(size=(2, *v.shape)), 1e-4

        def at(k, base=base, given=given, dq=dq, dv=dv, h=h):
            return grid(base, q=spaces.integrate(q, k * h * dq), qd=v + k * h * dv, **given)

        # Not across a change of friction's sign.
        slope = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * h)
        ours = (found @ np.concatenate([dq, dv], axis=1)[..., None])[..., 0]
        assert_close(ours, slope, rtol=1e-7, noise=1e-8)


def test_compiled() -> None:
    """K9: the compiled operations give what the references do."""
    found = robot("go2").load(floating_base=True)
    names = ["inverse_dynamics_gradient", "forward_dynamics_gradient", *PRODUCTS]
    with grid_core.load_robot(
        found, floating_base=True, algorithm_list=names, backend="cpu", dtype="float64", **MUJOCO
    ) as handle:
        grid = Reference(found, targets=handle.options.targets, **MUJOCO)
        rng, q = np.random.default_rng(0), handle.random_configuration(0, 3)
        for call in handle.calls():
            given = {
                port.name: q if port.name == "q" else rng.normal(size=(3, found.nv))
                for port in call.algorithm.inputs
                if not port.uniform and port.name != "f_ext"
            }
            result = call(**given)
            if call.__name__.endswith("_vjp"):
                continue  # several outputs: against the gradients above
            assert_close(result, grid(call.__name__, **given), rtol=1e-8, noise=1e-9)
        qd, u = rng.normal(size=(2, 3, found.nv))
        both = handle.forward_dynamics_gradient(q, qd, u, return_minv=True)
        assert_close(both.Minv, grid("minv", q=q), rtol=1e-8, noise=1e-9)
        assert_close(both.dqdd, handle.forward_dynamics_gradient(q, qd, u), rtol=1e-8, noise=1e-9)
