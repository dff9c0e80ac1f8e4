"""Everything that Grid asks of an algorithm, on an arm and on a quadruped."""

from importlib.resources import files

import pytest
from grid_center_of_mass.plugin import grid_algorithms

from grid_core.model import load_urdf
from grid_core.testing import check_algorithm


@pytest.mark.parametrize("floating_base", [False, True])
@pytest.mark.parametrize("robot", ["iiwa14", "go2"])
@pytest.mark.parametrize("algorithm", grid_algorithms(), ids=lambda a: a.name)
def test_it_holds_what_an_algorithm_promises(algorithm, robot, floating_base):
    model = load_urdf(files("grid_core.assets") / f"{robot}.urdf", floating_base=floating_base)
    check_algorithm(algorithm, model)
