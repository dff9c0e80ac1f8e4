"""The text of a kernel: nothing that a robot or a plugin is called can break it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from grid_backend_cuda.build import compile_source, kernel_source
from grid_backend_cuda.compiler import compile_cubin
from grid_backend_cuda.emit import Real
from grid_backend_cuda.render import kernel_name, render
from grid_backend_cuda.thread_mapping import map_threads
from grid_core.algorithm import Port
from grid_core.errors import BackendError
from tests.cuda.kernels import source
from tests.program.expressions import program_of
from tests.program.operations import made_up, operation, pendulum

if TYPE_CHECKING:
    from pathlib import Path

SMALL: Any = program_of(lambda x: {"y": [x[0] + x[1]]}, x=(2,))
NAMES = [
    "two\nlines",
    "back\\slash\\",
    "*/ int x; /*",
    "??/",
    'quote " and %s {{ robot }} {% raw %}',
    "Ärmchen 腕 \u202e\u2028",
    "\udcff",
    "a" * 5000,
]


def text_of(program: Any, robot: str = "", template: str | None = None) -> str:
    real = Real("float32")
    return render(program, real, map_threads(program, real), robot=robot, template=template)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_robots_name_stays_in_its_comment(name: str) -> None:
    text = text_of(SMALL, name)
    plain = text_of(SMALL, "plain")
    assert text.splitlines()[1:] == plain.splitlines()[1:]
    assert compile_cubin(text, kernel_name(SMALL), "sm_90")[0]


@pytest.mark.parametrize(
    "names", [("float", "int"), ("j0", "y1"), ("tile", "lane"), ("real", "batch"), ("first", "x0")]
)
def test_a_port_may_be_called_what_c_and_cuda_have_already(names: tuple[str, str]) -> None:
    """Some are C's words, some the device library's functions, some the kernel's own variables."""
    first, second = names
    inputs = (
        Port(name=first, shape=("nq",), doc="an array"),
        Port(name=second, shape=(), doc="a number", uniform=True, default=2.0),
    )
    outputs = (Port(name="double" if first != "double" else "o", shape=("nq",), doc="result"),)
    algorithm = made_up(
        lambda ctx: {outputs[0].name: ctx[first] * ctx[second]}, inputs=inputs, outputs=outputs
    )
    made = compile_source(
        kernel_source(operation(pendulum(), algorithm, dtype="float32"), "sm_90"), "sm_90"
    )
    assert made.inputs == names
    assert made.uniform == (second,)
    assert made.outputs == ("double",)


TEMPLATE = """{% extends "kernel.cu.j2" %}
{% block helpers %}
{{ super() }}
static __device__ real twice(real x) { return x + x; }
{% endblock %}
{% block body %}
        // {{ program.name }} by its own hand
        const real sum = twice(tile[lane * 2]);
        __syncwarp();
        tile[lane] = sum;
        __syncwarp();
        grid_store<1, 1, 1>(out_y + first, tile, rows, lane, vectors);
{% endblock %}
"""


@pytest.mark.parametrize("file", ["own.cu.j2", "kernel.cu.j2"])
def test_an_algorithms_own_template_replaces_blocks(tmp_path: Path, file: str) -> None:
    """Also where its file is called as the one that it extends."""
    own = tmp_path / file
    own.write_text(TEMPLATE, encoding="utf-8")
    algorithm = evolve(made_up(lambda ctx: {"y": ctx["q"][:1]}), template=str(own))
    found = kernel_source(operation(pendulum(), algorithm, dtype="float32"), "sm_90")
    assert "by its own hand" in found.text
    assert "grid_far_sin" in found.text
    assert compile_source(found, "sm_90").registers > 0


def test_a_large_program_with_a_template_of_its_own_is_not_split(tmp_path: Path) -> None:
    own = tmp_path / "own.cu.j2"
    own.write_text('{% extends "kernel.cu.j2" %}', encoding="utf-8")
    found = source("humanoid", "forward_dynamics")
    assert hasattr(found.mapping, "split")
    mapping = map_threads(found.program, found.real)
    text = render(found.program, found.real, mapping, robot="", template=str(own))
    assert text == render(found.program, found.real, mapping, robot="")


def test_a_template_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"the template .*missing.cu.j2 cannot be read: "):
        text_of(SMALL, template=str(tmp_path / "missing.cu.j2"))


def test_the_text_is_the_same_every_time() -> None:
    found = source("iiwa14", "forward_dynamics")
    again = render(found.program, found.real, found.mapping, robot="iiwa14")
    assert again == render(found.program, found.real, found.mapping, robot="iiwa14")


@pytest.mark.parametrize("value", [1e39, -1e39, 1e-46, -0.0, 5e-324, 1.0, 0.1, 1e22, 1e300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constants_of_any_size_compile(value: float, dtype: str) -> None:
    program = program_of(lambda x: {"y": [x[0] - value, x[0] * value]}, x=(1,))
    real = Real(dtype)
    text = render(program, real, map_threads(program, real), robot="")
    assert compile_cubin(text, kernel_name(program), "sm_90")[0]
    assert "inf" not in real.literal(value)
