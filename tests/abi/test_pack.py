"""Packing and unpacking of blocks; what a tight packing does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grid_core
from grid_core.abi import input_block, pack_q_qd_u, unpack_q_qd_u
from grid_core.errors import InputError
from tests.descriptor.robots import FIXTURES, model, path


def states(robot: Any, batch: int | None = None) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    shape = () if batch is None else (batch,)
    return tuple(rng.normal(size=(*shape, width)) for width in (robot.nq, robot.nv, robot.nv))


def tight(*arrays: np.ndarray, stride: int) -> np.ndarray:
    """What a caller who does not know of slots writes: q|qd|u, one after another."""
    block = np.zeros((len(arrays[0]), stride))
    packed = np.concatenate(arrays, axis=1)
    block[:, : packed.shape[1]] = packed
    return block


@pytest.mark.parametrize("name", FIXTURES)
@pytest.mark.parametrize("batch", [None, 0, 1, 5])
def test_round_trip(name: str, batch: int | None) -> None:
    """A2, A4: what was packed comes back, for any batch."""
    given_ = states(model(name), batch)
    block = pack_q_qd_u(*given_, model=model(name))
    for array, back in zip(given_, unpack_q_qd_u(block, model(name)), strict=True):
        assert np.array_equal(array, back)


def test_timestep_k_starts_at_k_strides() -> None:
    """A2: in memory, one block follows another."""
    robot = model("floating")
    q, qd, u = states(robot, 4)
    block = pack_q_qd_u(q, qd, u)
    assert block.flags.c_contiguous
    table = input_block(robot)
    flat = block.ravel()
    assert flat.size == table.size(4)
    for k in range(4):
        for slot, array in zip(table.slots, (q, qd, u, u), strict=True):
            start = k * table.stride + slot.offset
            assert np.array_equal(flat[start : start + slot.width], array[k])


@pytest.mark.parametrize("name", ["fixed_arm", "screw", "mimic_chain", "fixed_leaf"])
def test_a_tight_packing_is_the_block_on_a_fixed_base(name: str) -> None:
    """A8: without quaternions the mistake cannot be seen."""
    given_ = states(model(name), 3)
    block = pack_q_qd_u(*given_)
    assert np.array_equal(block, tight(*given_, stride=block.shape[1]))


@pytest.mark.parametrize("name", ["floating", "ball", "decomposed"])
def test_a_tight_packing_is_wrong_with_a_quaternion(name: str) -> None:
    """A8: u is then read one entry late, in bounds, and nothing traps."""
    robot = model(name)
    q, qd, u = states(robot, 3)
    wrong = tight(q, qd, u, stride=3 * robot.nq)
    back = unpack_q_qd_u(wrong, robot)
    assert np.array_equal(back.q, q)
    assert np.array_equal(back.qd, qd)
    assert np.array_equal(back.u[:, :-1], u[:, 1:])
    assert not np.array_equal(back.u, u)


def test_pads_are_zero_and_come_last() -> None:
    """A10: velocities fill the leading entries of their slot, for a base and a ball alike."""
    robot = model("ball", floating_base=True)
    block = pack_q_qd_u(*states(robot, 2))
    for slot in input_block(robot).slots[1:3]:
        pads = block[:, slot.offset + slot.width : slot.offset + robot.nq]
        assert pads.shape == (2, 2)
        assert not pads.any()


def test_pads_are_never_read() -> None:
    """A10: NaN in the pads does not come back."""
    robot = model("floating")
    block = pack_q_qd_u(*states(robot, 2))
    for slot in input_block(robot).slots[1:3]:
        block[:, slot.offset + slot.width : slot.offset + robot.nq] = np.nan
    assert not any(np.isnan(part).any() for part in unpack_q_qd_u(block, robot))


def test_identity_is_written_as_it_is() -> None:
    """A9, A11: translation, quaternion xyzw with identity [0, 0, 0, 1], then joints."""
    robot = model("floating")
    q = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.4, 0.5])
    qd = np.array([0.1, 0.2, 0.3, 1.1, 1.2, 1.3, 2.1, 2.2])
    block = pack_q_qd_u(q, qd, 10 * qd, model=robot)
    assert list(block[:9]) == list(q)
    assert list(block[9:18]) == [*qd, 0.0]
    assert list(block[18:]) == [*(10 * qd), 0.0]


@pytest.mark.parametrize("what", ["model", "handle", "block"])
def test_widths_come_from_a_model_handle_or_block(what: str) -> None:
    """A10, A14: whoever knows nq and nv will do."""
    robot = model("floating")
    given_ = states(robot, 2)
    sources: dict[str, Any] = {
        "model": robot,
        "handle": grid_core.load_robot(path("floating"), floating_base=True, backend="reference"),
        "block": input_block(robot),
    }
    block = pack_q_qd_u(*given_, model=sources[what])
    assert np.array_equal(block, pack_q_qd_u(*given_))
    assert np.array_equal(unpack_q_qd_u(block, sources[what]).u, given_[2])


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ((np.float32,) * 3, np.float32),
        ((np.float64,) * 3, np.float64),
        ((np.float32, np.float64, np.float32), np.float64),
        ((np.int64, np.int32, np.uint8), np.float64),
    ],
)
def test_precision(dtypes: tuple[Any, ...], expected: Any) -> None:
    arrays = [np.zeros((2, 3), dtype) for dtype in dtypes]
    assert pack_q_qd_u(*arrays).dtype == expected


def test_lists_will_do() -> None:
    assert list(pack_q_qd_u([1], [2], [3])) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((9,), (9,), (8,)), r"qd must be \(B, nv=8\) or \(nv=8,\); got \(9,\)"),
        (((9,), (8,), (9,)), r"u must be \(B, nv=8\) or \(nv=8,\); got \(9,\)"),
        (((8,), (8,), (8,)), r"q must be \(B, nq=9\) or \(nq=9,\); got \(8,\)"),
        (((2, 9), (3, 8), (2, 8)), r"one batch size.*q \(2, 9\), qd \(3, 8\), u \(2, 8\)"),
        (((2, 9), (8,), (2, 8)), "one batch size"),
        (((), (), ()), "one or two dimensions"),
        (((1, 1, 9), (1, 1, 8), (1, 1, 8)), "q must have one or two dimensions"),
    ],
)
def test_wrong_shapes_are_named(shapes: Any, message: str) -> None:
    """A14: a padded velocity is refused with the tangent width; nothing is padded or sliced."""
    with pytest.raises(InputError, match=message):
        pack_q_qd_u(*map(np.zeros, shapes), model=model("floating"))


def test_without_a_model_widths_must_still_agree() -> None:
    """A14: qd's width is the tangent width, and q is at least as wide."""
    with pytest.raises(InputError, match=r"u must be \(B, nv=8\)"):
        pack_q_qd_u(np.zeros(9), np.zeros(8), np.zeros(9))
    with pytest.raises(InputError, match="cannot be wider than q"):
        pack_q_qd_u(np.zeros(8), np.zeros(9), np.zeros(9))


