"""``grid run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core import load_robot
from grid_core.assets import asset_path

if TYPE_CHECKING:
    from tests.cli.conftest import Grid

CASES = Path(__file__).parents[1] / "cases"
QUICK = ("--backend", "reference", "--batch", 3)


def states(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


@pytest.fixture
def motion(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=(5, 7)) for name in ("q", "qd", "u")}
    return states(tmp_path / "motion.npz", **arrays)


def test_random_states(grid: Grid) -> None:
    text = grid("run", "forward_dynamics", "iiwa14", "--batch", 10, "--backend", "cpu").stdout
    assert "forward_dynamics of 'iiwa14' on cpu, float32" in text
    assert "in  qd       (10, 7)" in text
    assert "out qdd      (10, 7)" in text
    assert "a batch of 10" in text
    assert "evaluations/s" in text
    assert "qdd[:3] =" in text


def test_the_seed_decides(grid: Grid, tmp_path: Path) -> None:
    found = []
    for seed in (1, 1, 2):
        path = tmp_path / "out.npz"
        grid("run", "crba", "iiwa14", *QUICK, "--seed", seed, "--output", path)
        found.append(np.load(path)["q"])
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_the_output_holds_inputs_and_outputs(grid: Grid, arm: Path, motion: Path) -> None:
    out = motion.with_name("out")
    text = grid(
        "run", "forward_dynamics", arm, "--input", motion, "--output", out, "--dtype", "float64"
    ).stdout
    assert f"written to {out}" in text
    with np.load(out) as found, np.load(motion) as given:
        assert sorted(found.files) == ["q", "qd", "qdd", "u"]
        expected = load_robot(arm, backend="reference").forward_dynamics(*given.values())
        assert np.allclose(found["qdd"], expected)


def test_gravity_from_the_option_or_the_file(grid: Grid, tmp_path: Path) -> None:
    paths = []
    for name, gravity, options in (("a", {"gravity": -1.62}, ()), ("b", {}, ("--gravity", -1.62))):
        source = states(tmp_path / f"{name}.npz", q=np.full((2, 7), 0.3), **gravity)
        paths.append(tmp_path / f"{name}.out.npz")
        call = ("run", "generalized_gravity", "iiwa14", "--backend", "reference")
        grid(*call, "--input", source, "--output", paths[-1], *options)
    a, b = (np.load(path)["g"] for path in paths)
    assert np.array_equal(a, b)
    assert not np.allclose(
        a,
        load_robot(asset_path("iiwa14"), backend="reference").generalized_gravity(
            np.full((2, 7), 0.3)
        ),
    )


def test_one_problem_without_a_batch(grid: Grid, tmp_path: Path) -> None:
    source = states(tmp_path / "one.npz", q=np.zeros(7))
    text = grid("run", "crba", "iiwa14", "--input", source, "--backend", "reference").stdout
    assert "out M        (7, 7)" in text
    assert "M =" in text


def test_an_empty_batch(grid: Grid, tmp_path: Path) -> None:
    source = states(tmp_path / "none.npz", q=np.zeros((0, 7)))
    text = grid("run", "crba", "iiwa14", "--input", source, "--backend", "reference").stdout
    assert "out M        (0, 7, 7)" in text
    assert "evaluations/s" not in text


def test_optional_inputs_of_the_benchmark_are_drawn(grid: Grid) -> None:
    assert "in  qdd      (3, 18)" in grid("run", "inverse_dynamics", "go2", *QUICK).stdout


def test_a_warning_about_the_robot_is_one_line(grid: Grid) -> None:
    result = grid("run", "crba", CASES / "30_triangle_violation.urdf", *QUICK)
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: ")


def test_a_cache_that_cannot_be_used_is_a_warning(
    grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRID_CACHE_DIR", "/dev/null/cache")
    result = grid("run", "crba", "iiwa14", "--batch", 1, "--backend", "cpu")
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: builds are not kept")


def test_a_large_matrix_is_abridged(grid: Grid) -> None:
    text = grid("run", "crba", "go2", *QUICK).stdout
    assert "M[:1] =" in text
    assert len(text.splitlines()) < 20


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"q": (2, 7), "qd": (2, 7)}, "needs q, qd and u; u missing"),
        ({}, "q, qd and u missing"),
        (
            {"q": (2, 7), "qd": (2, 7), "u": (2, 7), "Q": (1,)},
            "'Q' is no input of it (did you mean 'q' or 'qd'?)",
        ),
        ({"q": (2, 7), "qd": (2, 7), "u": (2, 6)}, "u must be (B, nv=7); got (B, 6)"),
        ({"q": (2, 7), "qd": (3, 7), "u": (2, 7)}, "qd must have the batch of q, B=2; got B=3"),
        ({"q": (2, 7), "qd": (2, 7), "u": (2, 7), "gravity": (2,)}, "one number for the whole"),
    ],
)
def test_a_file_of_other_arrays(
    fails: Any, tmp_path: Path, arrays: dict[str, tuple[int, ...]], message: str
) -> None:
    source = states(tmp_path / "s.npz", **{name: np.zeros(shape) for name, shape in arrays.items()})
    assert message in fails("run", "forward_dynamics", "iiwa14", "--input", source)


def test_what_one_operation_wrote_another_reads(
    grid: Grid, fails: Any, motion: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.npz"
    call = ("iiwa14", "--backend", "reference", "--input")
    grid("run", "forward_dynamics", *call, motion, "--output", out)
    again = grid("run", "forward_dynamics", *call, out, "--output", out)
    assert again.stderr == f"note: {out}: qdd is left out: no input of forward_dynamics\n"
    back = tmp_path / "back.npz"
    again = grid("run", "inverse_dynamics", *call, out, "--output", back)
    assert again.stderr == f"note: {out}: u is left out: no input of inverse_dynamics\n"
    with np.load(back) as found, np.load(motion) as given:
        assert np.allclose(found["tau"], given["u"])
    assert "qd, u and qdd are left out" in grid("run", "crba", *call, out).stderr
    line = fails("run", "forward_dynamics", *call, back)
    assert line.endswith(
        "u missing; the file has qdd and tau beside; an input goes by its own name"
    )


def test_names_of_targets_and_frames_are_text_in_the_file(grid: Grid, tmp_path: Path) -> None:
    robot = load_robot(
        asset_path("go2"),
        floating_base=True,
        algorithm_list=["end_effector_pose_runtime", "frame_jacobian"],
        backend="reference",
    )
    q, names = robot.random_configuration(0, 2), ["FL_calf_joint", "RR_hip_joint"]
    call = ("go2", "--backend", "reference", "--input")
    source = states(tmp_path / "t.npz", q=q, ee_joint_names=names, ee_offsets=[0.0, 0.0, -0.2])
    out = tmp_path / "out.npz"
    text = grid("run", "end_effector_pose_runtime", *call, source, "--output", out).stdout
    assert "in  ee_joint_names (2,)" in text
    with np.load(out) as found:
        expected = robot.end_effector_pose_runtime(q, names, [0.0, 0.0, -0.2])
        assert np.allclose(found["pose"], expected, atol=1e-12)
        assert list(found["ee_joint_names"]) == names
    source = states(tmp_path / "f.npz", q=q, frame="FL_foot", reference_frame="local")
    text = grid("run", "frame_jacobian", *call, source, "--output", out).stdout
    assert "in  frame    FL_foot" in text
    with np.load(out) as found:
        assert np.allclose(found["J"], robot.frame_jacobian(q, "FL_foot", "local"), atol=1e-12)
    assert "frame, reference_frame and J are left out" in grid("run", "crba", *call, out).stderr


def test_bodies_and_placements_are_read_as_they_were_written(grid: Grid, tmp_path: Path) -> None:
    """Drawn targets are the robot's leaves, with a tool at each that the seed decides."""
    call = ("run", "end_effector_pose_gradient_runtime", "go2", "--backend", "reference")
    paths = [tmp_path / f"{name}.npz" for name in "abc"]
    grid(*call, "--batch", 2, "--output", paths[0])
    grid(*call, "--batch", 2, "--output", paths[1], "--seed", 1)
    grid(*call, "--input", paths[0], "--output", paths[2])
    a, b, c = (dict(np.load(path)) for path in paths)
    leaves = load_robot(asset_path("go2"), floating_base=True, backend="reference").model.leaves
    assert list(a["body"]) == list(leaves)
    assert not np.allclose(a["placement"], b["placement"])
    assert np.array_equal(a["J"], c["J"])
    # Another number of targets is compiled for.
    two = states(tmp_path / "two.npz", q=a["q"], body=a["body"][:2], placement=a["placement"][:2])
    grid(*call, "--input", two, "--output", paths[1])
    assert np.allclose(np.load(paths[1])["J"], a["J"][:, :2])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"body": [99.0]}, "body holds 99; the bodies of 'go2' are 0 to 12, and -1 is its root"),
        ({"body": ["FL_foot"]}, "body must hold numbers of bodies"),
        ({"body": [1.0], "ee_joint_names": ["a"]}, "would make what body already say"),
        ({"body": [1.0, 2.0], "placement": np.zeros((3, 3, 4))}, "placement must be (2, 3, 4)"),
        ({"ee_joint_names": ["FL_calf"]}, "no joint 'FL_calf'"),
        ({"ee_joint_names": [1.0]}, "must be a name or a list of names"),
        ({"ee_joint_name": ["a"]}, "did you mean 'ee_joint_names'?"),
    ],
)
def test_targets_that_are_none(
    fails: Any, tmp_path: Path, arrays: dict[str, Any], message: str
) -> None:
    source = states(tmp_path / "s.npz", q=np.zeros((1, 19)), **arrays)
    call = ("run", "end_effector_pose_runtime", "go2", "--backend", "reference", "--input", source)
    assert message in fails(*call)


