"""Feedback: an input that was misclassified, with its right label. Contract section 5."""

from __future__ import annotations

import msgspec

from chalicelib.domain.dataset import LANGUAGE
from chalicelib.domain.texts import checked_text
from chalicelib.web import describe, records
from chalicelib.web.call import Call
from chalicelib.web.fields import Document, ModelId, Name
from chalicelib.web.locate import model_in_body
from chalicelib.web.operation import Operation


class FeedbackForm(msgspec.Struct, rename="camel"):
    """Fields of a text's feedback."""

    model_id: ModelId
    document: Document
    expected_label: Name

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        checked_text(self.document)


def add_feedback(call: Call) -> records.ExampleRecord:
    """Add a text to the model's dataset as feedback. Spec: Main concepts 2."""
    form: FeedbackForm = call.form
    feedback = call.container.feedback
    return describe.example(
        feedback.add_text(call.account, call.located, form.document, form.expected_label)
    )


OPERATIONS = (
    Operation(
        name="add_feedback",
        method="POST",
        path="/v2/:family/feedback",
        families=(LANGUAGE,),
        view=add_feedback,
        locate=model_in_body,
        summary="Add a misclassified text with its right label to the model's dataset.",
        form=FeedbackForm,
        answer=records.ExampleRecord,
        statuses=(409, 429),
    ),
)
