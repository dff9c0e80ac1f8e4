"""Write the synthetic descriptions of ``robot_description/robots``; run it to make them anew."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parents[2] / "robot_description" / "robots"
NOTE = "<!-- Synthetic: the geometry, masses and limits are invented. -->"
STL = """solid synthetic
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 0.1 0 0
vertex 0 0.1 0
endloop
endfacet
endsolid synthetic
"""
ARM = [  # name, origin xyz, axis, lower, upper, velocity
    ("J1", (0.0, 0.0, 0.45), (0, 0, 1), -2.9, 2.9, 3.2),
    ("J2", (0.15, 0.0, 0.1), (0, 1, 0), -1.6, 2.3, 3.0),
    ("J3", (0.0, 0.0, 0.6), (0, 1, 0), -2.9, 1.4, 3.3),
    ("J4", (0.1, 0.0, 0.15), (1, 0, 0), -3.3, 3.3, 6.9),
    ("J5", (0.55, 0.0, 0.0), (0, 1, 0), -2.2, 2.2, 7.1),
    ("J6", (0.1, 0.0, 0.0), (1, 0, 0), -6.2, 6.2, 10.2),
]


def link(name: str, mass: float = 0.0, mesh: bool = False) -> str:
    if not mass:
        return f'  <link name="{name}"/>'
    visual = '<visual><geometry><mesh filename="meshes/link.stl"/></geometry></visual>'
    i = 0.02 * mass
    inertia = f'ixx="{i:g}" ixy="0" ixz="0" iyy="{i:g}" iyz="0" izz="{i:g}"'
    return (
        f'  <link name="{name}"><inertial><origin xyz="0.02 0 0.1"/><mass value="{mass:g}"/>'
        f"<inertia {inertia}/></inertial>{visual if mesh else ''}</link>"
    )


def joint(name: str, parent: str, child: str, xyz: Any, rpy: Any = (0, 0, 0), **moves: Any) -> str:
    words = " ".join(f"{x:g}" for x in xyz)
    turn = " ".join(f"{x!r}" for x in rpy)
    kind = moves.pop("kind", "revolute" if moves else "fixed")
    lines = [
        f'  <joint name="{name}" type="{kind}">',
        f'    <parent link="{parent}"/><child link="{child}"/>',
        f'    <origin xyz="{words}" rpy="{turn}"/>',
    ]
    if moves:
        axis = " ".join(str(x) for x in moves["axis"])
        lower, upper, velocity = moves["limits"]
        lines += [
            f'    <axis xyz="{axis}"/>',
            f'    <limit lower="{lower}" upper="{upper}" velocity="{velocity}" effort="300"/>',
        ]
    return "\n".join([*lines, "  </joint>"])


def arm(stand: str) -> list[str]:
    parts, parent = [], stand
    for number, (name, xyz, axis, lower, upper, velocity) in enumerate(ARM, 1):
        child = f"link_{number}"
        limits = (lower, upper, velocity)
        parts += [
            link(child, 14.0 - 2 * number, mesh=True),
            joint(name, parent, child, xyz, axis=axis, limits=limits),
        ]
        parent = child
    parts += [link("end_effector", 0.8), joint("flange", parent, "end_effector", (0.08, 0, 0))]
    parts += [link("tool0"), joint("tool", "end_effector", "tool0", (0.35, 0.0, 0.02), (0, 0.6, 0))]
    return parts


def rosie_1400() -> str:
    limits = (-3.1, 3.1, 1.8)
    table = {"axis": (0, 1, 0), "limits": limits}
    parts = [link("world"), link("floor"), joint("ground", "world", "floor", (0, 0, 0))]
    parts += arm("floor")
    parts += [
        link("h_frame", 90.0),
        joint("J9", "floor", "h_frame", (1.4, 0, 0.5), axis=(0, 0, 1), limits=(-3.2, 3.2, 0.9)),
        link("positioner_table_a", 40.0),
        joint("J7", "h_frame", "positioner_table_a", (0, 0.7, 0.3), (0, 0, math.pi), **table),
        link("positioner_table_b", 40.0),
        joint("J8", "h_frame", "positioner_table_b", (0, -0.7, 0.3), **table),
    ]
    return urdf("rosie_1400_v3", parts)


def rosie_1420() -> str:
    parts = [link("world"), link("pedestal", 200.0), link("base", 30.0)]
    parts += [
        joint("stand", "world", "pedestal", (0, 0, 0)),
        joint("mount", "pedestal", "base", (0.1, 0.0, 0.75)),
    ]
    return urdf("rosie_1420_v1", [*parts, *arm("base")])


def urdf(name: str, parts: list[str]) -> str:
    lines = ['<?xml version="1.0"?>', NOTE, f'<robot name="{name}">', *parts, "</robot>", ""]
    return "\n".join(lines)


def srdf(name: str, axes: list[str]) -> str:
    joints = "".join(f'<joint name="{axis}" value="0"/>' for axis in axes)
    state = f'<group_state name="home" group="all">{joints}</group_state>'
    return f'{NOTE}\n<robot name="{name}">\n  {state}\n</robot>\n'


def config(name: str, driven: list[str], held: list[str], ceiling: float) -> dict[str, Any]:
    rosie = name.startswith("rosie_1400")
    axes = driven + held
    velocity = [1.5, 1.4, 1.5, 1.571, 1.571, 1.571, 0.8] if rosie else [3.0, 2.8, 3.0, 6, 6, 10.0]
    top = {"positioner_table_a_top": {"link": "positioner_table_a", "xyz_m": [0, -0.622, 0.1]}}
    return {
        "schema": "grid.robot-config.v1",
        "model_id": name,
        **({"surfaces": top} if rosie else {}),
        "frames": {
            "base": "world",
            "tool": "tool0",
            "work": "positioner_table_a_top" if rosie else "world",
        },
        "torch": {"electrode_axis": [1, 0, 0]},
        "driven_joints": driven,
        **({"held_joints": dict.fromkeys(held, 0)} if held else {}),
        "speed_ceiling_rad_s": ceiling,
        "reset_pose": dict.fromkeys(driven, 0),
        "planning": {
            "velocity": dict(zip(driven, velocity, strict=True)),
            "acceleration": dict.fromkeys(driven, 4.0),
        },
        "rt": {
            "trajectory_acceleration": dict.fromkeys(axes, 6.0),
            "jog_acceleration": dict.fromkeys(axes, 1.5),
        },
        "kinematic_correction_caps": {
            "xyz_m": [0.01, 0.012, 0.014],
            "rpy_rad": [0.02, 0.022, 0.024],
        },
    }


def motors(name: str, axes: list[str | None]) -> dict[str, Any]:
    ratio = 1.0 if name.startswith("bench") else 100.0
    return {
        "schema": "grid.rtcore-definition.v1",
        "model_id": name,
        "motors": [
            {
                "name": f"M{number}",
                **({"joint": axis} if axis else {}),
                "gear_ratio": ratio,
                "encoder_counts_per_rev": 131072,
            }
            for number, axis in enumerate(axes, 1)
        ],
    }


def spheres(name: str) -> dict[str, Any]:
    ball = {"center_m": [0.0, 0.0, 0.1], "radius_m": 0.12}
    links = {f"link_{number}": [ball] for number in range(1, 7)}
    return {"schema": "grid.collision-spheres.v1", "model_id": name, "spheres": links}


def write(name: str, files: dict[str, str]) -> None:
    manifest = {
        "schema": "grid.robot-description.v1",
        "model_id": name,
        "files": sorted(files),
    }
    for path, text in {"manifest.json": as_json(manifest), **files}.items():
        target = FIXTURES / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def robot(name: str, text: str, driven: list[str], held: list[str], ceiling: float) -> None:
    axes = sorted(driven + held)
    write(
        name,
        {
            f"{name}.urdf": text,
            f"{name}.srdf": srdf(name, axes),
            "config.json": as_json(config(name, driven, held, ceiling)),
            "spheres.json": as_json(spheres(name)),
            "rtcore_definition.json": as_json(motors(name, list(axes))),
            "meshes/link.stl": STL,
        },
    )


def main() -> None:
    arm_axes = [f"J{number}" for number in range(1, 7)]
    robot("rosie_1400_v3", rosie_1400(), [*arm_axes, "J7"], ["J8", "J9"], 1.571)
    robot("rosie_1420_v1", rosie_1420(), arm_axes, [], 10.0)
    for name, count in (("bench_one_motor_1to1", 1), ("bench_nine_motors_1to1", 9)):
        write(name, {"rtcore_definition.json": as_json(motors(name, [None] * count))})


if __name__ == "__main__":
    main()
