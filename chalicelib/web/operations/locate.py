"""Ids in paths and bodies, and what they name: loaded before anything else is looked at.

Ids are whole numbers below 2^63 or short words; others are the same 404 as an unknown id. The
order of the checks is 401, 404, then the rest: contract section 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from chalicelib.domain.datasets.corrections import CorrectionResult
from chalicelib.domain.datasets.dataset import DELETION_PENDING, DatasetView
from chalicelib.domain.models.model import Model, ServedModel
from chalicelib.errors import DatasetNotFound, ModelNotFound, NotFound, ServiceError
from chalicelib.web.operations.forms import LARGEST_WHOLE, whole_number
from chalicelib.web.operations.operation import Call

MAX_ID = LARGEST_WHOLE
SHOWN = 100
"""Characters of an unknown id that its 404 repeats."""

_TEXT = re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII)


def number_id(sent: object, unknown: Callable[[object], NotFound]) -> int:
    """Read an integer id, however the whole number is written.

    Raises:
        NotFound: it can be no id; the same answer as for one that does not exist.
    """
    number = whole_number(sent)
    if number is None or not 0 <= number < MAX_ID:
        raise unknown(str(sent)[:SHOWN])
    return number


def sent_number_id(
    values: Mapping[str, Any], name: str, unknown: Callable[[object], NotFound]
) -> int | None:
    """Read an integer id of a body or query, or None when validation will refuse it.

    Raises:
        NotFound: it is a whole number, but can be no id.
    """
    value = values.get(name)
    return None if whole_number(value) is None else number_id(value, unknown)


def sent_text_id(values: Mapping[str, Any], name: str) -> str | None:
    """Read a string id of a body, or None when validation will refuse it."""
    value = values.get(name)
    return value if isinstance(value, str) else None


def text_id(sent: str, unknown: Callable[[object], NotFound]) -> str:
    """Read a string id.

    Raises:
        NotFound: it can be no id; the same answer as for one that does not exist.
    """
    if not _TEXT.fullmatch(sent):
        raise unknown(sent[:SHOWN])
    return sent


def dataset_id_in_path(call: Call) -> int:
    """Read the dataset id of the path.

    Raises:
        DatasetNotFound: it can be no id.
    """
    return number_id(call.request.parameters["dataset_id"], DatasetNotFound)


def dataset_in_path(call: Call) -> DatasetView:
    """Load the dataset of the path.

    Raises:
        DatasetNotFound: the account has none with this id in this family.
    """
    dataset_id = dataset_id_in_path(call)
    return call.container.datasets.get(call.account.account_id, call.family, dataset_id)


def created_dataset(call: Call) -> DatasetView | None:
    """Load the dataset that an earlier attempt under the call's key created, if it did."""
    number = call.keyed.number if call.keyed else 0
    with suppress(NotFound):
        return call.container.datasets.get(call.account.account_id, call.family, number)
    return None


def find_earlier_correction(
    call: Call, example_id: int | None = None
) -> tuple[DatasetView, CorrectionResult] | None:
    """Find what an earlier attempt under the call's key did to the dataset of the path."""
    view = readable_dataset(call)
    mark = call.keyed.object_id if call.keyed else ""
    done = call.container.corrections.find_done(view, mark, example_id)
    return None if done is None else (view, done)


def readable_dataset(call: Call) -> DatasetView:
    """Load the dataset of the path; what one that is being deleted holds is gone already.

    Raises:
        DatasetNotFound: the account has none with this id in this family.
    """
    view = dataset_in_path(call)
    if view.dataset.status == DELETION_PENDING:
        raise DatasetNotFound(view.dataset.dataset_id)
    return view


def dataset_in_body(call: Call) -> DatasetView | None:
    """Load the dataset that the body names; None when validation will refuse the name.

    Raises:
        DatasetNotFound: the account has none with this id in this family.
    """
    dataset_id = sent_number_id(call.fields.values, "datasetId", DatasetNotFound)
    if dataset_id is None:
        return None
    return call.container.datasets.get(call.account.account_id, call.family, dataset_id)


def model_id_in_path(call: Call) -> str:
    """Read the model id of the path.

    Raises:
        ModelNotFound: it can be no id.
    """
    return text_id(call.request.parameters["model_id"], ModelNotFound)


def model_in_path(call: Call) -> Model:
    """Load the model of the path.

    Raises:
        ModelNotFound: the account has none with this id.
    """
    return call.container.models.get(call.account.account_id, model_id_in_path(call))


def model_id_in_body(call: Call) -> str | None:
    """Read the model id that the body names; None when validation will refuse it.

    Raises:
        ModelNotFound: it can be no id.
    """
    sent = sent_text_id(call.fields.values, "modelId")
    return None if sent is None else text_id(sent, ModelNotFound)


def named_in_body(call: Call) -> str | None:
    """Read the model id of a body that can be read; what is wrong with others is said later."""
    with suppress(ServiceError):
        return model_id_in_body(call)
    return None


def served_in_body(call: Call) -> ServedModel | None:
    """Find the model that the body names, the caller's or a prebuilt one.

    Returns:
        The model; None when validation will refuse its id.

    Raises:
        ModelNotFound: there is none.
        PrebuiltNotInstalled: its files are missing.
    """
    model_id = model_id_in_body(call)
    if model_id is None:
        return None
    return call.container.served_models.find(call.account.account_id, model_id)


def model_in_body(call: Call) -> Model | None:
    """Load the model that the body names; None when validation will refuse the name.

    Raises:
        ModelNotFound: the account has none with this id.
    """
    model_id = model_id_in_body(call)
    return (
        None if model_id is None else call.container.models.get(call.account.account_id, model_id)
    )
