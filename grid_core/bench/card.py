"""The GPU that times were taken on, and the floor that it sets to a time."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Card", "read_card"]

L2_BYTES = 60 << 20
"""Where PyTorch does not say how large the cache is."""
COPY_BYTES = 1 << 30
LANES = {(8, 0): (64, 32), (9, 0): (128, 64), (10, 0): (128, 64)}
"""Fused multiply-adds a multiprocessor issues a clock, float32 and float64, by capability."""
OTHER_LANES = (128, 2)


@frozen(kw_only=True)
class Card:
    """What is asked of a card once a run."""

    name: str
    driver: str
    l2_bytes: int
    copy_rate: float
    """Bytes read and written a second by a copy from device memory to device memory."""
    issue_rates: dict[str, float]
    """Fused multiply-adds a second at the highest clock, by dtype; empty: unknown."""

    def floor(self, moved: int, fused: int, dtype: str) -> float:
        """Return the least time of one evaluation [ns].

        Args:
            moved: bytes of its inputs and outputs.
            fused: instructions, a multiplication and an addition in one.
            dtype: precision.
        """
        rate = self.issue_rates.get(dtype)
        return 1e9 * max(moved / self.copy_rate, fused / rate if rate else 0.0)

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "name": self.name,
            "driver": self.driver,
            "l2_bytes": self.l2_bytes,
            "copy_bytes_per_s": self.copy_rate,
            "fused_per_s": self.issue_rates,
        }


def read_card(torch: Any, index: int, events: Callable[[Callable[[], object], int], float]) -> Card:
    """Ask PyTorch and ``nvidia-smi``, and time a copy.

    Args:
        torch: the module.
        index: number of the device.
        events: seconds that so many runs take on the device.
    """
    properties = torch.cuda.get_device_properties(index)
    driver, clock = _smi(index)
    capability = (int(properties.major), int(properties.minor))
    lanes = LANES.get(capability, OTHER_LANES)
    per_lane = properties.multi_processor_count * clock
    rates = dict(zip(("float32", "float64"), (n * per_lane for n in lanes), strict=True))
    return Card(
        name=str(properties.name),
        driver=driver,
        l2_bytes=int(getattr(properties, "L2_cache_size", 0)) or L2_BYTES,
        copy_rate=_copy_rate(torch, index, events),
        issue_rates=rates if clock else {},
    )


def _copy_rate(
    torch: Any, index: int, events: Callable[[Callable[[], object], int], float]
) -> float:
    size = COPY_BYTES
    source = torch.zeros(size // 4, dtype=torch.float32, device=f"cuda:{index}")
    target = torch.zeros_like(source)

    def copy() -> None:
        target.copy_(source)

    events(copy, 5)
    return 2 * size / statistics.median(events(copy, 5) / 5 for _ in range(9))


def _smi(index: int) -> tuple[str, float]:
    """Return the driver's version and the highest clock of the multiprocessors [Hz]; 0: unknown."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return "unknown", 0.0
    query = "--query-gpu=driver_version,clocks.max.sm"
    command = [program, "-i", str(index), query, "--format=csv,noheader,nounits"]
    try:
        text = subprocess.run(  # noqa: S603 - the driver's own program
            command, capture_output=True, text=True, timeout=30, check=True
        ).stdout
        driver, clock = text.strip().splitlines()[0].split(",")
        return driver.strip(), 1e6 * float(clock)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return "unknown", 0.0
