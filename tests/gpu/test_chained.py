"""Launches that follow one another may overlap; what they read and write may not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gpu.frameworks import framework, put
from tests.gpu.loaded import call_of, inputs_of

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

STEPS = 40


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("batch", [1, 33, 4097, 300_001])
@pytest.mark.parametrize("robot", ["iiwa14", "humanoid"])
def test_a_launch_reads_what_the_one_before_it_wrote(
    robot: str, batch: int, captured: bool
) -> None:
    """Torques to accelerations and back, each written over what the launch before it read."""
    arrays, forward = framework("torch"), call_of(robot, "forward_dynamics")
    inverse = call_of(robot, "inverse_dynamics")
    torch = arrays.module
    held = put(arrays, inputs_of(robot, "forward_dynamics", batch))
    first = held.pop("u")
    u, qdd = torch.empty_like(first), torch.empty_like(first)

    def every(after: Any) -> None:
        u.copy_(first)
        for _ in range(STEPS):
            forward(**held, u=u, out=qdd)
            after()
            inverse(**held, qdd=qdd, out=u)
            after()

    every(torch.cuda.synchronize)
    expected = (u.clone(), qdd.clone())
    assert torch.isfinite(expected[0]).all()
    assert not torch.equal(expected[0], first)  # rounding shows that all steps were taken
    for tensor in (u, qdd):
        tensor.fill_(float("nan"))
    torch.cuda.synchronize()
    if captured:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            every(lambda: None)
        for _ in range(3):
            graph.replay()
    else:
        for _ in range(3):
            every(lambda: None)
    torch.cuda.synchronize()
    assert torch.equal(u, expected[0])
    assert torch.equal(qdd, expected[1])


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("batch", [33, 100_001])
def test_kernels_of_others_between_ours_keep_their_places(batch: int, captured: bool) -> None:
    """Short ones and one that takes longer than a launch, before and behind each of ours."""
    arrays, call = framework("torch"), call_of("go2", "inverse_dynamics")
    torch = arrays.module
    held = put(arrays, inputs_of("go2", "inverse_dynamics", batch, ("qdd",)))
    first = held["qdd"].clone()
    state, tau = first.clone(), torch.empty_like(first)

    def step(apart: bool) -> None:
        for k in range(STEPS):
            if k % 8 == 3:
                torch.cuda._sleep(100_000)
            call(**{**held, "qdd": state}, out=tau)
            if apart:
                torch.cuda.synchronize()
            torch.tanh(tau, out=state)
            if apart:
                torch.cuda.synchronize()

    step(apart=True)
    expected = (state.clone(), tau.clone())
    torch.cuda.synchronize()
    state.copy_(first)
    tau.fill_(float("nan"))
    torch.cuda.synchronize()
    if captured:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step(apart=False)
        graph.replay()
    else:
        step(apart=False)
    torch.cuda.synchronize()
    assert torch.equal(state, expected[0])
    assert torch.equal(tau, expected[1])
