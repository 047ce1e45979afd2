"""Datasets: list, create, get, delete. Spec: Dataset; contract section 5."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from chalicelib.domain.common.limits import DATASETS_PAGE
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.web.http.paging import ListAnswer, list_answer
from chalicelib.web.operations.fields import AnyType, Filled, Language, Name
from chalicelib.web.operations.locate import dataset_id_in_path, dataset_in_path
from chalicelib.web.operations.operation import BOTH, Call, Operation
from chalicelib.web.records import describe, records


class DatasetsQuery(msgspec.Struct):
    """Which datasets are listed."""

    is_global: bool = msgspec.field(name="global", default=False)


class NewDatasetForm(msgspec.Struct):
    """Fields of a dataset without examples."""

    missing_texts: ClassVar[dict[str, str]] = {
        "name": "The 'name' parameter is required to create a dataset."
    }

    name: Name
    labels: Filled | None = None
    type: AnyType | None = None
    language: Language | None = None


def list_datasets(call: Call) -> ListAnswer:
    """List the caller's datasets, or the global ones. Spec: GET /v2/vision/datasets."""
    datasets, asked = call.container.datasets, call.window
    if call.query.is_global:
        page = datasets.list_global(call.family, asked.offset, asked.count)
    else:
        page = datasets.list(call.account.account_id, call.family, asked.offset, asked.count)
    return list_answer(page, describe.dataset, asked)


def create_dataset(call: Call) -> records.DatasetRecord:
    """Create a dataset with empty labels. Spec: Other operations."""
    form: NewDatasetForm = call.form
    fields = NewDataset(form.name, form.type, form.language, form.labels)
    return describe.dataset(call.container.datasets.create(call.account, call.family, fields))


def get_dataset(call: Call) -> records.DatasetRecord:
    """Show one dataset. Spec: Dataset."""
    return describe.dataset(call.located)


def delete_dataset(call: Call) -> records.DeletionRecord:
    """Delete a dataset in the background; its models stay. Spec: Deletion behaviour."""
    deletions, dataset_id = call.container.deletions, dataset_id_in_path(call)
    return describe.deletion(deletions.delete_dataset(call.account, call.family, dataset_id))


OPERATIONS = (
    Operation(
        name="list_datasets",
        method="GET",
        path="/v2/:family/datasets",
        families=BOTH,
        view=list_datasets,
        summary="List datasets by id; with global=true those that ship with the service.",
        query=DatasetsQuery,
        page_size=DATASETS_PAGE,
        is_list=True,
        answer=records.DatasetRecord,
    ),
    Operation(
        name="create_dataset",
        method="POST",
        path="/v2/:family/datasets",
        families=BOTH,
        view=create_dataset,
        summary="Create a dataset without examples.",
        form=NewDatasetForm,
        answer=records.DatasetRecord,
    ),
    Operation(
        name="get_dataset",
        method="GET",
        path="/v2/:family/datasets/{dataset_id}",
        families=BOTH,
        view=get_dataset,
        locate=dataset_in_path,
        summary="Show a dataset with its labels.",
        answer=records.DatasetRecord,
    ),
    Operation(
        name="delete_dataset",
        method="DELETE",
        path="/v2/:family/datasets/{dataset_id}",
        families=BOTH,
        view=delete_dataset,
        summary="Delete a dataset; its models stay.",
        answer=records.DeletionRecord,
        statuses=(404, 409),
    ),
)
