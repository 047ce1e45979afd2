"""Feedback of many boxes at once, for detection models. Contract section 5."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from chalicelib.domain.accounts.rates import UPLOADS
from chalicelib.domain.datasets.dataset import VISION
from chalicelib.web.operations.fields import ModelId, Url
from chalicelib.web.operations.files import upload_source
from chalicelib.web.operations.locate import model_in_body
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, records


class BulkFeedbackForm(msgspec.Struct, rename="camel"):
    """Fields of feedback in bulk, besides the archive `data`."""

    form_rules: ClassVar[dict[str, Any]] = {
        "required": ["modelId"],
        "oneOf": [{"required": ["data"]}, {"required": ["path"]}],
    }
    json_rules: ClassVar[dict[str, Any]] = {"required": ["modelId", "path"]}

    model_id: ModelId
    path: Url | None = None


def add_bulk_feedback(call: Call) -> records.DatasetRecord:
    """Accept an archive whose boxes become feedback of the model's dataset. Spec: Concepts."""
    source = upload_source(call)
    uploads = call.container.uploads
    return describe.dataset(uploads.add_feedback(call.account, call.located, source))


OPERATIONS = (
    Operation(
        name="add_bulk_feedback",
        method="PUT",
        path="/v2/:family/bulkfeedback",
        families=(VISION,),
        view=add_bulk_feedback,
        locate=model_in_body,
        cost=UPLOADS,
        summary="Add an archive of misdetected pictures with their right boxes as feedback.",
        form=BulkFeedbackForm,
        takes_data=True,
        files=("data",),
        answer=records.DatasetRecord,
        statuses=(409, 429),
    ),
)
