"""The model in the header: its records, names and composer are those of the descriptor."""

from __future__ import annotations

import ctypes
import functools
import json
from typing import Any

import numpy as np
import pytest

import grid_core
from tests.header.headers import ROBOTS, handle, header, library, pointer
from tests.support.robots import example

JOINT_INTS = ("id", "kind", "parent_body", "child_body", "q_start", "v_start")
WIDTHS = ("local_nq", "local_nv")
BOUNDS = ("lower", "upper", "velocity", "effort")
KINDS = ("revolute", "continuous", "prismatic", "helical", "spherical", "floating")
FRAME_KINDS = ("root", "joint", "fixed")

READER = """
#include "grid.cuh"
#include <cstring>
#include <initializer_list>
namespace m = grid::model;

// Both through one check of bytes: a refused record is the same, to the bit.
template <typename R> bool keeps(bool (*read)(int, R&), int id)
{
    R record, before;
    std::memset(&record, 0x5a, sizeof(R));
    std::memset(&before, 0x5a, sizeof(R));
    return !read(id, record) && std::memcmp(&record, &before, sizeof(R)) == 0;
}

extern "C" {
int joint(int id, long long* n, double* x)
{
    m::joint_record r;
    if (!m::joint(id, r)) return 0;
    const long long ints[] = {r.id, int(r.kind), r.parent_body, r.child_body, r.q_start, r.v_start,
        r.local_nq, r.local_nv, r.has_axis, r.is_mimic, r.mimic_leader,
        r.has_lower, r.has_upper, r.has_velocity, r.has_effort};
    for (long long k : ints) *n++ = k;
    for (double v : r.T_parent_joint_zero) *x++ = v;
    for (double v : r.axis) *x++ = v;
    const double numbers[] = {r.pitch, r.mimic_multiplier, r.mimic_offset,
        r.lower, r.upper, r.velocity, r.effort};
    for (double v : numbers) *x++ = v;
    return 1;
}
int frame(int id, long long* n, double* x)
{
    m::frame_record r;
    if (!m::frame(id, r)) return 0;
    for (long long k : {r.id, int(r.kind), r.body}) *n++ = k;
    for (double v : r.T_body_frame) *x++ = v;
    return 1;
}
int joint_keeps(int id) { return keeps<m::joint_record>(m::joint, id); }
int frame_keeps(int id) { return keeps<m::frame_record>(m::frame, id); }
const char* joint_name(int id) { return m::joint_name(id); }
const char* frame_name(int id) { return m::frame_name(id); }
const char* descriptor_json() { return m::descriptor_json; }
const char* descriptor_id() { return m::descriptor_id; }
int compose(int frame, int body, const double* in, double* out)
{
    return m::compose_frame_from_body(frame, body, in, out);
}
int compose_float(int frame, int body, const float* in, float* out)
{
    return m::compose_frame_from_body(frame, body, in, out);
}
void counts(int* n)
{
    const int numbers[] = {m::schema_version, m::floating_base, m::nq, m::nv, m::nj, m::nb,
        m::num_frames};
    for (int k : numbers) *n++ = k;
}
}
"""


@functools.cache
def reader(robot: str, **options: Any) -> ctypes.CDLL:
    made = library(header(robot, algorithm_list="end_effector_pose", **options), READER)
    for name in ("joint_name", "frame_name", "descriptor_json", "descriptor_id"):
        getattr(made, name).restype = ctypes.c_char_p
    return made


def read(function: Any, id_: int, ints: int, floats: int) -> tuple[list[int], list[float]] | None:
    n, x = np.zeros(ints, np.int64), np.zeros(floats)
    return (n.tolist(), x.tolist()) if function(id_, pointer(n), pointer(x)) else None


