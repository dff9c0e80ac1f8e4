"""What the times were taken on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from grid_core.cores import available_cores

__all__ = ["machine", "versions"]

_PACKAGES = (
    "grid-robotics",
    "numpy",
    "llvmlite",
    "pin",
    "cuda-python",
    "cuda-bindings",
    "cuda-core",
    "nvidia-cuda-nvrtc",
    "torch",
    "grid-rbd",
)
"""Distributions whose versions matter to a time."""


def machine() -> dict[str, Any]:
    """Return processor, cores and load, as JSON has them."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": available_cores(),
        "logical_cores": os.cpu_count(),
        "load_average": load,
        "system": platform.platform(),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.processor() or "unknown processor"
