"""Exports of models: creates them, and returns their status."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.jobs.export import Export
from chalicelib.errors import ExportNotFound
from chalicelib.web.operations.fields import ModelVersionNumber
from chalicelib.web.operations.locate import model_in_path, text_id
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records


class ModelExportForm(msgspec.Struct, rename="camel"):
    """Fields of an export of a model."""

    model_version: ModelVersionNumber | None = None
    format: Annotated[Literal["bundle", "onnx"], msgspec.Meta(examples=["bundle"])] = "bundle"


def recover_model_export(call: Call, keyed: KeyedCall) -> model_records.ModelExportRecord:
    """Return the export that an earlier attempt at the call created."""
    found = call.container.model_exports.get(model_in_path(call), keyed.object_id)
    return describe.model_export(found)


@Operation(
    "POST",
    "/v2/:family/models/{model_id}/exports",
    locate=model_in_path,
    form=ModelExportForm,
    recover=recover_model_export,
    statuses=(409, 429),
)
def create_model_export(call: Call) -> model_records.ModelExportRecord:
    """Export a model to a file that predicts without the service."""
    form: ModelExportForm = call.form
    model = call.container.model_versions.at(call.target, form.model_version)
    return describe.model_export(call.container.model_exports.create(model, form.format))


def locate_model_export(call: Call) -> Export:
    """Return the export that the path names."""
    model = model_in_path(call)
    export_id = text_id(call.request.parameters["export_id"], ExportNotFound)
    found: Export = call.container.model_exports.get(model, export_id)
    return found


@Operation("GET", "/v2/:family/models/{model_id}/exports/{export_id}", locate=locate_model_export)
def get_model_export(call: Call) -> model_records.ModelExportRecord:
    """Return the status of an export of a model and the URL of its file."""
    url = call.container.model_exports.url(call.target)
    return describe.model_export(call.target, url)
