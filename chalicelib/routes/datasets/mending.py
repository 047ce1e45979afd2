"""Mending: what a dataset holds gets another name."""

from __future__ import annotations

import msgspec

from chalicelib.domain.datasets.dataset import DatasetView, Label
from chalicelib.errors import LabelNotFound
from chalicelib.web.operations import locate
from chalicelib.web.operations.fields import Name
from chalicelib.web.operations.operation import BOTH, Call, Operation
from chalicelib.web.records import describe, records


class DatasetChangesForm(msgspec.Struct):
    """What changes of a dataset."""

    name: Name


class LabelChangesForm(msgspec.Struct, rename="camel"):
    """What changes of a label."""

    name: Name


def label_in_path(call: Call) -> tuple[DatasetView, Label]:
    """Load dataset and label of the path, the label by its id alone."""
    view = locate.readable_dataset(call)
    number = locate.number_id(call.request.parameters["label_id"], LabelNotFound)
    label = view.label(number)
    if label is None:
        raise LabelNotFound(number)
    return view, label


def rename_dataset(call: Call) -> records.DatasetRecord:
    """Give a dataset another name."""
    return describe.dataset(call.container.mending.rename_dataset(call.located, call.form.name))


def change_label(call: Call) -> records.LabelRecord:
    """Give a label another name."""
    (view, label), form = call.located, call.form
    return describe.label(call.container.mending.rename_label(view, label, form.name))


OPERATIONS = (
    Operation(
        name="rename_dataset",
        method="PUT",
        path="/v2/:family/datasets/{dataset_id}",
        families=BOTH,
        view=rename_dataset,
        locate=locate.readable_dataset,
        summary="Give a dataset another name.",
        form=DatasetChangesForm,
        answer=records.DatasetRecord,
        statuses=(409,),
    ),
    Operation(
        name="change_label",
        method="PUT",
        path="/v2/:family/datasets/{dataset_id}/labels/{label_id}",
        families=BOTH,
        view=change_label,
        locate=label_in_path,
        summary="Give a label another name; models keep the one that they learnt, and what comes "
        "with the old one goes to the label.",
        form=LabelChangesForm,
        answer=records.LabelRecord,
        statuses=(409,),
    ),
)
