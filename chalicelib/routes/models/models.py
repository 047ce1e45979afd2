"""Models: metrics, learning curve, card, list, delete. See spec (Model record, Learning curve)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, cast

import msgspec

from chalicelib.domain.accounts.api_key import PREDICT
from chalicelib.domain.common.limits import EPOCHS_PAGE, EXAMPLES_PAGE, MODELS_PAGE
from chalicelib.domain.common.paging import ListFilter
from chalicelib.domain.models.evaluation import EvaluatedFilter
from chalicelib.domain.models.model import PREBUILT, Model
from chalicelib.domain.models.model_version import version_not_found
from chalicelib.web.http.paging import ListAnswer, ListRecord, list_answer
from chalicelib.web.operations.fields import ModelVersionNumber, NamePart
from chalicelib.web.operations.locate import dataset_in_path, model_id_in_path, model_in_path
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records, service_records


class ModelsQuery(msgspec.Struct):
    """Filters of the list."""

    name: NamePart = ""
    status: Literal["QUEUED", "RUNNING", "SUCCEEDED", "FAILED"] | None = None


class VersionQuery(msgspec.Struct, rename="camel"):
    """Selects a version of a model."""

    model_version: ModelVersionNumber | None = None


class EvaluationQuery(VersionQuery, rename="camel"):
    """Filters of an evaluation."""

    expected: Annotated[
        str, msgspec.Meta(description="Only examples of this label.", max_length=180)
    ] = ""
    predicted: Annotated[
        str, msgspec.Meta(description="Only examples with this predicted label.", max_length=180)
    ] = ""
    is_right: Annotated[
        bool | None,
        msgspec.Meta(description="Only examples that were predicted correctly, or incorrectly."),
    ] = None


class EvaluationListRecord(ListRecord):
    """A page of an evaluation, with the calibration of its predictions."""

    total: int
    reliability: list[model_records.ReliabilityRecord]


EVALUATION_MEMBERS = {
    "total": {"type": "integer", "description": "Number of examples that match the filters."},
    "reliability": {
        "type": "array",
        "description": "All answers in ten bins by their probability, regardless of the filters.",
        "items": {"$ref": "#/components/schemas/ReliabilityRecord"},
    },
}


@Operation(
    "GET",
    "/v2/:family/models/{model_id}",
    locate=model_in_path,
    query=VersionQuery,
    key_scope=PREDICT,
)
def get_metrics(call: Call) -> model_records.MetricsRecord:
    """Return the metrics of a model."""
    found = call.container.models.metrics(_asked_version(call))
    return describe.metrics(found.model, found.created_at, found.data)


@Operation(
    "GET",
    "/v2/:family/models/{model_id}/lc",
    locate=model_in_path,
    query=VersionQuery,
    page_size=EPOCHS_PAGE,
)
def list_learning_curve(call: Call) -> ListAnswer[model_records.LearningCurveRecord]:
    """Return the learning curve of a model, one record per epoch."""
    asked = call.window
    page = call.container.models.curve(_asked_version(call), asked.offset, asked.count)
    # Curves are stored as the records of the API.
    return list_answer(page, partial(cast, model_records.LearningCurveRecord), asked)


@Operation(
    "GET",
    "/v2/:family/models/{model_id}/evaluation",
    locate=model_in_path,
    query=EvaluationQuery,
    page_size=EXAMPLES_PAGE,
    list_members=EVALUATION_MEMBERS,
    # A member of the list and not of `answer`, so the schema needs its name.
    parts=(model_records.ReliabilityRecord,),
    statuses=(409,),
)
def list_evaluation(call: Call) -> ListAnswer[model_records.EvaluatedRecord]:
    """List predictions for held-out examples of a model's own dataset."""
    query: EvaluationQuery = call.query
    wanted = EvaluatedFilter(query.expected or None, query.predicted or None, query.is_right)
    asked = call.window
    found = call.container.models.evaluation(
        _asked_version(call), wanted, asked.offset, asked.count
    )
    answer = list_answer(found.page, describe.evaluated, asked)
    bins = [describe.reliability_bin(one) for one in found.reliability]
    record = EvaluationListRecord("list", answer.record.data, found.total, bins)
    return replace(answer, record=record)


def load_card(call: Call) -> dict[str, Any]:
    """Return the model card of a trained or prebuilt model."""
    model_id = model_id_in_path(call)
    return call.container.models.card(call.account.account_id, model_id)


@Operation("GET", "/v2/:family/models/{model_id}/card", locate=load_card, query=VersionQuery)
def get_card(call: Call) -> model_records.CardRecord:
    """Return the model card: data, metrics and limitations."""
    query: VersionQuery = call.query
    card: object = call.target
    if query.model_version is not None:
        if model_id_in_path(call) not in PREBUILT:
            card = call.container.models.card_of(_asked_version(call, model_in_path(call)))
        elif query.model_version != 1:
            raise version_not_found(query.model_version, [1])
    # Cards are stored as the records of the API.
    return cast("model_records.CardRecord", card)


def _asked_version(call: Call, model: Model | None = None) -> Model:
    """Return a copy of the model that serves the version in the query."""
    query: VersionQuery = call.query
    return call.container.model_versions.at(model or call.target, query.model_version)


@Operation("GET", "/v2/:family/models", query=ModelsQuery, page_size=MODELS_PAGE)
def list_account_models(call: Call) -> ListAnswer[model_records.ModelRecord]:
    """List all models of the account, of both families, by creation time."""
    query: ModelsQuery = call.query
    wanted, asked = ListFilter(query.name, query.status), call.window
    models = call.container.models
    # Of both families, because model ids are one namespace.
    page = models.list_account(call.account, wanted, asked.offset, asked.count)
    return list_answer(page, describe.model, asked)


@Operation(
    "GET", "/v2/:family/datasets/{dataset_id}/models", locate=dataset_in_path, page_size=MODELS_PAGE
)
def list_models(call: Call) -> ListAnswer[model_records.ModelRecord]:
    """List the models of a dataset."""
    asked = call.window
    page = call.container.models.list(call.target, asked.offset, asked.count)
    return list_answer(page, describe.model, asked)


@Operation("DELETE", "/v2/:family/models/{model_id}", statuses=(404, 409))
def delete_model(call: Call) -> service_records.DeletionRecord:
    """Delete a model."""
    deletions = call.container.deletions
    # The model is not located first, so that a repeated DELETE returns the same deletion, not a
    # 404.
    return describe.deletion(deletions.delete_model(call.account, model_id_in_path(call)))
