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
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records

# A list without pages. It exceeds the limit of stored versions only while batches use old ones.
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
    """Return the model that the path names, and the version number in the path."""
    model = model_in_path(call)
    number = whole_number(call.request.parameters["version"])
    if number is None or not 1 <= number <= LARGEST_VERSION:
        raise NotFound("A version is a number from 1.")
    call.container.model_versions.get(model, number)
    return model, number


@Operation("GET", "/v2/:family/models/{model_id}/versions", locate=model_in_path)
def list_model_versions(call: Call) -> ListAnswer[model_records.ModelVersionRecord]:
    """List the stored versions of a model, newest first."""
    versions = call.container.model_versions.list(call.target)
    page = ListPage(tuple(versions), 0, has_more=False)
    return list_answer(page, describe.model_version, _ALL)


@Operation(
    "PUT",
    "/v2/:family/models/{model_id}/versions/{version}/serve",
    locate=locate_version,
    takes_key=True,
    statuses=(404, 409),
)
def serve_model_version(call: Call) -> model_records.ModelVersionRecord:
    """Serve a version of a model from the next call on."""
    return describe.model_version(call.container.model_versions.serve(*call.target))


@Operation(
    "DELETE",
    "/v2/:family/models/{model_id}/versions/{version}",
    locate=locate_version,
    statuses=(404, 409),
)
def delete_model_version(call: Call) -> model_records.ModelVersionRecord:
    """Delete a version of a model that is not served."""
    return describe.model_version(call.container.model_versions.remove(*call.target))


@Operation(
    "POST",
    "/v2/:family/models/{model_id}/compare",
    locate=model_in_path,
    form=CompareForm,
    statuses=(404, 409),
)
def compare_model_versions(call: Call) -> model_records.ComparisonRecord:
    """Compare two versions of a model by the same held-out examples."""
    form: CompareForm = call.form
    first, second = form.versions
    if first == second:
        raise InvalidParameter("versions", "name two different versions.")
    found = call.container.model_versions.compare(call.target, first, second)
    return describe.comparison(found, form.versions)
