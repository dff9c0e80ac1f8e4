"""A robot-description directory: loaded, identified, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from grid_core.description.calibration import Calibration, adjustments
from grid_core.description.faults import Faults
from grid_core.description.shared import Shared, read_shared
from grid_core.description.snapshot import RTCORE, Resource, Snapshot, read_snapshot
from grid_core.description.views import PlannerView, RtView, read_planner_view, read_rt_view
from grid_core.errors import DescriptionError
from grid_core.model.loading import read_urdf
from grid_core.model.types import RobotCell

if TYPE_CHECKING:
    import os

    from grid_core.model.types import RobotModel

__all__ = ["RobotDescription", "check_description", "description_identity"]


@frozen(eq=False)
class RobotDescription:
    """Everything intrinsic to a robot model, as one directory had it when it was loaded.

    The bytes are read once: later edits of the directory change nothing here.
    """

    snapshot: Snapshot = field(repr=False)
    shared: Shared | None = field(repr=False)
    """The URDF and the config; None for a bench."""

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> RobotDescription:
        """Read a directory; spheres and motors are parsed by the views that want them.

        Raises:
            DescriptionError: every fault of manifest, config and URDF, each with its file.
        """
        faults = Faults()
        snapshot = read_snapshot(directory, faults)
        shared = None
        if snapshot is not None:
            shared = _shared(snapshot)
        faults.raise_any()
        assert snapshot is not None
        return cls(snapshot, shared)

    @property
    def model_id(self) -> str:
        """The model's id."""
        return self.snapshot.model_id

    @property
    def identity(self) -> str:
        """``sha256:`` and 64 hex digits, over the manifest and every file that it registers."""
        return self.snapshot.identity

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The manifest and every registered file, sorted by path."""
        return self.snapshot.resources

    @property
    def is_bench(self) -> bool:
        """Whether it describes bare motors on a table, without a URDF."""
        return self.snapshot.is_bench

    @property
    def planner_view(self) -> PlannerView:
        """What the planner reads; ``rtcore_definition.json`` is not parsed.

        Raises:
            DescriptionError: a bench, or faults of spheres or SRDF.
        """
        self.require_urdf()
        snapshot = self._with_faults()
        view = read_planner_view(snapshot, self.shared)
        snapshot.faults.raise_any()
        assert view is not None
        return view

    @property
    def rt_view(self) -> RtView:
        """What rt-core reads; ``spheres.json`` is not parsed.

        Raises:
            DescriptionError: faults of ``rtcore_definition.json``.
        """
        snapshot = self._with_faults()
        view = read_rt_view(snapshot, self.shared)
        snapshot.faults.raise_any()
        assert view is not None
        return view

    def require_urdf(self) -> Shared:
        """Return URDF and config.

        Raises:
            DescriptionError: a bench.
        """
        if self.shared is None:
            raise DescriptionError(
                f"{self.snapshot.label}: {self.model_id} is a bench description: it has no URDF"
            )
        return self.shared

    def robot_model(
        self,
        calibration: Calibration | None = None,
        *,
        floating_base: bool = False,
        strict: bool = False,
    ) -> tuple[RobotModel, tuple[str, ...]]:
        """Return the model of a cell, and what is suspicious about the URDF.

        Held axes are constant joints. Without a calibration, the cell is as its model.

        Args:
            calibration: how the cell differs.
            floating_base: as in `grid_core.model.load_urdf`.
            strict: as in `grid_core.model.load_urdf`.

        Raises:
            DescriptionError: a bench, or a calibration that this robot cannot have.
            ModelError: the URDF is suspicious, and ``strict``.
        """
        shared = self.require_urdf()
        cell = Calibration.empty(self.model_id) if calibration is None else calibration
        cell.check(self)
        model, suspicions = read_urdf(
            shared.urdf,
            self.snapshot.at(shared.urdf_path).file,
            floating_base=floating_base,
            strict=strict,
            adjustments=adjustments(shared, cell),
        )
        return evolve(model, robot_cell=self.robot_cell(cell)), suspicions

    def robot_cell(self, calibration: Calibration | None = None) -> RobotCell:
        """Return what a plan for a cell of this robot records."""
        cell = Calibration.empty(self.model_id) if calibration is None else calibration
        return RobotCell(self.model_id, self.identity, cell.identity)

    def _with_faults(self) -> Snapshot:
        return evolve(self.snapshot, faults=Faults())


def description_identity(directory: str | os.PathLike[str]) -> str:
    """Return the identity of a directory, of whose files only the manifest is parsed.

    Raises:
        DescriptionError: every fault of the manifest and of the files that it registers.
    """
    faults = Faults()
    snapshot = read_snapshot(directory, faults)
    faults.raise_any()
    assert snapshot is not None
    return snapshot.identity


def check_description(directory: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return every fault of a directory, of the planner's files and rt-core's; empty: none."""
    faults = Faults()
    snapshot = read_snapshot(directory, faults)
    if snapshot is not None:
        shared = _shared(snapshot)
        if not snapshot.is_bench:
            read_planner_view(snapshot, shared)
        read_rt_view(snapshot, shared)
    return tuple(dict.fromkeys(faults.found))


def _shared(snapshot: Snapshot) -> Shared | None:
    if not snapshot.is_bench:
        return read_shared(snapshot)
    if snapshot.manifest.files != (RTCORE,):
        snapshot.at("manifest.json").key("files").fault(
            f"needs a .urdf and config.json, or for a bench {RTCORE} alone"
        )
    return None
