"""A handle from an artifact is the handle that `load_robot` makes, to the bit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pytest

import grid_core
from grid_core.algorithm import Port
from grid_core.artifact.prepared_manifest import PortRecord
from grid_core.artifact.prepared_model import model_from, model_record
from grid_core.descriptor import describe
from grid_core.errors import (
    ArgumentError,
    ArtifactIncompatible,
    BackendUnavailable,
    HandleClosed,
    InputError,
    OperationNotLoaded,
    OperationRefused,
    OptionError,
)
from grid_core.model.types import RobotCell
from tests.artifact.prepared import ARM, build, small
from tests.support.robots import HAND_MADE
from tests.support.urdf import link, robot

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.handle import RobotHandle

NATIVE = {"instruction_sets": "native"}


def fresh(text: str = ARM, **options: Any) -> RobotHandle:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return grid_core.load_robot(
            urdf_string=text, backend="cpu", **{"dtype": "float64", **options}
        )


def states(handle: RobotHandle, batch: int = 37) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng()
    q = handle.random_configuration(rng, batch)
    qd, u = rng.standard_normal((2, batch, handle.nv)).astype(handle.dtype)
    return q, qd, u


def same(a: Any, b: Any) -> None:
    for left, right in zip(a, b, strict=True) if isinstance(a, tuple) else [(a, b)]:
        np.testing.assert_array_equal(left, right)


def test_it_computes_the_same_bits(tmp_path: Path) -> None:
    """Object code for this very processor is what `load_robot` compiles."""
    build(tmp_path / "a", **NATIVE)
    ours, theirs = grid_core.load_artifact(tmp_path / "a"), fresh()
    q, qd, u = states(theirs)
    same(ours.forward_dynamics(q, qd, u), theirs.forward_dynamics(q, qd, u))
    same(
        ours.forward_dynamics(q[0], qd[0], u[0], gravity=-1.6),
        theirs.forward_dynamics(q[0], qd[0], u[0], gravity=-1.6),
    )
    same(ours.crba(q), theirs.crba(q))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("level", ["x86-64-v3", "x86-64-v4"])
def test_each_instruction_set_is_right_to_rounding(tmp_path: Path, dtype: str, level: str) -> None:
    build(tmp_path / "a", instruction_sets=level, dtype=dtype)
    ours: Any = grid_core.load_artifact(tmp_path / "a")
    reference = fresh()
    q, qd, u = states(ours)
    got = ours.forward_dynamics(q, qd, u)
    assert got.dtype == dtype
    expected = reference.forward_dynamics(*(x.astype(np.float64) for x in (q, qd, u)))
    size = np.linalg.norm(expected, axis=1, keepdims=True)
    assert (abs(got - expected) <= {"float32": 1e-4, "float64": 1e-12}[dtype] * size).all()
    assert ours.target == level


def test_a_floating_arm_with_all_that_a_handle_has(tmp_path: Path) -> None:
    """Optional inputs, methods of plugins' own, and the programs that their arguments choose."""
    options: Any = {
        "floating_base": True,
        "algorithm_list": [
            *("id", "forward_dynamics_gradient", "frame_jacobian", "end_effector_pose_runtime")
        ],
        "ee_joint_names": ["mount", "shoulder"],
        "use_joint_dynamics": True,
        "dtype": "float32",
    }
    calls: Any = {
        "inverse_dynamics": {"f_ext": True},
        "forward_dynamics_gradient": {"return_minv": True},
        "frame_jacobian": [{"frame": "tool"}, {"frame": "base", "reference_frame": "local"}],
        "end_effector_pose_runtime": {"ee_joint_names": ["elbow"]},
    }
    ours = build(tmp_path / "a", **options, calls=calls, **NATIVE).load()
    theirs = fresh(**options)
    q, qd, u = states(theirs)
    f_ext = np.random.default_rng().standard_normal((len(q), theirs.nb, 6)).astype("float32")
    for call in (
        lambda r: r.inverse_dynamics(q, qd),
        lambda r: r.inverse_dynamics(q, qd, u),
        lambda r: r.inverse_dynamics(q, qd, f_ext=f_ext),
        lambda r: r.nonlinear_effects(q, qd),
        lambda r: r.generalized_gravity(q, gravity=-3.7),
        lambda r: r.forward_dynamics_gradient(q, qd, u),
        lambda r: r.forward_dynamics_gradient(q, qd, u, return_minv=True),
        lambda r: r.frame_jacobian(q),
        lambda r: r.frame_jacobian(q, "tool"),
        lambda r: r.frame_jacobian(q, "base", "local"),
        lambda r: r.end_effector_pose_runtime(q, ["mount", "elbow"], [[0.1, 0, 0], [0, 0, 0.2]]),
        lambda r: r.end_effector_pose_runtime(q, "mount"),
        lambda r: r.integrate(q, qd),
        lambda r: r.random_configuration(3, 5),
    ):
        same(call(ours), call(theirs))
    for name in (
        "name", "nq", "nv", "nj", "nb", "num_joints", "num_vel", "num_bodies", "num_ees", "dtype",
        "floating_base", "ee_joint_names", "joint_names", "body_names", "algorithms", "options",
        "model_descriptor", "backend",
    ):  # fmt: skip
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("joint_pos_limits", "joint_vel_limits", "joint_effort_limits"):
        same(getattr(ours, name), getattr(theirs, name))
    assert ours.inverse_dynamics.__doc__ == theirs.inverse_dynamics.__doc__
    assert ours.inverse_dynamics.__signature__ == theirs.inverse_dynamics.__signature__
    assert ours.frame_jacobian.__doc__ == theirs.frame_jacobian.__doc__
    assert repr(ours) == repr(theirs)
    assert ours.robot_cell is None
    for bad, message in (
        (lambda: ours.frame_jacobian(q, "upper"), "for the frames 'shoulder' is not in the"),
        (lambda: ours.frame_jacobian(q, "tool", "local"), "calls={'frame_jacobian': {...}}"),
        (lambda: ours.inverse_dynamics(q, qd, u, f_ext), "inverse_dynamics, with f_ext, with qdd"),
        (
            lambda: ours.end_effector_pose_runtime(q, ["mount", "elbow", "shoulder"]),
            "is not in the artifact",
        ),
        (lambda: ours.minv(q), "algorithm_list="),
        (lambda: ours.inverse_dynamic, "did you mean 'inverse_dynamics'"),
    ):
        with pytest.raises(OperationNotLoaded) as caught:
            bad()
        assert message in str(caught.value)
        assert str(tmp_path) in str(caught.value)


