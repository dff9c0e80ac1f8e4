"""Descriptors frozen for one robot of each sort: a change here is a change of schema 1."""

from __future__ import annotations

import pytest

from grid_core.descriptor import load_descriptor
from tests.descriptor.encoding import identity
from tests.descriptor.robots import FIXTURES, HERE, descriptor, golden

FROZEN = {
    "fixed_arm": "eaef59e05c911c4607c091b57d9515ed1fd1d3288399f9d85712a25cad3f870a",
    "floating": "fc486ce872acfa6f781d213d68a1caf3df932623d0197b215eb5b83a4dd86431",
    "ball": "f01677d796cf03393bb7610753fc475fbce4c260cc25cd3a9c7bd8c9573f7307",
    "screw": "34f053db3f8cb2018417cb6f82993de7e139521812cb03b54bc50b6e74aee700",
    "mimic_chain": "d45a45afa32f0a9832011f7aaf61ca749cd02e52fb52f2ceec00e16272f9ed98",
    "zero_dof": "aad4f6f8d9fd6a74c6411d54d9c6729ec0f0f6d5372f9534210c45c5a0743b0d",
    "decomposed": "e6a351b7aaa9d6f3a59d6b822c00545e151397a2236ed88a3422e6b183e4eb97",
    "fixed_leaf": "58a434d7f722dd94d3a2bd40be9160e2bff68ee15cc72f4821d1838f71edb5ff",
}


def test_every_fixture_is_frozen() -> None:
    """D33: the vectors cover every fixture, and no file is forgotten."""
    assert set(FROZEN) == set(FIXTURES)
    assert {path.stem for path in (HERE / "golden").iterdir()} == set(FIXTURES)


@pytest.mark.parametrize("name", FIXTURES)
def test_identity_is_frozen(name: str) -> None:
    """D33: our own golden vectors."""
    assert descriptor(name)["descriptor_id"] == FROZEN[name]
    assert identity(golden(name)) == FROZEN[name]


@pytest.mark.parametrize("name", FIXTURES)
def test_every_field_is_frozen(name: str) -> None:
    """D34: the saved file, pretty-printed, is the descriptor."""
    assert descriptor(name) == golden(name) == load_descriptor(HERE / "golden" / f"{name}.json")
