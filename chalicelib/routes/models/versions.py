"""Versions of models: list, serve, delete, compare."""

from __future__ import annotations

from typing import Annotated

import msgspec

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.model_version import LARGEST_VERSION
from chalicelib.errors import InvalidParameter, NotFound
from chalicelib.web.http.paging import ListAnswer, Window, list_answer
from chalicelib.web.operations.fields import ModelVersionNumber
from chalicelib.web.operations.forms import whole_number
from chalicelib.web.operations.locate import model_in_path
from chalicelib.web.operations.operation import BOTH, Call, Operation
from chalicelib.web.records import describe_versions, model_records

# Batches may keep more versions than the limit.
_ALL = Window(0, 100)


class CompareForm(msgspec.Struct, rename="camel"):
    """Fields of a comparison."""

    versions: Annotated[
        list[ModelVersionNumber],
        msgspec.Meta(
            description="Numbers of two versions; the difference is second minus first.",
            min_length=2,
            max_length=2,
            examples=[[1, 2]],
        ),
    ]


def locate_version(call: Call) -> tuple[Model, int]:
    """Return the model and the version number of the path."""
    model = model_in_path(call)
    number = whole_number(call.request.parameters["version"])
    if number is None or not 1 <= number <= LARGEST_VERSION:
        raise NotFound("A version is a number from 1.")
    call.container.model_versions.get(model, number)
    return model, number


def list_model_versions(call: Call) -> ListAnswer:
    """List the stored versions of a model, newest first."""
    versions = call.container.model_versions.list(call.located)
    page = ListPage(tuple(versions), 0, has_more=False)
    return list_answer(page, describe_versions.model_version, _ALL)


def serve_model_version(call: Call) -> model_records.ModelVersionRecord:
    """Serve a version from the next call on."""
    return describe_versions.model_version(call.container.model_versions.serve(*call.located))


def delete_model_version(call: Call) -> model_records.ModelVersionRecord:
    """Delete a version and its files."""
    return describe_versions.model_version(call.container.model_versions.remove(*call.located))


def compare_model_versions(call: Call) -> model_records.ComparisonRecord:
    """Compare two versions by their predictions for the same held-out examples."""
    form: CompareForm = call.form
    first, second = form.versions
    if first == second:
        raise InvalidParameter("versions", "name two different versions.")
    found = call.container.model_versions.compare(call.located, first, second)
    return describe_versions.comparison(found, form.versions)


OPERATIONS = (
    Operation(
        name="list_model_versions",
        method="GET",
        path="/v2/:family/models/{model_id}/versions",
        families=BOTH,
        view=list_model_versions,
        locate=model_in_path,
        summary="List the kept versions of a model, newest first.",
        is_list=True,
        answer=model_records.ModelVersionRecord,
    ),
    Operation(
        name="serve_model_version",
        method="PUT",
        path="/v2/:family/models/{model_id}/versions/{version}/serve",
        families=BOTH,
        view=serve_model_version,
        locate=locate_version,
        takes_key=True,
        summary="Serve a version of a model from the next call on.",
        answer=model_records.ModelVersionRecord,
        statuses=(404, 409),
    ),
    Operation(
        name="delete_model_version",
        method="DELETE",
        path="/v2/:family/models/{model_id}/versions/{version}",
        families=BOTH,
        view=delete_model_version,
        locate=locate_version,
        summary="Delete a version of a model that is not served.",
        answer=model_records.ModelVersionRecord,
        statuses=(404, 409),
    ),
    Operation(
        name="compare_model_versions",
        method="POST",
        path="/v2/:family/models/{model_id}/compare",
        families=BOTH,
        view=compare_model_versions,
        locate=model_in_path,
        summary="Compare two versions of a model by the same held-out examples.",
        form=CompareForm,
        answer=model_records.ComparisonRecord,
        statuses=(404, 409),
    ),
)
