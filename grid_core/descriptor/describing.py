"""`describe_model`: from a robot description to what its numbers mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_core.descriptor.build import describe
from grid_core.descriptor.form import SCHEMA_VERSION
from grid_core.descriptor.validate import validate
from grid_core.errors import OptionError

if TYPE_CHECKING:
    import os

    from grid_core.description.calibration import Calibration
    from grid_core.model.types import RobotModel

__all__ = ["describe_model"]


def describe_model(
    source: str | os.PathLike[str] | RobotModel | None = None,
    *,
    urdf_string: str | bytes | None = None,
    floating_base: bool = False,
    strict: bool = False,
    schema_version: int = SCHEMA_VERSION,
    calibration: str | os.PathLike[str] | Calibration | None = None,
) -> dict[str, Any]:
    """Describe a robot's coordinates and named frames; needs neither a GPU nor a compiler.

    Args:
        source: path of a URDF file or of a robot-description directory, or a model that was
            read.
        urdf_string: text of a URDF, in place of `source`.
        floating_base: as in `grid_core.load_robot`.
        strict: whether a suspicious description is an error instead of a warning.
        schema_version: version of the descriptor; there is 1.
        calibration: as in `grid_core.load_robot`.

    Returns:
        Plain JSON data: docs/descriptor.md says what every key means. Its ``descriptor_id``
        changes with coordinates, geometry, names, limits and ownership, and with nothing else.

    Raises:
        OptionError: an option of a value that it cannot have.
        ModelError: the description cannot be read.
        DescriptionError: a robot-description directory or a calibration at fault.
        DescriptorError: a model source made a model that breaks an invariant.
    """
    from grid_core.load_options import LoadOptions  # noqa: PLC0415 - `grid_core.model` is enough
    from grid_core.plugins import plugin_manager  # noqa: PLC0415 - for readers of descriptors
    from grid_core.reading import read_model, require_one_source  # noqa: PLC0415

    if isinstance(schema_version, bool) or schema_version != SCHEMA_VERSION:
        raise OptionError(f"schema_version must be {SCHEMA_VERSION}; got {schema_version!r}")
    require_one_source(source, urdf_string)
    options = LoadOptions.check(
        {"floating_base": floating_base, "strict": strict, "calibration": calibration}
    )
    descriptor = describe(read_model(source, urdf_string, options, plugin_manager()))
    validate(descriptor)
    return descriptor
