"""Measure the errors that ``accuracy.md`` states: ``python docs/measure_accuracy.py``.

The compiled operations against the reference, on the same (rounded) random states, and sine and
cosine against long double.
"""

from __future__ import annotations

import click
import numpy as np

import grid_core
from grid_core.assets import asset_path

BATCH = 20_000
OPERATIONS = {
    "inverse_dynamics": 3,
    "generalized_gravity": 1,
    "crba": 1,
    "forward_dynamics": 3,
    "aba": 3,
    "minv": 1,
}
"""Operations and how many of q, qd, qdd (or u) they take."""

UNIT_PENDULUM = """
<robot name="pendulum"><link name="base"/>
  <link name="bob"><inertial><origin xyz="{com}"/><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="swing" type="continuous"><parent link="base"/><child link="bob"/>
    <axis xyz="0 1 0"/></joint></robot>
"""


def operations(robot: str, *, floating: bool) -> None:
    """Print norm-relative errors: |x - y| / |y| of each problem's output."""
    path = asset_path(robot)
    reference = grid_core.load_robot(path, floating_base=floating, backend="reference")
    rng = np.random.default_rng(1)
    q = reference.random_configuration(rng, BATCH)
    qd, x = rng.standard_normal((2, BATCH, reference.nv))
    condition = np.linalg.cond(reference.crba(q))
    click.echo(f"{robot}: cond(M) median {np.median(condition):.1e}, max {condition.max():.1e}")
    for dtype in ("float64", "float32"):
        handle = grid_core.load_robot(path, floating_base=floating, dtype=dtype)
        rounded = [array.astype(dtype) for array in (q, qd, x)]
        for name, count in OPERATIONS.items():
            got = getattr(handle, name)(*rounded[:count]).astype(np.float64)
            want = getattr(reference, name)(*[a.astype(np.float64) for a in rounded[:count]])
            got, want = got.reshape(BATCH, -1), want.reshape(BATCH, -1)
            error = np.linalg.norm(got - want, axis=1) / np.linalg.norm(want, axis=1)
            click.echo(f"  {dtype} {name:20} median {np.median(error):.1e} max {error.max():.1e}")


def trigonometry() -> None:
    """Print errors in units of the last place; a unit pendulum's weight is ± sin q or cos q."""
    for dtype in ("float64", "float32"):
        for com, function in (("0 0 1", np.sin), ("1 0 0", np.cos)):
            pendulum = grid_core.load_robot(
                urdf_string=UNIT_PENDULUM.format(com=com), dtype=dtype, num_threads=1
            )
            for bound in (np.pi, 1e3, 3e6, 1e14, 1e30):
                x = np.random.default_rng(2).uniform(-bound, bound, (10**6, 1)).astype(dtype)
                got = pendulum.generalized_gravity(x, gravity=-1.0)[:, 0].astype(np.longdouble)
                want = function(x[:, 0].astype(np.longdouble))
                error = np.abs(np.sign(got[0] * want[0]) * got - want)
                ulps = error / np.spacing(np.abs(want).astype(dtype))
                click.echo(f"{dtype} {function.__name__} to {bound:.3g} rad: {ulps.max():.2f} ulp")


if __name__ == "__main__":
    operations("iiwa14", floating=False)
    operations("go2", floating=True)
    trigonometry()
