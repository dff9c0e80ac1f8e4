from __future__ import annotations

import csv
import re
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, GridError, InputError, OptionError
from grid_core.identification import logs_csv
from grid_core.identification.extra import require
from grid_core.identification.logs import open_log
from grid_core.identification.logs_columns import column_names
from grid_core.model import load_urdf, load_urdf_string
from tests.support import urdf
from tests.support.robots import HAND_MADE

if TYPE_CHECKING:
    from pathlib import Path

ARM = load_urdf(asset_path("iiwa14"))
QUANTITIES = ("q", "qd", "qdd", "tau")


def recorded(rows: int = 50, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    data = {name: rng.normal(size=(rows, 7)) for name in QUANTITIES}
    return {"t": np.arange(rows) * 0.01, **data}


def gathered(log: Any) -> dict[str, np.ndarray]:
    chunks = list(log)
    return {
        name: np.concatenate([np.asarray(getattr(chunk, name)) for chunk in chunks])
        for name in (*QUANTITIES, "trajectory")
    }


def same(log: Any, data: dict[str, np.ndarray]) -> None:
    got = gathered(log)
    for name in QUANTITIES:
        np.testing.assert_allclose(got[name], data[name], rtol=1e-15, atol=0.0, err_msg=name)


def as_table(data: dict[str, np.ndarray], names: dict[str, tuple[str, ...]] | None = None) -> Any:
    names = names or {q: column_names(ARM, q) for q in QUANTITIES}
    columns = {"time": data["t"]}
    for q in QUANTITIES:
        if q in data:
            columns |= dict(zip(names[q], data[q].T, strict=True))
    return columns


def write_csv(path: Path, columns: dict[str, Any], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*([repr(float(x)) for x in c] for c in columns.values()), strict=True))
    return path


def error(path: Path, model: Any = ARM, **options: Any) -> str:
    with pytest.raises(GridError) as caught:
        list(open_log(path, model, **options))
    return str(caught.value)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("chunk", [7, 1000])
def test_named_arrays_come_back_whatever_their_layout(
    tmp_path: Path, order: Any, save: Any, chunk: int
) -> None:
    data = {name: np.asarray(x, order=order) for name, x in recorded().items()}
    save(tmp_path / "log.npz", **data)
    log = open_log(tmp_path / "log.npz", ARM, chunk=chunk)
    same(log, data)
    same(log, data)  # a second time
    assert log.summary.rows == log.summary.samples == 50
    assert log.summary.complete
    assert log.summary.files[0].duration == pytest.approx(0.49)


def test_other_dtypes_are_converted(tmp_path: Path) -> None:
    data = recorded()
    wide = {"t": data["t"], "q": data["q"].astype(">f8"), "qd": data["qd"].astype(np.float32)}
    wide |= {"qdd": np.arange(350).reshape(50, 7), "tau": data["tau"]}
    np.savez(tmp_path / "log.npz", **wide)
    got = gathered(open_log(tmp_path / "log.npz", ARM))
    np.testing.assert_array_equal(got["q"], data["q"])
    np.testing.assert_array_equal(got["qd"], wide["qd"])
    np.testing.assert_array_equal(got["qdd"], wide["qdd"])


