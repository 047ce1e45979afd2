"""Adjusts a model to texts of users. See beyond.md, section 15."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.dataset import DELETION_PENDING, LANGUAGE, DatasetView
from chalicelib.domain.models.model import Model
from chalicelib.errors import BadRequest, DatasetNotFound, InvalidParameter, PrebuiltHasCardOnly
from chalicelib.services.training.adjusting import AdjustmentRequest
from chalicelib.web.operations.fields import Column, Delimiter, Encoding, Share, Url
from chalicelib.web.operations.files import SOURCES, one_source, reading_options
from chalicelib.web.operations.locate import dataset_in_body, model_in_path
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records


class AdjustForm(msgspec.Struct, rename="camel"):
    """Fields of an adjustment, sent next to the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = {"oneOf": [{"required": [one]} for one in SOURCES]}
    # Without `data`: a JSON body cannot hold a file.
    json_rules: ClassVar[dict[str, Any]] = {"oneOf": [{"required": [one]} for one in SOURCES[1:]]}

    path: Url | None = None
    dataset_id: int | None = None
    out_of_domain_rate: Share | None = None
    with_feedback: bool | None = None
    text_column: Column | None = None
    label_column: Column | None = None
    delimiter: Delimiter | None = None
    header: bool | int | None = None
    sheet: Column | None = None
    encoding: Encoding | None = None


def locate(call: Call) -> tuple[Model, DatasetView | None]:
    """Return the model in the path, and the dataset in the body if the body names one."""
    try:
        model = model_in_path(call)
    except PrebuiltHasCardOnly as prebuilt:
        raise BadRequest(
            "Prebuilt models cannot be adjusted. Train a model of your own.", "prebuilt"
        ) from prebuilt
    if model.family != LANGUAGE:
        raise InvalidParameter(
            "model_id", f"model {model.model_id} is of type {model.type}; use a model of texts."
        )
    view = dataset_in_body(call)
    if view is not None and view.dataset.status == DELETION_PENDING:
        raise DatasetNotFound(view.dataset.dataset_id)
    return model, view


def recover_adjustment(call: Call, keyed: KeyedCall) -> model_records.TrainingRecord | None:
    """Return the model's training record if an earlier attempt at the call queued the adjustment.

    An adjustment is queued as a training.
    """
    model = model_in_path(call)
    # The model's row has the mark of the call that queued the last run.
    if model.mark != keyed.object_id:
        return None
    return describe.training(call.container.training.view(model))


@Operation(
    "POST",
    "/v2/language/models/{model_id}/adjust",
    locate=locate,
    form=AdjustForm,
    files=("data",),
    recover=recover_adjustment,
    statuses=(409, 429),
)
def adjust_model(call: Call) -> model_records.TrainingRecord:
    """Adjust a model to texts as users send them, without training it again."""
    model, view = call.target
    form, source = call.form, one_source(call, view, reading_options(call))
    wanted = AdjustmentRequest(
        source, form.out_of_domain_rate, with_feedback=form.with_feedback is True
    )
    service = call.container.adjustments
    return describe.training(service.request(call.account, model, wanted, call.seconds_left))
