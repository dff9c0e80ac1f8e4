"""The model descriptor, schema 1: what the entries of q and v mean, and where frames are."""

from grid_core.descriptor.build import describe
from grid_core.descriptor.canonical import canonical_bytes, compute_descriptor_id
from grid_core.descriptor.describing import describe_model
from grid_core.descriptor.differences import differences
from grid_core.descriptor.form import SCHEMA_VERSION, json_schema
from grid_core.descriptor.layout import configuration_layout
from grid_core.descriptor.read import load_descriptor
from grid_core.descriptor.validate import validate
from grid_core.descriptor.write import to_json

__all__ = [
    "SCHEMA_VERSION",
    "canonical_bytes",
    "compute_descriptor_id",
    "configuration_layout",
    "describe",
    "describe_model",
    "differences",
    "json_schema",
    "load_descriptor",
    "to_json",
    "validate",
]
