"""What holds for every test: folders of their own, and GPU tests only where there is one."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests away from the user's build cache and registered robots."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRID_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("GRID_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m gpu``, import only files that have such tests: the others' needs may be absent."""
    if config.option.markexpr != "gpu" or collection_path.suffix != ".py":
        return None
    if not collection_path.name.startswith("test_"):
        return None
    return True if "mark.gpu" not in collection_path.read_text(encoding="utf-8") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a GPU where there is none; where it was asked for, say why."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    reason = _no_gpu() if marked else None
    if not reason:
        return
    if config.option.markexpr == "gpu":
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))
        return
    config.hook.pytest_deselected(items=marked)
    items[:] = [item for item in items if not item.get_closest_marker("gpu")]


def _no_gpu() -> str | None:
    """Ask the driver, which answers without any package."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver here"
    code = driver.cuInit(0)
    return f"the NVIDIA driver finds no GPU (cuInit: {code})" if code else None
