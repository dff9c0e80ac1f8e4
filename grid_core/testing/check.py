"""`check_algorithm`: everything that holds of a correct algorithm, on one robot."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core import contract
from grid_core.algorithm import Algorithm, Options
from grid_core.backend import BuildSettings, Operation
from grid_core.binding import Binding
from grid_core.errors import ContractError
from grid_core.evaluation import evaluate_reference, refusal
from grid_core.handle import RobotHandle
from grid_core.plugins import PluginManager, Selection, plugin_manager
from grid_core.program import trace
from grid_core.targets import find_targets
from grid_core.testing.compare import assert_agree
from grid_core.testing.inputs import random_inputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grid_core.backend import Backend
    from grid_core.model.types import Array, RobotModel

__all__ = ["check_algorithm"]

_FLOAT64 = np.dtype(np.float64)


def check_algorithm(
    algorithm: Algorithm,
    model: RobotModel,
    *,
    others: Iterable[Algorithm] = (),
    options: Options | None = None,
    backends: Iterable[str | Backend] | None = None,
    batches: Iterable[int] = (0, 1, 5),
    tolerance: float = 1e-9,
    tolerance32: float = 2e-4,
    cache_dir: Path | None = None,
) -> None:
    """Check the contract, the shapes, the reference, the program and the compiled operation.

    For every choice of optional inputs and every batch size, on random inputs that are the same
    each time: the reference returns what the ports declare, problem by problem the same as in
    a batch; the traced program agrees with it; and so does every backend that runs here, called
    through a handle, in each of its precisions.

    Args:
        algorithm: what to check.
        model: a robot that can have it.
        others: algorithms that it needs and that are not installed.
        options: what the robot is loaded with; by default the leaf joints are the targets.
        backends: what to check, or names; by default all that run here but ``reference``.
        batches: batch sizes.
        tolerance: allowed difference in float64, as a part of max(1, the problem's largest entry).
        tolerance32: the same in float32.
        cache_dir: folder of the backends' build cache; None builds in memory.

    Raises:
        AssertionError: what does not hold, on which inputs.
    """
    case = _Case.prepare(algorithm, model, others, options)
    kernels = [
        (backend, dtype, case.handle(backend, dtype, cache_dir))
        for backend in _backends(backends)
        for dtype in backend.dtypes
    ]
    for present in case.choices():
        program = case.trace(present)
        for batch in batches:
            where = f"{algorithm.name}({', '.join(('...', *sorted(present)))}), batch {batch}"
            inputs = random_inputs(
                algorithm, model, case.options, batch=batch, present=present, seed=batch
            )
            expected = case.reference(inputs)
            _check_problems(where, case, inputs, expected, tolerance)
            assert_agree(f"{where}: program", program.evaluate(inputs), expected, tolerance)
            for backend, dtype, handle in kernels:
                allowed = tolerance if dtype == "float64" else tolerance32
                what = f"{where}: backend {backend.name!r} in {dtype}"
                _check_handle(what, case, handle, inputs, allowed)


@frozen
class _Case:
    """One algorithm on one robot."""

    algorithm: Algorithm
    model: RobotModel
    options: Options
    available: Mapping[str, Algorithm] = field(repr=False)

    @classmethod
    def prepare(
        cls,
        algorithm: Algorithm,
        model: RobotModel,
        others: Iterable[Algorithm],
        options: Options | None,
    ) -> _Case:
        """Check the contract, gather what the algorithm needs, ask whether it refuses."""
        try:
            contract.check_algorithm(algorithm)
        except ContractError as error:
            raise AssertionError(f"the contract: {error}") from error
        given = {a.name: a for a in (*others, algorithm)}
        available: dict[str, Algorithm] = {}
        queue = [algorithm.name]
        while queue:
            name = queue.pop()
            if name not in available:
                found = given.get(name) or plugin_manager().algorithms.take(name).value
                available[name] = found
                queue.extend(found.needs)
        chosen = options if options is not None else Options(targets=find_targets(model, None))
        reason = refusal(algorithm, available, model, chosen)
        assert not reason, f"{algorithm.name}: {model.name!r} cannot have it: {reason}"
        return cls(algorithm, model, chosen, available)

    def choices(self) -> list[frozenset[str]]:
        """Return every choice of optional inputs."""
        names = [port.name for port in self.algorithm.inputs if port.optional]
        counts = range(len(names) + 1)
        return [frozenset(c) for n in counts for c in itertools.combinations(names, n)]

    def reference(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """Evaluate the reference."""
        return evaluate_reference(self.algorithm, self.available, self.model, self.options, inputs)

    def trace(self, present: frozenset[str]) -> Any:
        """Trace the program."""
        return trace(
            Operation(
                algorithm=self.algorithm,
                available=self.available,
                model=self.model,
                options=self.options,
                dtype=_FLOAT64,
                present=present,
            )
        )

    def handle(self, backend: Backend, dtype: str, cache_dir: Path | None) -> RobotHandle:
        """Load the robot with this operation alone."""
        name = self.algorithm.name
        binding = Binding(
            name=self.model.name,
            model=self.model,
            options=self.options,
            dtype=np.dtype(dtype),
            backend=backend,
            settings=BuildSettings(cache_dir=cache_dir, num_threads=2),
            selection=Selection((name,), self.available, dict.fromkeys(self.available, "test")),
        )
        return RobotHandle(binding, PluginManager(()))


def _backends(wanted: Iterable[str | Backend] | None) -> list[Backend]:
    catalogue = plugin_manager().backends
    if wanted is not None:
        return [catalogue.take(b).value if isinstance(b, str) else b for b in wanted]
    found = [catalogue.take(name).value for name in catalogue.names]
    return [b for b in found if b.name != "reference" and b.unavailable() is None]


def _check_problems(
    where: str,
    case: _Case,
    inputs: Mapping[str, Any],
    expected: Mapping[str, Array],
    tolerance: float,
) -> None:
    """Check that the reference is finite and treats each problem of a batch by itself."""
    for name, value in expected.items():
        assert np.isfinite(value).all(), f"{where}: the reference's {name} is not finite"
    for k in range(len(next(iter(expected.values())))):
        one = {n: v if isinstance(v, float) else v[k : k + 1] for n, v in inputs.items()}
        alone = case.reference(one)
        batched = {name: value[k : k + 1] for name, value in expected.items()}
        assert_agree(f"{where}: reference of problem {k} alone", alone, batched, tolerance)


def _check_handle(
    what: str, case: _Case, handle: RobotHandle, inputs: Mapping[str, Any], tolerance: float
) -> None:
    """Call the operation, batched and on the first problem alone, against the reference."""
    call = handle.calls()[0]
    rounded = {
        n: v if isinstance(v, float) else np.asarray(v, handle.dtype) for n, v in inputs.items()
    }
    expected = case.reference(rounded)
    names = [port.name for port in case.algorithm.outputs]

    def by_name(result: Any) -> dict[str, Any]:
        return dict(zip(names, result if len(names) > 1 else (result,), strict=True))

    result = by_name(call(**rounded))
    for name, value in result.items():
        assert value.dtype == handle.dtype, f"{what}: {name} is {value.dtype}"
    assert_agree(what, result, expected, tolerance)
    if len(next(iter(expected.values()))):
        first = {n: v if isinstance(v, float) else v[0] for n, v in rounded.items()}
        alone = {name: np.asarray(value)[None] for name, value in by_name(call(**first)).items()}
        wanted = {name: value[:1] for name, value in expected.items()}
        assert_agree(f"{what}, one problem", alone, wanted, tolerance)
