"""The comparison on a GPU in one go: ``python -m grid_core.bench.gpu_report OUT.json OUT.svg``.

Robots are built by grid-rbd side by side before anything is timed. The JSON is written after each
case, so a run that is ended early leaves what it had.
"""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grid_core.bench.contender import Declined
from grid_core.bench.gpu_table import table
from grid_core.bench.grid_rbd_contender import GridRbdContender
from grid_core.bench.grid_rbd_order import METHODS
from grid_core.bench.grid_rbd_robot import MAX_BATCH, find_grid_rbd, prebuild
from grid_core.bench.lineup import DEVICE_BATCHES, line_up
from grid_core.bench.plot import check_plot, plot
from grid_core.bench.results import STATES, document
from grid_core.bench.robot import BUNDLED, bundled_robot, robot_from_path
from grid_core.bench.suite import Plan, cases, run_case
from grid_core.errors import GridError, OptionError

if TYPE_CHECKING:
    from grid_core.bench.card import Card
    from grid_core.bench.results import Trial
    from grid_core.bench.robot import Robot

__all__ = ["main"]

OPERATIONS = ("inverse_dynamics", "forward_dynamics", "crba", "minv")


def _words(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(word for word in value.split(",") if word)


@click.command()
@click.argument("json_path", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("plot_path", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--robots",
    default=",".join(BUNDLED),
    callback=_words,
    show_default=True,
    help="Names, and paths of URDFs; a path with +floating behind it has a floating base.",
)
@click.option("--operations", default=",".join(OPERATIONS), callback=_words, show_default=True)
@click.option("--batches", default=",".join(map(str, DEVICE_BATCHES)), callback=_words)
@click.option("--boundaries", default="call,graph", callback=_words, show_default=True)
@click.option(
    "--states",
    default="turns",
    callback=_words,
    show_default=True,
    help="; ".join(f"{name}: {meaning}" for name, meaning in STATES.items()) + ".",
)
@click.option("--dtypes", default="float32,float64", callback=_words, show_default=True)
@click.option("--backend", default="cuda", show_default=True)
@click.option("--peer/--no-peer", default=True, show_default=True)
@click.option(
    "--peer-batch",
    default=MAX_BATCH,
    show_default=True,
    help="The largest batch that the peer's robots are built for, which holds memory for it.",
)
@click.option("--repeats", default=9, show_default=True)
@click.option("--sample-ms", default=5.0, show_default=True)
@click.option("--build-timeout", default=240.0, show_default=True, help="Of the peer's robots [s].")
@click.option("--limit", default=450.0, show_default=True, help="No case is begun after [s].")
@click.pass_context
def main(ctx: click.Context, /, json_path: Path, plot_path: Path, **o: Any) -> None:
    """Time Grid beside grid-rbd on this machine's GPU.

    Exit code 1: results were wrong, or a case went wrong or was not begun.
    """
    trials: list[Trial] = []
    o["end"] = time.monotonic() + o.pop("limit")
    whole = True
    try:
        drawable = _drawable(plot_path)
        robots = [_robot(name) for name in o["robots"]]
        faults = _build(robots, o) if o["peer"] else {}
        plan, card = _plan(robots, o)
        _give_up(plan, faults)
        whole = _measure(plan, card, trials, json_path, o)
    except GridError as error:
        raise click.ClickException(str(error)) from error
    finally:
        # Also what was measured before something went wrong.
        for line in table(trials):
            click.echo(line)
    if drawable and any(one.median for trial in trials for one in trial.measurements):
        plot(trials, plot_path)
    if not whole or any(trial.failed for trial in trials):
        ctx.exit(1)


def _robot(name: str) -> Robot:
    if not name.removesuffix("+floating").endswith(".urdf"):
        return bundled_robot(name)
    path = Path(name.removesuffix("+floating"))
    return robot_from_path(path, floating=name.endswith("+floating"))


def _drawable(path: Path) -> bool:
    """Say whether the plot can be drawn; the times do not wait for matplotlib."""
    try:
        check_plot(path)
    except OptionError as error:
        click.echo(f"no plot: {error}", err=True)
        return False
    return True


def _build(robots: list[Robot], o: dict[str, Any]) -> dict[str, str]:
    """Have the peer build all robots, side by side; return what went wrong, by their names."""
    find_grid_rbd()
    start = time.monotonic()
    click.echo("grid-rbd builds its robots", err=True)
    algorithms = sorted(set(o["operations"]) & set(METHODS))
    bases = [(robot, bool(robot.options.get("floating_base"))) for robot in robots]
    faults = prebuild(bases, algorithms, timeout_s=o["build_timeout"], max_batch=o["peer_batch"])
    click.echo(f"done in {time.monotonic() - start:.0f} s", err=True)
    return faults


def _give_up(plan: Plan, faults: dict[str, str]) -> None:
    """Leave the peer out where its build failed: its load would begin it again."""
    for contender in plan.contenders:
        if isinstance(contender, GridRbdContender):
            for robot in plan.robots:
                if robot.name in faults:
                    key = (robot.name, bool(robot.options.get("floating_base")))
                    reason = f"grid-rbd does not build {robot.name}: {faults[robot.name]}"
                    contender.robots.known[key] = Declined(reason)


def _plan(robots: list[Robot], o: dict[str, Any]) -> tuple[Plan, Card | None]:
    lineup = line_up(
        backends=[o["backend"]],
        dtypes=o["dtypes"],
        boundaries=o["boundaries"],
        states=o["states"],
        peer_names=("grid-rbd",) if o["peer"] else (),
        peer_batch=o["peer_batch"],
        operations=o["operations"],
    )
    plan = Plan(
        robots=tuple(robots),
        operations=o["operations"],
        batches=tuple(int(batch) for batch in o["batches"]),
        threads=(1,),
        contenders=lineup.contenders,
        repeats=o["repeats"],
        sample_s=1e-3 * o["sample_ms"],
        drawn=lineup.drawn,
    )
    return plan, lineup.card


def _measure(
    plan: Plan, card: Card | None, trials: list[Trial], path: Path, o: dict[str, Any]
) -> bool:
    """Run the cases; return whether all were begun and came to an end."""
    settings = {name: list(v) if isinstance(v, tuple) else v for name, v in o.items()}
    del settings["end"]
    start = time.monotonic()
    shown = ""
    whole = True
    for case in cases(plan):
        if time.monotonic() > o["end"]:
            click.echo(f"the time is up before {case.robot.name} {case.benchmark.label}", err=True)
            return False
        fault = ""
        try:
            trials.append(run_case(case, plan))
            fault = f"FAILED {trials[-1].note}" if trials[-1].failed else ""
        except Exception as error:  # noqa: BLE001 - the cases that follow are worth having
            fault = f"FAILED {type(error).__name__}: {error}"
            whole = False
        _save(json.dumps(document(trials, settings, card), indent=1), path)
        what = f"{case.robot.name} {case.benchmark.label}"
        if what != shown or fault:
            now = time.monotonic() - start
            click.echo(f"{now:5.0f} s {what} from batch {case.batch} {fault}"[:300], err=True)
        shown = what
    return whole


def _save(text: str, path: Path) -> None:
    """Write it so that there is always a whole document."""
    fresh = path.with_name(path.name + ".part")
    try:
        fresh.write_text(text + "\n", encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error


def _end(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    # Whoever ends it from outside gets the table too.
    signal.signal(signal.SIGTERM, _end)
    main(prog_name="python -m grid_core.bench.gpu_report")
