"""Run one small batch of every kernel, for compute-sanitizer to watch.

compute-sanitizer --tool memcheck python tests/gpu/sanitize.py [ROBOT ...]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from grid_backend_cuda.plugin import CudaBackend
from grid_core.backend import BuildSettings
from grid_core.targets import find_targets
from grid_core.testing.inputs import random_inputs
from tests.cuda.kernels import DTYPES, DYNAMICS, ROBOTS, model
from tests.program.operations import operation
from tests.regressor.evaluate import ALL

BATCHES = (1, 33, 70)
GRADIENTS = ("inverse_dynamics_gradient", "forward_dynamics_gradient")
"""Written value by value, or gathered by several warps."""
POSES = ("end_effector_pose", "end_effector_pose_gradient", "end_effector_pose_hessian")
REGRESSOR = "inverse_dynamics_regressor"
HUMANOID = ("inverse_dynamics", "forward_dynamics", "crba", REGRESSOR)


def main(robots: list[str]) -> None:
    """Launch from NumPy arrays: batches with full and partial tiles, with and without options."""
    warnings.simplefilter("ignore")
    settings = BuildSettings(cache_dir=None, num_threads=1)
    every = (*DYNAMICS, *GRADIENTS, *POSES, REGRESSOR)
    for robot in robots or ["iiwa14", "kinds", "go2", "humanoid"]:
        for name in HUMANOID if robot == "humanoid" else every:
            both = robot in {"iiwa14", "kinds"} and name not in {*GRADIENTS, *POSES[1:], REGRESSOR}
            for dtype in DTYPES if both else DTYPES[:1]:
                targets = find_targets(model(robot), None) if name.startswith("end_eff") else ()
                made = operation(
                    model(robot), name, (), available=ALL, dtype=dtype, targets=targets
                )
                kernel = CudaBackend().build(made, settings)
                for batch in BATCHES:
                    drawn = random_inputs(made.algorithm, made.model, made.options, batch=batch)
                    inputs = {
                        k: v if isinstance(v, float) else v.astype(dtype) for k, v in drawn.items()
                    }
                    outputs = {
                        p.name: np.full((batch, *p.dims(made.model, made.options)), np.nan, dtype)
                        for p in made.algorithm.outputs
                    }
                    kernel(batch, inputs, outputs)
                    assert all(np.isfinite(value).all() for value in outputs.values())
                kernel.close()
                sys.stdout.write(f"{robot} {name} {dtype}\n")
    sys.stdout.write(f"done with {len(ROBOTS)} robots known\n")


if __name__ == "__main__":
    main(sys.argv[1:])
