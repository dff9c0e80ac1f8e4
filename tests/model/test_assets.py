"""The robots that come with Grid."""

from __future__ import annotations

import pytest

from grid_core.assets import asset_path
from grid_core.errors import UnknownRobot
from grid_core.model import load_urdf


@pytest.mark.parametrize(
    ("name", "floating_base", "nq", "nv", "mass"),
    [("iiwa14", False, 7, 7, 25.61), ("go2", True, 19, 18, 16.085)],
)
def test_assets(name, floating_base, nq, nv, mass):
    """They load without a warning, and weigh what they should."""
    model = load_urdf(asset_path(name), floating_base=floating_base, strict=True)
    assert (model.name, model.nq, model.nv) == (name, nq, nv)
    assert sum(body.inertia.mass for body in model.bodies) == pytest.approx(mass)


def test_unknown_assets():
    """The message lists those that there are."""
    assert asset_path("go2.urdf") == asset_path("go2")
    with pytest.raises(
        UnknownRobot, match="no robot 'spot' comes with Grid; there are go2, iiwa14"
    ):
        asset_path("spot")
