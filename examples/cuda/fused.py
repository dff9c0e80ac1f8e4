"""Run fused.cu through NVRTC, without a CUDA toolkit, and compare with a handle.

pip install '.[cuda]'
python examples/cuda/fused.py go2 --floating --problems 100000
python examples/cuda/fused.py iiwa14 --compile-only sm_90   # needs no GPU
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

import grid_core
from grid_core.abi import pack_q_qd_u
from grid_core.assets import asset_names, asset_path

if TYPE_CHECKING:
    from cuda.core import ObjectCode
    from numpy.typing import NDArray

    from grid_core import RobotHandle

SOURCE = Path(__file__).parent / "fused.cu"
ALGORITHMS = ("forward_dynamics", "end_effector_pose")
GOAL = np.array([0.4, 0.1, 0.3], np.float32)
WEIGHT = 1e-3
THREADS = 128


def compile_fused(robot: RobotHandle, arch: str) -> ObjectCode:
    """Compile fused.cu with the robot's header, for ``sm_90`` or another architecture."""
    text = grid_core.generate_header(
        robot.model, floating_base=robot.floating_base, algorithm_list=ALGORITHMS, dtype="float32"
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "grid.cuh").write_text(text, encoding="utf-8")
        options = ProgramOptions(std="c++17", arch=arch, include_path=folder)
        return Program(SOURCE.read_text(encoding="utf-8"), "c++", options).compile("cubin")


def expected_cost(
    robot: RobotHandle, q: NDArray[Any], qd: NDArray[Any], u: NDArray[Any]
) -> NDArray[Any]:
    """Return the cost by the handle's operations, in float64, shape (B,)."""
    qdd = robot.forward_dynamics(q, qd, u)
    positions = robot.end_effector_pose(q).reshape(len(q), -1, 6)[:, :, :3]
    distance = ((positions - GOAL) ** 2).sum(axis=(1, 2))
    return np.asarray(distance + WEIGHT * (qdd**2).sum(axis=1))


def run_fused(code: ObjectCode, device: Device, blocks: NDArray[np.float32]) -> NDArray[Any]:
    """Return the cost of each input block, shape (B,)."""
    stream, pinned = device.create_stream(), LegacyPinnedMemoryResource()
    problems = len(blocks)
    host, card = [], []
    for array in (np.zeros(problems, np.float32), blocks, GOAL):
        buffer = pinned.allocate(array.nbytes, stream=stream)
        np.from_dlpack(buffer).view(np.float32)[:] = array.reshape(-1)
        host.append(buffer)
        card.append(device.memory_resource.allocate(array.nbytes, stream=stream))
        buffer.copy_to(card[-1], stream=stream)
    config = LaunchConfig(grid=-(-problems // THREADS), block=THREADS)
    kernel = code.get_kernel("fused_cost")
    launch(stream, config, kernel, *card, np.float32(WEIGHT), np.int32(problems))
    card[0].copy_to(host[0], stream=stream)
    stream.sync()
    cost = np.from_dlpack(host[0]).view(np.float32).copy()
    for buffer in (*card, *host):
        buffer.close(stream)
    stream.close()
    return cost


def main() -> int:
    """Compare, and say how far apart the two are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot", nargs="?", default="iiwa14", help="a URDF, iiwa14 or go2")
    parser.add_argument("--floating", action="store_true", help="let the root link move freely")
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--compile-only", metavar="ARCH", help="compile, and run nothing")
    given = parser.parse_args()
    path = asset_path(given.robot) if given.robot in asset_names() else given.robot
    robot = grid_core.load_robot(path, floating_base=given.floating, backend="cpu", dtype="float64")
    if given.compile_only:
        code = compile_fused(robot, given.compile_only)
        print(f"{robot.name}: {len(code.code):,} bytes for {given.compile_only}")
        return 0
    device = Device()
    device.set_current()
    code = compile_fused(robot, f"sm_{device.arch}")
    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, batch=given.problems)
    qd, u = rng.standard_normal((2, given.problems, robot.nv))
    # float32 is what the kernel reads, so that is what both are given.
    blocks = pack_q_qd_u(q, qd, u, model=robot).astype(np.float32)
    exact = [array.astype(np.float32).astype(np.float64) for array in (q, qd, u)]
    cost, expected = run_fused(code, device, blocks), expected_cost(robot, *exact)
    worst = float(np.max(np.abs(cost - expected) / expected))
    print(f"{given.problems:,} problems, worst relative difference: {worst:.1e}")
    return 0 if worst < 1e-3 else 1


if __name__ == "__main__":
    raise SystemExit(main())
