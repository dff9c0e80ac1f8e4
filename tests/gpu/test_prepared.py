"""Artifacts built for GPUs and loaded on one, in a process that has no compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grid_core
from grid_backend_cuda.driver import card
from grid_core.assets import asset_path
from grid_core.errors import OperationNotLoaded

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).resolve().parents[2]
BATCH = 5003


def _with_root() -> str:
    """What is on the path already says which plugins there are."""
    return os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


def build(place: Path, robot: str = "iiwa14", **options: Any) -> Any:
    given = {
        "floating_base": robot == "go2",
        "backends": "cuda",
        "architectures": [card(0).arch],
        "algorithm_list": ["forward_dynamics", "inverse_dynamics", "crba", "frame_jacobian"],
        **options,
    }
    return grid_core.build_artifact(asset_path(robot), place, **given)


def states(robot: Any, batch: int = BATCH) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng()
    q = robot.random_configuration(rng, batch)
    qd, u = rng.standard_normal((2, batch, robot.nv)).astype(robot.dtype)
    return q, qd, u


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("robot", ["iiwa14", "go2"])
def test_it_computes_the_same_bits(tmp_path: Path, robot: str, dtype: str) -> None:
    frame = {"iiwa14": "iiwa_link_3", "go2": "FL_foot"}[robot]
    calls = {"inverse_dynamics": {"f_ext": True}, "frame_jacobian": {"frame": frame}}
    ours = build(tmp_path / "a", robot, dtype=dtype, calls=calls).load()
    theirs = grid_core.load_robot(
        asset_path(robot), floating_base=robot == "go2", backend="cuda", dtype=dtype
    )
    assert (ours.backend, ours.target) == ("cuda", card(0).arch)
    q, qd, u = states(theirs)
    f_ext = np.random.default_rng().standard_normal((BATCH, theirs.nb, 6)).astype(dtype)
    for call in (
        lambda r: r.forward_dynamics(q, qd, u),
        lambda r: r.forward_dynamics(q[0], qd[0], u[0], gravity=-1.6),
        lambda r: r.inverse_dynamics(q, qd),
        lambda r: r.inverse_dynamics(q, qd, u),
        lambda r: r.inverse_dynamics(q, qd, f_ext=f_ext),
        lambda r: r.crba(q),
        lambda r: r.frame_jacobian(q),
        lambda r: r.frame_jacobian(q, frame),
    ):
        np.testing.assert_array_equal(call(ours), call(theirs))
    with pytest.raises(OperationNotLoaded, match="was not prepared"):
        ours.forward_dynamics(q, qd, u, f_ext)
    ours.close()


def test_ptx_runs_where_there_is_no_machine_code(tmp_path: Path) -> None:
    """An older generation's PTX, finished by the driver."""
    if int(card(0).arch[3:]) < 90:
        pytest.skip("this device is of the oldest generation")
    ours: Any = build(tmp_path / "a", architectures="sm_80").load(backend="cuda")
    assert ours.target == "sm_80"
    theirs = grid_core.load_robot(asset_path("iiwa14"), backend="cuda")
    q, qd, u = states(theirs)
    np.testing.assert_allclose(
        ours.forward_dynamics(q, qd, u), theirs.forward_dynamics(q, qd, u), rtol=1e-3, atol=1e-2
    )


def test_tensors_stay_on_the_device(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    ours = build(tmp_path / "a").load()
    host = states(ours)
    given = [torch.from_numpy(x).cuda() for x in host]
    got = ours.forward_dynamics(*given)
    assert got.is_cuda
    np.testing.assert_array_equal(got.cpu().numpy(), ours.forward_dynamics(*host))


ALONE = """
import importlib.abc, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("lxml", "jinja2", "llvmlite") or "nvrtc" in name:
            raise ImportError(f"{name} is not here")
        return None

sys.meta_path.insert(0, Refuse())
import numpy as np
import grid_core

robot = grid_core.load_artifact(sys.argv[1], backend="cuda")
states = np.load(sys.argv[2])
np.save(sys.argv[3], robot.forward_dynamics(*states))
loaded = [m for m in sys.modules if m.split(".")[0] in ("lxml", "jinja2") or "nvrtc" in m]
print(robot.target, loaded)
"""


def test_it_runs_without_nvrtc_jinja2_or_lxml(tmp_path: Path) -> None:
    """D39: in a process where importing any of them raises."""
    made = build(tmp_path / "a")
    robot = made.load()
    q, qd, u = states(robot)
    np.save(tmp_path / "in.npy", np.stack([q, qd, u]))
    out = tmp_path / "out.npy"
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(made.directory), str(tmp_path / "in.npy"), str(out)],
        env={**os.environ, "PYTHONPATH": _with_root(), "GRID_CACHE_DIR": str(tmp_path / "unused")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{card(0).arch} []"
    assert not (tmp_path / "unused").exists()
    np.testing.assert_array_equal(np.load(out), robot.forward_dynamics(q, qd, u))


def test_both_halves_agree(tmp_path: Path) -> None:
    build(tmp_path / "a", backends=["cpu", "cuda"], dtype="float64")
    gpu = grid_core.load_artifact(tmp_path / "a")
    cpu = grid_core.load_artifact(tmp_path / "a", backend="cpu")
    assert (gpu.backend, cpu.backend) == ("cuda", "cpu")
    q, qd, u = states(cpu)
    expected = cpu.forward_dynamics(q, qd, u)
    size = np.linalg.norm(expected, axis=1, keepdims=True)
    assert (abs(gpu.forward_dynamics(q, qd, u) - expected) <= 1e-10 * size).all()
