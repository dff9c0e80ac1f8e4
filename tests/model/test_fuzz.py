"""Two thousand broken robots: each is loaded or refused, in bounded time."""

from __future__ import annotations

from tests.model import fuzz


def test_mutants():
    """Nothing but a GridError, and enough of both ends that the mutations mean something."""
    ends, failures = fuzz.run(2000, seed=20)
    assert not failures, failures[0][2]
    assert ends["loaded"] > 200
    assert ends["refused"] > 200
