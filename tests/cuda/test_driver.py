"""What is missing to run on a GPU, and what is said about it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from cuda.bindings import driver as bindings
from cuda.bindings import nvrtc

import grid_core
from grid_backend_cuda import compiler, driver
from grid_backend_cuda.plugin import CudaBackend
from grid_core.errors import BackendError, BackendUnavailable
from tests.plugins.builders import ARM

if TYPE_CHECKING:
    from collections.abc import Iterator


class FakeDriver:
    """Answers as libcuda does."""

    def __init__(self, status: int = 0, version: int = 13000, devices: int = 1) -> None:
        self.status, self.version, self.devices = status, version, devices

    def cuInit(self, _: int) -> int:  # noqa: N802 - its name
        return self.status

    def cuDriverGetVersion(self, number: Any) -> int:  # noqa: N802 - its name
        number._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, number: Any) -> int:  # noqa: N802 - its name
        number._obj.value = self.devices
        return 0


@pytest.fixture(autouse=True)
def _ask_anew() -> Iterator[None]:
    driver.unavailable.cache_clear()
    driver.driver.cache_clear()
    yield
    driver.unavailable.cache_clear()
    driver.driver.cache_clear()


def reason(monkeypatch: pytest.MonkeyPatch, found: FakeDriver) -> str | None:
    monkeypatch.setattr(driver, "_driver_library", lambda: found)
    return CudaBackend().unavailable()


def test_no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver.importlib.util, "find_spec", lambda _: None)
    assert CudaBackend().unavailable() == (
        "the wheel cuda-bindings is not installed; pip install '.[cuda]'"
    )


def test_no_wheel_of_that_name_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(driver.importlib.util, "find_spec", missing)
    assert "cuda-bindings is not installed" in str(CudaBackend().unavailable())


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(driver, "_driver_library", absent)
    assert CudaBackend().unavailable() == (
        "no NVIDIA driver was found (libcuda.so.1: cannot open shared object file); "
        "install one of version 580 or newer"
    )


def test_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    for found in (FakeDriver(status=100), FakeDriver(devices=0)):
        driver.unavailable.cache_clear()
        assert reason(monkeypatch, found) == (
            "the NVIDIA driver sees no device; see nvidia-smi and CUDA_VISIBLE_DEVICES"
        )


def test_a_driver_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reason(monkeypatch, FakeDriver(status=999)) == (
        "the NVIDIA driver did not start (error 999); see nvidia-smi"
    )


def test_a_driver_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    said = reason(monkeypatch, FakeDriver(version=12080))
    assert said is not None
    assert "it knows CUDA 12.8" in said
    assert "580 or newer" in said


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise BackendUnavailable("the compiler NVRTC was not found (X); pip install 'y'")

    monkeypatch.setattr(driver, "compiler_version", absent)
    assert reason(monkeypatch, FakeDriver()) == (
        "the compiler NVRTC was not found (X); pip install 'y'"
    )


def test_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reason(monkeypatch, FakeDriver()) is None


def test_the_compilers_absence_is_an_error_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise RuntimeError("libnvrtc.so.13 not found")

    compiler._nvrtc.cache_clear()
    monkeypatch.setattr(nvrtc, "nvrtcVersion", broken)
    with pytest.raises(BackendUnavailable, match=r"NVRTC was not found .*pip install") as caught:
        compiler.compiler_version()
    assert isinstance(caught.value.__cause__, RuntimeError)
    compiler._nvrtc.cache_clear()


def test_asking_for_the_backend_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_driver_library", lambda: FakeDriver(status=100))
    with pytest.raises(BackendUnavailable, match=r"backend 'cuda' cannot run here: the NVIDIA"):
        grid_core.load_robot(urdf_string=ARM, backend="cuda")
    assert grid_core.load_robot(urdf_string=ARM).backend == "cpu"


def test_a_failed_call_is_named_with_its_place() -> None:
    class Status:
        value, name = 2, "CUDA_ERROR_OUT_OF_MEMORY"

    patched = pytest.MonkeyPatch()
    patched.setattr(bindings, "cuGetErrorString", lambda _: (0, b"out of memory"), raising=False)
    with patched.context(), pytest.raises(BackendError) as caught:
        driver.check((Status(), None), "launching grid_x on device 0")
    patched.undo()
    assert str(caught.value) == (
        "launching grid_x on device 0: the CUDA driver says CUDA_ERROR_OUT_OF_MEMORY "
        "(out of memory)"
    )


def test_results_of_calls_are_unpacked() -> None:
    class Fine:
        value = 0

    assert driver.check((Fine(),), "x") == []
    assert driver.check((Fine(), 3), "x") == 3
    assert driver.check((Fine(), 3, 4), "x") == [3, 4]


def test_a_machine_without_a_gpu_imports_nothing_of_cuda() -> None:
    code = (
        "import sys, grid_core\n"
        "from grid_backend_cuda import driver\n"
        "def absent(): raise OSError('gone')\n"
        "driver._driver_library = absent\n"
        "before = set(sys.modules)\n"
        "assert not any(m.startswith(('cuda', 'jinja2')) for m in before), before\n"
        f"robot = grid_core.load_robot(urdf_string={ARM!r})\n"
        "found = [m for m in sys.modules if m.startswith(('cuda.', 'jinja2'))]\n"
        "assert robot.backend == 'cpu' and not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_importing_grid_imports_no_backend() -> None:
    code = (
        "import sys, grid_core\n"
        "found = [m for m in sys.modules if m.startswith(('grid_backend', 'cuda', 'llvmlite'))]\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
