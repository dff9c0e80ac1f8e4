"""A description's identity does not depend on the processor that reads it."""

from __future__ import annotations

import os
import subprocess
import sys

READ = """
import sys, warnings
warnings.simplefilter("ignore")
import grid_core
from tests.support.random_trees import random_urdf
for seed in range(20):
    text = random_urdf(seed, 10, kinds=("fixed", "revolute", "planar"))
    print(grid_core.describe_model(urdf_string=text)["descriptor_id"])
"""


def test_identities_are_the_same_with_and_without_fused_products() -> None:
    """D32: NumPy's BLAS made to take the kernels of an old and of a newer processor."""
    old, new = (_identities(core) for core in ("Nehalem", "Haswell"))
    assert old == new


def _identities(core: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", READ],
        env={**os.environ, "OPENBLAS_CORETYPE": core, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
