"""``grid artifact``: build, check and show what loads without source or compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grid_core.cli.options import (
    NAMES,
    FilePath,
    base_option,
    convention_option,
    example,
    grid_command,
    json_flag,
    robot_argument,
    strict_option,
    targets_option,
)
from grid_core.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grid_core.artifact.prepared_manifest import Manifest, OperationRecord

__all__ = ["command"]

_folder = click.argument("directory", metavar="DIR", type=FilePath())
_expect = click.option(
    "--expect", metavar="ID", help="The descriptor_id that the robot's descriptor must have."
)


@click.group("artifact", epilog=example("grid artifact build iiwa14 iiwa14.grid --backend cpu"))
def command() -> None:
    """Build, check or show prepared artifacts.

    A prepared artifact is a folder of machine code and metadata of one robot, which
    grid_core.load_artifact loads where neither the robot's source nor a compiler is.
    """


@grid_command(
    "build",
    "grid artifact build robot.urdf robot.grid --algorithm-list fd,crba",
    "grid artifact build go2 go2.grid --backend cuda --arch sm_90 --call forward_dynamics:f_ext",
)
@robot_argument
@_folder
@base_option
@click.option(
    "--algorithm-list",
    multiple=True,
    callback=NAMES,
    help="Operations by name, family or `all`.  [default: all]",
)
@click.option(
    "--call",
    "calls",
    multiple=True,
    metavar="OPERATION:ARGUMENTS",
    help="Prepare what this call compiles too: forward_dynamics:f_ext, frame_jacobian:frame=tool0, "
    'or arguments as JSON: end_effector_pose_runtime:{"ee_joint_names": ["a", "b"]}.',
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    callback=NAMES,
    help="What to compile for.  [default: cpu,cuda]",
)
@click.option(
    "--arch",
    "architectures",
    multiple=True,
    callback=NAMES,
    help="GPUs.  [default: sm_80,sm_90,sm_120]",
)
@click.option(
    "--instruction-set",
    "instruction_sets",
    multiple=True,
    callback=NAMES,
    help="Processors, or `native`.  [default: x86-64-v3,x86-64-v4]",
)
@targets_option
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
    help="Precision.",
)
@convention_option
@strict_option
@_expect
def build(
    robot: str,
    directory: Path,
    *,
    floating: bool | None,
    calls: tuple[str, ...],
    strict: bool,
    expect: str | None,
    **given: Any,
) -> None:
    """Compile ROBOT's operations into the folder DIR.

    An artifact that is there is replaced in one step, or kept where it is what would be built.
    """
    from grid_core import build_artifact  # noqa: PLC0415 - not for --help
    from grid_core.cli.find_robot import find_robot  # noqa: PLC0415

    read: dict[str, Any] = {"backend": "reference", "dtype": "float64"}
    for option in ("ee_joint_names", "output_convention"):
        if given[option]:
            read[option] = given[option]
    if strict:
        read["strict"] = True
    handle = find_robot(robot, floating).load(**read)
    chosen = {name: value for name, value in given.items() if value}
    made = build_artifact(
        handle.model,
        directory,
        floating_base=handle.floating_base,
        expected_descriptor_id=expect,
        calls=_calls(calls),
        use_joint_dynamics=handle.options.use_joint_dynamics,
        regressor_terms=handle.options.regressor_terms or None,
        runtime_inertia=handle.options.runtime_inertia,
        runtime_transform=handle.options.runtime_transform,
        **{
            **chosen,
            "ee_joint_names": handle.ee_joint_names or None,
            "output_convention": handle.options.output_convention,
        },
    )
    size = sum(record.size for record in made.files.values())
    how = "was there already, and is sound" if made.reused else "built"
    say(f"{made.directory}: {how}: {len(made.files)} files, {size / 2**20:.1f} MiB")
    say(f"content_id {made.identity}")
    say(f"descriptor_id {made.descriptor_id}")


def _calls(given: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
    """Read the calls as `grid_core.build_artifact` takes them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for text in given:
        name, colon, arguments = text.partition(":")
        if not colon:
            raise click.UsageError(f"--call {text}: write OPERATION:ARGUMENTS")
        found.setdefault(name.strip(), []).append(_arguments(text, arguments.strip()))
    return found


