"""Signatures and docstrings of operations, and methods that plugins write themselves."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import numpy as np
import pytest

from grid_core.errors import HandleClosed
from tests.plugins.builders import algorithm, load_arm


def test_help_shows_signature_shapes_units_and_source() -> None:
    robot = load_arm(floating_base=True)
    call = robot.product
    assert call.__name__ == "product"
    assert str(inspect.signature(call)) == "(q, qd, f_ext=None, *, gravity=-9.81, out=None)"
    shown = pydoc.plain(pydoc.render_doc(call))
    for line in [
        "product(q, qd, f_ext=None, *, gravity=-9.81, out=None)",
        "Gravity times velocity.",
        "For 'arm': nq=9, nv=8.",
        "Arrays come out as float64; other real numbers are converted to it.",
        "q: (B, nq=9) configuration [rad].",
        "f_ext: (B, nb=3, 6) forces [N, N m]; may be left out.",
        "gravity: gravity; one number for all, -9.81 if left out.",
        "p: (B, nv=8) product [rad/s].",
        "Source: nowhere",
    ]:
        assert line in shown


def twice(call: Any, q: Any, qd: Any, *, times: int = 2) -> Any:
    """Multiply.

    Once is not enough.
    """
    return times * call(q, qd, gravity=1.0)


def test_a_plugin_may_write_the_method_itself() -> None:
    robot = load_arm(algorithm(method=twice))
    qd = np.ones((3, 2))
    assert str(inspect.signature(robot.product)) in {
        "(q: Any, qd: Any, *, times: int = 2) -> Any",
        "(q: 'Any', qd: 'Any', *, times: 'int' = 2) -> 'Any'",
    }
    assert robot.product.__name__ == "product"
    said = robot.product.__doc__
    assert said.startswith("product(q, qd, *, times=2)\n\nMultiply.\n\nOnce is not enough.\n")
    assert said.count("product(") == 1
    assert "Returns:" in said
    np.testing.assert_allclose(robot.product(qd, qd, times=3), 3.0 * qd)
    robot.close()
    with pytest.raises(HandleClosed):
        robot.product(qd, qd)
