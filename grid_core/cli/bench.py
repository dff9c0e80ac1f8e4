"""``grid bench``: times side by side with other libraries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from grid_core.bench.contenders import grid_contenders
from grid_core.bench.lineup import BOUNDARY_NAMES, DEVICE_BATCHES, PEERS, line_up
from grid_core.bench.loads import time_loads
from grid_core.bench.plot import check_plot, plot
from grid_core.bench.results import STATES, document, loads_document
from grid_core.bench.robot import BUNDLED
from grid_core.bench.suite import Plan, cases, count, run_case
from grid_core.cli.bench_tables import print_loads, print_trials
from grid_core.cli.comma_list import comma_list
from grid_core.cli.find_robot import find_robot
from grid_core.cli.options import COUNT, FilePath, base_option, grid_command
from grid_core.cli.output import error_console, print_json
from grid_core.cli.sources import check_not_source
from grid_core.cli.states_file import check_folder
from grid_core.cores import available_cores
from grid_core.errors import OptionError
from grid_core.wording import listing

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.bench.card import Card
    from grid_core.bench.results import Trial
    from grid_core.bench.robot import Robot

__all__ = ["command"]

BATCHES = (1, 64, 1024, 16384)
QUICK_BATCHES = (1, 4096)


@grid_command(
    "bench",
    "grid bench --robot go2 --operation forward_dynamics --threads 1 --plot go2.svg",
    "grid bench --backend cuda --peer grid-rbd --boundary call,graph --batch 1,1024,131072",
    "grid bench --load --json loads.json",
)
@click.option("--robot", "robots", multiple=True, help="[default: iiwa14 and go2]")
@base_option
@click.option("--operation", "operations", multiple=True, help="Name or family.  [default: all]")
@click.option(
    "--batch",
    "batches",
    multiple=True,
    metavar="N,...",
    callback=comma_list(COUNT),
    help=f"[default: {listing(BATCHES)}; on GPUs alone 1 to 4M]",
)
@click.option("--backend", "backends", multiple=True, help="[default: all that run here]")
@click.option(
    "--dtype",
    "dtypes",
    multiple=True,
    type=click.Choice(["float32", "float64"]),
    help="[default: all]",
)
@click.option(
    "--boundary",
    "boundaries",
    multiple=True,
    metavar="[call|graph|host],...",
    callback=comma_list(click.Choice(BOUNDARY_NAMES)),
    help="On a GPU: tensors there, called or in a CUDA graph, or host arrays.  "
    "[default: call and graph with PyTorch, host without]",
)
@click.option(
    "--states",
    "states",
    multiple=True,
    metavar="[turns|same],...",
    callback=comma_list(click.Choice(list(STATES))),
    help="Of tensors on a GPU: several sets in turns, cold in its cache, or the same at every "
    "launch, warm where they fit.  [default: turns]",
)
@click.option(
    "--peer",
    "peers",
    multiple=True,
    metavar="[pinocchio|grid-rbd],...",
    callback=comma_list(click.Choice(PEERS)),
    help="[default: pinocchio on the CPU, where it is installed]",
)
@click.option(
    "--threads",
    multiple=True,
    type=COUNT,
    help="Of Grid and of the peer alike.  [default: the physical cores]",
)
@click.option("--repeat", type=COUNT, help="Samples.  [default: 15; loads: 3]")
@click.option(
    "--quick", is_flag=True, help=f"Batches {listing(QUICK_BATCHES)}, 5 samples; loads: 1."
)
@click.option("--load", is_flag=True, help="Time loads instead, cold and warm.")
@click.option(
    "--json",
    "json_path",
    type=FilePath(dir_okay=False, allow_dash=True),
    help="Write every sample here; - prints it in place of the table.",
)
@click.option(
    "--plot",
    "plot_path",
    type=FilePath(dir_okay=False),
    help="Draw throughput over batch here (.svg, .png, .pdf).",
)
@click.pass_context
def command(
    ctx: click.Context, /, robots: tuple[str, ...], floating: bool | None, **o: Any
) -> None:
    """Time operations beside Pinocchio's or grid-rbd's.

    Each option that names something may be given several times; batches, boundaries, states and
    peers may also be lists with commas. Before anything is timed, its
    results are checked: against Pinocchio's where that is installed and can do it, else against
    the reference backend's. A time is the median of samples that are taken in turns, A B A B.
    Exit code 1: results were wrong.
    """
    for path in (o["json_path"], o["plot_path"]):
        check_folder(path)
    found = [find_robot(name, floating) for name in robots or BUNDLED]
    for option in ("json", "plot"):
        check_not_source(f"--{option}", o[f"{option}_path"], [robot.path for robot in found])
    if o["load"]:
        _time_loads(found, o)
        return
    if o["plot_path"] is not None:
        check_plot(o["plot_path"])
    trials: list[Trial] = []
    plan, card = _plan(found, o)
    try:
        _measure(plan, trials)
    except KeyboardInterrupt:
        # What has been measured so far is not thrown away.
        _report(trials, o, card)
        raise
    _report(trials, o, card)
    if any(trial.failed for trial in trials):
        ctx.exit(1)


def _plan(robots: list[Robot], o: dict[str, Any]) -> tuple[Plan, Card | None]:
    lineup = line_up(
        backends=o["backends"],
        dtypes=o["dtypes"],
        boundaries=o["boundaries"],
        states=o["states"],
        peer_names=o["peers"],
        operations=o["operations"] or None,
    )
    usual = BATCHES if lineup.on_host else DEVICE_BATCHES
    plan = Plan(
        robots=tuple(robots),
        operations=o["operations"] or None,
        batches=o["batches"] or (QUICK_BATCHES if o["quick"] else usual),
        threads=o["threads"] or (available_cores(),),
        contenders=lineup.contenders,
        drawn=lineup.drawn,
    )
    if o["quick"]:
        plan = evolve(plan, repeats=5, sample_s=0.002)
    return evolve(plan, repeats=o["repeat"]) if o["repeat"] else plan, lineup.card


def _measure(plan: Plan, trials: list[Trial]) -> None:
    """Run every case, with a bar where somebody watches."""
    from rich.progress import Progress  # noqa: PLC0415 - slow to import

    console = error_console()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=count(plan))
        for case in cases(plan):
            text = f"{case.robot.name} {case.benchmark.label} batch {case.batch}"
            progress.update(task, description=text)
            trials.append(run_case(case, plan))
            progress.advance(task)


def _report(trials: list[Trial], o: dict[str, Any], card: Card | None) -> None:
    settings = {name: value for name, value in o.items() if not name.endswith("_path") and value}
    _write(document(trials, settings, card), o["json_path"])
    if o["json_path"] is None or str(o["json_path"]) != "-":
        print_trials(trials, card)
    if o["plot_path"] is not None and trials:
        plot(trials, o["plot_path"])


def _time_loads(robots: list[Robot], o: dict[str, Any]) -> None:
    if o["plot_path"] is not None:
        raise OptionError("--plot draws throughput; it does not go with --load")
    times = [
        time_loads(
            robot,
            backend=contender.name,
            dtype=contender.dtype,
            operations=o["operations"],
            threads=threads,
            repeats=o["repeat"] or (1 if o["quick"] else 3),
        )
        for robot in robots
        for contender in grid_contenders(o["backends"], o["dtypes"])
        for threads in o["threads"] or (available_cores(),)
    ]
    _write(loads_document(times), o["json_path"])
    if o["json_path"] is None or str(o["json_path"]) != "-":
        print_loads(times)


def _write(value: dict[str, Any], path: Path | None) -> None:
    if path is None:
        return
    if str(path) == "-":
        print_json(value)
        return
    try:
        path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error
