"""Loading kernels that were built ahead; imports neither NVRTC nor Jinja2."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grid_backend_cuda.driver import card, driver
from grid_backend_cuda.kernel import CudaKernel
from grid_backend_cuda.launch_data import Build, kernel_arguments
from grid_core.errors import BackendError
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grid_core.backend import BuildSettings, Operation, PreparedCode

__all__ = ["build_of", "choose_arch", "load", "usable_target"]

_ARCH = re.compile(r"sm_(\d+)(\d)([af]?)")


def usable_target(available: Mapping[str, Mapping[str, str]], settings: BuildSettings) -> str:
    """Return the architecture to load on the device.

    Raises:
        BackendUnavailable: no driver, or no such device.
        BackendError: none of the architectures is for the device.
    """
    driver()
    on = card(settings.device or 0)
    found = choose_arch(available, on.arch)
    if found is None:
        raise BackendError(
            f"device {on.index} ({on.name}) is {on.arch}, and there is code for "
            f"{listing(available)} only, whose PTX is no use on an older device; build it again "
            f"with architectures including {on.arch!r}"
        )
    return found


def choose_arch(available: Iterable[str], arch: str) -> str | None:
    """Return the best of some architectures for a device's; None: it runs none of them.

    Machine code runs on devices of the same generation that are not older, PTX on all that are
    not; ``sm_90a`` and its like on devices of that very number alone.
    """
    major, minor, _ = _numbers(arch)
    ranked = []
    for name in available:
        own_major, own_minor, suffix = _numbers(name)
        if (own_major, own_minor) > (major, minor):
            continue
        if suffix and (own_major, own_minor) != (major, minor):
            continue
        ranked.append((own_major == major, own_major, own_minor, suffix, name))
    return max(ranked)[-1] if ranked else None


def _numbers(arch: str) -> tuple[int, int, str]:
    found = _ARCH.fullmatch(arch)
    if found is None:
        raise BackendError(f"{arch!r} names no architecture; one is called like 'sm_90'")
    return int(found[1]), int(found[2]), found[3]


def load(
    operation: Operation, codes: Sequence[PreparedCode], target: str, settings: BuildSettings
) -> CudaKernel:
    """Load an operation onto the device: its machine code, or where that cannot be, its PTX."""
    on = card(settings.device or 0)
    kinds = {code.suffix: code for code in codes}
    _require_arguments(kinds["cubin"].launch, operation)
    ptx = kinds["ptx"].data
    native = _numbers(target)[0] == _numbers(on.arch)[0]
    code = kinds["cubin"].data if native else ptx + b"\0"
    return CudaKernel(operation, build_of(kinds["cubin"].launch, code), on, lambda: ptx)


def _require_arguments(launch: Mapping[str, Any], operation: Operation) -> None:
    """Refuse code whose arguments are not those that the operation's arrays would be."""
    if launch["arguments"] != kernel_arguments(build_of(launch, b""), operation):
        raise BackendError(
            f"{operation.algorithm.name}: its arrays, as they are declared, are not those that its "
            "kernel takes; build the artifact again"
        )


def build_of(launch: Mapping[str, Any], code: bytes) -> Build:
    """Return a build from a launch record and its code."""
    data: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in launch.items()}
    del data["arguments"]
    data["threads"] = data.pop("block_threads")
    data["problems"] = data.pop("block_problems")
    return Build(**data, code=code)
