"""The operations of a handle that come from an artifact."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import asdict, define, field

from grid_core.artifact.prepared_plan import SHARED, uniform_inputs
from grid_core.backend import Operation, PreparedCode
from grid_core.binding import Binding
from grid_core.errors import GridError, OperationNotLoaded, OperationRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grid_core.algorithm import Algorithm
    from grid_core.artifact.prepared_check import Prepared
    from grid_core.artifact.prepared_manifest import CodeRecord
    from grid_core.backend import Kernel

__all__ = ["PreparedBinding", "variant_key"]


def variant_key(
    name: str, options: Mapping[str, Any], present: Iterable[str], uniform: Iterable[str]
) -> str:
    """Return what tells one prepared variant from all others."""
    return json.dumps([name, options, sorted(present), sorted(uniform)], sort_keys=True)


@define(kw_only=True)
class PreparedBinding(Binding):
    """One robot on one target of an artifact."""

    prepared: Prepared = field(repr=False)
    target: str
    """What of the backend's it runs on."""
    codes: Mapping[str, tuple[CodeRecord, ...]] = field(repr=False)
    """The target's code by `variant_key`."""
    refused: Mapping[str, str] = field(repr=False)
    """Why the robot cannot have an operation, by name."""

    def require_possible(self, algorithm: Algorithm) -> None:
        """Raise `OperationRefused` where the builder found that this robot cannot have it."""
        reason = self.refused.get(algorithm.name)
        if reason:
            raise OperationRefused(f"{algorithm.name}: {self.name!r} cannot have it: {reason}")

    @property
    def sums_squares(self) -> bool:
        """Whether squares are summed by the backend: that code is made for a device, never kept."""
        return False

    def build(self, algorithm: Algorithm, present: frozenset[str]) -> Kernel:
        """Load an operation for the optional inputs that are present.

        Raises:
            OperationNotLoaded: it was not prepared; says how to.
            GridError: the backend's own.
            BackendError: the backend failed; the cause is attached.
        """
        backend: Any = self.backend
        uniform = uniform_inputs(algorithm)
        key = variant_key(algorithm.name, asdict(self.options), present, uniform)
        codes = self.codes.get(key)
        if not codes:
            raise self._not_prepared(algorithm, present)
        operation = Operation(
            algorithm=algorithm,
            available=self.selection.available,
            model=self.model,
            options=self.options,
            dtype=self.dtype,
            present=present,
            providers=self.selection.providers,
        )
        loaded = [
            PreparedCode(
                target=code.target,
                suffix=code.suffix,
                launch=code.launch,
                data=self.prepared.contents[code.file],
            )
            for code in codes
        ]
        try:
            kernel: Kernel = backend.load_prepared(operation, loaded, self.target, self.settings)
        except GridError:
            raise
        except Exception as error:
            raise self.failure(algorithm, "could not be loaded", error) from error
        return kernel

    def _not_prepared(self, algorithm: Algorithm, present: frozenset[str]) -> OperationNotLoaded:
        declared = {
            p.name for a in self.selection.available.values() for p in a.inputs if p.uniform
        }
        shared = [name for name in uniform_inputs(algorithm) if name not in declared]
        given = "".join(f", with {name}" for name in sorted(present))
        given += "".join(f", with {name} for the whole batch" for name in shared)
        options = asdict(self.options)
        base = {k: list(v) if isinstance(v, tuple) else v for k, v in options.items()}
        saved = self.prepared.manifest.options
        changed = {k: v for k, v in base.items() if v != saved.get(k)}
        under = f", for {self._shown(changed)}" if changed else ""
        call = {**dict.fromkeys(sorted(present), True), **dict.fromkeys(shared, SHARED)}
        example = f"calls={{{algorithm.name!r}: {call or '{...}'}}}"
        return OperationNotLoaded(
            f"{algorithm.name}{given}{under} is not in the artifact {self.prepared.directory}: it "
            f"was not prepared; build it again with grid_core.build_artifact(..., {example})"
        )

    def _shown(self, changed: Mapping[str, Any]) -> str:
        """Say options in words: targets by their frames' names."""
        frames = self.model.frames
        words = []
        for name, value in changed.items():
            if name == "targets":
                words.append("the frames " + ", ".join(repr(frames[k].name) for k in value))
            else:
                words.append(f"{name}={value!r}")
        return " and ".join(words)
