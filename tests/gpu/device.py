"""Code that NVRTC made of a text, loaded on the first GPU and launched on arrays of the host."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
from cuda.core import Program, ProgramOptions

from grid_backend_cuda.driver import card, check, driver, use

if TYPE_CHECKING:
    from collections.abc import Sequence

_KINDS = {"float32": ctypes.c_float, "float64": ctypes.c_double, "int32": ctypes.c_int}


class Module:
    """The kernels of one text.

    Args:
        text: CUDA C++.
        names: kernels by what C++ calls them; templates with their arguments.
    """

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self._card = card(0)
        options = ProgramOptions(std="c++17", arch=self._card.arch)
        made = Program(text, "c++", options).compile("cubin", name_expressions=tuple(names))
        cu, code = driver(), bytes(made.code)
        with use(self._card):
            self._module = check(cu.cuModuleLoadData(code), "loading the header's kernels")
            self._kernels = {
                name: check(cu.cuModuleGetFunction(self._module, made.symbol_mapping[name]), name)
                for name in names
            }

    def __call__(self, name: str, blocks: int, threads: int, *arguments: Any) -> None:
        """Launch and wait; arrays are copied to the GPU and back, into themselves.

        Args:
            name: the kernel.
            blocks: of the grid.
            threads: of a block.
            arguments: NumPy arrays for pointers, NumPy scalars for numbers.
        """
        cu, values, kinds, copies = driver(), [], [], []
        with use(self._card):
            try:
                for argument in arguments:
                    if isinstance(argument, np.ndarray):
                        assert argument.flags.c_contiguous
                        at = int(check(cu.cuMemAlloc(max(argument.nbytes, 16)), name))
                        copies.append((argument, at))
                        data = argument.ctypes.data
                        if argument.nbytes:
                            check(cu.cuMemcpyHtoD(at, data, argument.nbytes), name)
                        values.append(at)
                        kinds.append(ctypes.c_void_p)
                    else:
                        values.append(argument.item())
                        kinds.append(_KINDS[argument.dtype.name])
                shape = (blocks, 1, 1, threads, 1, 1, 0, 0)
                packed = (tuple(values), tuple(kinds))
                check(cu.cuLaunchKernel(self._kernels[name], *shape, packed, 0), name)
                check(cu.cuCtxSynchronize(), name)
                for array, at in copies:
                    if array.flags.writeable and array.nbytes:
                        check(cu.cuMemcpyDtoH(array.ctypes.data, at, array.nbytes), name)
            finally:
                for _, at in copies:
                    cu.cuMemFree(at)

    def close(self) -> None:
        """Unload."""
        with use(self._card):
            check(driver().cuModuleUnload(self._module), "unloading")
