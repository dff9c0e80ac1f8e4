from __future__ import annotations

import csv
import json
import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import grid_core
from grid_core.assets import asset_path
from grid_core.cli import identify as cli_identify
from grid_core.cli.root import cli
from grid_core.identification.excitation_series import FourierSeries, rest_basis
from grid_core.identification.logs_columns import column_names
from grid_core.identification.pseudo_inertia import from_pseudo_inertia, pseudo_inertia
from grid_core.model import load_urdf
from grid_core.model.parameters import parameters
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.robots import HAND_MADE
from tests.support.states import random_state

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

NAMES = ("q", "qd", "qdd", "tau")
TERMS = ("viscous", "coulomb")
RATE = 200.0


def grid(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="grid")
    assert result.exit_code == code, f"{result.stdout}\n{result.stderr}\n{result.exception!r}"
    assert "Traceback" not in result.stderr
    return result


def fails(*arguments: object) -> str:
    (line,) = [x for x in grid(*arguments, code=2).stderr.splitlines() if x.startswith("error: ")]
    return line


class Simulated:
    """An arm that is not as described, and what was recorded of it."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.robot: Any = grid_core.load_robot(
            asset_path("iiwa14"), dtype="float64", regressor_terms=TERMS
        )
        P = pseudo_inertia(self.robot.parameters()[:70].reshape(7, 10))
        A = np.eye(4) + 0.1 * rng.normal(size=(7, 4, 4))
        friction = rng.uniform(0.2, 0.8, 14)
        bodies = from_pseudo_inertia(A @ P @ np.swapaxes(A, 1, 2)).ravel()
        self.true = np.concatenate([bodies, friction])
        Za, Zb = rest_basis(6)
        a, b = (0.3 * Z @ rng.normal(size=(5, 7)) for Z in (Za, Zb))
        self.time = np.arange(int(40.0 * RATE)) / RATE
        series = FourierSeries(12.0, np.array([0.3, 0.5, -0.2, -0.7, 0.1, 0.6, 0.0]), a, b)
        q, qd, qdd = series.at(self.time)
        tau = np.asarray(self.robot.inverse_dynamics_regressor(q, qd, qdd) @ self.true)
        self.clean = tau
        self.noise = 0.01 * tau.std(axis=0)
        noisy = tau + self.noise * rng.normal(size=tau.shape)
        self.data = {"q": q, "qd": qd, "qdd": qdd, "tau": noisy}

    def npz(self, path: Path, **changes: Any) -> Path:
        arrays = {"t": self.time, **self.data, **changes}
        np.savez(path, **{name: x for name, x in arrays.items() if x is not None})
        return path

    def table(self, names: tuple[str, ...]) -> dict[str, np.ndarray]:
        columns = {"time": self.time}
        for name in names:
            keys = column_names(self.robot.model, name)
            columns |= dict(zip(keys, self.data[name].T, strict=True))
        return columns


@pytest.fixture(scope="module")
def arm() -> Simulated:
    return Simulated()


@pytest.fixture(scope="module")
def done(arm: Simulated, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Return a folder in which everything was written, and what was said."""
    folder = tmp_path_factory.mktemp("done")
    (folder / "arm.urdf").write_bytes(asset_path("iiwa14").read_bytes())
    log = arm.npz(folder / "log.npz")
    outputs = ("-o", folder / "new.urdf", "--report", folder / "report.html")
    return folder, grid("identify", folder / "arm.urdf", log, *outputs)


def test_a_log_becomes_a_urdf_that_predicts_it(arm: Simulated, done: Any) -> None:
    folder, result = done
    assert "57 of 57 base parameters told apart" in result.stdout
    assert "held-out errors" in result.stdout
    new: Any = grid_core.load_robot(
        folder / "new.urdf", dtype="float64", regressor_terms=TERMS, use_joint_dynamics=True
    )
    states = [arm.data[name] for name in ("q", "qd", "qdd")]
    left = arm.data["tau"] - new.inverse_dynamics(*states)
    np.testing.assert_allclose(left.std(axis=0), arm.noise, rtol=0.05)
    np.testing.assert_allclose(new.parameters()[-14:], arm.true[-14:], atol=0.05)


