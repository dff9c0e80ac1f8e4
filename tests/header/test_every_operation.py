"""All operations that there are: what each reads of the input block."""

from __future__ import annotations

import re

import numpy as np

import grid_core
from grid_core.plugins import plugin_manager
from tests.header.headers import library, pointer
from tests.support.robots import HAND_MADE

NAMES = re.compile(r"^GRID_FN void (\w+)_(thread|timestep)\((.*)\)$", re.MULTILINE)
POINTER = re.compile(r"(const )?real\* GRID_RESTRICT (\w+)")
SLOTS = {"q": "Q", "qd": "QD", "u": "U", "qdd": "QDD"}
ROOM = 1 << 16
"""Numbers of any one array, and more."""

CHECK = """
extern "C" int {name}(const double* block, const double* tight)
{{
    static double a[{outputs}][{room}], b[{outputs}][{room}], own[{room}];
    std::memset(a, 0x5a, sizeof(a));
    std::memset(b, 0x5a, sizeof(b));
    for (int k = 0; k < {room}; ++k) own[k] = 0.25 + k % 7;
    const double *q = tight, *qd = q + grid::NUM_POS, *u = qd + grid::NUM_VEL, *qdd = u;
    (void)block, (void)own, (void)q, (void)qd, (void)u, (void)qdd;
    grid::{name}_timestep({timestep});
    grid::{name}_thread({thread});
    return std::memcmp(a, b, sizeof(a)) == 0;
}}
"""


def test_every_operation_reads_the_block_at_its_slots() -> None:
    """A6, A7: whatever takes q, qd and u or qdd takes them from there, and reads no pad."""
    every = tuple(plugin_manager().algorithms.claims)
    text = grid_core.generate_header(
        urdf_string=HAND_MADE["one_body"].source(),
        floating_base=True,
        dtype="float64",
        algorithm_list=every,
    )
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for name, scope, parameters in NAMES.findall(text):
        found.setdefault(name, {})[scope] = POINTER.findall(parameters)
    assert set(found) == set(every)
    source = '#include "grid.cuh"\n#include <cstring>\n'
    for name, scopes in found.items():
        outputs = [word for const, word in scopes["thread"] if not const]
        inputs = [word for const, word in scopes["thread"] if const]
        apart = [word for const, word in scopes["timestep"] if const and word != "s_q_qd_u"]
        slotted = [word for word in inputs if word not in apart]
        assert set(slotted) <= set(SLOTS), name
        # u and qdd share a slot, so that of an operation that takes both one comes by itself.
        assert not {"q", "qd"} & set(apart), name
        assert not set(SLOTS) & set(apart) or {"u", "qdd"} <= set(inputs), name
        body = text[text.index(f"{name}_timestep(") :]
        for word in slotted:
            line = f"const real* s_{word} = &s_q_qd_u[GRID_{SLOTS[word]}_OFFSET];"
            assert line in body[: body.index("\n}")], name
        source += CHECK.format(
            name=name,
            outputs=len(outputs),
            room=ROOM,
            timestep=", ".join(
                [f"a[{k}]" for k in range(len(outputs))]
                + ["block"] * bool(slotted)
                + ["own"] * len(apart)
            ),
            thread=", ".join(
                [f"b[{k}]" for k in range(len(outputs))]
                + ["own" if word in apart else word for word in inputs]
            ),
        )
    lib = library(text, source)
    rng = np.random.default_rng()
    q, qd, u = rng.normal(size=7), rng.normal(size=6), rng.normal(size=6)
    q[3:] /= np.linalg.norm(q[3:])
    block = np.concatenate([q, qd, [np.nan], u, [np.nan]])
    tight = np.concatenate([q, qd, u])
    for name in found:
        assert getattr(lib, name)(pointer(block), pointer(tight)), name
