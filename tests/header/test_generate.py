"""Asking for a header: from Python and from the command line."""

from __future__ import annotations

import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import grid_core
from grid_core.algorithm import Algorithm, Options, Port
from grid_core.assets import asset_path
from grid_core.cli import main as entry
from grid_core.errors import (
    OperationRefused,
    OptionError,
    PluginConflict,
    UnknownAlgorithm,
    UnknownName,
)
from grid_core.header import HeaderWriter, header_text
from grid_core.model import load_urdf
from grid_core.plugins import PluginManager, announcements, plugin_manager
from grid_core.plugins.discovery import Announcement
from tests.cli.conftest import fails, grid
from tests.header.headers import ROBOTS, header, library, pointer
from tests.plugins.builders import plugin

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Grid

__all__ = ["fails", "grid"]

ARM = asset_path("iiwa14")
SMALL: dict[str, Any] = {"algorithm_list": "crba"}


def names(text: str) -> list[str]:
    return re.findall(r"^GRID_FN void (\w+)_thread\(", text, re.MULTILINE)


def test_the_same_request_gives_the_same_text() -> None:
    first, again = (grid_core.generate_header(ARM, **SMALL) for _ in range(2))
    assert first == again
    assert first.endswith("}  // namespace grid\n")


def test_text_of_a_loaded_model() -> None:
    """From a handle's model and options, as an artifact has them."""
    robot = grid_core.load_robot(ARM, backend="reference", dtype="float64")
    selection = plugin_manager().select(["crba", "end_effector_pose"])
    text = header_text(robot.model, robot.options, selection, dtype="float64")
    by_source = grid_core.generate_header(
        ARM, algorithm_list=["crba", "end_effector_pose"], dtype="float64"
    )
    assert text == by_source
    assert names(text) == ["end_effector_pose", "crba"]


def test_all_is_what_a_handle_has() -> None:
    """K8: the pose family is there without asking."""
    text = grid_core.generate_header(ARM)
    assert set(names(text)) == set(plugin_manager().select(None).chosen)
    assert "typedef float real;" in text


def test_what_the_robot_cannot_have_is_left_out_and_said() -> None:
    found, _ = ROBOTS["spherical"]
    text = grid_core.generate_header(urdf_string=found.source(), algorithm_list="eepose")
    assert "fk_batched" not in names(text)
    assert re.search(r"^// Left out: fk_batched: joint 'j1' is spherical", text, re.MULTILINE)


def test_what_is_asked_for_by_name_is_not_left_out() -> None:
    found, _ = ROBOTS["spherical"]
    with pytest.raises(OperationRefused, match="fk_batched: 'spherical' cannot have it: joint"):
        grid_core.generate_header(urdf_string=found.source(), algorithm_list="fk_batched")


def test_optional_inputs_are_operations_of_their_own() -> None:
    text = grid_core.generate_header(
        ARM, algorithm_list=["inverse_dynamics", "crba"], optional_inputs="f_ext"
    )
    assert names(text) == ["crba", "inverse_dynamics", "inverse_dynamics_f_ext"]
    assert "inverse_dynamics_thread(real* GRID_RESTRICT tau, const real* GRID_RESTRICT q" in text
    assert "const T* GRID_RESTRICT d_f_ext" in text


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"namespace": "a b"}, OptionError, "namespace must be a C.. namespace"),
        ({"namespace": "class"}, OptionError, "C.. keeps 'class' for itself"),
        ({"namespace": "std"}, OptionError, "C.. keeps 'std' for itself"),
        ({"namespace": "a__b"}, OptionError, "C.. keeps 'a__b' for itself"),
        ({"namespace": 3}, OptionError, "got 3"),
        ({"namespace": "unix"}, OptionError, "'unix' is a macro"),
        ({"namespace": "a::GRID_FN"}, OptionError, "'GRID_FN' is a macro"),
        ({"dtype": "float16"}, OptionError, "dtype must be float32 or float64"),
        ({"optional_inputs": "f_exr"}, OptionError, "did you mean 'f_ext'"),
        ({"optional_inputs": [3]}, OptionError, "no.* optional input 3"),
        ({"algorithm_list": "crbb"}, UnknownAlgorithm, "did you mean 'crba'"),
        ({"ee_joint_names": "nowhere"}, UnknownName, "no joint 'nowhere'"),
    ],
)
def test_bad_requests(options: dict[str, Any], error: type[Exception], message: str) -> None:
    given = {"algorithm_list": "inverse_dynamics", **options}
    with pytest.raises(error, match=message):
        grid_core.generate_header(ARM, **given)


