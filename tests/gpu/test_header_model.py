"""The header's records and composer, read by threads of a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gpu.device import Module
from tests.header.headers import handle, header
from tests.header.test_model import columns, expected_joint

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

KERNELS = """
namespace m = grid::model;

// One thread an ID; IDs begin at -1 and end one past the last. A record begins as bytes of 0x5a.
template <typename R> __device__ bool untouched(const R& record)
{
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(&record);
    for (unsigned k = 0; k < sizeof(R); ++k)
        if (bytes[k] != 0x5a) return false;
    return true;
}

template <typename R> __device__ void spoil(R& record)
{
    unsigned char* bytes = reinterpret_cast<unsigned char*>(&record);
    for (unsigned k = 0; k < sizeof(R); ++k) bytes[k] = 0x5a;
}

extern "C" __global__ void joints(int* said, int* n, double* x, const int count)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    m::joint_record r;
    spoil(r);
    said[at] = m::joint(at - 1, r) ? 1 : untouched(r) ? 0 : 2;
    if (said[at] != 1) return;
    const int ints[] = {r.id, int(r.kind), r.parent_body, r.child_body, r.q_start, r.v_start,
        r.local_nq, r.local_nv, r.has_axis, r.is_mimic, r.mimic_leader,
        r.has_lower, r.has_upper, r.has_velocity, r.has_effort};
    for (int k = 0; k < 15; ++k) n[15 * at + k] = ints[k];
    for (int k = 0; k < 16; ++k) x[26 * at + k] = r.T_parent_joint_zero[k];
    for (int k = 0; k < 3; ++k) x[26 * at + 16 + k] = r.axis[k];
    const double numbers[] = {r.pitch, r.mimic_multiplier, r.mimic_offset,
        r.lower, r.upper, r.velocity, r.effort};
    for (int k = 0; k < 7; ++k) x[26 * at + 19 + k] = numbers[k];
}

extern "C" __global__ void frames(int* said, int* body, double* x, const int count)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    m::frame_record r;
    spoil(r);
    said[at] = m::frame(at - 1, r) ? 1 : untouched(r) ? 0 : 2;
    if (said[at] != 1) return;
    body[at] = r.body;
    for (int k = 0; k < 16; ++k) x[16 * at + k] = r.T_body_frame[k];
}

extern "C" __global__ void compose(int* said, double* out, const double* world, const int* frame,
                                   const int* body, const int count)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    const double* in = world + 16 * at;
    said[at] = m::compose_frame_from_body(frame[at], body[at], in, out + 16 * at);
}
"""


def load(robot: str, **options: object) -> Module:
    text = header(robot, "float64", algorithm_list=("end_effector_pose",), **options)
    return Module(text + KERNELS, ["joints", "frames", "compose"])


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical", "kinds"])
def test_every_record(robot: str) -> None:
    """D4, D28: each record is the JSON's; an invalid ID leaves every byte of it alone."""
    module, descriptor = load(robot), handle(robot).model_descriptor
    count = descriptor["nj"] + 2
    said, n, x = np.full(count, 9, np.int32), np.zeros((count, 15), np.int32), np.zeros((count, 26))
    module("joints", 1, 64, said, n, x, np.int32(count))
    assert said.tolist() == [0, *[1] * descriptor["nj"], 0]
    for joint in descriptor["joints"]:
        at = joint["id"] + 1
        assert (n[at].tolist(), x[at].tolist()) == expected_joint(joint)
    count = len(descriptor["frames"]) + 2
    said, body, x = np.full(count, 9, np.int32), np.zeros(count, np.int32), np.zeros((count, 16))
    module("frames", 1, 64, said, body, x, np.int32(count))
    assert said.tolist() == [0, *[1] * (count - 2), 0]
    for frame in descriptor["frames"]:
        at = frame["id"] + 1
        assert (body[at], x[at].tolist()) == (frame["body"], columns(frame["T_body_frame"]))
    module.close()


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("robot", ["iiwa14", "go2", "kinds"])
def test_composer(robot: str, nominal: bool) -> None:
    """D30, D31: one pose in, one out; a wrong body, and a moving model, change nothing."""
    made, module = handle(robot).model, load(robot, runtime_transform=nominal)
    rng = np.random.default_rng()
    pairs = [(f.id, b) for f in made.frames for b in range(-1, made.nb)]
    world = np.tile(np.eye(4), (len(pairs), 1, 1))
    world[:, :3, :3] = np.linalg.qr(rng.normal(size=(len(pairs), 3, 3)))[0]
    world[:, :3, 3] = rng.normal(size=(len(pairs), 3))
    given = np.ascontiguousarray(world.transpose(0, 2, 1))
    out, said = np.full(given.shape, 7.0), np.full(len(pairs), 9, np.int32)
    frame, body = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    blocks = -(-len(pairs) // 64)
    module("compose", blocks, 64, said, out, given, frame, body, np.int32(len(pairs)))
    for at, (k, b) in enumerate(pairs):
        right = made.frames[k].body == b and not nominal
        assert said[at] == right
        expected = world[at] @ made.frames[k].placement if right else np.full((4, 4), 7.0)
        np.testing.assert_allclose(out[at].T, expected, rtol=1e-14, atol=1e-14)
    module.close()
