"""Opening, building, failing, refusing and closing."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen

from grid_core import compiling
from grid_core.algorithm import Port
from grid_core.errors import (
    BackendError,
    ContractError,
    HandleClosed,
    InputError,
    OperationRefused,
    PluginError,
    TraceError,
)
from grid_core.program.trace import trace
from tests.plugins.builders import (
    FORCE,
    GRAVITY,
    QD,
    FakeBackend,
    Q,
    algorithm,
    announce,
    load_arm,
    manager,
    plugin,
)

ONE = np.ones((1, 2))


def load_on(backend: Any, *algorithms: Any, **options: Any) -> Any:
    made = plugin(algorithms=list(algorithms) or [algorithm()], backends=[backend])
    return load_arm(plugins=manager(announce(made)), **options)


def test_a_closed_handle_says_so() -> None:
    robot = load_arm()
    kept = robot.product
    kept(ONE, ONE)
    robot.close()
    robot.close()
    assert robot.closed
    assert repr(robot) == "<RobotHandle 'arm', closed>"
    for call in (lambda: kept(ONE, ONE), lambda: robot.product(ONE, ONE), lambda: kept("nonsense")):
        with pytest.raises(HandleClosed) as caught:
            call()
        assert str(caught.value) == "product: the handle of 'arm' is closed; load the robot again"
    assert robot.nq == 2


def test_an_operation_first_used_after_close_says_so() -> None:
    robot = load_arm()
    robot.close()
    with pytest.raises(HandleClosed):
        robot.product(ONE[:0], ONE[:0])


def test_a_with_block_closes() -> None:
    with load_arm() as robot:
        robot.product(ONE, ONE)
    assert robot.closed
    with pytest.raises(HandleClosed, match="is closed"), robot:
        pytest.fail("must not be entered")


@frozen
class Slow(FakeBackend):
    """Takes its time to build."""

    threads: set[int] = field(factory=set)

    def build(self, operation: Any, settings: Any) -> Any:
        self.threads.add(threading.get_ident())
        time.sleep(0.02)
        return super().build(operation, settings)


def test_threads_that_call_first_build_once() -> None:
    backend = Slow()
    robot = load_on(backend, algorithm(), algorithm("other"))
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(lambda: robot.product(ONE, ONE)) for _ in range(8)]
        calls += [pool.submit(lambda: robot.other(ONE, ONE)) for _ in range(8)]
        assert {float(call.result()[0, 0]) for call in calls} == {-9.81}
    assert sorted(op.algorithm.name for op in backend.built) == ["other", "product"]


def test_without_a_list_nothing_is_compiled_at_load() -> None:
    backend = FakeBackend()
    load_on(backend)
    assert backend.built == []


def test_what_is_listed_is_compiled_at_load_in_parallel() -> None:
    extra = Port(name="extra", shape=("nv",), doc="more", optional=True)
    demand = Port(name="rare", shape=("nv",), doc="more", optional=True, on_demand=True)
    every = algorithm(inputs=(Q, QD, FORCE, extra, demand, GRAVITY))
    backend = Slow()
    load_on(backend, every, algorithm("other"), algorithm_list="all", num_threads=4)
    variants = sorted((op.algorithm.name, *sorted(op.present)) for op in backend.built)
    assert variants == [
        ("other",),
        ("other", "f_ext"),
        ("product",),
        ("product", "extra"),
        ("product", "extra", "f_ext"),
        ("product", "f_ext"),
    ]
    assert len(backend.threads) > 1


def test_an_operation_is_told_all_about_itself() -> None:
    backend = FakeBackend()
    mass = algorithm("mass")
    needy = algorithm(needs=("mass",))
    load_on(backend, mass, needy, algorithm_list=["product"], use_joint_dynamics=True)
    operation = backend.built[0]
    assert operation.dtype == np.float64
    assert set(operation.available) == {"mass", "product"}
    assert operation.providers == dict.fromkeys(("mass", "product"), "grid-made-up 1.2")
    assert operation.options.use_joint_dynamics
    assert operation.options.targets


def test_an_operation_that_the_robot_cannot_have_refuses_when_called() -> None:
    reason = "joint 'elbow': the mass matrix is singular"
    refusing = algorithm("refusing", refuse=lambda _: reason)
    needy = algorithm("needy", needs=("refusing",))
    robot = load_on(FakeBackend(), refusing, needy, algorithm(), algorithm_list="all")
    assert robot.algorithms == ("needy", "product", "refusing")
    robot.product(ONE, ONE)
    with pytest.raises(OperationRefused) as caught:
        robot.refusing(ONE, ONE)
    assert str(caught.value) == f"refusing: 'arm' cannot have it: {reason}"
    with pytest.raises(OperationRefused, match="it needs refusing, and that cannot be: joint"):
        robot.needy(ONE, ONE)


def fail(error: Exception) -> Any:
    def raise_it(*_: Any) -> Any:
        raise error

    return raise_it


def test_a_refusal_that_fails_names_the_plugin() -> None:
    robot = load_arm(algorithm(refuse=fail(ZeroDivisionError("oops"))))
    with pytest.raises(PluginError, match=r"product \(from grid-made-up 1\.2\): .* oops"):
        robot.product(ONE, ONE)


@frozen
class Failing(FakeBackend):
    """Cannot build."""

    error: Exception = field(factory=lambda: KeyError("no such register"))

    def build(self, operation: Any, settings: Any) -> Any:
        del operation, settings
        raise self.error


def test_a_backend_that_fails_is_named_and_the_cause_attached() -> None:
    robot = load_on(Failing())
    with pytest.raises(BackendError) as caught:
        robot.product(ONE, ONE)
    assert str(caught.value) == (
        "product (from grid-made-up 1.2) could not be built for 'arm' on the backend 'fake': "
        "KeyError: 'no such register'"
    )
    assert isinstance(caught.value.__cause__, KeyError)


def test_our_own_errors_pass_unchanged() -> None:
    with pytest.raises(TraceError, match="no branches"):
        load_on(Failing(error=TraceError("no branches")), algorithm_list="all")


def test_a_kernel_that_fails_is_named() -> None:
    robot = load_arm(algorithm(reference=fail(FloatingPointError("oops"))))
    with pytest.raises(BackendError, match=r"product \(from grid-made-up 1\.2\) failed for 'arm'"):
        robot.product(ONE, ONE)
    robot = load_arm(algorithm(reference=fail(InputError("q is odd"))))
    with pytest.raises(InputError, match="q is odd"):
        robot.product(ONE, ONE)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (lambda ctx: {"p": ctx["qd"][0]}, r"returned p of shape \(2,\); .*\('B', 'nv'\)"),
        (lambda ctx: {"tau": ctx["qd"]}, r"the reference must return \['p'\]; got \['tau'\]"),
        (lambda ctx: ctx["qd"], r"the reference must return \['p'\]; got ndarray"),
        (lambda ctx: {"p": ctx["f_ext"]}, r"input 'f_ext' was not given; use .get\('f_ext'\)"),
    ],
)
def test_a_reference_that_breaks_its_ports_is_named(reference: Any, message: str) -> None:
    with pytest.raises(ContractError, match=f"product: .*{message}"):
        load_arm(algorithm(reference=reference)).product(ONE, ONE)


def test_a_load_that_fails_drops_what_has_not_started() -> None:
    backend = Failing()
    many = [algorithm(f"a{k}", inputs=(Q, QD), reference=lambda ctx: ctx) for k in range(9)]
    with pytest.raises(BackendError, match="could not be built"):
        load_on(backend, *many, algorithm_list="all", num_threads=2)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_slow_load_shows_progress_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> None:
    watched: list[int] = []
    monkeypatch.setattr(compiling, "PATIENCE", 0.001)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    watch = compiling._watch
    monkeypatch.setattr(compiling, "_watch", lambda f: (watched.append(len(f)), watch(f)))
    load_on(Slow(), algorithm(), algorithm("other"), algorithm_list="all")
    assert watched == ([4] if terminal else [])


@frozen
class Tracing(FakeBackend):
    """Traces programs, as compilers do."""

    def build(self, operation: Any, settings: Any) -> Any:
        trace(operation)
        return super().build(operation, settings)


def branch(ctx: Any) -> Any:
    return {"p": ctx["qd"] if ctx["q"][0] > 0 else -ctx["qd"]}


def stumble(ctx: Any) -> Any:
    return {"p": [ctx["qd"][9]]}


def line_of(function: Any) -> str:
    code = function.__code__
    return rf"\(at .*test_lifecycle\.py:{code.co_firstlineno + 1}, in {function.__name__}\)$"


def test_what_an_authors_program_does_wrong_is_told_with_its_line() -> None:
    operations = {"branch": branch, "stumble": stumble}
    made = plugin(
        algorithms=[algorithm(name, program=f) for name, f in operations.items()],
        backends=[Tracing()],
    )
    robot = load_arm(plugins=manager(announce(made)))
    where = r"\(from grid-made-up 1\.2\)"
    with pytest.raises(TraceError, match=rf"^branch {where}: a program cannot .*{line_of(branch)}"):
        robot.branch(ONE, ONE)
    with pytest.raises(BackendError, match=rf"^stumble {where} .*IndexError.*{line_of(stumble)}"):
        robot.stumble(ONE, ONE)
