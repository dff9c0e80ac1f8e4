"""The JSON Schema of every document, from the classes that read them."""

from __future__ import annotations

from typing import Any

from grid_core.description import documents, machine_documents, program_documents
from grid_core.description.kinds import Record

__all__ = ["SCHEMAS", "json_schema"]

SCHEMAS: dict[str, type[Any]] = {
    documents.MANIFEST_SCHEMA: documents.Manifest,
    documents.CONFIG_SCHEMA: documents.Config,
    documents.SPHERES_SCHEMA: documents.Spheres,
    documents.RTCORE_SCHEMA: documents.RtcoreDefinition,
    documents.CALIBRATION_SCHEMA: documents.CalibrationDocument,
    program_documents.PROGRAM_SCHEMA: program_documents.ProgramHeader,
    machine_documents.MACHINE_SCHEMA: machine_documents.Machine,
    machine_documents.COMPILED_SCHEMA: machine_documents.CompiledMachine,
    machine_documents.REPLY_SCHEMA: machine_documents.CellReply,
}
"""The class of each document by the name that its ``schema`` states."""


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of the document with a name such as ``grid.robot-config.v1``.

    Raises:
        KeyError: there is no such document.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        **Record(SCHEMAS[name]).schema(),
    }
