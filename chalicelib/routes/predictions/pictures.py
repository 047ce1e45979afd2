"""Predictions for images: labels and boxes. See contract, section 5, POST predict and detect."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.accounts.api_key import PREDICT
from chalicelib.domain.accounts.rates import PICTURES
from chalicelib.domain.datasets.dataset import DETECTION, IMAGE, MULTI_LABEL, VISION
from chalicelib.domain.models.prediction import (
    DEFAULTS,
    Detection,
    Prediction,
    PredictionOptions,
    Probability,
)
from chalicelib.web.operations.fields import (
    Base64,
    Count,
    Explain,
    ModelId,
    ModelVersionNumber,
    Url,
)
from chalicelib.web.operations.files import FORM_RULES, JSON_RULES, sample_of
from chalicelib.web.operations.locate import named_in_body, served_in_body
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records


class PictureForm(msgspec.Struct, rename="camel"):
    """Fields of a detection, sent next to the file `sampleContent`."""

    form_rules: ClassVar[dict[str, Any]] = FORM_RULES
    json_rules: ClassVar[dict[str, Any]] = JSON_RULES

    model_id: ModelId
    sample_location: Url | None = None
    sample_base64_content: Base64 | None = msgspec.field(name="sampleBase64Content", default=None)
    num_results: Count | None = None
    model_version: ModelVersionNumber | None = None
    sample_id: str | UnsetType = UNSET


class PredictionForm(PictureForm, rename="camel"):
    """Fields of a prediction, sent next to the file `sampleContent`."""

    explain: Explain = False


# The common declaration of `predict` and `detect`.
_predicts = partial(
    Operation,
    "POST",
    families=(VISION,),
    # The rows of the model and of the account are read in one trip.
    name_model=named_in_body,
    locate=served_in_body,
    cost=PICTURES,
    key_scope=PREDICT,
    files=("sampleContent",),
    is_metered=True,
    statuses=(409, 429),
)


@_predicts("/v2/:family/predict", form=PredictionForm)
def predict_image(call: Call) -> model_records.PredictionRecord:
    """Predict the labels of an image."""
    form: PredictionForm = call.form
    options = PredictionOptions(form.num_results, form.explain)
    prediction = _predict(call, (IMAGE, MULTI_LABEL), options)
    labels = [item for item in prediction.items if isinstance(item, Probability)]
    return describe.prediction(labels, form.sample_id, prediction.explanation)


@_predicts("/v2/:family/detect", form=PictureForm)
def detect_objects(call: Call) -> model_records.DetectionRecord:
    """Detect the objects in an image."""
    form: PictureForm = call.form
    prediction = _predict(call, (DETECTION,), DEFAULTS)
    objects = [item for item in prediction.items if isinstance(item, Detection)]
    return describe.detection(objects, form.sample_id)


def _predict(
    call: Call, types: Collection[str], options: PredictionOptions
) -> Prediction[Probability | Detection]:
    [prediction] = call.container.picture_predictions.predict(
        call.target, [sample_of(call)], types=types, options=options, account=call.account
    )
    # For the rate-limit headers.
    call.usage = prediction.usage
    return prediction
