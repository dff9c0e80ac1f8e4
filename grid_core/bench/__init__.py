"""Timing operations, side by side with other libraries, on the same states in one run.

`trials` says what is timed, a `Contender` how, `interleave` when: A B A B, after a warm-up. A new
peer, or another boundary of the timing, is a new contender in a file of its own.
"""

from grid_core.bench.case import Case
from grid_core.bench.contender import Contender, Declined, Prepared
from grid_core.bench.results import Measurement, Trial
from grid_core.bench.robot import Robot, bundled_robot
from grid_core.bench.suite import Plan, cases, run_case

__all__ = [
    "Case",
    "Contender",
    "Declined",
    "Measurement",
    "Plan",
    "Prepared",
    "Robot",
    "Trial",
    "bundled_robot",
    "cases",
    "run_case",
]