@pytest.fixture(params=["arrow", "numpy"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read text with and without pyarrow."""
    monkeypatch.setattr(logs_csv, "_has_arrow", lambda: request.param == "arrow")
    return str(request.param)


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("chunk", [7, 1000])
def test_text_comes_back_by_name_or_number(
    tmp_path: Path, delimiter: str, numbered: bool, chunk: int
) -> None:
    data = recorded()
    names = {q: tuple(f"{q}{k}" for k in range(7)) for q in QUANTITIES} if numbered else None
    columns = as_table(data, names)
    shuffled = dict(reversed(columns.items())) | {"temperature": data["t"]}
    path = write_csv(tmp_path / "log.csv", shuffled, delimiter)
    log = open_log(path, ARM, chunk=chunk)
    same(log, data)
    assert log.summary.files[0].ignored == ("temperature",)


@pytest.mark.parametrize("chunk", [7, 1000])
def test_parquet_comes_back(tmp_path: Path, chunk: int) -> None:
    data = recorded()
    pq.write_table(pa.table(as_table(data)), tmp_path / "log.parquet", row_group_size=20)
    same(open_log(tmp_path / "log.parquet", ARM, chunk=chunk), data)


def test_joints_are_put_in_the_robots_order(tmp_path: Path) -> None:
    data = recorded()
    order = np.array([3, 0, 6, 1, 2, 5, 4])
    names = [ARM.joints[k].name for k in order]
    shuffled = {n: x if n == "t" else x[:, order] for n, x in data.items()}
    np.savez(tmp_path / "log.npz", joint_names=np.array(names), **shuffled)
    same(open_log(tmp_path / "log.npz", ARM), data)


def test_followers_may_be_recorded_and_are_left_out(tmp_path: Path) -> None:
    model = HAND_MADE["mimic_chain"].load()
    names = [joint.name for joint in model.joints]
    independent = [j.id for j in model.joints if j.q_start is not None]
    arrays = {n: np.random.default_rng(1).normal(size=(9, model.nj)) for n in QUANTITIES}
    np.savez(tmp_path / "log.npz", joint_names=np.array(names), **arrays)
    got = gathered(open_log(tmp_path / "log.npz", model))
    np.testing.assert_array_equal(got["tau"], arrays["tau"][:, independent])


def test_wide_joints_have_a_column_for_each_entry(tmp_path: Path) -> None:
    model = load_urdf(asset_path("go2"), floating_base=True)
    names = column_names(model, "q")
    assert names[:2] == ("q_root_joint[0]", "q_root_joint[1]")
    assert len(names) == model.nq
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    for quantity in QUANTITIES:
        for name in column_names(model, quantity):
            columns[name] = rng.normal(size=5)
    for k in range(4):
        columns[f"q_root_joint[{k + 3}]"] = np.full(5, 0.5)
    got = gathered(open_log(write_csv(tmp_path / "log.csv", columns), model))
    np.testing.assert_array_equal(got["q"][:, 3:7], np.full((5, 4), 0.5))
    np.testing.assert_array_equal(got["tau"][:, 2], columns["tau_root_joint[2]"])
    columns["q_root_joint[6]"] = np.full(5, 0.9)
    text = error(write_csv(tmp_path / "log.csv", columns), model)
    assert "line 2: the quaternion of joint 'root_joint' has length" in text


def test_rows_without_a_number_are_left_out_and_counted(tmp_path: Path) -> None:
    data = recorded()
    data["tau"][3, 2] = np.nan
    data["qd"][3, 0] = np.nan
    data["q"][40, 6] = np.inf
    np.savez(tmp_path / "log.npz", **data)
    log = open_log(tmp_path / "log.npz", ARM, chunk=10)
    got = gathered(log)
    np.testing.assert_array_equal(got["q"], np.delete(data["q"], [3, 40], axis=0))
    assert log.summary.files[0].recordings == 3
    summary = log.summary
    assert (summary.rows, summary.samples, summary.not_finite) == (50, 48, 2)
    assert summary.files[0].examples == ["row 3: qd", "row 40: q"]
    assert summary.to_dict()["excluded"] == {"not_finite": 2, "edges": 0}


@pytest.mark.usefixtures("reader")
def test_empty_cells_are_missing_numbers(tmp_path: Path) -> None:
    lines = write_csv(tmp_path / "log.csv", as_table(recorded())).read_text().splitlines()
    lines[5] = re.sub(",[^,]*$", ",", lines[5])
    lines[6] = re.sub(",[^,]*$", ',"NaN"', lines[6])
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n\n")
    log = open_log(tmp_path / "log.csv", ARM)
    assert len(gathered(log)["q"]) == 48
    assert log.summary.files[0].examples == ["line 6: tau", "line 7: tau"]


@pytest.mark.usefixtures("reader")
def test_text_may_end_its_lines_in_either_way_and_quote_what_it_says(tmp_path: Path) -> None:
    data = recorded()
    columns = as_table(data)
    lines = [",".join(f'"{name}"' for name in [*columns, "note"])]
    lines += [
        ",".join([*(f'"{float(x)!r}"' for x in row), '"a, b"'])
        for row in zip(*columns.values(), strict=True)
    ]
    for end in ("\n", "\r\n"):
        (tmp_path / "log.csv").write_bytes(end.join([*lines, ""]).encode())
        same(open_log(tmp_path / "log.csv", ARM, chunk=20), data)


def test_recordings_are_told_apart(tmp_path: Path) -> None:
    data = recorded()
    np.savez(tmp_path / "a.npz", trajectory=np.repeat([4, 2], 25), **data)
    columns = as_table(data)
    columns["time"] = np.concatenate([data["t"][:20], data["t"][20:] + 1.0])
    pq.write_table(pa.table(columns), tmp_path / "b.parquet")
    log = open_log([tmp_path / "a.npz", tmp_path / "b.parquet"], ARM, chunk=15)
    got = gathered(log)["trajectory"]
    np.testing.assert_array_equal(got, np.repeat([0, 1, 2, 3], [25, 25, 20, 30]))
    alone = gathered(open_log(tmp_path / "b.parquet", ARM, chunk=15))["trajectory"]
    assert len(np.unique(alone)) == 18  # pieces of 3, one of them across the gap
    assert set(np.unique(alone, return_counts=True)[1]) == {1, 2, 3}
    assert [file.recordings for file in log.summary.files] == [2, 2]


def test_what_was_read_is_known_when_reading_stops(tmp_path: Path) -> None:
    np.savez(tmp_path / "log.npz", **recorded())
    shares: list[float] = []
    log = open_log(tmp_path / "log.npz", ARM, chunk=10, progress=shares.append)
    chunks = iter(log)
    next(chunks)
    next(chunks)
    assert (log.summary.samples, log.summary.complete) == (20, False)
    list(chunks)
    assert shares[-1] == 1.0
    assert shares == sorted(shares)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("cutoff", [None, 50.0])
def test_a_longer_log_takes_no_more_memory(tmp_path: Path, save: Any, cutoff: Any) -> None:
    peaks = []
    for rows in (80_000, 160_000):
        x = np.tile(np.arange(7.0), (rows, 1))
        save(tmp_path / "log.npz", t=np.arange(rows) * 1e-3, q=x, qd=x, tau=x)
        del x
        tracemalloc.start()
        samples = 0
        for chunk in open_log(tmp_path / "log.npz", ARM, chunk=5000, cutoff=cutoff):
            samples += len(np.asarray(chunk.q))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert samples > 0.99 * rows
    assert peaks[1] < 1.1 * peaks[0]


class TestRefusals:
    def npz(self, folder: Path, **changes: Any) -> Path:
        arrays = {n: x for n, x in {**recorded(), **changes}.items() if x is not None}
        np.savez(folder / "log.npz", **arrays)
        return folder / "log.npz"

    def test_missing_arrays(self, tmp_path: Path) -> None:
        text = error(self.npz(tmp_path, tau=None))
        assert "log.npz: array tau missing; there are q, qd, qdd and t" in text

    def test_wrong_widths(self, tmp_path: Path) -> None:
        path = self.npz(tmp_path, qd=np.zeros((50, 6)))
        assert "qd must be (N, nv=7); got (50, 6)" in error(path)
        path = self.npz(tmp_path, qd=np.zeros((49, 7)))
        assert "qd has 49 rows, and q has 50" in error(path)
        assert "t must be (N,); got (50, 1)" in error(self.npz(tmp_path, t=np.zeros((50, 1))))

    def test_objects(self, tmp_path: Path) -> None:
        path = self.npz(tmp_path, tau=np.full((50, 7), "x", dtype=object))
        assert "array tau must hold real numbers; it is of dtype object" in error(path)
        path = self.npz(tmp_path, joint_names=np.array(["a"], dtype=object))
        assert "joint_names must be an array of text" in error(path)

    def test_unknown_joints(self, tmp_path: Path) -> None:
        names = [joint.name for joint in ARM.joints]
        path = self.npz(tmp_path, joint_names=np.array([*names[:6], "iiwa_joint_8"]))
        assert "joint_names[6] is 'iiwa_joint_8'" in error(path)
        path = self.npz(tmp_path, joint_names=np.array(names[:6]))
        assert "joint_names lacks iiwa_joint_7" in error(path)
        columns = as_table(recorded())
        columns["tau_iiwa_joint_9"] = columns["time"]
        text = error(write_csv(tmp_path / "log.csv", columns))
        assert "column 'tau_iiwa_joint_9': the robot has no joint 'iiwa_joint_9'" in text
        assert "did you mean" in text

    def test_missing_columns(self, tmp_path: Path) -> None:
        columns = as_table(recorded())
        del columns["q_iiwa_joint_3"]
        text = error(write_csv(tmp_path / "log.csv", columns))
        assert "log.csv: column 'q_iiwa_joint_3' missing" in text
        names = {q: tuple(f"{q}{k}" for k in range(7)) for q in QUANTITIES}
        columns = as_table(recorded(), names)
        del columns["tau6"]
        text = error(write_csv(tmp_path / "log.csv", columns))
        assert "tau must be nv=7 columns, tau0 to tau6; got 6" in text

    @pytest.mark.usefixtures("reader")
    def test_cells_that_are_no_numbers(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "log.csv", as_table(recorded()))
        lines = path.read_text().splitlines()
        bad = [*lines[:30], lines[30].replace(",", ",oops", 1), *lines[31:]]
        path.write_text("\n".join(bad))
        assert "log.csv: line 31, column 'q_iiwa_joint_1': 'oops" in error(path)
        assert "line 31, column" in error(path, chunk=4)
        path.write_text("\n".join([*lines[:30], lines[30] + ",1", *lines[31:]]))
        assert "line 31 has 30 cells, and the header 29" in error(path)
        path.write_text("\n".join([*lines[:30], "", *lines[31:]]))
        assert "line 31 has 0 cells" in error(path)
        path.write_bytes(b"\n".join([*(x.encode() for x in lines[:30]), b"\xff"]))
        assert "line 31 is not UTF-8" in error(path)
        path.write_text("")
        assert "no header" in error(path)
        path.write_text("0.0,1.5,-2e-3\n0.1,1.5,-2e-3\n", encoding="utf-8")
        assert "there is no header in line 1" in error(path)

    @pytest.mark.parametrize("chunk", [10, 1000])
    def test_time_that_does_not_advance(self, tmp_path: Path, chunk: int) -> None:
        data = recorded()
        for row, value in ((30, 0.1), (30, 0.29)):
            data["t"][row] = value
            text = error(self.npz(tmp_path, t=data["t"]), chunk=chunk)
            assert f"time does not advance at row 30: {value:g} s after 0.29 s" in text

    def test_files_of_no_kind(self, tmp_path: Path) -> None:
        assert "no such file" in error(tmp_path / "log.npz")
        assert "no such file" in error(tmp_path / "log.csv")
        assert "no such file" in error(tmp_path / "log.parquet")
        assert "a log is a file of kind" in error(tmp_path / "log.mat")
        for name in ("log.npz", "log.parquet"):
            (tmp_path / name).write_text("nothing of the kind")
            assert "no " in error(tmp_path / name)

    def test_a_file_that_ends_too_early(self, tmp_path: Path) -> None:
        path = self.npz(tmp_path)
        whole = path.read_bytes()
        path.write_bytes(whole[:-3000])
        assert "no archive" in error(path)

    def test_a_damaged_file(self, tmp_path: Path) -> None:
        np.savez_compressed(tmp_path / "log.npz", **recorded())
        whole = bytearray((tmp_path / "log.npz").read_bytes())
        rng = np.random.default_rng(0)
        refused: list[str] = []
        for _ in range(60):
            damaged = whole.copy()
            for at in rng.integers(0, len(whole), 3):
                damaged[at] ^= 0xFF
            (tmp_path / "log.npz").write_bytes(damaged)
            try:
                list(open_log(tmp_path / "log.npz", ARM))
            except InputError as error:
                refused.append(str(error))
        assert len(refused) > 20
        assert all("log.npz" in text for text in refused)

    def test_a_file_that_goes_away(self, tmp_path: Path) -> None:
        for log in (open_log(self.npz(tmp_path), ARM), open_log(self.csv(tmp_path), ARM)):
            log.files[0].path.unlink()
            with pytest.raises(InputError, match="cannot be read: No such file"):
                list(log)

    def csv(self, folder: Path) -> Path:
        return write_csv(folder / "log.csv", as_table(recorded()))

    def test_parquet_that_holds_text(self, tmp_path: Path) -> None:
        columns = as_table(recorded())
        columns["tau_iiwa_joint_1"] = ["x"] * 50
        pq.write_table(pa.table(columns), tmp_path / "log.parquet")
        text = error(tmp_path / "log.parquet")
        assert "column 'tau_iiwa_joint_1' must hold numbers; it is of type string" in text

    def test_missing_time_only_where_it_is_needed(self, tmp_path: Path) -> None:
        path = self.npz(tmp_path, t=None)
        same(open_log(path, ARM), recorded())
        assert "time (or t) is missing, which is needed for a filter" in error(path, cutoff=5.0)
        path = self.npz(tmp_path, t=None, qdd=None)
        assert "which is needed for differences, for there is no qdd" in error(path)

    def test_options(self, tmp_path: Path) -> None:
        path = self.npz(tmp_path)
        assert "every must be at least 1" in error(path, every=0)
        assert "every must be at least 1; got 1.5" in error(path, every=1.5)
        assert "cutoff must be above 0 Hz; got 'low'" in error(path, cutoff="low")
        with pytest.raises(ArgumentError, match=r"model must be a robot's, as handle\.model"):
            open_log(path, "iiwa14")  # type: ignore[arg-type]
        assert "cutoff must be above 0 Hz" in error(path, cutoff=-1.0)
        assert "below half the sampling rate of 100 Hz; got 50 Hz" in error(path, cutoff=50.0)

    def test_a_package_that_is_not_installed(self) -> None:
        with pytest.raises(OptionError, match=r"pip install '.\[identify\]'"):
            require("pyarrow_of_nobody")


def test_one_joint_may_be_one_dimensional(tmp_path: Path) -> None:
    links = [urdf.link("a"), urdf.link("b", 1.0, inertia=np.eye(3))]
    text = urdf.robot("one", *links, urdf.joint("j", "revolute", "a", "b", axis=(0, 0, 1)))
    model = load_urdf_string(text)
    np.savez(tmp_path / "log.npz", **{name: np.arange(4.0) for name in QUANTITIES})
    (chunk,) = open_log(tmp_path / "log.npz", model)
    assert np.shape(chunk.tau) == (4, 1)
    with pytest.raises(OptionError, match="there is no log"):
        open_log([], model)
