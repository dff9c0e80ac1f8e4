"""``grid identify``: a robot's parameters from logs of its motion and torques."""

from __future__ import annotations

import importlib.metadata
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grid_core.cli.find_robot import find_robot
from grid_core.cli.guard import Session
from grid_core.cli.options import (
    COUNT,
    SEED,
    FilePath,
    base_option,
    grid_command,
    json_flag,
    robot_argument,
)
from grid_core.cli.output import error_console, print_json, print_table, say
from grid_core.cli.sources import check_not_source
from grid_core.cli.states_file import check_folder
from grid_core.errors import GridError, InputError, OptionError
from grid_core.identification.extra import require
from grid_core.identification.identify import identify_stream
from grid_core.identification.logs import open_log
from grid_core.identification.regressor import Layout
from grid_core.identification.report import Report, write_report
from grid_core.identification.report_samples import ShownSamples
from grid_core.identification.result import METHODS
from grid_core.identification.urdf_writer import write_urdf
from grid_core.model.parameters import TERMS
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from grid_core.bench.robot import Robot
    from grid_core.handle import RobotHandle
    from grid_core.identification.logs import Log
    from grid_core.identification.logs_summary import FileSummary, LogSummary
    from grid_core.identification.result import IdentificationResult
    from grid_core.identification.urdf_writer import WrittenUrdf

__all__ = ["command"]

FRICTION = "viscous,coulomb"
NONE = "none"
_MANY = 0.2
"""Part of a file's rows that are not left out in silence."""
OPERATIONS = ["inverse_dynamics_regressor", "regressor_gram"]


@grid_command(
    "identify",
    "grid identify robot.urdf log.npz -o identified.urdf --report report.html",
    "grid identify robot.urdf monday.csv tuesday.parquet --cutoff 20 --json",
)
@robot_argument
@click.argument("logs", nargs=-1, required=True, type=FilePath())
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False),
    help="A URDF to write: the robot's own with the identified numbers.",
)
@click.option(
    "--report",
    "report_path",
    type=FilePath(dir_okay=False),
    help="An HTML page to write.",
)
@base_option
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="consistent",
    show_default=True,
    help="Ordinary or weighted least squares, or weighted with bodies that can be.",
)
@click.option(
    "--friction",
    metavar="TERM,...",
    default=FRICTION,
    show_default=True,
    help=f"What joints add: {listing(TERMS, 'or')}; {NONE}: nothing.",
)
@click.option(
    "--cutoff",
    type=float,
    help="Of a zero-phase Butterworth filter over the motion [Hz]. Left out: no filter.",
)
@click.option("--filter-torques", is_flag=True, help="Put it over the torques as well.")
@click.option(
    "--every", type=COUNT, default=1, show_default=True, help="Keep one sample in so many."
)
@click.option(
    "--folds",
    type=SEED,
    default=5,
    show_default=True,
    help="Groups of trajectories that are held out in turn; 0: none.",
)
@click.option(
    "--prior-weight", type=float, help="How much the description counts. Left out: chosen."
)
@click.option(
    "--gravity", type=float, default=-9.81, show_default=True, help="Along the world's z [m/s²]."
)
@click.option("--backend", help="Name of a backend. Left out: the best that runs here.")
@click.option("--threads", type=COUNT, help="Left out: the physical cores.")
@json_flag
def command(
    robot: str, logs: tuple[Path, ...], floating: bool | None, as_json: bool, **o: Any
) -> None:
    """Identify inertias and friction from LOGS of motion and torques.

    A log is an .npz, .csv or .parquet with q, tau and, if they were recorded, qd and qdd of each
    joint, of any length: it is read piece by piece. What is missing comes from differences. Some
    trajectories are held out in turn, to say what the parameters are worth.
    """
    found = find_robot(robot, floating)
    _check_files(found, logs, o)
    terms = _terms(o["friction"])
    wanted = {"num_threads": o["threads"], "backend": o["backend"]}
    options: dict[str, Any] = {name: x for name, x in wanted.items() if x is not None}
    handle = found.load(
        dtype="float64", algorithm_list=OPERATIONS, regressor_terms=terms, **options
    )
    log, samples, result = _identify(handle, logs, o)
    for warning in result.warnings:
        _warn(warning)
    written, refused = None, None
    if o["output"] is not None:
        try:
            written = _write(found, handle, result, o["output"])
        except GridError as error:
            refused = error  # told last: what was found is not lost for it
    if o["report_path"] is not None:
        report = Report(
            robot=handle,
            result=result,
            log=log.summary,
            samples=samples,
            command=_command_line(),
            version=_version(),
            gravity=o["gravity"],
            written=written,
            written_to=None if written is None else str(o["output"]),
        )
        write_report(report, o["report_path"])
    if as_json:
        print_json(_document(result, log.summary, written))
    else:
        _print(result, log.summary, samples)
        for note in () if written is None else written.notes:
            say(note)
        for path, there in ((o["output"], written), (o["report_path"], o["report_path"])):
            if there is not None:
                say(f"written to {path}")
    if refused is not None:
        raise refused


def _check_files(robot: Robot, logs: tuple[Path, ...], o: dict[str, Any]) -> None:
    """Say before anything is read what could not be written, or is not to be."""
    output, report = o["output"], o["report_path"]
    for option, path in (("--output", output), ("--report", report)):
        check_folder(path)
        check_not_source(option, path, logs)
    check_not_source("--report", report, [robot.path])
    if report is not None:
        require("matplotlib")
    if output is None:
        return
    if robot.path is None or not robot.path.is_file():
        raise OptionError(
            f"--output writes the robot's URDF with other numbers, and {robot.name!r} is not from "
            "a file; give the path of one"
        )
    if output.exists() and output.samefile(robot.path):
        raise OptionError(f"--output {output} is the description itself; give it another name")
    if report is not None and report.absolute() == output.absolute():
        raise OptionError(f"--output and --report are both {output}")


