"""Robots of many limbs, made up: what their kernels' parts compute, and that a text is one text.

Limbs are alike, mirror images, of other masses, of another kind of joint, in any order in the
document; they hang from the base or from a trunk, and may have joints that follow others.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from attrs import evolve, frozen

from grid_backend_cuda.build import Source, kernel_source
from grid_backend_cuda.emit import Real
from grid_backend_cuda.mapping import map_split
from grid_backend_cuda.render import kernel_name, render
from grid_backend_cuda.settling import settled_regions
from grid_core.algorithm import Options
from grid_core.model import load_urdf_string
from grid_core.program.alike import teams
from grid_core.program.trace import trace
from grid_core.testing.inputs import random_inputs
from tests.cuda.kernels import Host, pointer
from tests.cuda.test_arithmetic import (
    _STORE,
    LANES,
    compare,
    pointers,
    results_of,
    split_functions,
    tile_of,
    uniforms,
    unstaged,
)
from tests.program.operations import operation
from tests.support import urdf
from tests.support.evaluate import ALGORITHMS

if TYPE_CHECKING:
    from grid_core.model.types import RobotModel

_PAIR = "struct float2 { float x, y; };\n"
_MIRROR = np.diag([1.0, -1.0, 1.0])
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, -0.4, 1.2))


@frozen
class Limbs:
    """A robot: limbs that are alike but for what is said."""

    count: int
    kinds: tuple[str, ...]
    odd: str = "mirror"
    """What every other limb is: a mirror image, of other masses, or with a last joint that
    slides."""
    trunk: int = 0
    """Joints between the base and what the last limbs hang from."""
    floating: bool = True
    follows: bool = False
    """Whether the last joint of each limb follows its first."""
    order: tuple[int, ...] = ()
    """Limbs in the order of the document."""

    def load(self) -> RobotModel:
        """Return the model."""
        rng = np.random.default_rng(7)
        elements, base = [urdf.random_link("base", rng)], "base"
        for k in range(self.trunk):
            elements += [
                urdf.random_link(f"trunk{k}", rng),
                urdf.joint(f"waist{k}", "revolute", base, f"trunk{k}", xyz=(0, 0, 0.2), axis=_Z),
            ]
            base = f"trunk{k}"
        bodies = [_Body.random(kind, k, rng) for k, kind in enumerate(self.kinds)]
        limbs = [self._limb(n, base, bodies) for n in range(self.count)]
        for n in self.order or range(self.count):
            elements += limbs[n]
        return load_urdf_string(urdf.robot("limbs", *elements), floating_base=self.floating)

    def _limb(self, number: int, top: str, bodies: list[_Body]) -> list[str]:
        parent = top if number >= self.count - 2 else "base"
        elements = []
        for k, body in enumerate(bodies):
            last = k == len(bodies) - 1
            own = body.other(self.odd, last=last) if number % 2 else body
            if k == 0:
                own = evolve(own, xyz=own.xyz + np.array([0.2 * number, 0.0, 0.0]))
            name = f"limb{number}_{k}"
            elements += [
                urdf.link(name, own.mass, own.com, own.inertia),
                urdf.joint(
                    f"{name}_joint",
                    own.kind,
                    parent,
                    name,
                    xyz=own.xyz,
                    axis=None if own.kind == "spherical" else own.axis,
                    pitch=0.07 if own.kind == "helical" else None,
                    mimic=(f"limb{number}_0_joint", -0.7, 0.1) if self.follows and last else None,
                ),
            ]
            parent = name
        return elements


_Z = (0.0, 0.0, 1.0)


@frozen(eq=False)
class _Body:
    """A body of a limb and the joint above it."""

    kind: str
    axis: tuple[float, float, float]
    xyz: Any
    mass: float
    com: Any
    inertia: Any

    @classmethod
    def random(cls, kind: str, number: int, rng: np.random.Generator) -> _Body:
        spread = rng.normal(size=(3, 3))
        second = 0.02 * (spread @ spread.T + 0.1 * np.eye(3))
        inertia = np.trace(second) * np.eye(3) - second
        xyz, com = rng.normal(size=3) * 0.3, rng.normal(size=3) * 0.1
        return cls(kind, _AXES[number % 3], xyz, rng.uniform(0.3, 3.0), com, inertia)

    def other(self, odd: str, *, last: bool) -> _Body:
        if odd == "mass":
            return evolve(self, mass=1.7 * self.mass, inertia=1.3 * self.inertia)
        if odd == "kind":
            return evolve(self, kind="prismatic") if last else self
        x, y, z = self.axis
        return evolve(
            self,
            axis=(x, -y, z),
            xyz=_MIRROR @ self.xyz,
            com=_MIRROR @ self.com,
            inertia=_MIRROR @ self.inertia @ _MIRROR,
        )


HEXAPOD = Limbs(6, ("revolute", "revolute"))
OCTOPOD = Limbs(8, ("revolute", "prismatic"), odd="mass", order=(3, 0, 7, 1, 6, 2, 5, 4))
ARMS = Limbs(4, ("continuous", "helical", "revolute"), trunk=2, floating=False)
BALLS = Limbs(4, ("spherical", "revolute"), odd="kind")
FOLLOWERS = Limbs(4, ("revolute", "continuous", "revolute"), follows=True)
CASES = [
    (HEXAPOD, "inverse_dynamics_gradient", ("qdd",), "float32"),
    (OCTOPOD, "inverse_dynamics", ("qdd", "f_ext"), "float64"),
    (OCTOPOD, "crba", (), "float32"),
    (ARMS, "forward_dynamics", ("f_ext",), "float64"),
    (BALLS, "inverse_dynamics_vjp", (), "float64"),
    (FOLLOWERS, "nonlinear_effects", (), "float64"),
]


def split(limbs: Limbs, name: str, present: tuple[str, ...], dtype: str) -> Source:
    """The operation, split whether that is worth it or not."""
    asked = operation(limbs.load(), name, present, dtype=dtype)
    program, real = trace(asked, even_signs=True), Real(dtype)
    mapping = map_split(program, real, "sm_90")
    assert mapping is not None
    text = render(program, real, mapping)
    return Source(program, real, mapping, kernel_name(program), text)


@pytest.mark.parametrize(("limbs", "name", "present", "dtype"), CASES)
def test_limbs_of_every_sort_compute_what_the_program_says(
    limbs: Limbs, name: str, present: tuple[str, ...], dtype: str, tmp_path: Path
) -> None:
    """In three orders of the parts within a phase."""
    source = split(limbs, name, present, dtype)
    mapping: Any = source.mapping
    called, functions, kept = split_functions(source, mapping)
    signature = (
        "const real* tile, const real* uniform, real** outputs, real* result, real* hand, "
        "real* share, int lane"
    )
    host = Host(tmp_path, source.real, functions, signature, _PAIR + _STORE + kept)
    made = random_inputs(
        ALGORITHMS[name], limbs.load(), Options(), batch=LANES, present=present, seed=3
    )
    inputs = {
        k: float(np.asarray(v, dtype)) if isinstance(v, float) else v.astype(dtype)
        for k, v in made.items()
    }
    tile, uniform = tile_of(source, mapping, inputs), uniforms(source, inputs)
    workers = sorted({worker for worker, _ in called})
    ordinary: dict[str, Any] = {}
    for order in (workers, workers[::-1], [*workers[1::2], *workers[::2]]):
        result = np.full(LANES * max(1, sum(s.pitch for s in mapping.outputs if s)), np.nan, dtype)
        share, wide = np.full(mapping.share, np.nan, dtype), results_of(source)
        hand = np.full(LANES * max(1, mapping.split.num_slots), np.nan, dtype)
        for lane, phase, warp in itertools.product(
            range(LANES), range(mapping.split.phases), order
        ):
            host.function(called[warp, phase])(
                *map(pointer, (tile, uniform)),
                pointers(wide),
                *map(pointer, (result, hand, share)),
                lane,
            )
        got = wide | unstaged(source, mapping, result)
        if not ordinary:
            ordinary = got
            compare(source, got, inputs, 1e-4 if dtype == "float32" else 1e-10)
        for port, value in ordinary.items():
            np.testing.assert_array_equal(got[port], value)


@pytest.mark.parametrize("limbs", [HEXAPOD, OCTOPOD])
def test_pieces_of_alike_rows_can_all_be_written_as_the_first_is(limbs: Limbs) -> None:
    """One statement writes the rows of all places, in vectors: each has to begin with one."""
    mapping: Any = split(limbs, "inverse_dynamics_gradient", (), "float32").mapping
    staged = dict(zip(mapping.chunks, mapping.staged_chunks, strict=True))
    assert mapping.split.rows
    for rows, _ in mapping.split.rows:
        assert {staged[chunk] for chunk in rows.chunks} == {staged[rows.chunks[0]]}


@pytest.mark.parametrize("limbs", [HEXAPOD, OCTOPOD, BALLS])
def test_limbs_in_another_order_are_as_alike(limbs: Limbs) -> None:
    """The teams are as large, whatever stands first in the document."""
    sizes = []
    for turned in (0, 1):
        order = tuple(np.roll(range(limbs.count), turned))
        program = trace(
            operation(evolve(limbs, order=order).load(), "inverse_dynamics", ("qdd",)),
            even_signs=True,
        )
        found = teams(program, settled_regions(program))
        sizes.append(sorted(len(team.regions) for team in found))
    assert sizes[0] == sizes[1] != []


_ROOT = Path(__file__).parents[2]
_TEXT = """
from tests.cuda.test_alike_robots import HEXAPOD, digest
print(digest(HEXAPOD))
"""


def digest(limbs: Limbs) -> str:
    """Of the texts of a kernel that is gathered and of one that is split."""
    gathered = kernel_source(
        operation(limbs.load(), "forward_dynamics_gradient", dtype="float32"), "sm_90"
    ).text
    other = split(limbs, "crba", (), "float32").text
    return hashlib.sha256((gathered + other).encode()).hexdigest()


def test_the_text_does_not_depend_on_the_order_of_sets() -> None:
    """Two processes that hash names otherwise write the same kernels."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", _TEXT],
            cwd=_ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    ]
    assert runs[0] == runs[1]
