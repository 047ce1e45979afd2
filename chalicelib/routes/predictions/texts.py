"""Predictions of texts: intent and sentiment. See spec (POST /v2/language/intent)."""

from __future__ import annotations

from functools import partial
from typing import NoReturn

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.accounts.api_key import PREDICT
from chalicelib.domain.accounts.rates import TEXTS
from chalicelib.domain.datasets.fields import checked_text
from chalicelib.domain.models.prediction import PredictionOptions
from chalicelib.errors import EntitiesNotOffered
from chalicelib.web.operations.fields import Count, Document, Explain, ModelId, ModelVersionNumber
from chalicelib.web.operations.locate import named_in_body, served_in_body
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records


class TextForm(msgspec.Struct, rename="camel"):
    """Fields of a prediction for a text."""

    document: Document
    model_id: ModelId
    num_results: Count | None = None
    explain: Explain = False
    model_version: ModelVersionNumber | None = None
    sample_id: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raise an error if the text is not allowed."""
        checked_text(self.document)


# The common declaration of both predictions.
_predicts = partial(
    Operation,
    "POST",
    # The rows of the model and of the account are read in one trip.
    name_model=named_in_body,
    locate=served_in_body,
    cost=TEXTS,
    key_scope=PREDICT,
    form=TextForm,
    is_metered=True,
    statuses=(409, 429),
)


@_predicts("/v2/language/intent")
def predict_intent(call: Call) -> model_records.PredictionRecord:
    """Predict the intent of a text."""
    return _predict(call, "text-intent")


@_predicts("/v2/language/sentiment")
def predict_sentiment(call: Call) -> model_records.PredictionRecord:
    """Predict the sentiment of a text."""
    return _predict(call, "text-sentiment")


@Operation(
    "POST",
    "/v2/language/entities",
    families=(),
    aliases=("/v2/language/ner",),
    is_public=True,
    status=EntitiesNotOffered.status,
    is_deprecated=True,
)
def predict_entities(call: Call) -> NoReturn:
    """Answer 404, because named entities are not offered."""
    # Clients of the old API call this, and get a clearer text than an unknown route would give.
    raise EntitiesNotOffered


def _predict(call: Call, kind: str) -> model_records.PredictionRecord:
    form: TextForm = call.form
    options = PredictionOptions(form.num_results, form.explain)
    [prediction] = call.container.predictions.predict(
        call.target, [form.document], dataset_type=kind, options=options, account=call.account
    )
    # For the rate-limit headers.
    call.usage = prediction.usage
    return describe.prediction(prediction.items, form.sample_id, prediction.explanation)
