"""The small robots that descriptors are tested on, and their frozen descriptors."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from grid_core import describe_model
from grid_core.errors import ModelWarning
from grid_core.model import load_urdf

HERE = Path(__file__).parent

FIXTURES = {
    "fixed_arm": False,
    "floating": True,
    "ball": False,
    "screw": False,
    "mimic_chain": False,
    "zero_dof": False,
    "decomposed": False,
    "fixed_leaf": False,
}
"""Name of each fixture, and whether its base floats."""


def path(name: str) -> Path:
    return HERE / "fixtures" / f"{name}.urdf"


def text(name: str) -> str:
    return path(name).read_text(encoding="utf-8")


def golden(name: str) -> dict[str, Any]:
    return json.loads((HERE / "golden" / f"{name}.json").read_text(encoding="utf-8"))


def model(name: str, *, floating_base: bool | None = None):
    free = FIXTURES[name] if floating_base is None else floating_base
    return load_urdf(path(name), floating_base=free)


def descriptor(name: str, *, floating_base: bool | None = None) -> dict[str, Any]:
    free = FIXTURES[name] if floating_base is None else floating_base
    return describe_model(path(name), floating_base=free)


def describe_text(urdf: str, *, floating_base: bool = False) -> dict[str, Any]:
    """Describe a document whatever there is to warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return describe_model(urdf_string=urdf, floating_base=floating_base)