def test_inertias_and_placements_can_vary(tmp_path: Path) -> None:
    """Inputs that options add, to generated methods and to those that plugins write."""
    options: Any = {
        "runtime_inertia": True,
        "runtime_transform": True,
        "algorithm_list": ["forward_dynamics", "frame_jacobian", "forward_dynamics_gradient"],
        "dtype": "float64",
    }
    calls: Any = {
        "forward_dynamics": [
            *({"inertias": True}, {"inertias": "shared"}),
            {"inertias": "shared", "placements": "shared"},
        ],
        "frame_jacobian": [{"placements": "shared"}, {"frame": "upper", "placements": "shared"}],
        "forward_dynamics_gradient": {"inertias": True},
    }
    made = build(tmp_path / "a", **options, calls=calls, **NATIVE)
    ours, theirs = made.load(), fresh(**options)
    q, qd, u = states(theirs)
    inertias = np.tile([2.0, 0.1, 0.0, 0.3, 0.2, 0.0, 0.2, 0.0, 0.0, 0.2], (len(q), 2, 1))
    inertias[:, :, 0] += np.random.default_rng().random((len(q), 2))
    placements = np.tile(np.eye(4), (2, 1, 1))
    placements[:, 2, 3] = 0.3
    for call in (
        lambda r: r.forward_dynamics(q, qd, u),
        lambda r: r.forward_dynamics(q, qd, u, inertias=inertias),
        lambda r: r.forward_dynamics(q, qd, u, inertias=inertias[0]),
        lambda r: r.forward_dynamics(q, qd, u, inertias=inertias[0], placements=placements),
        lambda r: r.frame_jacobian(q),
        lambda r: r.frame_jacobian(q, placements=placements),
        lambda r: r.frame_jacobian(q, "upper", placements=placements),
        lambda r: r.forward_dynamics_gradient(q, qd, u, inertias=inertias),
    ):
        same(call(ours), call(theirs))
    assert ours.frame_jacobian.__signature__ == theirs.frame_jacobian.__signature__
    assert ours.forward_dynamics.__doc__ == theirs.forward_dynamics.__doc__
    with pytest.raises(OperationNotLoaded, match="forward_dynamics_gradient, with placements"):
        ours.forward_dynamics_gradient(q, qd, u, placements=np.tile(placements, (len(q), 1, 1, 1)))
    with pytest.raises(OperationNotLoaded, match=r"for the whole batch .*'inertias': 'shared'"):
        ours.forward_dynamics_gradient(q, qd, u, inertias=inertias[0])
    with pytest.raises(OptionError, match="say True if it is given, or 'shared' if one is given"):
        build(tmp_path / "b", **options, calls={"forward_dynamics": {"inertias": 1}})


def test_arguments_are_checked_as_ever() -> None:
    ours = grid_core.load_artifact(small())
    with pytest.raises(InputError, match=r"q must be \(B, nq=2\); got \(B, 3\)"):
        ours.crba(np.zeros((4, 3)))
    with pytest.raises(ArgumentError, match="u is missing"):
        ours.forward_dynamics(np.zeros(2), np.zeros(2))
    assert ours.crba(np.zeros((0, 2))).shape == (0, 2, 2)
    assert ours.crba(np.zeros((3, 2), np.float32)).dtype == np.float64
    out = np.empty((1, 2, 2))
    assert ours.crba(np.zeros((1, 2)), out=out) is out


