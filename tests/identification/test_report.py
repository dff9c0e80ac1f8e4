from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from lxml import etree

import grid_core
from grid_core.errors import OptionError
from grid_core.identification import IdentificationResult, Samples, identify_stream
from grid_core.identification.logs_summary import FileSummary, LogSummary
from grid_core.identification.report import Report, _short, write_report
from grid_core.identification.report_plots import COLOURS, curves, steps
from grid_core.identification.report_samples import ShownSamples
from grid_core.identification.urdf_writer import WrittenUrdf
from tests.support import urdf

if TYPE_CHECKING:
    from collections.abc import Iterator

ODD = "<b>slide</b> & $x_1$"
VOID = {"meta", "br", "img", "link", "hr", "input"}


def slider() -> Any:
    rng = np.random.default_rng(0)
    name = ODD.replace("&", "&amp;").replace("<", "&lt;")
    text = urdf.robot(
        "slider",
        urdf.link("rail"),
        urdf.random_link("cart", rng),
        urdf.random_link("rod", rng),
        urdf.joint(name, "prismatic", "rail", "cart", axis=(1, 0, 0)),
        urdf.joint("swing", "continuous", "cart", "rod", axis=(0, 1, 0)),
    )
    terms = ["viscous", "coulomb", "offset", "rotor_inertia"]
    wanted = ["inverse_dynamics_regressor", "regressor_gram"]
    options: dict[str, Any] = {"regressor_terms": terms, "algorithm_list": wanted}
    return grid_core.load_robot(urdf_string=text, dtype="float64", **options)


def recorded(robot: Any, *, timed: bool, chunks: int = 6, still: bool = False) -> Iterator[Samples]:
    rng = np.random.default_rng(1)
    true = robot.parameters() * 1.2
    true[-8:] = rng.uniform(0.1, 0.5, 8)
    for k in range(chunks):
        q, qd, qdd = rng.normal(size=(3, 300, robot.nv))
        if still:
            q[:, 1], qd[:, 1], qdd[:, 1] = 0.3, 0.0, 0.0
        tau = np.asarray(robot.inverse_dynamics_regressor(q, qd, qdd) @ true)
        tau += 0.01 * rng.normal(size=tau.shape)
        time = k * 10.0 + np.arange(300) * 0.01 if timed else None
        yield Samples(q, qd, qdd, tau, time, np.full(300, k))


def made(*, timed: bool = True, still: bool = False, **options: Any) -> Report:
    robot = slider()
    samples = ShownSamples(list(recorded(robot, timed=timed, still=still)))
    result: IdentificationResult = identify_stream(robot, samples, **options)
    file = FileSummary(Path("<log>.npz"), rows=1800, not_finite=2, examples=["row 3: tau"])
    log = LogSummary([file], samples=1798, complete=True)
    return Report(robot, result, log, samples, "grid identify '<log>.npz'", "1.2.3")


class Balanced(HTMLParser):
    """Checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page() -> str:
    return made().html()


def test_the_page_is_well_formed_and_names_are_text(page: str) -> None:
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert "<b>slide</b>" not in page
    assert "&lt;b&gt;slide&lt;/b&gt; &amp; $x_1$" in page
    assert "&lt;log&gt;.npz" in page
    assert "row 3: tau" in page
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        etree.fromstring(svg)


def test_units_are_those_of_the_joints(page: str) -> None:
    rows = re.findall(r'<td class="text">([^<]*)</td><td class="unit">([^<]*)</td>', page)
    assert dict(rows) == {"&lt;b&gt;slide&lt;/b&gt; &amp; $x_1$": "N", "swing": "N m"}
    terms = re.findall(
        r'<td class="text">(swing|[^<]*x_1\$)\.(\w+)</td>.*?"unit">([^<]*)<', page, re.DOTALL
    )
    units = {(name == "swing", term): unit for name, term, unit in terms}
    assert units[True, "viscous"] == "N m s/rad"
    assert units[False, "viscous"] == "N s/m"
    assert units[True, "rotor_inertia"] == "kg m²"
    assert units[False, "coulomb"] == "N"


def test_held_out_errors_are_there_where_trajectories_were(page: str) -> None:
    assert "held out, consistent" in page
    assert "in 5 folds" in page
    alone = made(timed=False, folds=0, method="wls").html()
    assert "none held out" in alone
    assert "held out, consistent" not in alone
    assert "of all that fit alike the nearest to the description" in alone
    assert 'aria-hidden="true"' in alone


def test_what_a_log_does_not_excite_is_said() -> None:
    page = made(still=True).html()
    assert "not excited" in page
    assert '<div class="warn">' in page
    assert "qd and qdd are zero in every sample: swing" in page


def test_what_was_written_is_said() -> None:
    report = made(folds=0)
    notes = ("rod: the masses of tip stay as they were",)
    report = Report(
        report.robot,
        report.result,
        report.log,
        report.samples,
        report.command,
        report.version,
        written=WrittenUrdf(b"", ("rod",), (), ("swing",), notes),
        written_to="new.urdf",
    )
    page = report.html()
    assert notes[0] in page
    assert "new.urdf is the description with other numbers in 1 of its links" in page


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    report = made(folds=0)
    with pytest.raises(OptionError, match="cannot be written"):
        write_report(report, tmp_path / "no" / "report.html")


def test_the_stretch_where_most_moves_is_shown() -> None:
    def chunks() -> Iterator[Samples]:
        for k, size in enumerate((1.0, 5.0, 2.0)):
            x = np.full((1000, 2), size)
            yield Samples(x, x, x, k + x, np.arange(1000) + 2000.0 * k)

    samples = ShownSamples(chunks())
    assert len(list(samples)) == 3
    shown = samples.shown()
    assert shown.tau[0, 0] == 6.0
    assert shown.every == 1
    np.testing.assert_allclose(samples.spread, np.std([1.0, 6.0, 4.0]))


def test_a_curve_does_not_cross_missing_time() -> None:
    time = np.concatenate([np.arange(30.0), 500.0 + np.arange(70.0)])
    x = np.ones((100, 1))
    samples = ShownSamples([Samples(x, x, x, x, time)])
    list(samples)
    assert len(samples.shown().q) == 30


def test_colours_are_the_pages() -> None:
    line = np.sin(np.linspace(0.0, 9.0, 50))
    lines = dict.fromkeys(("description", "measured", "identified"), line)
    svg = curves("one", np.arange(50.0), lines, line, noise=0.1, unit="N", along="sample")
    svg += steps("two", ["a $b$", "c"], np.array([3.0, 0.0]), np.array([1.0, 0.0]))
    for name, colour in COLOURS.items():
        assert f"var(--{name})" in svg
        assert colour not in svg
    assert "a $b$" in svg
    assert "<metadata" not in svg


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (None, "-"),
        (float("nan"), "-"),
        (-1234.56, "\u22121235"),
        (1.23456e-7, "1.235e\u22127"),
        (0.5, "0.5"),
    ],
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert _short(value) == text


def test_samples_are_counted_before_they_are_thinned_out() -> None:
    """As many as there were, whatever number of them is left."""
    robot = slider()
    whole = next(recorded(robot, timed=False))
    seen = ShownSamples([])
    seen._look(
        Samples(*(np.resize(x, (1901, 2)) for x in (whole.q, whole.qd, whole.qdd, whole.tau)))
    )
    shown = seen.shown()
    assert (shown.count, shown.every, len(shown.q)) == (1901, 2, 951)
    report = made()
    report.samples._best = seen._best
    assert report._shown() == "1,901 consecutive samples, one in 2 of them"
