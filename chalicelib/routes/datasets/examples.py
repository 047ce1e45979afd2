"""Lists the examples of datasets and labels, and adds single ones. See contract, section 5."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from chalicelib.domain.accounts.rates import PICTURES
from chalicelib.domain.common.limits import EXAMPLES_PAGE
from chalicelib.domain.datasets.dataset import (
    DatasetView,
    Label,
)
from chalicelib.domain.datasets.fields import checked_text
from chalicelib.errors import LabelNotFound
from chalicelib.web.http.paging import ListAnswer, list_answer
from chalicelib.web.http.request import MULTIPART
from chalicelib.web.operations import locate
from chalicelib.web.operations.fields import Document, Filled, Name
from chalicelib.web.operations.files import sent_picture
from chalicelib.web.operations.locate import dataset_in_path, readable_dataset
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe

# Deprecated by the old API already. Clients find the dates in these headers.
DEPRECATED = {
    "Deprecation": "@1606953600",  # 3 December 2020, as RFC 9745 writes dates
    "Sunset": "Fri, 31 Dec 2027 23:59:59 GMT",
}


class ExamplesQuery(msgspec.Struct):
    """Filters of the list."""

    source: Literal["upload", "feedback", "all"] = "upload"


class LabelQuery(msgspec.Struct, rename="camel"):
    """Query parameter that selects the label."""

    label_id: int


class NewExampleForm(msgspec.Struct, rename="camel"):
    """Fields of a single text. Either `labelId` or `label` is required."""

    form_rules: ClassVar[dict[str, Any]] = {
        "anyOf": [{"required": ["labelId"]}, {"required": ["label"]}]
    }
    json_rules: ClassVar[dict[str, Any]] = form_rules

    document: Document
    label_id: int | None = None
    label: Name | None = None

    def __post_init__(self) -> None:
        """Raise an error if the text is not allowed."""
        checked_text(self.document)


class NewPictureForm(msgspec.Struct, rename="camel"):
    """Fields of a single image, sent next to the file `data`. `labelId` or `label` is required."""

    form_rules: ClassVar[dict[str, Any]] = {
        "required": ["data"],
        "anyOf": [{"required": ["labelId"]}, {"required": ["label"]}],
    }
    # A JSON body cannot hold a file, so only a form can succeed.
    media_types: ClassVar[tuple[str, ...]] = (MULTIPART,)

    label_id: int | None = None
    label: Name | None = None
    name: Filled | None = None


@Operation(
    "GET",
    "/v2/:family/datasets/{dataset_id}/examples",
    locate=readable_dataset,
    query=ExamplesQuery,
    page_size=EXAMPLES_PAGE,
    statuses=(429,),
)
def list_dataset_examples(call: Call) -> ListAnswer[dataset_records.ExampleRecord]:
    """List the examples of a dataset. The call counts against the monthly limit of such calls."""
    account, asked = call.account, call.window
    page = call.container.examples.list_dataset(
        account, call.target, call.query.source, asked.offset, asked.count
    )
    return list_answer(page, describe.example, asked)


def locate_label(call: Call) -> tuple[DatasetView, Label]:
    """Return the dataset and the label in the path, which names the label by id or position."""
    view = readable_dataset(call)
    number = locate.number_id(call.request.parameters["label_id"], LabelNotFound)
    return view, call.container.examples.label_of(view, number)


def find_label(call: Call) -> tuple[DatasetView, Label] | None:
    """Return the label in the query; None for an invalid id, which a later check refuses."""
    label_id = locate.sent_number_id(call.request.query, "labelId", LabelNotFound)
    if label_id is None:
        return None
    return call.container.examples.find_label(call.account.account_id, call.family, label_id)


@Operation(
    "POST",
    "/v2/language/datasets/{dataset_id}/examples",
    locate=dataset_in_path,
    form=NewExampleForm,
    takes_key=True,
    takes_data=True,
    statuses=(409, 429),
)
def add_example(call: Call) -> dataset_records.ExampleRecord:
    """Add a single text to a dataset."""
    form: NewExampleForm = call.form
    examples = call.container.examples
    return describe.example(
        examples.add_text(call.account, call.target, form.document, form.label_id, form.label)
    )


@Operation(
    "POST",
    "/v2/vision/datasets/{dataset_id}/examples",
    locate=dataset_in_path,
    # An image is decoded, which costs more than a record.
    cost=PICTURES,
    form=NewPictureForm,
    takes_key=True,
    takes_data=True,
    files=("data",),
    statuses=(409, 429),
)
def add_picture(call: Call) -> dataset_records.ExampleRecord:
    """Add a single image to a dataset of type image."""
    form: NewPictureForm = call.form
    file, examples = sent_picture(call, form.name), call.container.examples
    return describe.example(
        examples.add_picture(call.account, call.target, file, form.label_id, form.label)
    )


@Operation(
    "GET",
    "/v2/:family/examples/{dataset_id}/label/{label_id}",
    locate=locate_label,
    page_size=EXAMPLES_PAGE,
    statuses=(429,),
)
def list_label_examples(call: Call) -> ListAnswer[dataset_records.ExampleRecord]:
    """List the examples of a label. The call counts against the monthly limit of such calls."""
    return _label_page(call, {})


@Operation(
    "GET",
    "/v2/:family/examples",
    locate=find_label,
    query=LabelQuery,
    page_size=EXAMPLES_PAGE,
    statuses=(429,),
    headers=DEPRECATED,
    is_deprecated=True,
)
def list_label_examples_deprecated(call: Call) -> ListAnswer[dataset_records.ExampleRecord]:
    """List the examples of a label by the label's id alone."""
    view, label = call.target
    path = f"{call.family}/examples/{view.dataset.dataset_id}/label/{label.label_id}"
    successor = f"{call.request.version}/{path}"
    return _label_page(call, {"Link": f'<{successor}>; rel="successor-version"'})


def _label_page(call: Call, headers: dict[str, str]) -> ListAnswer[dataset_records.ExampleRecord]:
    (view, label), asked = call.target, call.window
    page = call.container.examples.list_label(call.account, view, label, asked.offset, asked.count)
    return list_answer(page, describe.example, asked, headers)
