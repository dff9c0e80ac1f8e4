"""How long and how randomly property tests run; load a profile by importing this."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["heavy"]

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=_SLOW)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, suppress_health_check=_SLOW, print_blob=True
)
# The same examples each time, so that a change is to blame for a failure; GRID_HYPOTHESIS=thorough
# looks for new ones.
_PROFILE = os.environ.get("GRID_HYPOTHESIS", "fixed")
settings.load_profile(_PROFILE)


def heavy(examples: int) -> settings:
    """Return settings for a test whose examples take about a second each."""
    return settings(max_examples=examples if _PROFILE == "fixed" else 20 * examples)
