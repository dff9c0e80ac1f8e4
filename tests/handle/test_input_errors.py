"""What is said of a wrong array, word for word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_core.errors import InputError
from tests.plugins.builders import load_arm

FIXED, FLOATING = load_arm(), load_arm(floating_base=True)


def said(robot: Any, *args: Any, **keywords: Any) -> str:
    with pytest.raises(InputError) as caught:
        robot.product(*args, **keywords)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def zeros(*shape: int) -> Any:
    return np.zeros(shape)


@pytest.mark.parametrize(
    ("q", "qd", "message"),
    [
        (zeros(3, 2), zeros(3, 3), "qd must be (B, nv=2); got (B, 3)"),
        (zeros(3, 1), zeros(3, 2), "q must be (B, nq=2); got (B, 1)"),
        (zeros(2), zeros(3), "qd must be (B, nv=2); got (3,)"),
        (
            zeros(3, 2),
            1.0,
            ("qd must be (B, nv=2); got (); 0 axes are neither one problem nor a batch of them"),
        ),
        (
            zeros(3, 4, 2),
            zeros(3, 2),
            (
                "q must be (B, nq=2); got (3, 4, 2); 3 axes are neither one "
                "problem nor a batch of them"
            ),
        ),
        (zeros(3, 2), zeros(4, 2), "qd must have the batch of q, B=3; got B=4"),
        (
            zeros(3, 2),
            zeros(2),
            ("qd must have the batch of q, B=3; got one problem without a batch axis"),
        ),
        (
            zeros(2),
            zeros(1, 2),
            ("qd must have the batch of q, one problem without a batch axis; got B=1"),
        ),
    ],
)
def test_a_wrong_shape(q: Any, qd: Any, message: str) -> None:
    assert said(FIXED, q, qd) == f"product: {message}"


def test_a_velocity_of_width_nq_is_told_what_is_meant() -> None:
    hint = "; velocity-like arrays are nv=8 wide, not nq=9"
    assert said(FLOATING, zeros(3, 9), zeros(3, 9)) == (
        f"product: qd must be (B, nv=8); got (B, 9){hint}"
    )
    assert said(FLOATING, zeros(9), zeros(9)) == f"product: qd must be (B, nv=8); got (9,){hint}"
    assert said(FLOATING, zeros(3, 9), zeros(3, 7)) == "product: qd must be (B, nv=8); got (B, 7)"


def test_a_matrix_port_is_checked_alike() -> None:
    q = zeros(3, 2)
    assert said(FIXED, q, q, zeros(3, 6, 2)) == (
        "product: f_ext must be (B, nb=2, 6); got (B, 6, 2)"
    )
    assert said(FIXED, q, q, zeros(3, 12)) == "product: f_ext must be (B, nb=2, 6); got (3, 12)"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([[None, 1]]), "must hold real numbers; got dtype object"),
        ([["1", "2"]], "must hold real numbers; got dtype <U1"),
        (np.zeros((1, 2), complex), "dtype complex128 (take its real part)"),
        (np.zeros((1, 2), bool), "must hold real numbers; got dtype bool"),
        (np.zeros((1, 2), "M8[s]"), "must hold real numbers; got dtype datetime64[s]"),
        ([[1, 2], [3]], "is no array of numbers: list does not convert"),
        ({"a": 1}, "must hold real numbers; got dtype object"),
    ],
)
def test_a_wrong_dtype_is_named(value: Any, message: str) -> None:
    text = said(FIXED, zeros(1, 2), value)
    assert text.startswith("product: qd ")
    assert message in text


@pytest.mark.parametrize(
    ("gravity", "message"),
    [
        (
            np.zeros(3),
            (
                "gravity is one number for the whole batch, as float(gravity); got an "
                "array of shape (3,)"
            ),
        ),
        (
            np.array(1.0),
            (
                "gravity is one number for the whole batch, as float(gravity); got an "
                "array of shape ()"
            ),
        ),
        (
            [0, 0, -9.81],
            ("gravity is one number for the whole batch, as float(gravity); got [0, 0, -9.81]"),
        ),
        (float("nan"), "gravity must be finite; got nan"),
        (np.float32("inf"), "gravity must be finite; got inf"),
        (1j, "gravity must be a real number; got 1j of type complex"),
        (np.complex64(1), "gravity must be a real number"),
        (True, "gravity must be a real number; got True of type bool"),
        (None, "gravity must be a real number; got None of type NoneType"),
        ("1", "gravity is one number for the whole batch, as float(gravity); got '1'"),
        (10**400, "gravity must be finite"),
    ],
)
def test_a_wrong_number_is_named(gravity: Any, message: str) -> None:
    assert message in said(FIXED, zeros(1, 2), zeros(1, 2), gravity=gravity)


class OnCuda:
    """As a CuPy array looks from outside."""

    __cuda_array_interface__: dict[str, Any] = {}  # noqa: RUF012
    shape = (1, 2)

    def __array__(self) -> Any:
        pytest.fail("a device array must not be copied behind the caller's back")


class OnRocm:
    """As a tensor with DLPack looks from outside."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (10, 0)


class Pinned:
    """Memory that the CPU reads too."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (3, 0)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones((1, 2), dtype)


class Needy:
    """As a PyTorch tensor that requires a gradient."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("use tensor.detach().numpy()")


def test_device_arrays_are_refused_by_name() -> None:
    assert said(FIXED, zeros(1, 2), OnCuda()) == (
        "product: qd is on a CUDA device (type OnCuda), and this handle computes on the CPU; "
        "pass a copy in host memory"
    )
    assert "qd is on DLPack device type 10 (type OnRocm)" in said(FIXED, zeros(1, 2), OnRocm())


def test_host_arrays_of_other_libraries_are_taken() -> None:
    assert FIXED.product(zeros(1, 2), Pinned(), gravity=1).tolist() == [[1.0, 1.0]]
    assert "does not convert (use tensor.detach().numpy())" in said(FIXED, zeros(1, 2), Needy())


def made_by_jax() -> Any:
    """What JAX passes to a function that it traces, by its class's name and module."""
    base = type("Tracer", (), {"__module__": "jax._src.core"})
    return type("DynamicJaxprTracer", (base,), {"shape": ()})()


def test_a_tracer_of_jax_is_told_to_stay_outside() -> None:
    what = "is a JAX tracer, and this operation cannot be traced by JAX; call it outside jit, grad"
    assert f"product: qd {what}" in said(FIXED, zeros(2), made_by_jax())
    assert f"product: gravity {what}" in said(FIXED, zeros(2), zeros(2), gravity=made_by_jax())


class OnMeta:
    """As a PyTorch tensor on the device `meta`."""

    device = "meta"

    def __dlpack_device__(self) -> tuple[int, int]:
        raise ValueError("Unknown device type meta for Dlpack")


class Wordy:
    """Does not convert, and says so at length."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("no\nbecause\nof reasons")


def test_a_device_without_a_number_is_named() -> None:
    assert "qd is on the device 'meta' (type OnMeta)" in said(FIXED, zeros(2), OnMeta())


def test_another_librarys_message_is_cut_to_its_first_line() -> None:
    assert said(FIXED, zeros(2), Wordy()).endswith("Wordy does not convert (no)")


def test_numbers_beyond_the_precision_are_refused() -> None:
    robot = load_arm(dtype="float32")
    assert said(robot, zeros(2), [1e300, 0.0]) == (
        "product: qd has numbers that are too large for float32; load the robot with "
        "dtype='float64', or mend them"
    )
    assert np.isnan(robot.product(zeros(2), [np.nan, np.inf])[0])
