"""Stored values of an independent implementation, to nine digits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from grid_core.reference.kinematics import forward_kinematics
from tests.support.evaluate import Reference
from tests.support.robots import Robot

ORACLE = Path(__file__).parents[1] / "oracle"
FILES = sorted(ORACLE.glob("*.numeric.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name.removesuffix(".numeric.json"))
def test_stored_values(path: Path) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))
    name, base, *_ = path.name.split(".")
    # m1 says rpy="1.5708 ...", and its stored values are those of π/2, 3.7e-6 rad less. Here a
    # number means what it says (so does Pinocchio), so the quarter turn is written out.
    text = (ORACLE / f"{name}.urdf").read_text(encoding="utf-8")
    robot = Robot(path.name, text=text.replace('"1.5708 ', f'"{np.pi / 2!r} '))
    model = robot.load(floating_base=base == "floating")
    grid, cases = Reference(model), stored["cases"]
    q, qd, qdd, u = (np.array([c[k] for c in cases]) for k in ("q", "qd", "qdd", "u"))
    assert stored["gravity"] == -9.81
    inputs = {
        "inverse_dynamics": {"q": q, "qd": qd, "qdd": qdd},
        "generalized_gravity": {"q": q},
        "nonlinear_effects": {"q": q, "qd": qd},
        "crba": {"q": q},
        "minv": {"q": q},
        "forward_dynamics": {"q": q, "qd": qd, "u": u},
        "aba": {"q": q, "qd": qd, "u": u},
        "inverse_dynamics_gradient": {"q": q, "qd": qd, "qdd": qdd},
        "forward_dynamics_gradient": {"q": q, "qd": qd, "u": u},
    }
    for key, given in inputs.items():
        actual, expected = grid(key, **given), [c[key] for c in cases]
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9, err_msg=key)
    M, T = grid("crba", q=q), forward_kinematics(model, q)
    kinetic = 0.5 * np.einsum("bi,bij,bj->b", qd, M, qd)
    np.testing.assert_allclose(kinetic, [c["kinetic_energy"] for c in cases], rtol=1e-9)
    for joint in model.joints[model.floating_base :]:
        expected = [c["world_T_joint"][joint.name] for c in cases]
        np.testing.assert_allclose(T[:, joint.id], expected, atol=1e-9, err_msg=joint.name)
