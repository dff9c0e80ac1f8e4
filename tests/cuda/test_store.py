"""How rows leave shared memory: the kernels' own text, lane by lane on the host."""

from __future__ import annotations

import ctypes
import itertools
import re
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_backend_cuda.emit import Real
from grid_backend_cuda.render import render
from grid_backend_cuda.staged import Staged
from grid_backend_cuda.thread_mapping import map_threads
from tests.cuda.kernels import host_compiler
from tests.program.expressions import program_of

if TYPE_CHECKING:
    from pathlib import Path

CHUNKS = {
    # size, pitch, width, each: contiguous; padded; part of a longer row, by 4, 2 and 1 scalars
    "float32": [
        (7, 7, 7, 1),
        (49, 49, 49, 1),
        (98, 98, 98, 1),
        (16, 20, 16, 4),
        (64, 68, 648, 4),
        (8, 12, 648, 4),
        (70, 70, 2450, 2),
        (36, 36, 648, 4),
        (468, 468, 2340, 4),
        (35, 35, 1225, 1),
    ],
    "float64": [(7, 7, 7, 1), (98, 98, 98, 1), (64, 66, 648, 2), (130, 130, 2340, 2), (3, 3, 7, 1)],
}
ROWS = (1, 2, 16, 31, 32)
SHIM = """
#define __device__
#define __forceinline__ inline
#define __restrict__
typedef {real} real;
struct alignas(16) float4 {{ float x, y, z, w; }};
struct alignas(8) float2 {{ float x, y; }};
struct alignas(16) double2 {{ double x, y; }};
template <class T> static void __stcs(T* to, T value) {{ *to = value; }}
"""


def store_text(real: Real) -> str:
    """`grid_store` and what it needs, out of a rendered kernel."""
    program = program_of(lambda p: {"y": [p[0]]}, p=(1,))
    text = render(program, real, map_threads(program, real), robot="")
    begin, end = text.index("template <int n> struct grid_vector"), text.index('extern "C"')
    return text[begin:end]


@pytest.fixture(params=CHUNKS, scope="module")
def library(request: pytest.FixtureRequest, tmp_path_factory: Any) -> tuple[str, Any]:
    dtype, folder = request.param, tmp_path_factory.mktemp("store")
    real = Real(dtype)
    calls = [
        f'extern "C" void store{k}(real* to, const real* from, int rows, bool vectors)\n'
        f"{{ for (int lane = 0; lane < 32; ++lane) grid_store<{', '.join(map(str, chunk))}>"
        "(to, from, rows, lane, vectors); }"
        for k, chunk in enumerate(CHUNKS[dtype])
    ]
    return dtype, build(folder, "\n".join([SHIM.format(real=real.name), store_text(real), *calls]))


def build(folder: Path, text: str) -> Any:
    source, made = folder / "store.cpp", folder / "store.so"
    source.write_text(text, encoding="utf-8")
    command = [host_compiler(), "-std=c++17", "-O1", "-w", "-shared", "-fPIC", source, "-o", made]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(made))


def aligned(count: int, dtype: str, value: float) -> np.ndarray:
    """An array that begins on 16 bytes."""
    raw = np.empty(count * np.dtype(dtype).itemsize + 16, np.uint8)
    begin = -raw.ctypes.data % 16
    array = raw[begin : begin + count * np.dtype(dtype).itemsize].view(dtype)
    array[:] = value
    return array


def test_every_row_is_written_once_and_nothing_else(library: tuple[str, Any]) -> None:
    dtype, code = library
    for (k, chunk), rows, vectors in itertools.product(
        enumerate(CHUNKS[dtype]), ROWS, (True, False)
    ):
        size, pitch, width, _ = chunk
        tile = aligned(32 * pitch + size, dtype, np.nan)
        for row in range(32):
            tile[row * pitch : row * pitch + size] = row + np.arange(size) / 1024
        result = aligned(33 * width, dtype, -1.0)
        pointers = (ctypes.c_void_p(a.ctypes.data) for a in (result, tile))
        getattr(code, f"store{k}")(*pointers, rows, vectors)
        expected = np.full((33, width), -1.0, dtype)
        expected[:rows, :size] = np.arange(rows)[:, None] + np.arange(size) / 1024
        np.testing.assert_array_equal(
            result.reshape(33, width), expected, err_msg=f"{chunk} {rows} {vectors}"
        )


def test_chunks_are_laid_out_as_they_are_stored() -> None:
    """Each vector lies on its own boundary, and the vectors of a row are odd in number."""
    program = program_of(lambda p: {"y": [p[0] * (k + 2) for k in range(2340)]}, p=(3,))
    for dtype, most in (("float32", 4), ("float64", 2)):
        mapping = map_threads(program, Real(dtype))
        assert len(mapping.chunks) > 1
        for chunk, staged in zip(mapping.chunks, mapping.staged_chunks, strict=True):
            assert isinstance(staged, Staged)
            assert staged.each in {1, 2, most}
            assert all(n % staged.each == 0 for n in (staged.size, staged.pitch, chunk.first))
            assert staged.pitch // staged.each % 2 == 1
    assert re.search(
        r"grid_store<\d+, \d+, 2340, 4>",
        render(program, Real("float32"), map_threads(program, Real("float32"))),
    )
