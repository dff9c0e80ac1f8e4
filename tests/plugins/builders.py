"""Plugins made in the test: modules, algorithms and backends that do next to nothing."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

import grid_core.model.plugin
import grid_core.reference.plugin
from grid_core.algorithm import Algorithm, Port
from grid_core.hookspecs import hookimpl
from grid_core.load_options import LoadOptions
from grid_core.loading import load
from grid_core.plugins import Announcement, PluginManager

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.backend import Operation
    from grid_core.handle import RobotHandle

Q = Port(name="q", shape=("nq",), doc="configuration", unit="rad")
QD = Port(name="qd", shape=("nv",), doc="velocity", unit="rad/s")
FORCE = Port(name="f_ext", shape=("nb", 6), doc="forces", unit="N, N m", optional=True)
GRAVITY = Port(name="gravity", shape=(), doc="gravity", uniform=True, default=-9.81)
P = Port(name="p", shape=("nv",), doc="product", unit="rad/s")


def product(ctx: Any) -> dict[str, Any]:
    """p = gravity · qd, plus the sum of all forces."""
    p = ctx["gravity"] * ctx["qd"]
    force = ctx.get("f_ext")
    return {"p": p if force is None else p + force.sum(axis=(-2, -1))[..., None]}


def algorithm(name: str = "product", **changes: Any) -> Algorithm:
    """An algorithm that works on any robot."""
    fields: dict[str, Any] = {
        "name": name,
        "family": "made_up",
        "summary": "Gravity times velocity.",
        "inputs": (Q, QD, FORCE, GRAVITY),
        "outputs": (P,),
        "reference": product,
        "program": product,
        "source": "nowhere",
    }
    return Algorithm(**{**fields, **changes})


def plugin(**hooks: Any) -> types.ModuleType:
    """A module whose hook ``grid_algorithms`` returns what ``algorithms`` is, and so on."""
    module = types.ModuleType("made_up")
    for kind, value in hooks.items():
        give: Callable[[], Any] = value if callable(value) else (lambda value=value: value)
        setattr(module, f"grid_{kind}", hookimpl(fresh(give), specname=f"grid_{kind}"))
    return module


def fresh(give: Callable[[], Any]) -> Callable[[], Any]:
    def hook() -> Any:
        return give()

    return hook


def announce(
    module: object, name: str = "made-up", distribution: str = "grid-made-up", version: str = "1.2"
) -> Announcement:
    return Announcement.of(module, name, distribution=distribution, version=version)


def offering(*names: str, plugin_name: str = "made-up", **where: str) -> Announcement:
    """A plugin that offers algorithms of these names."""
    module = plugin(algorithms=[algorithm(name) for name in names])
    return announce(module, plugin_name, **where)


def failing(error: BaseException, name: str = "broken", **where: str) -> Announcement:
    """A plugin that cannot be imported."""

    def load() -> object:
        raise error

    made = announce(None, name, **{"distribution": "grid-broken", "version": "0.3", **where})
    return Announcement(made.provider, load)


def manager(*plugins: Announcement) -> PluginManager:
    """A manager with URDF, the reference backend and these plugins."""
    own = {"distribution": "grid-robotics", "version": "0"}
    return PluginManager(
        [
            announce(grid_core.model.plugin, "urdf", **own),
            announce(grid_core.reference.plugin, "reference", **own),
            *plugins,
        ]
    )


@frozen
class FakeBackend:
    """Runs references in any dtype; says what it is told to say."""

    name: str = "fake"
    summary: str = "a backend for tests"
    priority: int = 0
    dtypes: tuple[str, ...] = ("float32", "float64")
    missing: str | None = None
    built: list[Operation] = field(factory=list)

    def unavailable(self) -> str | None:
        return self.missing

    def build(self, operation: Operation, settings: Any) -> Any:
        self.built.append(operation)
        return grid_core.reference.plugin.ReferenceBackend().build(operation, settings)


ARM = """
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="2" velocity="3" effort="40"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="tool" type="fixed"><parent link="lower"/><child link="tip"/>
    <origin xyz="0.5 0 0"/></joint>
</robot>
"""
"""Two joints, nq = nv = 2; with a floating base nq = 9, nv = 8."""


def load_arm(
    *algorithms: Algorithm, plugins: PluginManager | None = None, **options: Any
) -> RobotHandle:
    """Load `ARM` with these algorithms, or `product`, on the fake backend."""
    if plugins is None:
        module = plugin(algorithms=list(algorithms) or [algorithm()], backends=[FakeBackend()])
        plugins = manager(announce(module))
    options = {"backend": "fake", "dtype": "float64", **options}
    return load(None, ARM, LoadOptions.check(options), plugins)
