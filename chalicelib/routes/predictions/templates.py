"""Learns form templates from examples. See beyond.md, section 16."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from chalicelib.domain.accounts.rates import DOCUMENTS
from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.jobs.template_learning import LearningNotFound, TemplateLearning
from chalicelib.errors import BadRequest, MissingParameter
from chalicelib.web.http.request import DUPLICATED
from chalicelib.web.operations.fields import Url
from chalicelib.web.operations.locate import text_id
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records.ocr_records import LearnedTemplateRecord, learned_template


class LearnForm(msgspec.Struct, rename="camel"):
    """Fields of a call that learns a template, sent next to the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = {
        "oneOf": [{"required": ["data"]}, {"required": ["path"]}]
    }
    json_rules: ClassVar[dict[str, Any]] = {"required": ["path"]}

    path: Url | None = None


def recover_learning(call: Call, keyed: KeyedCall) -> LearnedTemplateRecord:
    """Return the learning job that was created when the same call was sent before."""
    return learned_template(*call.container.templates.get(call.account, keyed.object_id))


@Operation(
    "POST",
    "/v2/vision/templates/learn",
    form=LearnForm,
    files=("data",),
    cost=DOCUMENTS,
    recover=recover_learning,
    takes_data=True,
    statuses=(409, 429),
)
def learn_template(call: Call) -> LearnedTemplateRecord:
    """Learn a form template from documents and their values."""
    sent, path = call.fields.files.get("data"), call.form.path
    if sent is not None and path is not None:
        raise BadRequest(DUPLICATED, "duplicated_parameter")
    if sent is None and path is None:
        raise MissingParameter(
            "data",
            "Learning a template requires either the 'data' field or the 'path' field: a zip "
            "archive of documents with values.json.",
        )
    content, name = (None, "") if sent is None else (sent.content, sent.name)
    source = UploadSource(content=content, file_name=name, path=path)
    return learned_template(call.container.templates.create(call.account, source))


def locate_learning(call: Call) -> tuple[TemplateLearning, dict[str, Any] | None]:
    """Return the job that the path names, and the job's result if there is one."""
    learning_id = text_id(call.request.parameters["learning_id"], LearningNotFound)
    return call.container.templates.get(call.account, learning_id)


@Operation("GET", "/v2/vision/templates/learn/{learning_id}", locate=locate_learning)
def get_learned_template(call: Call) -> LearnedTemplateRecord:
    """Return a learned template."""
    return learned_template(*call.target)
