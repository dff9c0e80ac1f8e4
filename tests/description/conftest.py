"""Copies of the synthetic robots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.description.directories import R1400, R1420, copied

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def r1400(tmp_path: Path) -> Path:
    return copied(R1400, tmp_path)


@pytest.fixture
def r1420(tmp_path: Path) -> Path:
    return copied(R1420, tmp_path)