def test_the_cell_is_the_callers_word() -> None:
    """A plan's validity is not the artifact's: the same one serves every description's cell."""
    cell = RobotCell("arm", f"sha256:{'a' * 64}", f"sha256:{'b' * 64}")
    assert grid_core.load_artifact(small()).robot_cell is None
    assert grid_core.load_artifact(small(), robot_cell=cell).robot_cell == cell
    with pytest.raises(OptionError, match="robot_cell must be a RobotCell; got 'cell'"):
        grid_core.load_artifact(small(), robot_cell="cell")  # type: ignore[arg-type]


def test_a_closed_handle_says_so() -> None:
    with grid_core.load_artifact(small()) as ours:
        ours.crba([0.0, 0.0])
    with pytest.raises(HandleClosed, match="'arm' is closed"):
        ours.crba([0.0, 0.0])


def test_what_the_robot_cannot_have_is_refused_with_the_reason(tmp_path: Path) -> None:
    """The builder asked the plugin; a load does not."""
    massless = ARM.replace('<mass value="1.5"/>', '<mass value="0"/>').replace("0.0", "0.0")
    massless = massless.replace('ixx="0.02" iyy="0.03" izz="0.01"', 'ixx="0" iyy="0" izz="0"')
    made = build(tmp_path / "a", massless, algorithm_list=["fd", "crba"])
    ours, theirs = made.load(), fresh(massless, algorithm_list=["fd", "crba"])
    said = []
    for handle in (ours, theirs):
        with pytest.raises(OperationRefused) as caught:
            handle.forward_dynamics([0, 0], [0, 0], [0, 0])
        said.append(str(caught.value))
    assert said[0] == said[1]
    same(ours.crba([0.1, 0.2]), theirs.crba([0.1, 0.2]))
    with pytest.raises(OptionError, match="calls: forward_dynamics: 'arm' cannot have it"):
        build(tmp_path / "a", massless, calls={"forward_dynamics": {"f_ext": True}})


def test_a_robot_without_coordinates_has_an_artifact(tmp_path: Path) -> None:
    """D42: its descriptor is valid and empty; each operation decides for itself."""
    text = robot("stone", link("stone", 2.0, inertia=np.eye(3) * 0.01))
    made = build(tmp_path / "a", text, algorithm_list="all")
    assert (made.model_descriptor["nq"], made.model_descriptor["nv"]) == (0, 0)
    ours, theirs = made.load(), fresh(text)
    assert (ours.nq, ours.nv, ours.nj) == (0, 0, 0)
    assert ours.crba(np.zeros((4, 0))).shape == theirs.crba(np.zeros((4, 0))).shape == (4, 0, 0)
    said = []
    for handle in (ours, theirs):
        with pytest.raises(OperationRefused) as caught:
            handle.fk_batched(np.zeros((4, 0)))
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_the_convention_is_the_one_that_was_built(tmp_path: Path) -> None:
    options: Any = {"output_convention": "mujoco", "floating_base": True, "dtype": "float64"}
    build(tmp_path / "a", **options, **NATIVE)
    ours, theirs = grid_core.load_artifact(tmp_path / "a"), fresh(**options)
    q, qd, u = states(theirs)
    same(ours.forward_dynamics(q, qd, u), theirs.forward_dynamics(q, qd, u))
    same(ours.integrate(q, qd), theirs.integrate(q, qd))
    assert ours.model_descriptor == theirs.model_descriptor


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", sorted(HAND_MADE))
def test_a_model_is_the_same_after_it_was_saved(name: str, floating: bool) -> None:
    """Descriptor and record give back every field, so all that a handle says of it."""
    model = HAND_MADE[name].load(floating_base=floating)
    again = model_from(describe(model), model_record(model))
    assert again == attrs.evolve(model, warnings=())


def test_every_field_of_a_port_is_saved() -> None:
    saved = {field.name for field in attrs.fields(PortRecord)}
    assert saved | {"widths"} == {field.name for field in attrs.fields(Port)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": 0}, "the backend 'cpu' has no devices"),
        ({"num_threads": 0}, "num_threads"),
        ({"backend": ""}, "backend must be a name"),
        ({"dtype": "float32"}, "there is no argument 'dtype'|there is no option 'dtype'"),
    ],
)
def test_wrong_options_of_a_load_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        grid_core.load_artifact(small(), **options)


def test_a_backend_that_cannot_be_imported_is_not_the_artifacts_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> str:
        raise ImportError("libLLVM.so: cannot open shared object file")

    monkeypatch.setattr("grid_backend_cpu.plugin.CpuBackend.prepared_target", broken)
    with pytest.raises(BackendUnavailable, match=r"'cpu' cannot run here: libLLVM\.so"):
        grid_core.load_artifact(small(), backend="cpu")
    with pytest.raises(ArtifactIncompatible, match=r"none of its backends .* libLLVM\.so"):
        grid_core.load_artifact(small())
