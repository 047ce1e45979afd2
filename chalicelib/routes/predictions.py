"""Predictions of texts: intent and sentiment. Spec: POST /v2/language/intent."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.texts import checked_text
from chalicelib.domain.models.model import ServedModel
from chalicelib.web import describe, records
from chalicelib.web.call import Call
from chalicelib.web.fields import Count, Document, ModelId
from chalicelib.web.locate import served_in_body
from chalicelib.web.operation import Operation


class TextForm(msgspec.Struct, rename="camel"):
    """Fields of a text's prediction."""

    document: Document
    model_id: ModelId
    num_results: Count | None = None
    sample_id: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        checked_text(self.document)


def find_model(call: Call) -> ServedModel | None:
    """Find the model that the body names; None when validation will refuse its id."""
    return served_in_body(call, call.container.predictions.find_model)


def predict_intent(call: Call) -> records.PredictionRecord:
    """Predict the intent of a text. Spec: POST /v2/language/intent."""
    return _predict(call, "text-intent")


def predict_sentiment(call: Call) -> records.PredictionRecord:
    """Predict the sentiment of a text. Spec: POST /v2/language/sentiment."""
    return _predict(call, "text-sentiment")


def _predict(call: Call, kind: str) -> records.PredictionRecord:
    """Check the model, count one prediction, and make it; given back when it fails."""
    form: TextForm = call.form
    predictions = call.container.predictions
    predictions.check(call.located, kind)
    call.reserve_prediction()
    items = predictions.predict_text(call.located, kind, form.document, form.num_results)
    return describe.prediction(items, form.sample_id)


OPERATIONS = (
    Operation(
        name="predict_intent",
        method="POST",
        path="/v2/:family/intent",
        families=(LANGUAGE,),
        view=predict_intent,
        locate=find_model,
        summary="Predict the intent of a text.",
        form=TextForm,
        answer=records.PredictionRecord,
        is_metered=True,
        statuses=(409, 429),
    ),
    Operation(
        name="predict_sentiment",
        method="POST",
        path="/v2/:family/sentiment",
        families=(LANGUAGE,),
        view=predict_sentiment,
        locate=find_model,
        summary="Predict the sentiment of a text.",
        form=TextForm,
        answer=records.PredictionRecord,
        is_metered=True,
        statuses=(409, 429),
    ),
)
