"""The report of an identification: one page of HTML that needs nothing else."""

from __future__ import annotations

import importlib.resources
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.errors import OptionError
from grid_core.identification import report_plots
from grid_core.identification.base_parameters import Identifiability
from grid_core.identification.extra import require
from grid_core.identification.regressor import Layout
from grid_core.model.types import JointKind

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.handle import RobotHandle
    from grid_core.identification.logs_summary import LogSummary
    from grid_core.identification.report_samples import ShownSamples
    from grid_core.identification.result import IdentificationResult
    from grid_core.identification.urdf_writer import WrittenUrdf
    from grid_core.model.types import Array

__all__ = ["Report", "write_report"]

_PARTS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_UNITS = ("kg", *("kg m",) * 3, *("kg m²",) * 6)
_TOLD = {
    Identifiability.ALONE: "alone",
    Identifiability.COMBINED: "combined",
    Identifiability.NONE: "no",
}
_METHODS = {
    "ols": "ordinary least squares",
    "wls": "weighted least squares",
    "consistent": "weighted least squares with physically consistent bodies",
}


@frozen
class Report:
    """Everything that a report says."""

    robot: RobotHandle
    result: IdentificationResult
    log: LogSummary
    samples: ShownSamples
    command: str
    """What makes the report again."""
    version: str
    gravity: float = -9.81
    """Along the world's z [m/s²]."""
    written: WrittenUrdf | None = None
    written_to: str | None = None

    def html(self) -> str:
        """Return the page.

        Raises:
            OptionError: matplotlib is not installed.
        """
        (jinja2,) = require("jinja2")
        environment = jinja2.Environment(
            autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
        )
        environment.filters |= {"short": _short, "count": lambda n: f"{n:,}"}
        source = importlib.resources.files("grid_core.identification") / "templates"
        template = environment.from_string((source / "report.html.j2").read_text(encoding="utf-8"))
        plain = jinja2.utils.markupsafe.Markup
        page: str = template.render(
            result=self.result,
            log=self.log,
            method=_METHODS[self.result.method],
            command=self.command,
            version=self.version,
            written=self.written,
            written_to=self.written_to,
            errors=self._errors(),
            steps=plain(self._steps()),
            plots=[{**plot, "svg": plain(plot["svg"])} for plot in self._plots()],
            shown=self._shown(),
            bodies=self._bodies(),
            terms=self._terms(),
            base=self._base(),
            filtered=self.log.torques_filtered,
        )
        return page

    def _units(self) -> list[str]:
        """Return the unit of each row of τ."""
        units = [""] * self.robot.nv
        for joint in self.robot.model.joints:
            if joint.v_start is not None:
                one = "N" if joint.kind is JointKind.PRISMATIC else "N m"
                many = ["N"] * 3 + ["N m"] * 3 if joint.kind is JointKind.FLOATING else [one] * 3
                units[joint.v_start : joint.v_start + joint.nv] = many if joint.nv > 1 else [one]
        return units

    def _errors(self) -> list[dict[str, Any]]:
        """Return a row for each row of τ."""
        result, spread = self.result, self.samples.spread
        held = None if result.validation is None else result.validation.rms
        white = result.white_noise
        return [
            {
                "name": name,
                "unit": unit,
                "spread": spread[k],
                "before": result.rms["description"][k],
                "after": result.rms[result.method][k],
                "held_out": None if held is None else {m: held[m][k] for m in held},
                "noise": result.noise[k],
                "white": None if white is None or self.log.torques_filtered else white[k],
            }
            for k, (name, unit) in enumerate(zip(result.row_names, self._units(), strict=True))
        ]

    def _steps(self) -> str:
        result = self.result
        rms = result.rms if result.validation is None else result.validation.rms
        scale = 100.0 / np.where(self.samples.spread > 0.0, self.samples.spread, np.inf)
        before, after = (rms[name] * scale for name in ("description", result.method))
        return report_plots.steps("errors", list(result.row_names), before, after)

    def _plots(self) -> list[dict[str, Any]]:
        shown = self.samples.shown()
        result = self.result
        Y = np.asarray(
            self.robot.inverse_dynamics_regressor(
                shown.q, shown.qd, shown.qdd, gravity=self.gravity
            )
        )
        after, before = Y @ result.parameters, Y @ result.initial
        time = np.arange(len(Y)) * shown.every if shown.time is None else shown.time
        along = "sample" if shown.time is None else "time [s]"
        plots = []
        for k, (name, unit) in enumerate(zip(result.row_names, self._units(), strict=True)):
            lines = {
                "description": before[:, k],
                "measured": shown.tau[:, k],
                "identified": after[:, k],
            }
            svg = report_plots.curves(
                f"joint{k}",
                time.astype(np.float64),
                lines,
                shown.tau[:, k] - after[:, k],
                noise=float(result.noise[k]),
                unit=unit,
                along=along,
            )
            plots.append({"name": name, "svg": svg})
        return plots

    def _shown(self) -> str:
        shown = self.samples.shown()
        thinned = "" if shown.every == 1 else f", one in {shown.every} of them"
        return f"{shown.count:,} consecutive samples{thinned}"

    def _bodies(self) -> list[dict[str, Any]]:
        """Return a table for each body."""
        result = self.result
        told = self._told()
        return [
            {
                "name": name,
                "rows": [self._row(10 * b + k, _PARTS[k], _UNITS[k], told) for k in range(10)],
            }
            for b, name in enumerate(result.body_names)
        ]

    def _terms(self) -> list[dict[str, Any]]:
        """Return a row for each term of a joint."""
        layout = Layout.of(self.robot)
        told = self._told()
        units = {
            "viscous": ("N m s/rad", "N s/m"),
            "coulomb": ("N m", "N"),
            "offset": ("N m", "N"),
            "rotor_inertia": ("kg m²", "kg"),
        }
        rows = []
        for term in layout.terms:
            columns = layout.columns(term)
            for column, unit in zip(range(columns.start, columns.stop), self._units(), strict=True):
                name = self.result.parameter_names[column]
                rows.append(self._row(column, name, units[term][unit == "N"], told))
        return rows

    def _row(self, column: int, name: str, unit: str, told: list[str]) -> dict[str, Any]:
        result = self.result
        return {
            "name": name,
            "unit": unit,
            "before": result.initial[column],
            "after": result.parameters[column],
            "deviation": result.standard_deviations[column],
            "told": told[column],
        }

    def _told(self) -> list[str]:
        """Return what this log tells of each parameter."""
        possible = self.result.structure.identifiability
        here = self.result.base.identifiability
        return [
            "not excited"
            if now is Identifiability.NONE and could is not Identifiability.NONE
            else _TOLD[now]
            for could, now in zip(possible, here, strict=True)
        ]

    def _base(self) -> list[dict[str, Any]]:
        """Return a row for each base parameter."""
        result = self.result
        before = result.base.of(result.initial)
        fit = result.fits["ols" if result.method == "ols" else "wls"]
        after = result.base.of(result.parameters)
        errors: Array = fit.standard_errors
        return [
            {
                "grouping": grouping,
                "before": before[k],
                "after": after[k],
                "error": errors[k],
                "relative": 100.0 * errors[k] / abs(after[k]) if after[k] else math.inf,
            }
            for k, grouping in enumerate(result.base.groupings)
        ]


def write_report(report: Report, path: Path) -> None:
    """Write a report as HTML.

    Raises:
        OptionError: matplotlib is not installed, or the file cannot be written.
    """
    text = report.html()
    try:
        path.write_text(text, encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error


def _short(value: float | None, digits: int = 4) -> str:
    """Return a number as a table shows it."""
    if value is None or not np.isfinite(value):
        return "-"
    if value == 0.0:
        return "0"
    text = f"{float(value):.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return (mantissa + (f"e{int(exponent)}" if e else "")).replace("-", "−")
