"""The records of OCR answers. See contract, section 6.

describe_ocr.py creates them. tests/spec/test_ocr_records.py compares them with the examples in the
contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.domain.common.clock import date_text
from chalicelib.domain.documents.findings import CELL_KINDS, CONTACT_TAGS
from chalicelib.domain.documents.form_widgets import FIELD_KINDS
from chalicelib.domain.documents.layout import Role
from chalicelib.domain.documents.page import NoteCode
from chalicelib.domain.jobs.export import STATUSES
from chalicelib.domain.jobs.template_learning import TemplateLearning
from chalicelib.web.operations.fields import FORM_TEMPLATE
from chalicelib.web.records.model_records import BoundingBoxRecord

# The kind of a text on a business card.
Tag = Annotated[str, Meta(extra_json_schema={"enum": [*CONTACT_TAGS]})]
CellType = Annotated[str, Meta(extra_json_schema={"enum": [*CELL_KINDS]})]

_BLOCK = "Number of its paragraph or heading in the document, if `layout` is true."
_LINE = "Number of its line in the document, if `layout` is true."
_ROLE = "What it is on its page, if `layout` is true: running head or foot, heading or body text."
_ORDER = "Its position in the reading order of the document, if `layout` is true."

ItemRole = Annotated[Role, Meta(description=_ROLE, examples=["heading"])]


class TextAttributes(msgspec.Struct, rename="camel"):
    """The position of a run of words on a page."""

    page_number: int
    language: Literal["English"] = "English"
    block: Annotated[int, Meta(description=_BLOCK, ge=1)] | UnsetType = UNSET
    line: Annotated[int, Meta(description=_LINE, ge=1)] | UnsetType = UNSET
    order: Annotated[int, Meta(description=_ORDER, ge=1)] | UnsetType = UNSET
    role: ItemRole | UnsetType = UNSET


class TextItem(msgspec.Struct, rename="camel"):
    """A run of words on one line."""

    probability: float
    label: str
    bounding_box: BoundingBoxRecord
    attributes: TextAttributes


class ContactAttributes(msgspec.Struct, rename="camel"):
    """The kind of an entity on a business card."""

    tag: Tag
    page_number: int


class ContactItem(msgspec.Struct, rename="camel"):
    """An entity of a business card. Its text is the member `label`."""

    probability: float
    label: str
    bounding_box: BoundingBoxRecord
    attributes: ContactAttributes


class CellPlace(msgspec.Struct, rename="camel"):
    """Row and column of a cell. Both count from 1."""

    row_index: int
    col_index: int


class CellLine(msgspec.Struct):
    """Number of a row or column, from 1, and the entity of its header."""

    index: int
    entity: str | UnsetType = UNSET


class CellRecord(msgspec.Struct, rename="camel", kw_only=True):
    """A cell of a table."""

    bounding_box: BoundingBoxRecord
    text: str
    probability: float
    cell_location: CellPlace
    row_cell_location: CellLine
    col_cell_location: CellLine
    entity: str | UnsetType = UNSET
    cell_type: CellType
    normalized_text: str | UnsetType = UNSET


class TableAttributes(msgspec.Struct, rename="camel"):
    """The cells of a table. Its name and block id are unique in the answer."""

    table_name: str
    table_count: str
    cells: list[CellRecord]
    page_number: int
    block_id: int
    role: ItemRole | UnsetType = UNSET


class TableItem(msgspec.Struct, rename="camel"):
    """A table. The member `label` has its text, row by row."""

    probability: float
    label: str
    bounding_box: BoundingBoxRecord
    attributes: TableAttributes


class FormTableItem(msgspec.Struct, rename="camel"):
    """A table of a form."""

    probability: float
    label: Literal["table"]
    bounding_box: BoundingBoxRecord
    attributes: TableAttributes


class FieldPart(msgspec.Struct, rename="camel"):
    """A key or a value. If it is not on the page, its box is 1, 1, 1, 1."""

    entity: str
    text: str
    bounding_box: BoundingBoxRecord
    checked: bool | UnsetType = UNSET


class PairAttributes(msgspec.Struct, rename="camel"):
    """A key of the form template, and the value that was found for it."""

    block_id: int
    key: FieldPart
    value: FieldPart
    language: Literal["English"]
    page_number: int
    normalized_text: str | UnsetType = UNSET
    role: ItemRole | UnsetType = UNSET


class PairItem(msgspec.Struct, rename="camel"):
    """A key of the form template, with its value and probability."""

    probability: float
    label: Literal["key-value"]
    bounding_box: BoundingBoxRecord
    attributes: PairAttributes


# Pairs and tables. The union is only in the schema, because msgspec cannot distinguish them.
FormItems = Annotated[
    list[Any],
    Meta(
        extra_json_schema={
            "items": {
                "oneOf": [
                    {"$ref": f"#/components/schemas/{kind.__name__}"}
                    for kind in (PairItem, FormTableItem)
                ]
            }
        }
    ),
]


class UnreadRecord(msgspec.Struct, rename="camel"):
    """A place with text that was detected but not recognised."""

    bounding_box: BoundingBoxRecord
    page_number: int


class PageRecord(msgspec.Struct, rename="camel"):
    """The size of a page as displayed. Boxes are in these pixels."""

    page_number: int
    width: int
    height: int
    image: str | UnsetType = UNSET


class PageNoteRecord(msgspec.Struct, rename="camel"):
    """A note on a page whose results may be incomplete."""

    page_number: int
    code: NoteCode
    message: str


class FormFieldRecord(msgspec.Struct, rename="camel"):
    """A form field that the PDF itself defines. A field outside its page has the box 1, 1, 1, 1."""

    name: str
    type: Annotated[str, Meta(extra_json_schema={"enum": [*FIELD_KINDS]})]
    value: str
    page_number: int
    bounding_box: BoundingBoxRecord
    checked: bool | UnsetType = UNSET


class TextRecord(msgspec.Struct, rename="camel"):
    """The text of a document.

    The request's option `layout` adds the members `unread` and `pageNotes`, and its option `output`
    adds `document`.
    """

    task: Literal["text"]
    probabilities: list[TextItem]
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET
    pages: list[PageRecord] | UnsetType = UNSET
    form_fields: list[FormFieldRecord] | UnsetType = UNSET
    page_notes: list[PageNoteRecord] | UnsetType = UNSET
    unread: list[UnreadRecord] | UnsetType = UNSET
    document: str | UnsetType = UNSET


class ContactRecord(msgspec.Struct, rename="camel"):
    """The entities found on business cards."""

    task: Literal["contact"]
    probabilities: list[ContactItem]
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET
    pages: list[PageRecord] | UnsetType = UNSET
    form_fields: list[FormFieldRecord] | UnsetType = UNSET


class TableRecord(msgspec.Struct, rename="camel"):
    """The tables of a document."""

    task: Literal["table"]
    probabilities: list[TableItem]
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET
    pages: list[PageRecord] | UnsetType = UNSET
    form_fields: list[FormFieldRecord] | UnsetType = UNSET
    page_notes: list[PageNoteRecord] | UnsetType = UNSET


class FormRecord(msgspec.Struct, rename="camel"):
    """The fields of a form, and its tables if the form template requests them."""

    task: Literal["form"]
    probabilities: FormItems
    object: Literal["predictresponse"] = "predictresponse"
    sample_id: str | UnsetType = UNSET
    pages: list[PageRecord] | UnsetType = UNSET
    form_fields: list[FormFieldRecord] | UnsetType = UNSET
    page_notes: list[PageNoteRecord] | UnsetType = UNSET


# One record for each task.
OcrRecord = TextRecord | ContactRecord | TableRecord | FormRecord

_SCHEMA = {**FORM_TEMPLATE, "type": "object", "title": "LearnedFormTemplate"}
_SCHEMA["description"] = "The template, as the calls that read documents take it."
_RIGHT = "Documents in which it was read right with a template of the other documents."
_ACCURACY = (
    "Fraction of the values that were read right with a template of the other documents; null for "
    "a single document."
)


class FieldScoreRecord(msgspec.Struct, rename="camel"):
    """The number of documents in which the value of one entity was read correctly."""

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
