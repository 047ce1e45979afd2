"""The record of a learned form template. See beyond.md, section 16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.domain.common.clock import date_text
from chalicelib.domain.jobs.export import STATUSES
from chalicelib.domain.jobs.template_learning import TemplateLearning
from chalicelib.web.operations.fields import FORM_TEMPLATE

_SCHEMA = {**FORM_TEMPLATE, "type": "object", "title": "LearnedFormTemplate"}
_SCHEMA["description"] = "The template, as the calls that read documents take it."
_RIGHT = "Documents in which it was read right with a template of the other documents."
_ACCURACY = (
    "Fraction of the values that were read right with a template of the other documents; null for "
    "a single document."
)


class FieldScoreRecord(msgspec.Struct, rename="camel"):
    """How often the value of one entity was read correctly."""

    entity: Annotated[str, Meta(description="Name of the entity.")]
    right: Annotated[int, Meta(description=_RIGHT, ge=0)]
    of: Annotated[int, Meta(description="Documents with a value of the entity.", ge=0)]


class LearnedTemplateRecord(msgspec.Struct, rename="camel"):
    """A form template learned from examples. It has a result once it has SUCCEEDED."""

    id: str
    status: Annotated[str, Meta(extra_json_schema={"enum": [*STATUSES]})]
    created_at: str
    updated_at: str
    expires_at: Annotated[str, Meta(description="When input and result are deleted.")]
    failure_msg: Annotated[str, Meta(description="Why it failed.")] | UnsetType = UNSET
    template: Annotated[dict[str, Any], Meta(extra_json_schema=_SCHEMA)] | UnsetType = UNSET
    accuracy: Annotated[float | None, Meta(description=_ACCURACY)] | UnsetType = UNSET
    per_field: (
        Annotated[list[FieldScoreRecord], Meta(description="Results by entity.")] | UnsetType
    ) = UNSET
    not_found: (
        Annotated[list[str], Meta(description="Entities without a key in the template.")]
        | UnsetType
    ) = UNSET
    object: Literal["learnedTemplate"] = "learnedTemplate"


def learned_template(
    row: TemplateLearning, result: Mapping[str, Any] | None = None
) -> LearnedTemplateRecord:
    """Return the record of a job that learns a template, with its result if there is one."""
    record = LearnedTemplateRecord(
        id=row.learning_id,
        status=row.status,
        created_at=date_text(row.created_at),
        updated_at=date_text(row.updated_at),
        expires_at=date_text(row.expires_at),
        failure_msg=row.message or UNSET,
    )
    if result is not None:
        record.template, record.accuracy = result["template"], result["accuracy"]
        record.per_field = [FieldScoreRecord(**each) for each in result["perField"]]
        record.not_found = result["notFound"]
    return record
