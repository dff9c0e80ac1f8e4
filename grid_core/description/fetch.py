"""A served cell seen from afar: describe it, and fetch its files, each checked by its hash."""

from __future__ import annotations

import hashlib
import http.client
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.description.compiled import cell_state
from grid_core.description.description import description_identity
from grid_core.description.documents import read_document
from grid_core.description.faults import Faults
from grid_core.description.files import MANIFEST, check_paths
from grid_core.description.machine_documents import CellReply
from grid_core.description.strict_json import MAX_BYTES
from grid_core.errors import DescriptionError, GridError, OptionError

if TYPE_CHECKING:
    import os

    from grid_core.description.cell import CellState
    from grid_core.description.snapshot import Resource

__all__ = ["RemoteCell", "fetch_resources"]


@frozen
class RemoteCell:
    """A cell by the address that it is served at, such as ``http://127.0.0.1:8080``."""

    url: str
    timeout: float = 10.0
    """For how long the cell may be silent [s]."""

    def describe(self) -> CellState:
        """Ask the cell what it is now.

        Raises:
            GridError: it does not answer.
            DescriptionError: it answers with something else.
        """
        data, faults = self._get("/v1/describe", MAX_BYTES), Faults()
        sent = read_document(CellReply, data, faults.at(f"{self.url}/v1/describe"))
        faults.raise_any()
        assert sent is not None
        return cell_state(sent)

    def fetch(self, resource: Resource) -> bytes:
        """Return a resource's bytes.

        Raises:
            GridError: the cell does not answer.
            DescriptionError: the bytes have another size or hash.
        """
        name = resource.sha256.removeprefix("sha256:")
        data = self._get(f"/v1/resources/{name}", resource.size)
        if len(data) != resource.size or hashlib.sha256(data).hexdigest() != name:
            raise DescriptionError(f"{self.url}: {resource.path}: not the bytes of {name}")
        return data

    def _get(self, path: str, most: int) -> bytes:
        base = self.url.rstrip("/")
        if not base.startswith(("http://", "https://")):
            raise OptionError(f"a cell's address starts with http:// or https://; got {self.url!r}")
        # Neither a proxy nor a cache between: what counts is what the cell says now.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.addheaders = [("Cache-Control", "no-cache")]
        try:
            with opener.open(base + path, timeout=self.timeout) as answer:
                data: bytes = answer.read(most + 1)
                return data
        except urllib.error.HTTPError as error:
            raise GridError(f"{base}{path}: the cell answers {error.code}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise GridError(f"{base}{path}: no answer: {error}") from error


def fetch_resources(cell: RemoteCell, folder: str | os.PathLike[str]) -> Path:
    """Fetch a cell's description and calibration.

    Args:
        cell: which one.
        folder: where the directory of the description, called by its model id, and beside it
            the calibration are written.

    Returns:
        The directory of the description.

    Raises:
        GridError: the cell does not answer, or has no robot.
        DescriptionError: what it sends is not what it says, or the directory is there already.
    """
    state = cell.describe()
    if state.robot_cell is None or state.calibration is None:
        raise GridError(f"{cell.url}: a machine without a robot has no resources")
    model_id = _safe(state.robot_cell.model_id, cell)
    root, beside = Path(folder) / model_id, Path(folder) / _safe(state.calibration.path, cell)
    faults = Faults()
    paths = [r.path for r in state.resources if r.path != MANIFEST]
    check_paths(paths, faults.at(f"{cell.url}: resources"))
    faults.raise_any()
    for target in (root, beside):
        if target.exists():
            raise DescriptionError(f"{target}: is there already")
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch.", dir=root.parent) as name:
            work = Path(name)
            for resource in state.resources:
                _write(work / model_id / resource.path, cell.fetch(resource))
            _write(work / beside.name, cell.fetch(state.calibration))
            _check_identity(work / model_id, state.robot_cell.robot_description_sha256)
            (work / model_id).replace(root)  # all of it or nothing
            (work / beside.name).replace(beside)
    except OSError as error:
        raise DescriptionError(f"{root}: cannot be written: {error.strerror}") from error
    return root


def _write(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def _check_identity(root: Path, wanted: str) -> None:
    found = description_identity(root)
    if found != wanted:
        raise DescriptionError(f"{root.name}: its identity is {found}, but the cell says {wanted}")


def _safe(name: str, cell: RemoteCell) -> str:
    faults = Faults()
    if "/" in name or not check_paths([name], faults.at(cell.url)):
        raise DescriptionError(f"{cell.url}: {name!r} cannot be a file's name")
    return name
