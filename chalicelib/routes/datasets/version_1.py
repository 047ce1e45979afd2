"""Calls that only version 1.0 of the API has: labels, and single examples.

The calls exist only below `/v1`. They return the records of labels and examples. See
contract, section 4.
"""

from __future__ import annotations

import msgspec

from chalicelib.domain.common.limits import MAX_LABELS
from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.corrections import ExampleNotFound
from chalicelib.domain.datasets.dataset import VISION, DatasetView
from chalicelib.domain.datasets.example import Example
from chalicelib.web.http.paging import ListAnswer, Window, list_answer
from chalicelib.web.http.request import VERSION_1
from chalicelib.web.operations import locate
from chalicelib.web.operations.fields import Name
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe

LABELS = "/v2/:family/datasets/{dataset_id}/labels"


class NewLabelForm(msgspec.Struct):
    """Fields of a new label."""

    name: Name


@Operation("GET", LABELS, families=(VISION,), versions=(VERSION_1,), locate=locate.readable_dataset)
def list_labels(call: Call) -> ListAnswer[dataset_records.LabelRecord]:
    """List the labels of a dataset."""
    page = ListPage(tuple(call.target.labels), 0, has_more=False)
    return list_answer(page, describe.label, Window(0, MAX_LABELS))


@Operation(
    "GET",
    f"{LABELS}/{{label_id}}",
    families=(VISION,),
    versions=(VERSION_1,),
    locate=locate.label_in_path,
)
def get_label(call: Call) -> dataset_records.LabelRecord:
    """Return a label."""
    _, label = call.target
    return describe.label(label)


@Operation(
    "POST",
    LABELS,
    families=(VISION,),
    versions=(VERSION_1,),
    locate=locate.readable_dataset,
    form=NewLabelForm,
    takes_key=True,
    takes_data=True,
    statuses=(409,),
)
def add_label(call: Call) -> dataset_records.LabelRecord:
    """Add a label without examples."""
    return describe.label(call.container.version_1.add_label(call.target, call.form.name))


def locate_example(call: Call) -> tuple[DatasetView, Example]:
    """Return the dataset and the example that the path names."""
    view = locate.readable_dataset(call)
    example_id = locate.number_id(call.request.parameters["example_id"], ExampleNotFound)
    return view, call.container.version_1.find_example(view, example_id)


@Operation(
    "GET",
    "/v2/vision/datasets/{dataset_id}/examples/{example_id}",
    versions=(VERSION_1,),
    locate=locate_example,
    statuses=(429,),
)
def get_example(call: Call) -> dataset_records.ExampleRecord:
    """Return an example. The call counts against the monthly limit of such calls."""
    view, example = call.target
    return describe.example(call.container.version_1.show_example(call.account, view, example))
