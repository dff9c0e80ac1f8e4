"""The server: what it gives, and what bad requests get."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import logging
import socket
import sys
from typing import TYPE_CHECKING

import jsonschema
import pytest
from click.testing import CliRunner

from grid_core.cli.root import cli
from grid_core.description import (
    RemoteCell,
    compile_machine,
    description_identity,
    fetch_resources,
    json_schema,
)
from grid_core.errors import DescriptionError, GridError
from tests.description.calibrations import FULL, document
from tests.description.directories import R1400
from tests.description.machines import checkout, flat_axis, write_machine
from tests.description.serving import ask, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grid_core.description import CompiledCell


@pytest.fixture
def cell(tmp_path: Path) -> CompiledCell:
    return compile_machine(checkout(tmp_path, document(**FULL)), tmp_path / "compiled")


@pytest.fixture
def port(cell: CompiledCell, tmp_path: Path) -> Iterator[int]:
    with served(tmp_path / "compiled") as found:
        yield found


def first(cell: CompiledCell) -> str:
    return cell.describe().resources[0].sha256.removeprefix("sha256:")


def test_describe(port: int, cell: CompiledCell) -> None:
    """R15: id, identities and the hash of each file, by a published schema, never cached."""
    status, headers, body = ask(port, "/v1/describe")
    value = json.loads(body)
    assert (status, headers["cache-control"]) == (200, "no-store")
    jsonschema.validate(value, json_schema("grid.cell.v1"))
    assert value["robot_cell"]["model_id"] == R1400
    assert RemoteCell(f"http://127.0.0.1:{port}").describe() == cell.describe()


def test_every_resource_is_what_its_name_says(port: int, cell: CompiledCell) -> None:
    """R16, R24: bytes rehash to their name, the calibration's too."""
    state = cell.describe()
    assert state.calibration is not None
    for resource in [*state.resources, state.calibration]:
        name = resource.sha256.removeprefix("sha256:")
        status, headers, body = ask(port, f"/v1/resources/{name}")
        assert (status, len(body)) == (200, resource.size)
        assert hashlib.sha256(body).hexdigest() == name
        assert headers["etag"] == f'"{name}"'


@pytest.mark.parametrize(
    "path",
    [
        "/v1/resources/" + 64 * "0",
        "/v1/resources/",
        "/v1/resources",
        "/v1/resources/{name:.63}",
        "/v1/resources/{upper}",
        "/v1/resources/sha256:{name}",
        "/v1/resources/{name}/",
        "/v1/resources/{name}%0A",
        "/v1/resources/%00{name}",
        "/v1/resources/../configuration.json",
        "/v1/resources/..%2Fconfiguration.json",
        "/v1/resources/%2e%2e%2f%2e%2e%2fmachine.json",
        "/v1/resources/..%5Cconfiguration.json",
        "/v1/resources//etc/passwd",
        "/../../../../etc/passwd",
        "/configuration.json",
        "/v2/describe",
        "/",
    ],
)
def test_what_is_not_there(path: str, port: int, cell: CompiledCell) -> None:
    """R16: an unknown name is 404, and no file outside the store is ever sent."""
    name = first(cell)
    upper = name.upper()
    status, _, body = ask(port, path.format(name=name, upper=upper))
    # A slash at the end is an address of its own; it may be sent to the one without.
    assert status in ({404, 307} if path.endswith("/") else {404})
    assert b"schema" not in body
    assert b"root:" not in body
    assert ask(port, "/v1/describe")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_other_methods(method: str, port: int, cell: CompiledCell) -> None:
    """R16: the server is for reading."""
    for path in ("/v1/describe", f"/v1/resources/{first(cell)}"):
        assert ask(port, path, method, {"Content-Length": "0"})[0] == 405


def test_head_and_ranges(port: int, cell: CompiledCell) -> None:
    """R16: HEAD has the length and no body; a range gets the whole, which can be checked."""
    path = f"/v1/resources/{first(cell)}"
    _, _, whole = ask(port, path)
    status, headers, body = ask(port, path, "HEAD")
    assert (status, int(headers["content-length"]), body) == (200, len(whole), b"")
    for wanted in ("bytes=0-9", "bytes=5-", "bytes=-3", "bytes=999999-", "junk"):
        status, headers, body = ask(port, path, headers={"Range": wanted})
        assert (status, body, headers["accept-ranges"]) == (200, whole, "none")


def test_many_at_once(port: int, cell: CompiledCell) -> None:
    """R16: 200 fetches, while one client says nothing and another stops half-way."""
    names = [r.sha256.removeprefix("sha256:") for r in cell.describe().resources]
    silent = socket.create_connection(("127.0.0.1", port))
    stalled = socket.create_connection(("127.0.0.1", port))
    stalled.sendall(b"GET /v1/resources/")
    try:
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            wanted = [names[number % len(names)] for number in range(200)]
            answers = list(pool.map(lambda name: ask(port, f"/v1/resources/{name}"), wanted))
    finally:
        silent.close()
        stalled.close()
    for name, (status, _, body) in zip(wanted, answers, strict=True):
        assert (status, hashlib.sha256(body).hexdigest()) == (200, name)


