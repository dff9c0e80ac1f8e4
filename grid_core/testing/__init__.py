"""What a plugin's tests need: `check_algorithm` makes them three lines."""

from grid_core.testing.check import check_algorithm
from grid_core.testing.inputs import random_inputs

__all__ = ["check_algorithm", "random_inputs"]
