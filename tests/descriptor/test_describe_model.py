"""Inspection of a model: what it takes, what it needs, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import grid_core
from grid_core import describe_model
from grid_core.descriptor import validate
from grid_core.errors import ModelError, OptionError
from tests.descriptor.robots import FIXTURES, descriptor, model, path, text

WITHOUT_COMPILER = """
import json, sys
blocked = ("llvmlite", "cuda", "jinja2", "pynvml", "cupy", "ctypes.util", "numba", "subprocess")

class Block:
    def find_spec(self, name, *rest):
        if name.startswith(blocked):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Block())
import grid_core
print(json.dumps(grid_core.describe_model(sys.argv[1], floating_base=True)))
assert not [name for name in sys.modules if name.startswith(blocked)]
"""


def test_has_the_counts_and_the_identity() -> None:
    """D1: nq, nv and descriptor_id of a URDF's path, base fixed or floating."""
    fixed = descriptor("floating", floating_base=False)
    free = descriptor("floating")
    assert (fixed["nq"], fixed["nv"]) == (2, 2)
    assert (free["nq"], free["nv"]) == (9, 8)
    assert len(free["descriptor_id"]) == 64
    assert free["descriptor_id"] != fixed["descriptor_id"]


def test_needs_neither_gpu_nor_compiler() -> None:
    """D1: works with no program on the PATH, and with CUDA, LLVM and Jinja2 not importable."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_COMPILER, str(path("floating"))],
        env={"PATH": "", "PYTHONPATH": ":".join(filter(None, sys.path)), "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == descriptor("floating")


@pytest.mark.parametrize("name", FIXTURES)
def test_is_plain_json_data_that_survives_a_round_trip(name: str) -> None:
    """D1: dict, list, str, int, float, bool and None, and nothing else."""
    found = descriptor(name)
    for value in _walk(found):
        assert type(value) in {dict, list, str, int, float, bool, type(None)}
    assert json.loads(json.dumps(found)) == found
    validate(found)


def test_path_text_bytes_and_model_are_described_alike() -> None:
    """D1: how the robot is given does not matter."""
    expected = descriptor("fixed_arm")
    assert describe_model(str(path("fixed_arm"))) == expected
    assert describe_model(text("fixed_arm")) == expected
    assert describe_model(urdf_string=text("fixed_arm").encode()) == expected
    assert describe_model(model("fixed_arm")) == expected


def test_unknown_options_are_errors() -> None:
    """D2: an option that does not exist."""
    with pytest.raises(TypeError, match="dtype"):
        describe_model(path("fixed_arm"), dtype="float64")  # type: ignore[call-arg]


@pytest.mark.parametrize("version", [0, 2, "1", None, True])
def test_unknown_schema_versions_are_errors(version: Any) -> None:
    """D2: there is schema 1 only; True is no version."""
    with pytest.raises(OptionError, match="schema_version must be 1"):
        describe_model(path("fixed_arm"), schema_version=version)


@pytest.mark.parametrize("options", [{"floating_base": "yes"}, {"strict": 1}])
def test_bad_values_of_options_are_errors(options: dict[str, Any]) -> None:
    """D2: an option of a value that it cannot have."""
    with pytest.raises(OptionError, match="must be True or False"):
        describe_model(path("fixed_arm"), **options)


def test_one_source_is_needed() -> None:
    """D2: none, or two."""
    with pytest.raises(OptionError, match="nothing to load"):
        describe_model()
    with pytest.raises(OptionError, match="two robots"):
        describe_model(path("ball"), urdf_string=text("ball"))


def test_what_is_no_robot_is_refused() -> None:
    """D2: as `load_robot` refuses it."""
    with pytest.raises(ModelError, match="no such file"):
        describe_model("nowhere.urdf")
    with pytest.raises(OptionError, match="was read with a fixed base"):
        describe_model(model("ball"), floating_base=True)


def test_schema_1_is_quaternions() -> None:
    """D3: no option chooses Euler coordinates, and a floating base has seven entries."""
    with pytest.raises(TypeError, match="euler"):
        describe_model(path("floating"), euler=True)  # type: ignore[call-arg]
    assert descriptor("floating")["joints"][0]["local_nq"] == 7


def test_no_coordinates_are_valid_and_empty() -> None:
    """D42: a robot without a joint has an empty table, and a root and a fixed frame."""
    found = descriptor("zero_dof")
    assert [found[key] for key in ("nq", "nv", "nj", "nb")] == [0, 0, 0, 0]
    assert found["joints"] == found["bodies"] == []
    assert [frame["kind"] for frame in found["frames"]] == ["root", "fixed"]
    validate(found)


def test_an_operation_speaks_for_itself_on_a_robot_without_coordinates() -> None:
    """D42: that it has metadata promises nothing; the operation decides."""
    handle = grid_core.load_robot(path("zero_dof"), backend="reference")
    assert handle.inverse_dynamics([], [], []).shape == (0,)


def _walk(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value, *value, *(v for part in value.values() for v in _walk(part))]
    if isinstance(value, list):
        return [value, *(v for part in value for v in _walk(part))]
    return [value]
