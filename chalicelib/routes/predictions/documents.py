"""OCR of images and PDFs: text, tables, contacts and forms. See contract, section 6."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.domain.accounts.api_key import PREDICT
from chalicelib.domain.accounts.rates import DOCUMENTS
from chalicelib.domain.common.limits import MAX_ANSWER_BYTES
from chalicelib.domain.documents.characters import DOCUMENTED
from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.domain.documents.ocr import FORM, TEXT, OcrRequest
from chalicelib.domain.models.model import OCR, ServedModel
from chalicelib.errors import BadRequest
from chalicelib.web.http.paging import wire_bytes
from chalicelib.web.operations.document_fields import (
    Alphabet,
    FormFields,
    FormType,
    Layout,
    LinkTables,
    Output,
    PageFurniture,
    PageImages,
    Pages,
    Task,
    Template,
    sent_template,
)
from chalicelib.web.operations.fields import Base64, ModelId, Url
from chalicelib.web.operations.files import FORM_RULES, JSON_RULES, sample_of
from chalicelib.web.operations.locate import served_in_body
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records.describe_ocr import ocr_answer
from chalicelib.web.records.ocr_records import FormTableItem, OcrRecord, PairItem

# The task `form` requires exactly one of the two fields; other tasks ignore both.
_TEMPLATE_RULES = {
    "anyOf": [
        {"properties": {"task": {"enum": ["text", "table", "contact"]}}},
        {
            "properties": {"task": {"const": FORM}},
            "required": ["task"],
            "oneOf": [{"required": ["formType"]}, {"required": ["formTemplate"]}],
        },
    ]
}


class OcrForm(msgspec.Struct, rename="camel"):
    """Fields of an OCR call, sent next to the file `sampleContent`."""

    form_rules: ClassVar[dict[str, Any]] = {"allOf": [FORM_RULES, _TEMPLATE_RULES]}
    json_rules: ClassVar[dict[str, Any]] = {"allOf": [JSON_RULES, _TEMPLATE_RULES]}

    model_id: ModelId
    sample_location: Url | None = None
    sample_base64_content: Base64 | None = msgspec.field(name="sampleBase64Content", default=None)
    sample_id: str | UnsetType = UNSET
    task: Task = TEXT
    form_type: FormType | None = None
    form_template: Template | None = None
    link_tables: LinkTables = False
    alphabet: Alphabet = DOCUMENTED
    layout: Layout = False
    output: Output | None = None
    pages: Pages = False
    form_fields: FormFields = False
    page_images: PageImages = False
    page_furniture: PageFurniture = False


def find_model(call: Call) -> ServedModel | None:
    """Return the model in the body; None for an invalid id, which a later check refuses."""
    model = served_in_body(call)
    if model is not None and model.type == OCR:
        call.container.ocr.require_networks(model)
    return model


@Operation(
    "POST",
    "/v2/vision/ocr",
    locate=find_model,
    # Not metered: the contract counts predictions, not readings.
    cost=DOCUMENTS,
    key_scope=PREDICT,
    form=OcrForm,
    files=("sampleContent", "formTemplate"),
    # The answer type declares these as any object, so the schema needs their names.
    parts=(PairItem, FormTableItem),
    statuses=(504,),
)
def run_ocr(call: Call) -> OcrRecord:
    """Read text, tables, contacts or the fields of a form from an image or PDF."""
    form: OcrForm = call.form
    sample = sample_of(call)
    template = _template(call) if form.task == FORM else None
    has_pages = form.pages or form.page_images
    extras = form.link_tables, form.alphabet, form.layout, form.output, has_pages
    pdf_extras = form.form_fields, form.page_images, form.page_furniture
    request = OcrRequest(form.task, template, *extras, *pdf_extras)
    findings = call.container.ocr.read(call.target, sample, request, lambda: call.seconds_left)
    return _within_limits(ocr_answer(form.task, findings, form.sample_id))


def _template(call: Call) -> FormTemplate:
    """Return the form template that the call sends or names."""
    form: OcrForm = call.form
    form_type = None if form.form_type is None else str(form.form_type)
    return call.container.ocr.template(sent_template(call), form_type)


def _within_limits(record: OcrRecord) -> OcrRecord:
    """Return the record; raise BadRequest if it is too large for an answer."""
    size = wire_bytes(msgspec.json.encode(record))
    if size > MAX_ANSWER_BYTES:
        raise BadRequest(
            f"The answer would have {size} bytes; at most {MAX_ANSWER_BYTES} are allowed. "
            "Send fewer pages in a call.",
            "answer_too_large",
        )
    return record
