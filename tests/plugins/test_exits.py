"""Code of a plugin that asks the process to exit, or answers what it may not, is named."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from grid_core.errors import BackendError, ContractError, PluginError
from grid_core.program.trace import trace
from tests.plugins.builders import FakeBackend, algorithm, announce, load_arm, manager, plugin

ONE = np.zeros((1, 2))
WHO = r"product \(from grid-made-up 1\.2\)"


@frozen
class Tracing(FakeBackend):
    """Traces programs, as compilers do."""

    def build(self, operation: Any, settings: Any) -> Any:
        trace(operation)
        return super().build(operation, settings)


def leave(ctx: Any) -> Any:
    del ctx
    sys.exit(3)


def test_a_reference_that_exits_is_named() -> None:
    robot = load_arm(algorithm(reference=leave))
    said = r"the reference of 'product' asked the process to exit \(SystemExit: 3\)"
    with pytest.raises(BackendError, match=f"{WHO} failed .*{said}"):
        robot.product(ONE, ONE)


def test_a_program_that_exits_is_named() -> None:
    made = plugin(algorithms=[algorithm(program=leave)], backends=[Tracing()])
    robot = load_arm(plugins=manager(announce(made)))
    said = r"the program of 'product' asked the process to exit \(SystemExit: 3\)"
    with pytest.raises(BackendError, match=f"{WHO} could not be built .*{said}"):
        robot.product(ONE, ONE)


def test_a_refusal_that_exits_is_named() -> None:
    robot = load_arm(algorithm(refuse=leave))
    with pytest.raises(PluginError, match=f"{WHO}: .*`refuse` of 'product' asked the process"):
        robot.product(ONE, ONE)


@pytest.mark.parametrize("said", [True, False, 0, ["no"], b"no"])
def test_a_refusal_is_text(said: Any) -> None:
    robot = load_arm(algorithm(refuse=lambda _: said))
    with pytest.raises(ContractError, match="product: `refuse` must return the reason as text"):
        robot.product(ONE, ONE)