def test_namespaces_may_be_nested() -> None:
    text = grid_core.generate_header(ARM, namespace="robots::arm", **SMALL)
    library(text, '#include "grid.cuh"\nstatic_assert(robots::arm::NUM_POS == 7);')


def _odd_program(ctx: Any) -> dict[str, Any]:
    return {"new": ctx["q"] * ctx["class_"] + ctx["x12"] + ctx["t3"], "weite_ü": 2.0 * ctx["q"]}


def odd() -> Algorithm:
    """An algorithm whose names are none, or others, in C++."""
    q = Port(name="q", shape=("nq",), doc="configuration")
    x, t = (evolve_port(q, name) for name in ("x12", "t3"))
    scale = Port(name="class_", shape=(), doc="a number", uniform=True, default=2.5)
    outputs = tuple(Port(name=n, shape=("nq",), doc='a "doc" \\') for n in ("new", "weite_ü"))
    return Algorithm(
        name="delete",
        family="odd",
        summary="Ends in a backslash \\",
        source="none",
        inputs=(q, x, t, scale),
        outputs=outputs,
        reference=_odd_program,
        program=_odd_program,
    )


def evolve_port(port: Port, name: str) -> Port:
    return Port(name=name, shape=port.shape, doc=port.doc)


def manager(**hooks: Any) -> PluginManager:
    return PluginManager([*announcements(), Announcement.of(plugin(**hooks), "test")])


def test_names_that_cpp_does_not_have() -> None:
    """Keywords, other alphabets and the header's own names are written otherwise."""
    plugins = manager(algorithms=[odd()])
    text = header_text(
        load_urdf(ARM), Options(), plugins.select(["odd"]), dtype="float64", plugins=plugins
    )
    source = """
    #include "grid.cuh"
    extern "C" void run(double* a, double* b, const double* q, const double* x, const double* t)
    {
        grid::delete__thread(a, b, q, x, t);
    }
    """
    lib = library(text, source)
    q, x, t = np.random.default_rng().normal(size=(3, 7))
    a, b = np.zeros((2, 7))
    lib.run(*(pointer(v) for v in (a, b, q.copy(), x.copy(), t.copy())))
    np.testing.assert_allclose(a, 2.5 * q + x + t)
    np.testing.assert_allclose(b, 2.0 * q)


def test_another_writer() -> None:
    """A plugin may write headers in another way; two of one name are in conflict."""
    mine = HeaderWriter(
        name="names",
        summary="names only",
        file_name="names.txt",
        write=lambda h: " ".join(o.algorithm.name for o in h.operations),
    )
    plugins = manager(headers=[mine])
    selection = plugins.select(["crba"])
    model = load_urdf(ARM)
    assert header_text(model, Options(), selection, writer="names", plugins=plugins) == "crba"
    with pytest.raises(UnknownAlgorithm, match="no header is called 'hcl'; there are cuda and n"):
        header_text(model, Options(), selection, writer="hcl", plugins=plugins)
    cuda = HeaderWriter(name="cuda", summary="x", file_name="x", write=mine.write)
    plugins = manager(headers=[cuda])
    with pytest.raises(PluginConflict, match="the header 'cuda' is claimed by"):
        header_text(model, Options(), selection, plugins=plugins)


def test_a_writer_that_is_none() -> None:
    plugins = manager(headers=["text"])
    (record,) = plugins.failures
    assert record.stage == "contract"
    assert "is no header writer: it has no 'name'" in str(record.error)