def _arguments(text: str, arguments: str) -> dict[str, Any]:
    import json  # noqa: PLC0415 - not for --help

    if arguments.startswith("{"):
        try:
            return dict(json.loads(arguments))
        except ValueError as error:
            raise click.UsageError(f"--call {text}: not JSON: {error}") from error
    words = {"true": True, "false": False}
    pairs = (item.partition("=") for item in arguments.split(","))
    return {
        key.strip(): words.get(value.strip().lower(), value.strip()) if equals else True
        for key, equals, value in pairs
    }


@grid_command("check", "grid artifact check robot.grid")
@_folder
@_expect
def check(directory: Path, expect: str | None) -> int:
    """Check every byte of the artifact DIR, and whether it runs here.

    The exit code is 1 where it is at fault, and 0 where it is sound, whether or not this machine
    can run it. It is consistency that is checked: who can write the folder can make another one
    that passes.
    """
    from grid_core import load_artifact  # noqa: PLC0415 - not for --help
    from grid_core.artifact.prepared_check import check_expected, read_prepared  # noqa: PLC0415
    from grid_core.errors import ArtifactError, DescriptorError, GridError  # noqa: PLC0415

    check_expected(expect)
    try:
        manifest = read_prepared(directory, expect).manifest
    except (ArtifactError, DescriptorError) as error:
        say(str(error))
        return 1
    say(f"{directory}: sound: {len(manifest.files)} files of {manifest.name!r}")
    say(f"content_id {manifest.content_id}")
    say(f"descriptor_id {manifest.descriptor_id}")
    for name in manifest.backends:
        try:
            with load_artifact(directory, backend=name) as handle:
                say(f"{name}: runs here, with {getattr(handle, 'target', '')}")
        except GridError as error:
            say(f"{name}: does not run here: {getattr(error, 'reason', error)}")
    return 0


@grid_command("show", "grid artifact show robot.grid", "grid artifact show robot.grid --json")
@_folder
@json_flag
def show(directory: Path, as_json: bool) -> None:
    """Say what the artifact DIR holds."""
    from grid_core.artifact.prepared_check import read_prepared  # noqa: PLC0415 - not for --help
    from grid_core.artifact.prepared_manifest import plain  # noqa: PLC0415

    prepared = read_prepared(directory)
    if as_json:
        print_json(plain(prepared.manifest))
        return
    manifest = prepared.manifest
    model = prepared.model
    say(f"{manifest.name}: nq={model.nq}, nv={model.nv}, {manifest.dtype}")
    say(f"content_id {manifest.content_id}")
    say(f"descriptor_id {manifest.descriptor_id}")
    for name, record in manifest.backends.items():
        say(f"{name}: {', '.join(record.targets)}")
    made = ", ".join(f"{what} {version}" for what, version in manifest.built_with.items())
    say(f"built with {made}")
    say()
    rows = [row for operation in manifest.operations for row in _rows(operation, manifest)]
    print_table(
        ("operation", "optional inputs", "options", "files", "bytes"), rows, right=("bytes",)
    )


def _rows(operation: OperationRecord, manifest: Manifest) -> list[tuple[Any, ...]]:
    from grid_core.artifact.launch_record import shared_inputs  # noqa: PLC0415 - not for --help

    if operation.refused:
        return [(operation.name, "", f"refused: {operation.refused}", "", "")]
    return [
        (
            operation.name,
            ", ".join(
                [*variant.present, *(f"{n} (shared)" for n in shared_inputs(operation, variant))]
            ),
            _changed(variant.options, manifest.options),
            len(variant.codes),
            sum(manifest.files[code.file].size for code in variant.codes),
        )
        for variant in operation.variants
    ]


def _changed(options: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    """Say which options are not the handle's."""
    return ", ".join(f"{k}={v}" for k, v in options.items() if v != usual.get(k))


for _command in (build, check, show):
    command.add_command(_command)
