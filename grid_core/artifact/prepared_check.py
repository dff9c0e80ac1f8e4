"""Whether an artifact is sound: every byte, its descriptor, and that all of it is of one model.

These are checks of consistency. Who can write the folder can make another that passes them all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from grid_core.artifact.launch_record import launch_text
from grid_core.artifact.prepared_files import read_files
from grid_core.artifact.prepared_header import read_header
from grid_core.artifact.prepared_manifest import DESCRIPTOR, HEADER, LAUNCH, MANIFEST, Manifest
from grid_core.artifact.prepared_model import model_from
from grid_core.descriptor.build import describe
from grid_core.descriptor.read import load_descriptor
from grid_core.errors import ArtifactCorrupt, DescriptorError, DescriptorMismatch, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grid_core.model.types import RobotModel

__all__ = ["Prepared", "check_expected", "read_prepared"]

_ID = re.compile(r"[0-9a-f]{64}")


@frozen
class Prepared:
    """A sound artifact in memory."""

    directory: Path
    manifest: Manifest = field(repr=False)
    descriptor: Mapping[str, Any] = field(repr=False)
    model: RobotModel = field(repr=False)
    contents: Mapping[str, bytes] = field(repr=False)
    """Every file by path."""


def check_expected(expected: object) -> None:
    """Raise `OptionError` where an expected identity cannot be one."""
    if expected is None or (isinstance(expected, str) and _ID.fullmatch(expected)):
        return
    raise OptionError(
        "expected_descriptor_id must be 64 hex digits, a descriptor's descriptor_id; "
        f"got {expected!r}"
    )


def read_prepared(directory: Path, expected_descriptor_id: str | None = None) -> Prepared:
    """Read an artifact and check all of it.

    Raises:
        ArtifactMissing: there is no artifact.
        ArtifactOutdated: it is of another schema.
        ArtifactCorrupt: a file is missing, altered or not listed.
        DescriptorMismatch: the descriptor is not the one expected, or the header's is another.
        DescriptorError: the descriptor breaks a rule of its schema.
    """
    manifest, contents = read_files(directory)
    for path in (DESCRIPTOR, HEADER, LAUNCH):
        if path not in contents:
            raise ArtifactCorrupt(f"{path} is not listed", directory=directory, file=MANIFEST)
    try:
        descriptor = load_descriptor(contents[DESCRIPTOR])
    except DescriptorError as error:
        raise error.in_file(f"{directory}/{DESCRIPTOR}") from error
    found = descriptor["descriptor_id"]
    if manifest.descriptor_id != found:
        raise DescriptorMismatch(
            f"it is for the descriptor {manifest.descriptor_id[:12]}…, and {DESCRIPTOR} beside it "
            f"is {found[:12]}…; rebuild the artifact, a descriptor cannot be exchanged",
            directory=directory,
            file=MANIFEST,
            expected=manifest.descriptor_id,
            found=found,
        )
    _check_header(contents[HEADER], descriptor, directory)
    require_expected(descriptor, expected_descriptor_id, directory)
    model = _model(manifest, descriptor, directory)
    if contents[LAUNCH] != launch_text(manifest).encode():
        raise ArtifactCorrupt(
            f"does not say what {MANIFEST} says; rebuild it", directory=directory, file=LAUNCH
        )
    return Prepared(directory, manifest, descriptor, model, contents)


def require_expected(
    descriptor: Mapping[str, Any], expected: str | None, directory: Path, file: str | None = None
) -> None:
    """Raise `DescriptorMismatch` where a descriptor is not the one that the caller knows."""
    found = descriptor["descriptor_id"]
    if expected is None or expected == found:
        return
    raise DescriptorMismatch(
        f"the robot's descriptor is {found}, and {expected} is expected: its coordinates, frames, "
        "names or limits are others; `grid describe --diff` says which",
        directory=directory,
        file=file,
        expected=expected,
        found=found,
    )


def _check_header(data: bytes, descriptor: Mapping[str, Any], directory: Path) -> None:
    """Refuse a header that is of another model than the descriptor, or does not say."""
    wanted = descriptor["descriptor_id"]
    said = read_header(data.decode("utf-8", "replace"))
    if said.descriptor_id is None or said.descriptor_json is None:
        raise ArtifactCorrupt(
            "does not define descriptor_id and descriptor_json once each; rebuild the artifact",
            directory=directory,
            file=HEADER,
        )
    try:
        inside: Any = load_descriptor(said.descriptor_json)
    except DescriptorError as error:
        raise error.in_file(f"{directory}/{HEADER}: descriptor_json") from error
    if said.descriptor_id != wanted or inside != descriptor:
        other = inside["descriptor_id"] if said.descriptor_id == wanted else said.descriptor_id
        raise DescriptorMismatch(
            f"it is of the descriptor {other[:12]}…, and {DESCRIPTOR} beside it is {wanted[:12]}…; "
            "rebuild the artifact",
            directory=directory,
            file=HEADER,
            expected=wanted,
            found=other,
        )


def _model(manifest: Manifest, descriptor: Mapping[str, Any], directory: Path) -> RobotModel:
    try:
        model = model_from(descriptor, manifest.model)
        same = describe(model) == descriptor
    except (ValueError, TypeError, KeyError) as error:
        raise ArtifactCorrupt(
            f"its model and {DESCRIPTOR} are not of one robot ({error}); rebuild the artifact",
            directory=directory,
            file=MANIFEST,
        ) from error
    if not same:
        raise ArtifactCorrupt(
            f"its model and {DESCRIPTOR} are not of one robot; rebuild the artifact",
            directory=directory,
            file=MANIFEST,
        )
    return model
