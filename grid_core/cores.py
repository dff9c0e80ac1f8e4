"""How many physical cores this process may use."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["available_cores"]

_TOPOLOGY = Path("/sys/devices/system/cpu")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def available_cores() -> int:
    """Return the physical cores among the CPUs that the process may run on, at least 1.

    Two hardware threads of one core count once. A container's CPU quota counts as well.
    """
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cpus = os.sched_getaffinity(0)
    cores = {_siblings(cpu) for cpu in cpus}
    return max(1, min(len(cores), _quota() or len(cores)))


def _siblings(cpu: int) -> str:
    """Return which hardware threads share the core of one, as the kernel lists them."""
    try:
        return (_TOPOLOGY / f"cpu{cpu}/topology/thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)


def _quota() -> int | None:
    """Return the CPUs that the control group allows, rounded up; None without a limit."""
    try:
        quota, period = _QUOTA.read_text().split()
        return None if quota == "max" else -(-int(quota) // int(period))
    except (OSError, ValueError):
        return None
