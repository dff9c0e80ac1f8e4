"""Comparing results."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.bench.compare import difference, worst_error

RNG = np.random.default_rng(0)


def test_the_worst_problem_counts() -> None:
    expected = np.ones((4, 3))
    got = expected.copy()
    got[2] *= 1.25
    assert worst_error(got, expected) == pytest.approx(0.25)


def test_a_problem_near_zero_is_measured_by_the_batch() -> None:
    expected = np.array([[1e-12], [3.0], [4.0]])
    got = expected + np.array([[1e-9], [0], [0]])
    assert worst_error(got, expected) < 1e-9


def test_zeros_and_empty_batches() -> None:
    assert worst_error(np.zeros((2, 3)), np.zeros((2, 3))) == 0.0
    assert worst_error(np.zeros((0, 3)), np.zeros((0, 3))) == 0.0


def test_a_nan_is_infinitely_wrong() -> None:
    assert worst_error(np.full((1, 2), np.nan), np.ones((1, 2))) == float("inf")


def test_only_problems_that_both_have_are_compared() -> None:
    x = RNG.normal(size=(5, 3))
    assert difference([x], [x[:2]]) == 0.0
    assert difference([x], [x[:2], RNG.normal(size=(2, 9))]) == 0.0


def test_blocks_side_by_side_are_one_matrix() -> None:
    a, b, c = RNG.normal(size=(3, 4, 2, 2))
    assert difference([np.concatenate([a, b], axis=2)], [a, b, c]) == 0.0
    assert difference([a, b], [a, b, c]) == 0.0


def test_more_axes_are_compared_with_a_matrix() -> None:
    x = RNG.normal(size=(4, 7, 7, 10))
    assert difference([x], [x.reshape(4, 7, 70)]) == 0.0


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ([], [np.ones((1, 2))]),
        ([np.ones((1, 2))], []),
        ([np.ones((1, 2))], [np.ones((1, 3))]),
        ([np.ones((1, 2)), np.ones((1, 2))], [np.ones((1, 2))]),
    ],
)
def test_what_cannot_be_compared_is_said(ours: list[object], theirs: list[object]) -> None:
    assert difference(ours, theirs) is None  # type: ignore[arg-type]
