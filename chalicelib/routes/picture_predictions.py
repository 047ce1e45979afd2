"""Predictions of pictures: labels and boxes. Contract section 5, POST predict and detect."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.datasets.dataset import DETECTION, IMAGE, MULTI_LABEL, VISION
from chalicelib.domain.models.model import ServedModel
from chalicelib.web import describe, records
from chalicelib.web.call import Call
from chalicelib.web.fields import Base64, Count, ModelId, Url
from chalicelib.web.locate import served_in_body
from chalicelib.web.operation import Operation
from chalicelib.web.samples import FORM_RULES, JSON_RULES, sample_of

CLASSIFIED = (IMAGE, MULTI_LABEL)
DETECTED = (DETECTION,)


class PictureForm(msgspec.Struct, rename="camel"):
    """Fields of a picture's prediction, besides the file `sampleContent`."""

    form_rules: ClassVar[dict[str, Any]] = FORM_RULES
    json_rules: ClassVar[dict[str, Any]] = JSON_RULES

    model_id: ModelId
    sample_location: Url | None = None
    sample_base64_content: Base64 | None = msgspec.field(name="sampleBase64Content", default=None)
    num_results: Count | None = None
    sample_id: str | UnsetType = UNSET


def find_model(call: Call) -> ServedModel | None:
    """Find the model that the body names; None when validation will refuse its id."""
    return served_in_body(call, call.container.predictions.find_model)


def predict_image(call: Call) -> records.PredictionRecord:
    """Predict the labels of a picture. Spec: Main concepts 3."""
    form: PictureForm = call.form
    service = call.container.picture_predictions
    picture = service.read(sample_of(call), call.located, CLASSIFIED)
    call.reserve_prediction()
    items = service.predict(call.located, picture, form.num_results)
    return describe.prediction(items, form.sample_id)


def detect_objects(call: Call) -> records.DetectionRecord:
    """Find objects in a picture. Spec: Detection response."""
    form: PictureForm = call.form
    service = call.container.picture_predictions
    picture = service.read(sample_of(call), call.located, DETECTED)
    call.reserve_prediction()
    return describe.detection(service.detect(call.located, picture), form.sample_id)


def _operation(name: str, path: str, view: Any, summary: str, answer: type) -> Operation:
    """Declare one of the two calls, which differ in little."""
    return Operation(
        name=name,
        method="POST",
        path=path,
        families=(VISION,),
        view=view,
        locate=find_model,
        summary=summary,
        form=PictureForm,
        files=("sampleContent",),
        answer=answer,
        is_metered=True,
        statuses=(409, 429),
    )


OPERATIONS = (
    _operation(
        "predict_image",
        "/v2/:family/predict",
        predict_image,
        "Predict the labels of a picture.",
        records.PredictionRecord,
    ),
    _operation(
        "detect_objects",
        "/v2/:family/detect",
        detect_objects,
        "Find the objects in a picture.",
        records.DetectionRecord,
    ),
)