def columns(T: list[list[float]]) -> list[float]:
    """Entry (r, c) at r + 4 c."""
    return [T[k % 4][k // 4] for k in range(16)]


def expected_joint(joint: dict[str, Any]) -> tuple[list[int], list[float]]:
    mimic, limits = joint["mimic"], joint["limits"]
    flat = {**joint, "kind": KINDS.index(joint["kind"])}
    ints = [-1 if flat[k] is None else flat[k] for k in (*JOINT_INTS, *WIDTHS)]
    leader = -1 if mimic is None or mimic["leader"] is None else mimic["leader"]
    ints += [joint["axis"] is not None, mimic is not None, leader]
    ints += [limits[k] is not None for k in BOUNDS]
    mimics = [mimic["multiplier"], mimic["offset"]] if mimic else [0.0, 0.0]
    floats = [*columns(joint["T_parent_joint_zero"]), *(joint["axis"] or [0.0] * 3)]
    floats += [joint["pitch"] or 0.0, *mimics, *(limits[k] or 0.0 for k in BOUNDS)]
    return ints, floats


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_joint(robot: str) -> None:
    """D4, D22: every joint record says what the JSON says, its matrix by columns."""
    descriptor = handle(robot).model_descriptor
    for joint in descriptor["joints"]:
        assert read(reader(robot).joint, joint["id"], 15, 26) == expected_joint(joint)


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_frame(robot: str) -> None:
    """D4, D22: every frame record says what the JSON says, its matrix by columns."""
    for frame in handle(robot).model_descriptor["frames"]:
        ints = [frame["id"], FRAME_KINDS.index(frame["kind"]), frame["body"]]
        got = read(reader(robot).frame, frame["id"], 3, 16)
        assert got == (ints, columns(frame["T_body_frame"]))


@pytest.mark.parametrize("robot", ROBOTS)
def test_counts(robot: str) -> None:
    got = np.zeros(7, np.int32)
    reader(robot).counts(pointer(got))
    d = handle(robot).model_descriptor
    wanted = [d["schema_version"], d["floating_base"], d["nq"], d["nv"], d["nj"], d["nb"]]
    assert got.tolist() == [*wanted, len(d["frames"])]


@pytest.mark.parametrize("robot", ROBOTS)
def test_invalid_ids_change_nothing(robot: str) -> None:
    """D28: an invalid ID returns false and leaves the destination alone, padding included."""
    made, lib = handle(robot).model, reader(robot)
    wrong = (-1, -(2**31), 2**31 - 1)
    assert all(lib.joint_keeps(k) for k in (*wrong, made.nj))
    assert all(lib.frame_keeps(k) for k in (*wrong, len(made.frames)))


def test_at_compile_time() -> None:
    """D28, D29, D30: all of it is constexpr, so the composer cannot allocate or wait."""
    source = """
    #include "grid.cuh"
    using namespace grid::model;
    constexpr bool untouched()
    {
        joint_record j{};
        frame_record f{};
        j.id = f.id = -7;
        return !joint(nj, j) && !joint(-1, j) && j.id == -7 && !frame(num_frames, f) && f.id == -7;
    }
    static_assert(untouched());
    constexpr joint_record last()
    {
        joint_record j{};
        joint(nj - 1, j);
        return j;
    }
    static_assert(last().id == 6 && last().kind == joint_kind::revolute && last().axis[2] == 1.0);
    constexpr bool composes()
    {
        const double world[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1};
        double out[16] = {};
        return compose_frame_from_body(7, 6, world, out) && out[12] == 1.0 && out[15] == 1.0
            && !compose_frame_from_body(7, 5, world, out);
    }
    static_assert(composes());
    static_assert(joint_name(0)[0] == 'i' && joint_name(nj) == nullptr);
    static_assert(frame_name(0)[0] == 'i' && frame_name(-1) == nullptr);
    static_assert(sizeof(descriptor_id) == 65);
    """
    library(header("iiwa14"), source)


@pytest.mark.parametrize("robot", ROBOTS)
def test_names(robot: str) -> None:
    """D29: names by ID, null where there is none; JSON and identity are to be read."""
    d, lib = handle(robot).model_descriptor, reader(robot)
    assert [lib.joint_name(k).decode() for k in range(d["nj"])] == [j["name"] for j in d["joints"]]
    frames = [frame["name"] for frame in d["frames"]]
    assert [lib.frame_name(k).decode() for k in range(len(frames))] == frames
    assert lib.joint_name(d["nj"]) is lib.joint_name(-1) is None
    assert lib.frame_name(len(frames)) is lib.frame_name(-1) is None
    assert lib.descriptor_id().decode() == d["descriptor_id"]


@pytest.mark.parametrize("robot", ROBOTS)
def test_json(robot: str) -> None:
    """D4: the header's JSON is the descriptor, type by type."""
    text = reader(robot).descriptor_json().decode()
    assert json.dumps(json.loads(text)) == json.dumps(handle(robot).model_descriptor)


def test_strange_names_survive() -> None:
    """D27, D29: names are opaque UTF-8; nothing in them ends a literal or a comment."""
    names = ['a"b\\c', "??/x", "ü 関節", "// */ end", "7\t8", "@digest@"]
    text = '<robot name="odd \\">'
    text += "".join(f'<link name="l{k}"/>' for k in range(len(names) + 1))
    for k, name in enumerate(names):
        escaped = name.replace("&", "&amp;").replace('"', "&quot;").replace("\t", "&#9;")
        text += (
            f'<joint name="{escaped}" type="continuous"><parent link="l{k}"/>'
            f'<child link="l{k + 1}"/><axis xyz="0 0 1"/></joint>'
        )
    model = grid_core.describe_model(urdf_string=f"{text}</robot>")
    written = grid_core.generate_header(
        urdf_string=f"{text}</robot>", algorithm_list="end_effector_pose", dtype="float64"
    )
    lib = library(written, READER)
    lib.joint_name.restype = lib.descriptor_json.restype = ctypes.c_char_p
    got = [lib.joint_name(k).decode() for k in range(model["nj"])]
    assert sorted(got) == sorted(names)
    assert json.loads(lib.descriptor_json().decode()) == model


@pytest.mark.parametrize("robot", ROBOTS)
def test_composer(robot: str) -> None:
    """D30: one body pose becomes one frame pose; nothing else is written."""
    made, lib = handle(robot).model, reader(robot)
    rng = np.random.default_rng()
    for frame in made.frames:
        world = np.eye(4)
        world[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        world[:3, 3] = rng.normal(size=3)
        given = np.ascontiguousarray(world.T).reshape(16)
        around = np.full(18, 42.0)
        assert lib.compose(frame.id, frame.body, pointer(given), pointer(around[1:17]))
        np.testing.assert_allclose(
            around[1:17].reshape(4, 4).T, world @ frame.placement, rtol=1e-14, atol=1e-14
        )
        assert around[[0, 17]].tolist() == [42.0, 42.0]
        single = np.zeros(16, np.float32)
        assert lib.compose_float(
            frame.id, frame.body, pointer(given.astype(np.float32)), pointer(single)
        )
        np.testing.assert_allclose(single, around[1:17], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("robot", ["iiwa14", "go2"])
def test_composer_gives_the_frames_of_forward_kinematics(robot: str) -> None:
    """D25, D30: from the bodies' poses, each named frame comes where it should be."""
    made, lib = handle(robot), reader(robot)
    q = made.random_configuration(np.random.default_rng(), batch=1)
    poses = made.forward_kinematics(q)[0]
    for frame in made.model.frames[1:]:
        given = np.ascontiguousarray(poses[frame.body].T).reshape(16)
        got = np.zeros(16)
        assert lib.compose(frame.id, frame.body, pointer(given), pointer(got))
        wanted = made.frame_placement(q, frame=frame.name)[0]
        np.testing.assert_allclose(got.reshape(4, 4).T, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("robot", ROBOTS)
def test_composer_refuses_a_wrong_attachment(robot: str) -> None:
    """D30: on another body, or for no frame, it fails and leaves the output alone."""
    made, lib = handle(robot).model, reader(robot)
    given, got = np.eye(4).reshape(16), np.full(16, 7.0)
    cases = [(len(made.frames), -1), (-1, -1), (2**31 - 1, 0)]
    cases += [(f.id, b) for f in made.frames for b in range(-2, made.nb + 1) if b != f.body]
    for frame, body in cases:
        assert not lib.compose(frame, body, pointer(given), pointer(got))
    assert (got == 7.0).all()


def test_runtime_transform() -> None:
    """D31: placements are nominal, and the composer refuses; operations take others."""
    made, lib = handle("go2").model, reader("go2", runtime_transform=True)
    plain = reader("go2")
    got = np.full(16, 7.0)
    for frame in made.frames:
        assert not lib.compose(frame.id, frame.body, pointer(np.eye(4).reshape(16)), pointer(got))
        assert read(lib.frame, frame.id, 3, 16) == read(plain.frame, frame.id, 3, 16)
    assert (got == 7.0).all()
    for joint in made.joints:
        assert read(lib.joint, joint.id, 15, 26) == read(plain.joint, joint.id, 15, 26)
    written = header("go2", algorithm_list="end_effector_pose", runtime_transform=True)
    assert "constexpr bool runtime_transform = true;" in written


def test_a_large_robot_of_the_field() -> None:
    """D4: a humanoid's hundreds of joints and frames."""
    robot = example("talos_data-talos_full_v2")
    model = robot.load(floating_base=True)
    text = grid_core.generate_header(model, floating_base=True, algorithm_list="end_effector_pose")
    lib = library(text, READER)
    lib.descriptor_json.restype = ctypes.c_char_p
    descriptor = grid_core.describe_model(model, floating_base=True)
    assert json.loads(lib.descriptor_json().decode()) == descriptor
    for joint in descriptor["joints"]:
        assert read(lib.joint, joint["id"], 15, 26) == expected_joint(joint)