def test_the_urdf_predicts_what_was_identified(arm: Simulated, done: Any, tmp_path: Path) -> None:
    folder, _ = done
    out = tmp_path / "again.urdf"
    result = grid("identify", folder / "arm.urdf", folder / "log.npz", "-o", out, "--json")
    document = json.loads(result.stdout)
    pi = np.array(document["parameters"])
    model = load_urdf(out)
    oracle = PinocchioOracle.from_urdf(model, out.read_text())
    state = random_state(model, 1, 20)
    Y = np.asarray(arm.robot.inverse_dynamics_regressor(state.q, state.qd, state.qdd))
    friction = Y[:, :, 70:] @ pi[70:]
    tau = oracle.inverse_dynamics(state.q, state.qd, state.qdd) + friction
    np.testing.assert_allclose(tau, Y @ pi, atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(parameters(model, terms=TERMS), pi, atol=1e-12)
    assert document["log"]["rows"] == len(arm.time)
    assert document["written"]["links"] == list(document["body_names"])
    assert document["validation"]["folds"] == 5


def test_only_numbers_differ_in_the_urdf(done: Any) -> None:
    folder, _ = done

    def rest(name: str) -> str:
        text = (folder / name).read_text()
        text = re.sub(r"\s*<dynamics [^>]*>", "", text)
        return re.sub(r"<inertial>.*?</inertial>", "", text, flags=re.DOTALL)

    assert rest("arm.urdf") == rest("new.urdf")


def test_the_report_needs_nothing_else(done: Any) -> None:
    folder, _ = done
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 8
    links = re.findall(r'(?:href|src)="([^"#][^"]*)"|url\(([^#)][^)]*)\)|@import', page)
    assert not links
    for said in ("Identification of iiwa14", "iiwa_joint_7.coulomb", "iiwa_link_3", "8,000"):
        assert said in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    clips = [name for name in ids if not name.startswith(("figure", "axes", "patch", "matplotlib"))]
    drawn = set(re.findall(r"url\(#([^)]+)\)", page))
    assert drawn <= set(clips)
    assert all(clips.count(name) == 1 for name in drawn)
    assert "#0101" not in page
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL).lower().split()


