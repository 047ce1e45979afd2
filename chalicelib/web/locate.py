"""Loads what a path or body names, before anything else of the request is looked at.

The order of the checks is 401, 404, then the rest: contract section 3.
"""

from __future__ import annotations

from collections.abc import Callable

from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.models.model import Model, ServedModel
from chalicelib.errors import DatasetNotFound, ModelNotFound
from chalicelib.web import identifiers
from chalicelib.web.call import Call


def dataset_id_in_path(call: Call) -> int:
    """Read the dataset id of the path.

    Raises:
        DatasetNotFound: it can be no id.
    """
    return identifiers.number(call.incoming.parameters["dataset_id"], DatasetNotFound)


def dataset_in_path(call: Call) -> DatasetView:
    """Load the dataset of the path.

    Raises:
        DatasetNotFound: the account has none with this id in this family.
    """
    dataset_id = dataset_id_in_path(call)
    return call.container.datasets.get(call.account.account_id, call.family, dataset_id)


def dataset_in_body(call: Call) -> DatasetView | None:
    """Load the dataset that the body names; None when validation will refuse the name.

    Raises:
        DatasetNotFound: the account has none with this id in this family.
    """
    dataset_id = identifiers.sent_number(call.fields.values, "datasetId", DatasetNotFound)
    if dataset_id is None:
        return None
    return call.container.datasets.get(call.account.account_id, call.family, dataset_id)


def model_id_in_path(call: Call) -> str:
    """Read the model id of the path.

    Raises:
        ModelNotFound: it can be no id.
    """
    return identifiers.text(call.incoming.parameters["model_id"], ModelNotFound)


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
    sent = identifiers.sent_text(call.fields.values, "modelId")
    return None if sent is None else identifiers.text(sent, ModelNotFound)


def served_in_body(call: Call, find: Callable[[str, str], ServedModel]) -> ServedModel | None:
    """Find the model that the body names, the caller's or a prebuilt one.

    Args:
        call: the call.
        find: takes account and model id.

    Returns:
        The model; None when validation will refuse its id.

    Raises:
        ModelNotFound: there is none.
        PrebuiltNotInstalled: its files are missing.
    """
    model_id = model_id_in_body(call)
    return None if model_id is None else find(call.account.account_id, model_id)


def model_in_body(call: Call) -> Model | None:
    """Load the model that the body names; None when validation will refuse the name.

    Raises:
        ModelNotFound: the account has none with this id.
    """
    model_id = model_id_in_body(call)
    return (
        None if model_id is None else call.container.models.get(call.account.account_id, model_id)
    )
