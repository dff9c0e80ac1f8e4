"""What the tests of GPU timing share."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from grid_core.operation_call import OperationCall
from tests.bench.fakes import Tensor, fake_grid_rbd, fake_torch, record


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the backend 'cpu' pass for one with a device, and its calls be captured."""
    peer = fake_grid_rbd()
    plain = OperationCall.__call__

    def call(self: OperationCall, *args: Any, out: Any = None, **keywords: Any) -> Any:
        record(lambda: plain(self, *args, out=out, **keywords))
        result = plain(self, *args, out=out, **keywords)
        return result.view(Tensor) if args and isinstance(args[0], Tensor) else result

    monkeypatch.setattr(OperationCall, "__call__", call)
    monkeypatch.setattr("grid_core.bench.lineup._has_devices", lambda name: name == "cpu")
    monkeypatch.setattr("grid_core.bench.timing.WARM_UP_S", 0.0)
    monkeypatch.setattr("grid_core.bench.card.shutil.which", lambda _: None)
    monkeypatch.setattr("grid_core.bench.device_boundaries.GRAPH_S", 0.0)
    monkeypatch.setitem(sys.modules, "torch", fake_torch())
    monkeypatch.setitem(sys.modules, "grid_rbd", peer)
    return peer
