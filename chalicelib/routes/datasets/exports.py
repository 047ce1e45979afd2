"""Exports of datasets: creates them, and returns their status."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.jobs.export import Export
from chalicelib.errors import ExportNotFound
from chalicelib.web.operations.locate import dataset_in_path, text_id
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe


class ExportForm(msgspec.Struct):
    """Fields of an export."""

    format: Annotated[
        Literal["csv", "jsonl", "zip", "coco", "yolo", "voc"], msgspec.Meta(examples=["csv"])
    ]
    source: Annotated[Literal["upload", "feedback", "all"], msgspec.Meta(examples=["upload"])] = (
        "upload"
    )


def recover_export(call: Call, keyed: KeyedCall) -> dataset_records.ExportRecord:
    """Return the export that an earlier attempt at the call created."""
    return describe.export(call.container.exports.get(dataset_in_path(call), keyed.object_id))


@Operation(
    "POST",
    "/v2/:family/datasets/{dataset_id}/exports",
    locate=dataset_in_path,
    form=ExportForm,
    recover=recover_export,
    statuses=(409, 429),
)
def create_export(call: Call) -> dataset_records.ExportRecord:
    """Export the examples of a dataset to a file that can be uploaded again."""
    form: ExportForm = call.form
    exports = call.container.exports
    return describe.export(exports.create(call.account, call.target, form.format, form.source))


def locate_export(call: Call) -> tuple[DatasetView, Export]:
    """Return the dataset and the export that the path names."""
    view = dataset_in_path(call)
    export_id = text_id(call.request.parameters["export_id"], ExportNotFound)
    return view, call.container.exports.get(view, export_id)


@Operation("GET", "/v2/:family/datasets/{dataset_id}/exports/{export_id}", locate=locate_export)
def get_export(call: Call) -> dataset_records.ExportRecord:
    """Return the status of an export and the URL of its file."""
    view, export = call.target
    return describe.export(export, call.container.exports.url(view, export))
