"""Predictions of pictures: labels and boxes. Contract section 5, POST predict and detect."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.dataset import DETECTION, IMAGE, MULTI_LABEL, VISION
from chalicelib.domain.sample import Sample, decode_base64
from chalicelib.errors import BadRequest, MissingParameter
from chalicelib.web import describe, records
from chalicelib.web.call import Call
from chalicelib.web.fields import Base64, Count, ModelId, Url
from chalicelib.web.locate import model_id_in_body
from chalicelib.web.operation import Operation

SAMPLES = ("sampleContent", "sampleLocation", "sampleBase64Content")
CLASSIFIED = (IMAGE, MULTI_LABEL)
DETECTED = (DETECTION,)


class PictureForm(msgspec.Struct, rename="camel"):
    """Fields of a picture's prediction, besides the file `sampleContent`."""

    form_rules: ClassVar[dict[str, Any]] = {"oneOf": [{"required": [name]} for name in SAMPLES]}
    json_rules: ClassVar[dict[str, Any]] = {"oneOf": [{"required": [name]} for name in SAMPLES[1:]]}

    model_id: ModelId
    sample_location: Url | None = None
    sample_base64_content: Base64 | None = msgspec.field(name="sampleBase64Content", default=None)
    num_results: Count | None = None
    sample_id: str | UnsetType = UNSET


def find_model(call: Call) -> Any:
    """Load the model, the caller's or a prebuilt one; None when validation will refuse its id."""
    model_id = model_id_in_body(call)
    if model_id is None:
        return None
    return call.container.predictions.find_model(call.account.account_id, model_id)


def predict_image(call: Call) -> records.PredictionRecord:
    """Predict the labels of a picture. Spec: Main concepts 3."""
    form: PictureForm = call.form
    service = call.container.picture_predictions
    picture = service.read(_sample(call), call.located, CLASSIFIED)
    call.reserve_prediction()
    items = service.predict(call.located, picture, form.num_results)
    return describe.prediction(items, form.sample_id)


def detect_objects(call: Call) -> records.DetectionRecord:
    """Find objects in a picture. Spec: Detection response."""
    form: PictureForm = call.form
    service = call.container.picture_predictions
    picture = service.read(_sample(call), call.located, DETECTED)
    call.reserve_prediction()
    return describe.detection(service.detect(call.located, picture), form.sample_id)


def _sample(call: Call) -> Sample:
    """Take the file, the address or the encoded text, exactly one of which must be there."""
    form: PictureForm = call.form
    sent = call.fields.files.get("sampleContent")
    given = (sent, form.sample_location, form.sample_base64_content)
    count = sum(item is not None for item in given)
    if count > 1:
        raise BadRequest(
            f"Send exactly one of {', '.join(SAMPLES)}; the call has {count} of them.",
            "duplicated_parameter",
        )
    if sent is not None:
        return Sample(content=sent.content)
    if form.sample_location is not None:
        return Sample(location=form.sample_location)
    if form.sample_base64_content is not None:
        return Sample(content=decode_base64(form.sample_base64_content))
    raise MissingParameter("sampleContent", f"One of {', '.join(SAMPLES)} is required.")


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
