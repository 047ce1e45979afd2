"""Parses ids in paths and bodies, and loads their objects before other checks.

An id is a whole number below 2^63 or a short word. Any other value gets status 404, as an
unknown id does. See contract, section 3, for the order of checks: 401, 404, others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.corrections import CorrectionResult
from chalicelib.domain.datasets.dataset import DELETION_PENDING, DatasetView, Label
from chalicelib.domain.models.model import Model, ServedModel
from chalicelib.domain.models.model_version import LARGEST_VERSION
from chalicelib.errors import (
    DatasetNotFound,
    LabelNotFound,
    ModelNotFound,
    NotFound,
    ServiceError,
)
from chalicelib.web.operations.forms import LARGEST_WHOLE, whole_number
from chalicelib.web.operations.operation import Call

MAX_ID = LARGEST_WHOLE
# Maximum number of characters of an unknown id in its 404.
SHOWN = 100

_TEXT = re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII)


def number_id(value: object, make_error: Callable[[object], NotFound]) -> int:
    """Return a valid integer id; for any other value, raise the error that `make_error` returns."""
    number = whole_number(value)
    if number is None or not 0 <= number < MAX_ID:
        raise make_error(str(value)[:SHOWN])
    return number


def sent_number_id(
    values: Mapping[str, Any], name: str, unknown: Callable[[object], NotFound]
) -> int | None:
    """Return an integer id of a body or query; None for an invalid id, which is refused later."""
    value = values.get(name)
    # A text is a bad field and gets a 400; a negative number is an unknown id and gets a 404.
    return None if whole_number(value) is None else number_id(value, unknown)


def sent_text_id(values: Mapping[str, Any], name: str) -> str | None:
    """Return a string id in a body; None for an invalid id, which a later check refuses."""
    value = values.get(name)
    return value if isinstance(value, str) else None


def text_id(value: str, make_error: Callable[[object], NotFound]) -> str:
    """Return a valid string id; for any other value, raise the error that `make_error` returns."""
    if not _TEXT.fullmatch(value):
        raise make_error(value[:SHOWN])
    return value


def dataset_id_in_path(call: Call) -> int:
    """Return the dataset id in the path."""
    return number_id(call.request.parameters["dataset_id"], DatasetNotFound)


def dataset_in_path(call: Call) -> DatasetView:
    """Return the dataset that the path names."""
    dataset_id = dataset_id_in_path(call)
    return call.container.datasets.get(call.account.account_id, call.family, dataset_id)


def created_dataset(call: Call, keyed: KeyedCall) -> DatasetView:
    """Return the dataset that an earlier attempt with the same idempotency key created."""
    return call.container.datasets.get(call.account.account_id, call.family, keyed.number)


def find_earlier_correction(
    call: Call, keyed: KeyedCall, example_id: int | None = None
) -> tuple[DatasetView, CorrectionResult] | None:
    """Return the dataset that the path names, and the correction that an earlier attempt made.

    All attempts at a call have the same idempotency key. If no earlier attempt changed the dataset,
    the result is None.
    """
    view = readable_dataset(call)
    done = call.container.corrections.find_done(view, keyed.object_id, example_id)
    return None if done is None else (view, done)


def readable_dataset(call: Call) -> DatasetView:
    """Return the dataset in the path; raise an error if the dataset is being deleted."""
    view = dataset_in_path(call)
    # The dataset itself is shown until its row is deleted, but its content is not.
    if view.dataset.status == DELETION_PENDING:
        raise DatasetNotFound(view.dataset.dataset_id)
    return view


def label_in_path(call: Call) -> tuple[DatasetView, Label]:
    """Return the dataset and the label that the path names. A label position is not accepted."""
    view = readable_dataset(call)
    number = number_id(call.request.parameters["label_id"], LabelNotFound)
    label = view.label(number)
    if label is None:
        raise LabelNotFound(number)
    return view, label


def dataset_in_body(call: Call) -> DatasetView | None:
    """Return the dataset in the body; None for an invalid id, which a later check refuses."""
    dataset_id = sent_number_id(call.fields.values, "datasetId", DatasetNotFound)
    if dataset_id is None:
        return None
    return call.container.datasets.get(call.account.account_id, call.family, dataset_id)


def model_id_in_path(call: Call) -> str:
    """Return the model id in the path."""
    return text_id(call.request.parameters["model_id"], ModelNotFound)


def model_in_path(call: Call) -> Model:
    """Return the model that the path names."""
    return call.container.models.get(call.account.account_id, model_id_in_path(call))


def model_id_in_body(call: Call) -> str | None:
    """Return the model id in the body; None for an invalid id, which a later check refuses."""
    sent = sent_text_id(call.fields.values, "modelId")
    return None if sent is None else text_id(sent, ModelNotFound)


def named_in_body(call: Call) -> str | None:
    """Return the model id in the body; None if the call names a version (`modelVersion`)."""
    with suppress(ServiceError):
        # Called before the 401, so errors of the body are left to later checks.
        named = model_id_in_body(call)
        # This read finds the served version only.
        return None if "modelVersion" in call.fields.values else named
    return None


def served_in_body(call: Call) -> ServedModel | None:
    """Return the trained or prebuilt model in the body; None for an invalid id, refused later."""
    model_id = model_id_in_body(call)
    if model_id is None:
        return None
    models, account_id = call.container.stores.served_models, call.account.account_id
    number = whole_number(call.fields.values.get("modelVersion"))
    if number is None or not 1 <= number <= LARGEST_VERSION:
        return models.find(account_id, model_id)
    return models.find_version(account_id, model_id, number)


def model_in_body(call: Call) -> Model | None:
    """Return the trained model in the body; None for an invalid id, which a later check refuses."""
    model_id = model_id_in_body(call)
    return (
        None if model_id is None else call.container.models.get(call.account.account_id, model_id)
    )
