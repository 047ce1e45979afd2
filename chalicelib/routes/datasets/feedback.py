"""Feedback: misclassified texts and images with the correct label. See contract, section 5."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import msgspec

from chalicelib.domain.accounts.rates import PICTURES, UPLOADS
from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.fields import checked_text
from chalicelib.web.http.request import MULTIPART
from chalicelib.web.operations.fields import Document, Filled, ModelId, Name, Url
from chalicelib.web.operations.files import sent_picture, upload_source
from chalicelib.web.operations.locate import model_in_body
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe


class FeedbackForm(msgspec.Struct, rename="camel"):
    """Fields of feedback for a text."""

    model_id: ModelId
    document: Document
    expected_label: Name

    def __post_init__(self) -> None:
        """Raise an error if the text is not allowed."""
        checked_text(self.document)


class PictureFeedbackForm(msgspec.Struct, rename="camel"):
    """Fields of feedback for an image, sent next to the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = {"required": ["modelId", "expectedLabel", "data"]}
    # A JSON body cannot hold a file, so only a form can succeed.
    media_types: ClassVar[tuple[str, ...]] = (MULTIPART,)

    model_id: ModelId
    expected_label: Name
    name: Filled | None = None


class BulkFeedbackForm(msgspec.Struct, rename="camel"):
    """Fields of bulk feedback, sent next to the archive `data`."""

    form_rules: ClassVar[dict[str, Any]] = {
        "required": ["modelId"],
        "oneOf": [{"required": ["data"]}, {"required": ["path"]}],
    }
    json_rules: ClassVar[dict[str, Any]] = {"required": ["modelId", "path"]}

    model_id: ModelId
    path: Url | None = None


# The common declaration of the calls that add feedback.
_adds = partial(
    Operation, locate=model_in_body, takes_key=True, takes_data=True, statuses=(409, 429)
)


@_adds("POST", "/v2/language/feedback", form=FeedbackForm)
def add_feedback(call: Call) -> dataset_records.ExampleRecord:
    """Add a misclassified text with its correct label to the model's dataset."""
    form: FeedbackForm = call.form
    feedback = call.container.feedback
    return describe.example(
        feedback.add_text(call.account, call.target, form.document, form.expected_label)
    )


@_adds("POST", "/v2/vision/feedback", cost=PICTURES, form=PictureFeedbackForm, files=("data",))
def add_picture_feedback(call: Call) -> dataset_records.ExampleRecord:
    """Add a misclassified image with its correct label to the model's dataset."""
    form: PictureFeedbackForm = call.form
    file, feedback = sent_picture(call, form.name), call.container.feedback
    return describe.example(
        feedback.add_picture(call.account, call.target, file, form.expected_label)
    )


def recover_feedback(call: Call, keyed: KeyedCall) -> dataset_records.DatasetRecord | None:
    """Return the model's dataset if an earlier attempt at the call added the archive."""
    model = model_in_body(call)
    if model is None:
        return None
    view = call.container.datasets.get(model.account_id, model.family, model.dataset_id)
    found = call.container.uploads.find_accepted(view.dataset, keyed.object_id)
    return None if found is None else describe.dataset(found)


@_adds(
    "PUT",
    "/v2/vision/bulkfeedback",
    cost=UPLOADS,
    form=BulkFeedbackForm,
    recover=recover_feedback,
    files=("data",),
)
def add_bulk_feedback(call: Call) -> dataset_records.DatasetRecord:
    """Add an archive of images with corrected boxes as feedback."""
    source = upload_source(call)
    uploads = call.container.uploads
    return describe.dataset(uploads.add_feedback(call.account, call.target, source))
