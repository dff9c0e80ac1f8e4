"""Triangular factors of stacked blocks, and independent columns."""

from __future__ import annotations

import numpy as np

from grid_core.identification.factors import independent_columns, stacked_r


def test_the_stacked_factor_is_the_factor_of_the_stack():
    """Block by block or at once: the same Rᵀ R, and singular values to the last digits."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 12)) * 10.0 ** -np.arange(12)
    R = stacked_r(np.array_split(A, 7), 12)
    assert R.shape == (12, 12)
    exact = np.linalg.svd(A, compute_uv=False)
    np.testing.assert_allclose(np.linalg.svd(R, compute_uv=False), exact, rtol=1e-4)


def test_leftmost_columns_are_chosen_and_the_others_written_with_them():
    """Columns 2 and 4 are combinations of earlier ones, and column 5 is zero."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 6)) * np.array([1.0, 1e3, 1.0, 1e-3, 1.0, 1.0])
    A[:, 2] = 2.0 * A[:, 0] - 0.5 * A[:, 1]
    A[:, 4] = A[:, 3] + A[:, 0]
    A[:, 5] = 0.0
    found = independent_columns(A, 1e-9)
    assert found.independent == (0, 1, 3)
    expected = [[1, 0, 2, 0, 1, 0], [0, 1, -0.5, 0, 0, 0], [0, 0, 0, 1, 1, 0]]
    np.testing.assert_allclose(found.combinations, expected, atol=1e-9)
    assert found.combinations[0, 3] == 0.0
    assert found.least_kept > 0.1
    assert found.largest_dropped < 1e-12


def test_nearly_dependent_columns_count_by_the_tolerance():
    """A part of 1e-6 is kept or dropped as the tolerance says, and told."""
    rng = np.random.default_rng(2)
    A = rng.normal(size=(20, 3))
    A[:, 2] = A[:, 0] + 1e-6 * A[:, 1] / np.linalg.norm(A[:, 1]) * np.linalg.norm(A[:, 0])
    A = A[:, [0, 2]]
    assert independent_columns(A, 1e-8).independent == (0, 1)
    dropped = independent_columns(A, 1e-4)
    assert dropped.independent == (0,)
    assert 1e-7 < dropped.largest_dropped < 2e-6


def test_short_columns_are_columns():
    """Their length is a matter of units; only rounding counts as zero."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(20, 3)) * np.array([1.0, 1e-8, 1e-14])
    assert independent_columns(A, 3e-5).independent == (0, 1)


def test_no_columns_at_all():
    """A zero matrix has no independent column."""
    found = independent_columns(np.zeros((4, 3)), 1e-9)
    assert found.independent == ()
    assert found.combinations.shape == (0, 3)