@pytest.mark.parametrize("width", [0, 26, 28])
def test_wrong_blocks_are_named(width: int) -> None:
    """A2: a block of this robot has 3 NUM_POS entries."""
    with pytest.raises(InputError, match=r"q_qd_u must be \(B, 3\*nq=27\)"):
        unpack_q_qd_u(np.zeros((2, width)), model("floating"))


@pytest.mark.parametrize("value", [[1j], ["a"], [None], [True]])
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match="must be float32 or float64"):
        pack_q_qd_u(value, [1.0], [1.0])


def test_ragged_rows_are_refused() -> None:
    with pytest.raises(InputError, match="not a rectangular array"):
        pack_q_qd_u([[1.0], [1.0, 2.0]], [1.0], [1.0])


@settings(deadline=None)
@given(st.integers(0, 6), st.integers(0, 3), st.integers(0, 4))
def test_any_widths(nv: int, quaternions: int, batch: int) -> None:
    """A2, A10: the block is q, then velocities with their zeros, whatever the widths are."""
    nq = nv + quaternions
    q, qd, u = (np.full((batch, w), x) for w, x in ((nq, 1.0), (nv, 2.0), (nv, 3.0)))
    expected = [*[1.0] * nq, *[2.0] * nv, *[0.0] * quaternions, *[3.0] * nv, *[0.0] * quaternions]
    assert pack_q_qd_u(q, qd, u).tolist() == [expected] * batch
