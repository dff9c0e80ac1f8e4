from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.signal import butter, freqz_sos, sosfiltfilt

from grid_core.assets import asset_path
from grid_core.identification import filtering
from grid_core.identification.filtering import ORDER, Filtering, Recording, Signals
from grid_core.identification.logs import open_log
from grid_core.model import integrate, load_urdf, load_urdf_string
from tests.support import urdf

if TYPE_CHECKING:
    from pathlib import Path

ARM = load_urdf(asset_path("iiwa14"))
STEP = 1e-3


def waves(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Sines below 2 Hz, with their true derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows) * STEP
    w, phase = 2.0 * np.pi * rng.uniform(0.2, 2.0, 7), rng.uniform(0.0, 6.0, 7)
    angle = t[:, None] * w + phase
    q, qd, qdd = np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": np.cos(2.0 * angle)}


def read(path: Path, data: dict[str, np.ndarray], **options: Any) -> tuple[Any, dict[str, Any]]:
    np.savez(path, **data)
    log = open_log(path, options.pop("model", ARM), **options)
    chunks = list(log)
    names = ("q", "qd", "qdd", "tau", "time", "trajectory")
    return log, {n: np.concatenate([getattr(c, n) for c in chunks]) for n in names}


@pytest.mark.parametrize("missing", [("qd", "qdd"), ("qdd",), ()])
@pytest.mark.parametrize("every", [1, 7])
def test_pieces_are_as_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], every: int
) -> None:
    data = {n: x for n, x in waves(20_000).items() if n not in missing}
    data["q"] = data["q"] + 1e-3 * np.random.default_rng(0).normal(size=data["q"].shape)
    whole_log, whole = read(tmp_path / "log.npz", data, cutoff=10.0, every=every)
    monkeypatch.setattr(filtering, "_BATCH", 3000)
    log, pieces = read(tmp_path / "log.npz", data, cutoff=10.0, every=every, chunk=1111)
    for name, array in whole.items():
        scale = np.max(np.abs(array))
        np.testing.assert_allclose(pieces[name], array, atol=1e-9 * scale, err_msg=name)
    assert log.summary.edges == whole_log.summary.edges
    edges = log.summary.edges
    assert log.summary.samples == -(-(20_000 - edges) // every)
    assert log.summary.derived == missing


def test_derivatives_are_those_of_the_motion(tmp_path: Path) -> None:
    truth = waves(8000)
    data = {n: truth[n] for n in ("t", "q", "tau")}
    log, got = read(tmp_path / "log.npz", data, cutoff=60.0)
    kept = np.rint(got["time"] / STEP).astype(int)
    assert log.summary.edges == 8000 - len(kept)
    for name, tolerance in (("q", 1e-4), ("qd", 1e-3), ("qdd", 2e-2), ("tau", 1e-3)):
        np.testing.assert_allclose(got[name], truth[name][kept], atol=tolerance, err_msg=name)


def test_without_a_filter_only_differences_are_taken(tmp_path: Path) -> None:
    truth = waves(1000)
    jitter = np.random.default_rng(0).uniform(-0.2, 0.2, 1000) * STEP
    t = truth["t"] + jitter
    w = 3.0
    q = np.sin(w * t)[:, None] * np.ones(7)
    log, got = read(tmp_path / "log.npz", {"t": t, "q": q, "tau": truth["tau"]})
    np.testing.assert_array_equal(got["q"], q[2:-2])
    np.testing.assert_array_equal(got["tau"], truth["tau"][2:-2])
    np.testing.assert_allclose(got["qd"][:, 0], w * np.cos(w * t[2:-2]), atol=2e-5)
    np.testing.assert_allclose(got["qdd"][:, 0], -(w**2) * np.sin(w * t[2:-2]), atol=2e-2)
    assert log.summary.edges == 4


def test_noise_above_the_cutoff_is_gone_and_nothing_is_delayed(tmp_path: Path) -> None:
    data = waves(20_000)
    clean = data["tau"].copy()
    data["tau"] = clean + 0.1 * np.sin(2.0 * np.pi * 200.0 * data["t"])[:, None]
    _, got = read(tmp_path / "log.npz", data, cutoff=40.0, filter_torques=True)
    kept = np.rint(got["time"] / STEP).astype(int)
    np.testing.assert_allclose(got["tau"], clean[kept], atol=1e-3)
    log, got = read(tmp_path / "log.npz", data, cutoff=40.0)
    np.testing.assert_array_equal(got["tau"], data["tau"][kept])  # unless that is asked for
    assert not log.summary.torques_filtered


def test_the_filter_is_scipys(tmp_path: Path) -> None:
    data = waves(5000)
    _, got = read(tmp_path / "log.npz", data, cutoff=8.0, filter_torques=True)
    sections = butter(ORDER, 8.0, fs=1.0 / STEP, output="sos")
    kept = np.rint(got["time"] / STEP).astype(int)
    for name in ("q", "qd", "qdd", "tau"):
        np.testing.assert_allclose(got[name], sosfiltfilt(sections, data[name], axis=0)[kept])
    _, response = freqz_sos(sections, [8.0], fs=1.0 / STEP)
    assert 20.0 * np.log10(np.abs(response[0]) ** 2) == pytest.approx(-6.02, abs=0.01)


def test_each_recording_loses_its_ends_and_short_ones_all(tmp_path: Path) -> None:
    data = waves(6000)
    data["tau"][2000, 3] = np.nan
    trajectory = np.repeat([0, 1, 2], [4000, 100, 1900])
    how = Filtering(ARM, STEP, 20.0)
    log, got = read(tmp_path / "log.npz", {**data, "trajectory": trajectory}, cutoff=20.0)
    assert log.summary.not_finite == 1
    assert log.summary.files[0].recordings == 4
    assert log.summary.edges == 6 * how.edge + 100
    assert log.summary.samples + log.summary.edges + 1 == 6000
    np.testing.assert_array_equal(np.unique(got["trajectory"]), [0, 1, 3])


def test_rates_of_a_floating_base_are_twists(tmp_path: Path) -> None:
    model = load_urdf(asset_path("go2"), floating_base=True)
    rng = np.random.default_rng(0)
    rows = 400
    twist = np.zeros((rows, model.nv)) + 0.5 * rng.normal(size=model.nv)
    q = np.empty((rows, model.nq))
    q[0] = np.concatenate([rng.normal(size=3), [0.0, 0.0, 0.0, 1.0], rng.normal(size=12)])
    for k in range(1, rows):
        q[k] = integrate(model, q[k - 1], twist[k] * STEP)
    data = {"t": np.arange(rows) * STEP, "q": q, "tau": np.zeros((rows, model.nv))}
    _, got = read(tmp_path / "log.npz", data, model=model)
    np.testing.assert_allclose(got["qd"], twist[2:-2], atol=1e-9)
    np.testing.assert_allclose(got["qdd"], 0.0, atol=1e-6)


def test_a_recording_shorter_than_its_ends_gives_nothing() -> None:
    recording = Recording(Filtering(ARM, STEP, 10.0))
    x = np.zeros((50, 7))
    signals = Signals(np.arange(50) * STEP, x, x, x, x)
    assert [*recording.push(signals), *recording.end()] == []
    assert recording.dropped == 50


@pytest.mark.parametrize("cutoff", [None, 20.0])
@pytest.mark.parametrize("least", [-np.pi, 0.0])
def test_continuous_joints_may_be_recorded_within_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cutoff: float | None, least: float
) -> None:
    """Also across pieces; a revolute joint's numbers are left as they are."""
    links = [urdf.link("base"), urdf.link("wheel", 1.0), urdf.link("arm", 1.0)]
    joints = [
        urdf.joint("spin", "continuous", "base", "wheel", axis=(0, 0, 1)),
        urdf.joint("bend", "revolute", "wheel", "arm", axis=(0, 1, 0)),
    ]
    model = load_urdf_string(urdf.robot("turntable", *links, *joints))
    t = np.arange(9000) * STEP
    q = np.stack([9.0 * t + np.sin(3.0 * t), 8.0 * np.sin(t)], axis=1)
    data = {"t": t, "q": q, "tau": np.cos(q)}
    _, truth = read(tmp_path / "log.npz", data, model=model, cutoff=cutoff)
    data["q"] = np.stack([(q[:, 0] - least) % (2.0 * np.pi) + least, q[:, 1]], axis=1)
    monkeypatch.setattr(filtering, "_BATCH", 2000)
    _, found = read(tmp_path / "log.npz", data, model=model, cutoff=cutoff, chunk=700)
    for name, atol in (("qd", 1e-7), ("qdd", 1e-4), ("tau", 0.0), ("time", 0.0)):
        np.testing.assert_allclose(found[name], truth[name], rtol=0.0, atol=atol, err_msg=name)
    off = (found["q"] - truth["q"]) / (2.0 * np.pi)
    np.testing.assert_allclose(off[:, 0], np.round(off[:, 0]), atol=1e-9)
    np.testing.assert_allclose(off[:, 1], 0.0, atol=1e-9)