def test_text_without_derivatives_is_filtered(arm: Simulated, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = arm.table(("q", "tau"))
    for name in column_names(arm.robot.model, "q"):
        columns[name] = columns[name] + 1e-6 * rng.normal(size=len(arm.time))
    with (tmp_path / "log.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(np.stack(list(columns.values()), axis=1).tolist())
    options = ("--cutoff", 20, "--every", 4, "--json", "--report", tmp_path / "report.html")
    document = json.loads(grid("identify", "iiwa14", tmp_path / "log.csv", *options).stdout)
    held = document["validation"]["rms"]
    spread = arm.data["tau"].std(axis=0)
    # What the filter leaves of the encoders' noise adds to the torques' own.
    assert np.all(np.array(held["consistent"]) < 1.5 * arm.noise)
    assert np.all(np.array(held["description"]) > 0.1 * spread)
    assert document["log"]["derived"] == ["qd", "qdd"]
    Y = np.asarray(arm.robot.inverse_dynamics_regressor(*(arm.data[x] for x in NAMES[:3])))
    left = (Y @ np.array(document["parameters"]) - arm.clean).std(axis=0)
    assert np.all(left < 0.2 * arm.noise)
    options = (*options[:2], "--filter-torques", *options[4:])
    smooth = json.loads(grid("identify", "iiwa14", tmp_path / "log.csv", *options).stdout)
    assert smooth["log"]["torques_filtered"]
    rounded = (Y @ np.array(smooth["parameters"]) - arm.clean).std(axis=0)
    assert np.mean(rounded / left) > 2.0  # the steps of friction are gone, but not the model's
    assert "cutoff at 20 Hz" in (tmp_path / "report.html").read_text()


def test_several_logs_of_several_kinds(arm: Simulated, tmp_path: Path) -> None:
    table = arm.table(NAMES)
    half = len(arm.time) // 2
    pq.write_table(pa.table({k: v[:half] for k, v in table.items()}), tmp_path / "a.parquet")
    second = {name: x[half:] for name, x in arm.data.items()}
    arm.npz(tmp_path / "b.npz", t=arm.time[half:], **second)
    tau = arm.data["tau"].copy()
    tau[7, 1] = np.nan
    arm.npz(tmp_path / "c.npz", tau=tau, trajectory=np.arange(len(tau)) // 1000)
    logs = [tmp_path / name for name in ("a.parquet", "b.npz", "c.npz")]
    result = grid("identify", "iiwa14", *logs, "--method", "wls")
    assert "wls, 15,999 samples of 16,000 rows" in result.stdout
    assert "c.npz: 1 of 8,000 rows are left out" in result.stderr
    assert "(row 7: tau)" in result.stderr


def test_a_floating_robot(tmp_path: Path) -> None:
    source = HAND_MADE["axis_aligned"].source()
    robot: Any = grid_core.load_robot(urdf_string=source, dtype="float64", floating_base=True)
    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, 2000)
    qd, qdd = rng.normal(size=(2, 2000, robot.nv))
    heavier = robot.parameters() * 1.1
    tau = np.asarray(robot.inverse_dynamics_regressor(q, qd, qdd) @ heavier)
    tau += 0.01 * rng.normal(size=tau.shape)
    np.savez(tmp_path / "log.npz", q=q, qd=qd, qdd=qdd, tau=tau)
    (tmp_path / "robot.urdf").write_text(source)
    files = (tmp_path / "robot.urdf", tmp_path / "log.npz", "-o", tmp_path / "new.urdf")
    grid("identify", *files, "--floating", "--friction", "none")
    back = load_urdf(tmp_path / "new.urdf", floating_base=True)
    np.testing.assert_allclose(parameters(back)[::10].sum(), heavier[::10].sum(), rtol=0.01)


def test_impossible_bodies_are_not_written_but_told_of(arm: Simulated, tmp_path: Path) -> None:
    few = slice(0, 300)
    short = {name: x[few] for name, x in arm.data.items()}
    short["tau"] = short["tau"] + np.random.default_rng(3).normal(size=short["tau"].shape)
    log = arm.npz(tmp_path / "log.npz", t=arm.time[few], **short)
    files = ("-o", tmp_path / "new.urdf", "--report", tmp_path / "report.html")
    (tmp_path / "arm.urdf").write_bytes(asset_path("iiwa14").read_bytes())
    result = grid("identify", tmp_path / "arm.urdf", log, *files, "--method", "ols", code=2)
    assert "would be an impossible body" in result.stderr
    assert "held-out errors" in result.stdout
    assert "new.urdf" not in result.stdout
    assert not (tmp_path / "new.urdf").exists()
    assert "no distribution of mass has these parameters" in (tmp_path / "report.html").read_text()


def test_ctrl_c_says_what_was_read(
    arm: Simulated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = arm.npz(tmp_path / "log.npz")

    def interrupted(robot: Any, chunks: Any, **_: Any) -> Any:
        next(iter(chunks))
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_identify, "identify_stream", interrupted)
    out = tmp_path / "new.urdf"
    result = CliRunner().invoke(
        cli, ["identify", str(asset_path("iiwa14")), str(log), "-o", str(out)]
    )
    assert result.exit_code == 130
    assert "8,000 rows were read, the last of them from" in result.stderr
    assert not out.exists()


class TestRefusals:
    def test_logs(self, arm: Simulated, tmp_path: Path) -> None:
        assert "no such file" in fails("identify", "iiwa14", tmp_path / "log.npz")
        log = arm.npz(tmp_path / "log.npz", tau=None)
        assert "array tau missing" in fails("identify", "iiwa14", log)
        empty = np.zeros((0, 7))
        nothing = dict.fromkeys(NAMES, empty)
        log = arm.npz(tmp_path / "log.npz", t=np.zeros(0), **nothing)
        assert "no samples to fit" in fails("identify", "iiwa14", log)

    def test_a_log_too_short_for_its_filter(self, arm: Simulated, tmp_path: Path) -> None:
        short = {name: x[:50] for name, x in arm.data.items()}
        log = arm.npz(tmp_path / "log.npz", t=arm.time[:50], **short)
        result = grid("identify", "iiwa14", log, "--cutoff", 5, code=2)
        assert "no recording in it is long enough for the filter: all of 50 rows" in result.stderr
        log = arm.npz(tmp_path / "two.npz", **{n: x[:2] for n, x in short.items()}, t=[0.0, 0.01])
        with np.load(log) as arrays:
            np.savez(log, **{n: arrays[n] for n in ("t", "q", "tau")})
        result = grid("identify", "iiwa14", log, code=2)
        assert "no recording in it is long enough for differences: all of 2" in result.stderr

    def test_recordings_that_uneven_times_cut_short_are_told(
        self, arm: Simulated, tmp_path: Path
    ) -> None:
        time = arm.time + np.where(np.arange(len(arm.time)) % 7, 0.0, 0.4 / RATE)
        log = arm.npz(tmp_path / "log.npz", t=time, qd=None, qdd=None)
        result = grid("identify", "iiwa14", log, "--folds", 0)
        assert result.stderr == ""
        time = arm.time + np.where(np.arange(len(arm.time)) % 7, 0.0, 0.8 / RATE)
        log = arm.npz(tmp_path / "log.npz", t=time, qd=None, qdd=None)
        result = grid("identify", "iiwa14", log, "--folds", 0)
        assert (
            "of 8,000 rows are left out, at the ends of recordings; there are 1," in result.stderr
        )
        assert "another begins where time skips more than one and a half steps" in result.stderr

    def test_logs_of_nothing_are_named(self, arm: Simulated, tmp_path: Path) -> None:
        good = arm.npz(tmp_path / "good.npz")
        nothing = dict.fromkeys(NAMES, np.zeros((0, 7)))
        empty = arm.npz(tmp_path / "empty.npz", t=np.zeros(0), **nothing)
        result = grid("identify", "iiwa14", empty, code=2)
        assert f"warning: {empty}: there is not one row in it" in result.stderr
        result = grid("identify", "iiwa14", good, empty, "--folds", 0)
        assert f"warning: {empty}: there is not one row in it" in result.stderr
        log = arm.npz(tmp_path / "nan.npz", q=np.nan * arm.data["q"])
        result = grid("identify", "iiwa14", log, code=2)
        assert "8,000 of 8,000 rows are left out" in result.stderr
        assert "long enough" not in result.stderr

    def test_outputs(self, arm: Simulated, tmp_path: Path) -> None:
        log = arm.npz(tmp_path / "log.npz")
        urdf = tmp_path / "arm.urdf"
        urdf.write_bytes(asset_path("iiwa14").read_bytes())
        assert "is the description itself" in fails("identify", urdf, log, "-o", urdf)
        nowhere = tmp_path / "no" / "new.urdf"
        assert "there is no folder" in fails("identify", urdf, log, "-o", nowhere)
        both = tmp_path / "both"
        assert "are both" in fails("identify", urdf, log, "-o", both, "--report", both)
        assert "no term 'dry'" in fails("identify", urdf, log, "--friction", "dry")
        assert urdf.read_bytes() == asset_path("iiwa14").read_bytes()

    def test_a_missing_extra(
        self, arm: Simulated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        log = arm.npz(tmp_path / "log.npz")
        text = fails("identify", "iiwa14", log, "--report", tmp_path / "report.html")
        assert "the report's plots needs matplotlib: pip install '.[identify]'" in text