def test_command(grid: Grid, tmp_path: Path) -> None:
    """D4: the command writes what the function returns."""
    path = tmp_path / "grid.cuh"
    said = grid("generate", ARM, "--algorithm-list", "crba,end_effector_pose", "-o", path).stdout
    assert said == f"written to {path}\n"
    expected = grid_core.generate_header(ARM, algorithm_list=["crba", "end_effector_pose"])
    assert path.read_text(encoding="utf-8") == expected
    assert grid("generate", ARM, "--algorithm-list", "crba").stdout == grid_core.generate_header(
        ARM, algorithm_list=["crba"]
    )


def test_command_options(grid: Grid, tmp_path: Path) -> None:
    path = tmp_path / "dog.cuh"
    options = ["-f", "-t", "FL_calf_joint,FR_calf_joint", "--algorithm-list", "end_effector_pose"]
    options += ["--algorithm-list", "inverse_dynamics", "--given", "f_ext", "--dtype", "float64"]
    options += ["--namespace", "dog", "--runtime-transform", "--convention", "mujoco", "-o", path]
    grid("generate", asset_path("go2"), *options)
    text = path.read_text(encoding="utf-8")
    assert names(text) == [
        "end_effector_pose",
        "end_effector_pose_placements",
        "inverse_dynamics",
        "inverse_dynamics_f_ext",
        "inverse_dynamics_placements",
        "inverse_dynamics_f_ext_placements",
    ]
    assert "namespace dog { inline namespace" in text
    assert "NUM_EES = 2;" in text
    assert "NUM_POS = 19;" in text
    assert "typedef double real;" in text
    assert "constexpr bool runtime_transform = true;" in text
    assert "Convention of q, v and results: mujoco." in text
    assert "floating base" in text.splitlines()[0]


def test_command_has_the_options_of_a_load(grid: Grid, fails: Any) -> None:
    name = "inverse_dynamics_regressor"
    options = ["--use-joint-dynamics", "--regressor-terms", "viscous,coulomb"]
    text = grid("generate", ARM, "--algorithm-list", name, *options).stdout
    assert "//   out Y (7, 84): " in text
    assert "Joint damping and friction act." in text
    text = grid("generate", ARM, "--algorithm-list", "crba", "--runtime-inertia").stdout
    assert names(text) == ["crba", "crba_inertias"]
    assert "for a robot-description directory" in fails("generate", ARM, "--calibration", ARM)
    assert "there is no term 'viscuos'" in fails("generate", ARM, "--regressor-terms", "viscuos")


def test_command_says_what_is_wrong(fails: Any, tmp_path: Path) -> None:
    assert "no joint 'x'" in fails("generate", ARM, "-t", "x")
    assert "C++ keeps 'int' for itself" in fails("generate", ARM, "--namespace", "int")
    line = fails("generate", ARM, "-o", tmp_path / "no" / "grid.cuh")
    assert "cannot be written: there is no folder" in line
    assert "no algorithm is called 'fdd'" in fails("generate", ARM, "--algorithm-list", "fdd")


def test_the_script_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``grid-generate robot.urdf`` is ``grid generate robot.urdf``."""
    monkeypatch.setattr(sys, "argv", ["grid-generate", str(ARM), "--algorithm-list", "crba"])
    with warnings.catch_warnings(), pytest.raises(SystemExit) as done:
        entry.generate()
    assert not done.value.code
    assert capsys.readouterr().out == grid_core.generate_header(ARM, **SMALL)


def test_joint_dynamics() -> None:
    """Damping acts where it is asked for, and the text says so."""
    found, _ = ROBOTS["mimic_constant"]
    text = grid_core.generate_header(
        urdf_string=found.source(), algorithm_list="forward_dynamics", use_joint_dynamics=True
    )
    assert "Joint damping and friction act." in text
    assert "Joint damping" not in header("mimic_constant", algorithm_list=("forward_dynamics",))
