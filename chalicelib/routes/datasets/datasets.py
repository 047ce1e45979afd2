"""Datasets: list, create, get, delete. See spec (Dataset) and contract (section 5)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec

from chalicelib.domain.common.limits import DATASETS_PAGE, DELETIONS_PAGE
from chalicelib.domain.common.paging import ListFilter, ListPage
from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.web.http.paging import ListAnswer, Window, list_answer
from chalicelib.web.operations.fields import (
    AnyType,
    DescriptionsField,
    Filled,
    Language,
    Name,
    NamePart,
    sent_descriptions,
)
from chalicelib.web.operations.locate import created_dataset, dataset_id_in_path, dataset_in_path
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe, service_records


class DatasetsQuery(msgspec.Struct):
    """Filters of the list."""

    # `global` is a keyword of Python.
    is_global: bool = msgspec.field(name="global", default=False)
    name: NamePart = ""
    status: Literal["UPLOADING", "SUCCEEDED", "FAILED", "DELETION_PENDING"] | None = None


class FailedDatasetsQuery(msgspec.Struct):
    """Selects the datasets to delete: those whose upload failed."""

    status: Annotated[
        # Required, so that no call deletes all datasets by mistake.
        Literal["FAILED"],
        msgspec.Meta(description="Datasets whose first upload failed and that hold no example."),
    ]


class NewDatasetForm(msgspec.Struct):
    """Fields of a dataset without examples."""

    # A documented text of the old API, which stays word for word.
    missing_texts: ClassVar[dict[str, str]] = {
        "name": "The 'name' parameter is required to create a dataset."
    }

    name: Name
    labels: Filled | None = None
    type: AnyType | None = None
    language: Language | None = None
    label_descriptions: DescriptionsField = msgspec.field(name="labelDescriptions", default=None)


@Operation("GET", "/v2/:family/datasets", query=DatasetsQuery, page_size=DATASETS_PAGE)
def list_datasets(call: Call) -> ListAnswer[dataset_records.DatasetRecord]:
    """List the datasets by id; with `global=true`, the datasets that ship with the service."""
    datasets, asked = call.container.datasets, call.window
    query: DatasetsQuery = call.query
    place = (call.family, asked.offset, asked.count, ListFilter(query.name, query.status))
    if query.is_global:
        page = datasets.list_global(*place)
    else:
        page = datasets.list(call.account.account_id, *place)
    return list_answer(page, describe.dataset, asked)


def recover_dataset(call: Call, keyed: KeyedCall) -> dataset_records.DatasetRecord:
    """Return the dataset that an earlier attempt at the call created."""
    return describe.dataset(created_dataset(call, keyed))


@Operation(
    "POST",
    "/v2/:family/datasets",
    creates="datasets",
    recover=recover_dataset,
    form=NewDatasetForm,
)
def create_dataset(call: Call) -> dataset_records.DatasetRecord:
    """Create a dataset without examples."""
    form: NewDatasetForm = call.form
    described = sent_descriptions(form.label_descriptions, call.family, form.type)
    fields = NewDataset(form.name, form.type, form.language, form.labels, described)
    return describe.dataset(call.container.datasets.create(call.account, call.family, fields))


@Operation("GET", "/v2/:family/datasets/{dataset_id}", locate=dataset_in_path)
def get_dataset(call: Call) -> dataset_records.DatasetRecord:
    """Return a dataset with its labels."""
    return describe.dataset(call.target)


@Operation("DELETE", "/v2/:family/datasets/{dataset_id}", statuses=(404, 409))
def delete_dataset(call: Call) -> service_records.DeletionRecord:
    """Delete a dataset; its models are not deleted."""
    # The dataset is not located first, so that a repeated DELETE returns the same deletion, not a
    # 404.
    deletions, dataset_id = call.container.deletions, dataset_id_in_path(call)
    return describe.deletion(deletions.delete_dataset(call.account, call.family, dataset_id))


@Operation("DELETE", "/v2/:family/datasets", query=FailedDatasetsQuery)
def delete_failed_datasets(call: Call) -> ListAnswer[service_records.DeletionRecord]:
    """Delete the datasets whose first upload failed, at most 100 a call."""
    deletions = call.container.deletions
    deleted = deletions.delete_failed(call.account, call.family, DELETIONS_PAGE)
    # A repeated call deletes the next datasets, so the list has no next page.
    page = ListPage(tuple(deleted), 0, has_more=False)
    return list_answer(page, describe.deletion, Window(0, DELETIONS_PAGE))