def _terms(text: str) -> tuple[str, ...]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    if names == [NONE]:
        return ()
    for name in names:
        if name not in TERMS:
            raise OptionError(
                f"--friction: there is no term {name!r}{near(name, TERMS)}; there are "
                f"{listing(TERMS)}, or {NONE}"
            )
    return tuple(dict.fromkeys(names))


def _identify(
    handle: RobotHandle, paths: tuple[Path, ...], o: dict[str, Any]
) -> tuple[Log, ShownSamples, IdentificationResult]:
    from rich.progress import Progress  # noqa: PLC0415 - slow to import

    console = error_console()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading", total=1.0)
        log = open_log(
            list(paths),
            handle.model,
            cutoff=o["cutoff"],
            filter_torques=o["filter_torques"],
            every=o["every"],
            progress=lambda part: progress.update(
                task, completed=part, description="reading" if part < 1.0 else "fitting"
            ),
        )
        samples = ShownSamples(log)
        try:
            result = identify_stream(
                handle,
                samples,
                method=o["method"],
                folds=o["folds"],
                prior_weight=o["prior_weight"],
                gravity=o["gravity"],
            )
        except KeyboardInterrupt:
            progress.stop()
            say(_so_far(log.summary), err=True)
            raise
        except InputError:
            _tell_excluded(log.summary)
            raise
    _tell_excluded(log.summary)
    return log, samples, result


def _so_far(summary: LogSummary) -> str:
    if summary.complete:
        return f"all {summary.rows:,} rows were read; nothing was written"
    reached = next((f for f in reversed(summary.files) if f.rows), summary.files[0])
    return (
        f"{summary.rows:,} rows were read, the last of them from {reached.path}; nothing was "
        "written"
    )


def _tell_excluded(summary: LogSummary) -> None:
    """Say what of the log was not used."""
    for file in summary.files:
        if file.not_finite:
            _warn(
                f"{file.path}: {file.not_finite:,} of {file.rows:,} rows are left out, for a "
                f"number that is missing or none ({'; '.join(file.examples)})"
            )
        usable = file.rows - file.not_finite
        if usable and file.edges >= usable:
            what = "differences" if summary.cutoff is None else "the filter"
            _warn(
                f"{file.path}: no recording in it is long enough for {what}: all of {usable:,} "
                f"rows are at the ends of one{_cut(file)}"
            )
        elif file.edges > _MANY * usable:
            _warn(
                f"{file.path}: {file.edges:,} of {usable:,} rows are left out, at the ends of "
                f"recordings{_cut(file)}"
            )
        if summary.complete and not file.rows:
            _warn(f"{file.path}: there is not one row in it")


def _cut(file: FileSummary) -> str:
    if file.recordings < 2:
        return ""
    return (
        f"; there are {file.recordings:,}, for another begins where time skips more than one and a "
        "half steps"
    )


def _write(
    robot: Robot, handle: RobotHandle, result: IdentificationResult, output: Path
) -> WrittenUrdf:
    assert robot.path is not None
    layout = Layout.of(handle)
    terms = {term: result.parameters[layout.columns(term)] for term in layout.terms}
    written = write_urdf(
        robot.path.read_bytes(), handle.model, result.parameters, terms, file=str(robot.path)
    )
    try:
        output.write_bytes(written.document)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OptionError(f"{output} cannot be written: {error.strerror or error}") from error
    return written


def _document(
    result: IdentificationResult, log: LogSummary, written: WrittenUrdf | None
) -> dict[str, Any]:
    return {
        **result.to_dict(),
        "log": log.to_dict(),
        "written": None
        if written is None
        else {
            "links": list(written.links),
            "gathered": list(written.gathered),
            "joints": list(written.joints),
            "notes": list(written.notes),
        },
    }


def _print(result: IdentificationResult, log: LogSummary, samples: ShownSamples) -> None:
    held = None if result.validation is None else result.validation.rms
    say(
        f"{result.robot}: {result.method}, {result.samples:,} samples of {log.rows:,} rows, "
        f"{result.trajectories} trajectories"
    )
    say(
        f"{result.base.rank} of {result.structure.rank} base parameters told apart, condition "
        f"number {result.condition_number:.4g}, of unit columns "
        f"{result.scaled_condition_number:.4g}\n"
    )
    before, after = (
        (result.rms if held is None else held)[name] for name in ("description", result.method)
    )
    spread = samples.spread
    rows = [
        (
            name,
            f"{spread[k]:.4g}",
            f"{before[k]:.4g}",
            f"{after[k]:.4g}",
            f"{100.0 * after[k] / spread[k]:.3g}" if spread[k] else "",
            f"{result.noise[k]:.4g}",
        )
        for k, name in enumerate(result.row_names)
    ]
    headers = ("joint", "std", "description", "identified", "%", "noise")
    print_table(headers, rows, right=headers[1:])
    what = "held-out errors" if held is not None else "errors of the fit itself, nothing held out"
    say(f"\n{what}: root mean square [N m or N], and in % of the torque's own deviation")


def _warn(text: str) -> None:
    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    (session or Session()).warn(text)


def _command_line() -> str:
    """Return what was typed."""
    program = Path(sys.argv[0]).name or "grid"
    return shlex.join([program if program != "__main__.py" else "grid", *sys.argv[1:]])


def _version() -> str:
    try:
        return importlib.metadata.version("grid-robotics")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"
