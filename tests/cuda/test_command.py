"""``grid kernel``, which needs no GPU."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from grid_backend_cuda import disassembly
from grid_backend_cuda.disassembly import count_instructions, disassemble
from grid_core.errors import BackendError
from tests.cli.conftest import fails, grid
from tests.cuda.kernels import built

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Grid

__all__ = ["fails", "grid"]

SASS = """
.section .text.grid_x
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 FFMA.FTZ R3, R1, R2, R3 ;
        /*0020*/               @P1 BRA `(.L_x_1) ;
        /*0030*/                   LDS.128 R4, [R8] ;
        /*10040*/                  FFMA R3, R1, R2, R3 ;  /* 0x00 */
                                                         /* 0x000fe20000000800 */
        /*0050*/                   XYZ R3 ;
"""


def test_figures(grid: Grid) -> None:
    text = grid("kernel", "inverse_dynamics", "iiwa14", "--given", "qdd").stdout
    assert text.startswith("grid_inverse_dynamics for sm_90, float32\n")
    assert re.search(r"program +\d+ operations, \d+ when fused, \d+ alive at once", text)
    assert re.search(r"floor +112 bytes a problem", text)
    assert re.search(r"threads +128 a block, for 128 problems", text)
    assert re.search(r"registers +\d+ a thread", text)
    assert re.search(r"spills +0 bytes; stack \d+ bytes", text)
    assert re.search(r"shared memory +0 bytes static, \d+ dynamic", text)
    assert re.search(r"instructions", text)


def test_figures_of_a_split_kernel(grid: Grid) -> None:
    """The legs of a quadruped share their code."""
    text = grid("kernel", "forward_dynamics_gradient", "go2", "--floating").stdout
    assert re.search(
        r"threads +\d+ a block, for 32 problems: \d parts of (\d+, )+\d+ operations, 4 alike, "
        r"\d phases",
        text,
    )


def test_figures_as_json_for_another_card(grid: Grid, tmp_path: Path) -> None:
    arguments = ("kernel", "crba", "iiwa14", "--arch", "sm_120", "--dtype", "float64", "--json")
    found = json.loads(grid(*arguments).stdout)
    assert found["arch"] == "sm_120"
    assert found["bytes_a_problem"] == 8 * (7 + 49)
    assert found["outputs"] == {"M": [7, 7]}
    assert found["parts"] == found["phases"] == 1
    path = tmp_path / "crba.json"
    assert grid(*arguments, "-o", path).stdout == f"written to {path}\n"
    assert json.loads(path.read_text()) == found


def test_source_and_ptx(grid: Grid, tmp_path: Path) -> None:
    text = grid("kernel", "crba", "iiwa14", "--source").stdout
    assert text.startswith("// crba for ")
    assert "grid_crba(const long long batch" in text
    path = tmp_path / "crba.ptx"
    grid("kernel", "crba", "iiwa14", "--ptx", "--arch", "sm_80", "-o", path)
    assert ".target sm_80" in path.read_text()


def test_machine_code(grid: Grid) -> None:
    if disassembly.disassembler() is None:
        pytest.skip("no disassembler here")
    text = grid("kernel", "crba", "iiwa14", "--sass").stdout
    assert "FFMA" in text
    assert "EXIT" in text
    counts = count_instructions(disassemble(built("iiwa14", "crba").code))
    assert counts["float32"] > 100
    assert counts["device memory"] > 0


def test_instructions_are_counted_by_kind() -> None:
    assert count_instructions(SASS) == {
        "float32": 2,
        "shared memory": 1,
        "constants": 1,
        "branches": 1,
        "integer and other": 1,
    }


def test_without_a_disassembler_the_rest_is_shown(
    grid: Grid, fails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disassembly, "disassembler", lambda: None)
    text = grid("kernel", "crba", "iiwa14").stdout
    assert "registers" in text
    assert "instructions are not counted: " in text
    assert "nvidia-cuda-nvdisasm" in text
    assert "pip install 'nvidia-cuda-nvdisasm==13.*'" in fails("kernel", "crba", "iiwa14", "--sass")


def test_a_disassembler_that_fails_is_named() -> None:
    if disassembly.disassembler() is None:
        pytest.skip("no disassembler here")
    with pytest.raises(BackendError, match="failed: "):
        disassemble(b"no machine code")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("crbb", "iiwa14"), "did you mean 'crba'"),
        (("crba", "iiwa15"), "no robot is called that"),
        (("crba", "iiwa14", "--arch", "sm_75"), "there is no architecture 'sm_75'"),
        (("crba", "iiwa14", "--given", "qdd"), "crba has no optional input 'qdd'"),
        (("crba", "iiwa14", "--json", "--ptx"), "--json goes with --stats"),
        (("crba", "iiwa14", "-o", "/nowhere/at/all.txt"), "/nowhere/at"),
    ],
)
def test_mistakes(fails: Any, arguments: tuple[str, ...], said: str) -> None:
    assert said in fails("kernel", *arguments)


def test_an_operation_that_a_robot_cannot_have_is_refused(fails: Any, tmp_path: Path) -> None:
    path = tmp_path / "massless.urdf"
    path.write_text(
        '<robot name="massless"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    assert "'massless' cannot have it" in fails("kernel", "forward_dynamics", path)
