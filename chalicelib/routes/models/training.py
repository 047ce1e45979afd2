"""Trainings: start, repeat and poll them. See spec (Known parameters of training calls)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.domain.common.limits import MIN_EXAMPLES_PER_LABEL
from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.upload import SCHEME, is_upload_path
from chalicelib.domain.models.model import TrainRequest
from chalicelib.errors import InvalidParameter
from chalicelib.formats.texts.json_limits import is_too_deep
from chalicelib.web.operations.fields import Algorithm, Epochs, LearningRate, ModelId, Name, Share
from chalicelib.web.operations.forms import convert, whole_number
from chalicelib.web.operations.locate import dataset_in_body, model_in_body, model_in_path
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records

UploadPath = Annotated[
    str,
    Meta(extra_json_schema={"pattern": f"^{SCHEME}[A-Z2-7]{{26}}$"}),
]


class TrainParams(msgspec.Struct, rename="camel"):
    """Known members of `trainParams`. Other members are ignored."""

    train_split_ratio: Share | UnsetType = UNSET
    with_feedback: bool | UnsetType = UNSET
    with_global_dataset_id: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    augment_data: bool | UnsetType = UNSET
    profile: Literal["fast", "accurate"] | UnsetType = UNSET
    out_of_domain_rate: Share | UnsetType = UNSET
    skip_small_labels: bool | UnsetType = UNSET
    minimum_examples: Annotated[int, Meta(ge=0, le=MIN_EXAMPLES_PER_LABEL)] | UnsetType = UNSET
    unlabelled: Annotated[int, Meta(ge=1)] | UploadPath | UnsetType = UNSET
    serve: Literal["always", "if-better"] | UnsetType = UNSET


# Declared as any object, because unknown members are ignored and empty ones omitted.
ParamsObject = Annotated[
    dict[str, Any],
    Meta(extra_json_schema=msgspec.json.schema(TrainParams)["$defs"]["TrainParams"]),
]
# A form has no objects, so it sends JSON text.
ParamsText = Annotated[str, Meta(extra_json_schema={"contentMediaType": "application/json"})]


class TrainForm(msgspec.Struct, rename="camel"):
    """Fields of a training."""

    name: Name
    dataset_id: int
    epochs: Epochs | None = None
    learning_rate: LearningRate | None = None
    algorithm: Algorithm | None = None
    train_params: ParamsObject | ParamsText | None = None


class RetrainForm(msgspec.Struct, rename="camel"):
    """Fields of a retraining."""

    model_id: ModelId
    epochs: Epochs | None = None
    learning_rate: LearningRate | None = None
    algorithm: Algorithm | None = None
    train_params: ParamsObject | ParamsText | None = None


def recover_training(call: Call, keyed: KeyedCall) -> model_records.TrainingRecord:
    """Return the training that an earlier attempt at the call queued."""
    model = call.container.models.get(call.account.account_id, keyed.object_id)
    return describe.training(call.container.training.view(model))


@Operation(
    "POST",
    "/v2/:family/train",
    # The path of the old API for texts.
    aliases=("/v2/language/datasets/train",),
    locate=dataset_in_body,
    form=TrainForm,
    recover=recover_training,
    statuses=(409, 429),
)
def train(call: Call) -> model_records.TrainingRecord:
    """Queue a training of a dataset."""
    form: TrainForm = call.form
    request = _request(form)
    return describe.training(
        call.container.training.request(
            call.account, call.target, form.name, request, call.seconds_left
        )
    )


def recover_retraining(call: Call, keyed: KeyedCall) -> model_records.TrainingRecord | None:
    """Return the model's training if the first attempt of this repeated call has queued it."""
    model = model_in_body(call)
    # The model's row has the mark of the call that queued the last training.
    if model is None or model.mark != keyed.object_id:
        return None
    return describe.training(call.container.training.view(model))


@Operation(
    "POST",
    "/v2/:family/retrain",
    # The path of the old API for texts.
    aliases=("/v2/language/datasets/retrain",),
    locate=model_in_body,
    form=RetrainForm,
    recover=recover_retraining,
    statuses=(409, 429),
)
def retrain(call: Call) -> model_records.TrainingRecord:
    """Train a model again. The model keeps its id and continues to predict meanwhile."""
    request = _request(call.form)
    return describe.training(
        call.container.training.retrain(call.account, call.target, request, call.seconds_left)
    )


@Operation("GET", "/v2/:family/train/{model_id}", locate=model_in_path)
def get_training(call: Call) -> model_records.TrainingRecord:
    """Return the latest training of a model."""
    return describe.training(call.container.training.view(call.target))


def _request(form: TrainForm | RetrainForm) -> TrainRequest:
    return TrainRequest(
        epochs=form.epochs,
        learning_rate=form.learning_rate,
        algorithm=form.algorithm,
        params=_params(form.train_params),
    )


def _params(raw: dict[str, Any] | str | None) -> dict[str, object] | None:
    """Return the known members of `trainParams`, converted to their types."""
    members = _decoded(raw) if isinstance(raw, str) else raw
    if members is None:
        return None
    # An empty member counts as absent.
    known = {name: value for name, value in members.items() if value is not None and value != ""}
    if "unlabelled" in known:
        known["unlabelled"] = _unlabelled(known["unlabelled"])
    params: dict[str, object] = msgspec.to_builtins(convert(known, TrainParams, "trainParams."))
    return params


def _unlabelled(value: object) -> object:
    """Check `unlabelled`; return the path of an upload unchanged, a dataset id as a number."""
    number = whole_number(value)
    if number is None and isinstance(value, str) and not is_upload_path(value):
        raise InvalidParameter(
            "trainParams.unlabelled",
            f"{value[:40]!r} is neither the id of a language dataset nor the path of an upload; "
            "get a path with POST /v2/uploads.",
        )
    return value if number is None else number


def _decoded(text: str) -> dict[str, Any] | None:
    """Parse `trainParams` that was sent as JSON text."""
    # The decoder recurses, so deep nesting would exhaust the stack.
    if is_too_deep(text):
        raise InvalidParameter("trainParams", "the JSON text is nested too deeply.")
    try:
        members = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError) as problem:
        raise InvalidParameter("trainParams", "it is not valid JSON text.") from problem
    if members is not None and not isinstance(members, dict):
        raise InvalidParameter("trainParams", "expected a JSON object.")
    return members