def test_damage_on_disk(
    port: int, cell: CompiledCell, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """R16: a damaged file is a 500 with its hash in the log, and never wrong bytes."""
    name = first(cell)
    file = tmp_path / "compiled/resources" / name
    content = bytearray(file.read_bytes())
    content[3] ^= 1
    file.write_bytes(content)
    with caplog.at_level(logging.ERROR, "grid.serve"):
        status, _, body = ask(port, f"/v1/resources/{name}")
    assert status == 500
    assert name in caplog.text
    assert str(tmp_path).encode() not in body
    (tmp_path / "compiled/configuration.json").write_text("{", encoding="utf-8")
    assert ask(port, "/v1/describe")[0] == 500
    with pytest.raises(GridError, match="the cell answers 500"):
        RemoteCell(f"http://127.0.0.1:{port}").describe()


def test_fetching(port: int, cell: CompiledCell, tmp_path: Path) -> None:
    """R16: by the command: a directory of the same identity, and the calibration beside it."""
    url = f"http://127.0.0.1:{port}"
    result = CliRunner().invoke(cli, ["resources", "fetch", url, "-o", str(tmp_path / "got")])
    root = tmp_path / "got" / R1400
    assert (result.exit_code, result.stdout) == (0, f"{root}\n"), result.stderr
    state = cell.describe()
    assert state.robot_cell is not None
    assert description_identity(root) == state.robot_cell.robot_description_sha256
    calibration = (tmp_path / "got/machine_planning_calibration.json").read_bytes()
    assert json.loads(calibration) == document(**FULL)
    with pytest.raises(DescriptionError, match="is there already"):
        fetch_resources(RemoteCell(url), tmp_path / "got")


@pytest.mark.parametrize("change", [{"size": 7}, {"path": "../x"}, {"path": "/x"}])
def test_a_cell_that_lies(
    change: dict[str, object], port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R16: sizes, hashes and paths from afar are checked before anything is kept under them."""
    get = RemoteCell._get

    def lying(self: RemoteCell, path: str, most: int) -> bytes:
        data = get(self, path, most)
        if path == "/v1/describe":
            value = json.loads(data)
            value["resources"][0].update(change)
            data = json.dumps(value).encode()
        return data

    monkeypatch.setattr(RemoteCell, "_get", lying)
    with pytest.raises(DescriptionError):
        fetch_resources(RemoteCell(f"http://127.0.0.1:{port}"), tmp_path / "got")
    assert not (tmp_path / "x").exists()
    assert not (tmp_path / "got").exists() or not list((tmp_path / "got").iterdir())


def test_bytes_that_changed_on_the_way(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R16: what does not rehash to its name is refused."""
    get = RemoteCell._get

    def flipped(self: RemoteCell, path: str, most: int) -> bytes:
        data = get(self, path, most)
        return data if path == "/v1/describe" else bytes([data[0] ^ 1]) + data[1:]

    monkeypatch.setattr(RemoteCell, "_get", flipped)
    with pytest.raises(DescriptionError, match="not the bytes of"):
        fetch_resources(RemoteCell(f"http://127.0.0.1:{port}"), tmp_path / "got")


def test_nobody_answers(tmp_path: Path) -> None:
    """R16: an error of one line."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    cases = {url: "no answer", "http://[": "no answer", "file:///etc/passwd": "starts with http"}
    for address, match in cases.items():
        result = CliRunner().invoke(cli, ["resources", "fetch", address, "-o", str(tmp_path)])
        assert result.exit_code == 2
        assert match in result.stderr


def test_a_machine_without_a_robot(tmp_path: Path) -> None:
    """R21: it describes itself, and has nothing to fetch."""
    machine = {"schema": "grid.machine.v1", "name": "table", "axes": [flat_axis("X")]}
    compile_machine(write_machine(tmp_path, machine), tmp_path / "compiled")
    with served(tmp_path / "compiled") as port:
        remote = RemoteCell(f"http://127.0.0.1:{port}")
        assert remote.describe().robot_cell is None
        with pytest.raises(GridError, match="without a robot"):
            fetch_resources(remote, tmp_path / "got")


def test_serving_what_is_no_cell(tmp_path: Path) -> None:
    """R14: said before it listens."""
    result = CliRunner().invoke(cli, ["serve", str(tmp_path)])
    assert result.exit_code == 2
    assert "configuration.json: no such file" in result.stderr


def test_serving_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R14: what to install is said."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(cli, ["serve", str(tmp_path)])
    assert result.exit_code == 2
    assert "pip install '.[serve]'" in result.stderr