def test_a_flag_of_the_method_brings_what_it_adds(grid: Grid, motion: Path) -> None:
    with np.load(motion) as given:
        source = states(motion.with_name("m.npz"), **given, return_minv=True)
    call = ("run", "forward_dynamics_gradient", "iiwa14", "--backend", "reference", "--input")
    text = grid(*call, source).stdout
    assert "out dqdd     (5, 7, 14)" in text
    assert "out Minv     (5, 7, 7)" in text


def _npy(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros((2, 7)))


def _pickle(path: Path) -> None:
    np.savez(path, q=np.array([None, {}], dtype=object))


def _cut(path: Path) -> None:
    np.savez(path, q=np.zeros((2, 7)))
    path.write_bytes(path.read_bytes()[:-30])


def _flipped(path: Path) -> None:
    np.savez(path, q=np.zeros((200, 7)))
    data = bytearray(path.read_bytes())
    data[900] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: path.write_text("q,qd\n1,2\n"), "cannot be read as named arrays"),
        (lambda path: path.write_bytes(b""), "cannot be read as named arrays"),
        (lambda path: path.mkdir(), "cannot be read as named arrays"),
        (lambda _: None, "no such file"),
        (_npy, "one array without a name"),
        (_pickle, "cannot be read as named arrays"),
        (_cut, "cannot be read as named arrays"),
        (_flipped, "cannot be read as named arrays"),
    ],
)
def test_a_file_that_is_no_npz(fails: Any, tmp_path: Path, write: Any, message: str) -> None:
    source = tmp_path / "s.npz"
    write(source)
    line = fails("run", "crba", "iiwa14", "--input", source)
    assert line.startswith(f"error: {source}: {message}")
    assert "pickle" not in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("forward_dynamic", "go2"), "(did you mean 'forward_dynamics'"),
        (("fd", "go2"), "no algorithm is called 'fd'"),
        (("crba", "go3"), "(did you mean 'go2'?)"),
        (("crba", "go2", "--backend", "cpuu"), "no backend is called 'cpuu' (did you mean 'cpu'?)"),
        (("crba", "go2", "--backend", "reference", "--dtype", "float32"), "computes in float64"),
        (("crba", "go2", *QUICK, "--gravity", "1"), "crba does not depend on gravity"),
        (("aba", "go2", *QUICK, "--gravity", "nan"), "gravity must be finite"),
        (("crba", "go2", "--batch", "3", "--input", "x.npz"), "--batch is for random states"),
        (("crba", "go2", "--output", "/nowhere/x.npz"), "there is no folder /nowhere"),
        (("crba", "go2", "--output", "out.csv"), "out.csv: named arrays are written as .npz"),
        (("crba", "go2", "--batch", "abc"), "'--batch': 'abc' is not a valid integer."),
        (("crba", "go2", "--input", asset_path("go2")), "such a file): it is no .npz"),
        (("minv", CASES / "12a_zero_mass_leaf.urdf"), "'ghost_tip' cannot have it"),
    ],
)
def test_mistakes(fails: Any, arguments: tuple[object, ...], message: str) -> None:
    assert message in fails("run", *arguments)


def test_an_output_that_cannot_be_written(
    fails: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    line = fails("run", "crba", "go2", *QUICK, "--output", tmp_path / "x.npz")
    assert line.endswith("x.npz cannot be written: No space left on device")


def test_seeds_are_counted_from_0(grid: Grid) -> None:
    result = grid("run", "crba", "iiwa14", "--batch", 1, "--seed", -1, code=2)
    assert "'--seed': -1 is not in the range x>=0" in result.stderr
