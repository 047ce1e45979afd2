"""Creates the records of OCR answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

from msgspec import UNSET, UnsetType

from chalicelib.domain.documents.findings import Cell, Contact, FormField
from chalicelib.domain.documents.form_widgets import PlacedWidget
from chalicelib.domain.documents.ocr import (
    CONTACT,
    FORM,
    TABLE,
    TEXT,
    DocumentFindings,
    Finding,
    TableBlock,
    UnreadBox,
    shown_probability,
)
from chalicelib.domain.documents.page import ReadPage, Rect, TextLine
from chalicelib.domain.documents.picture import PixelBox
from chalicelib.web.records.model_records import BoundingBoxRecord
from chalicelib.web.records.ocr_records import (
    CellLine,
    CellPlace,
    CellRecord,
    ContactAttributes,
    ContactItem,
    ContactRecord,
    FieldPart,
    FormFieldRecord,
    FormRecord,
    FormTableItem,
    OcrRecord,
    PageNoteRecord,
    PageRecord,
    PairAttributes,
    PairItem,
    TableAttributes,
    TableItem,
    TableRecord,
    TextAttributes,
    TextItem,
    TextRecord,
    UnreadRecord,
)

# The only recognised language.
LANGUAGE: Final = "English"
# The box of a key or value that is not on the page. See contract, section 6.
_NOWHERE = BoundingBoxRecord(1, 1, 1, 1)
_RECORDS: Mapping[str, Any] = {
    TEXT: TextRecord,
    CONTACT: ContactRecord,
    TABLE: TableRecord,
    FORM: FormRecord,
}


@dataclass(frozen=True, slots=True)
class _Block:
    """The id and name that a key-value pair or a table has within one answer."""

    block_id: int
    """Number, unique in the answer, from 1. Pairs are numbered first, then tables."""
    name: str = ""
    """Name of the table, unique in the answer; "" for a pair."""
    count: str = ""
    """Number of tables in the answer, as text; "" for a pair."""


def ocr_answer(
    task: str,
    result: DocumentFindings,
    sample_id: str | UnsetType = UNSET,
    table_id: Callable[[int], UUID] = lambda _: uuid4(),
) -> OcrRecord:
    """Return the record of the OCR answer for a document.

    `table_id` returns an id for a table without a name, given the table's number.
    """
    blocks = _blocks(result.findings, table_id)
    items = [
        _item(task, finding, blocks.get(place)) for place, finding in enumerate(result.findings)
    ]
    record: OcrRecord = _RECORDS[task](task, items, sample_id=sample_id)
    if result.pages is not None:
        record.pages = [
            PageRecord(one.number, one.width, one.height, one.image or UNSET)
            for one in result.pages
        ]
    if result.form_widgets is not None:
        record.form_fields = [_form_field(one) for one in result.form_widgets]
    if result.notes is not None and not isinstance(record, ContactRecord):
        record.page_notes = [
            PageNoteRecord(note.page_number, note.code, note.message) for note in result.notes
        ]
    if isinstance(record, TextRecord):
        record.document = UNSET if result.text is None else result.text
        record.unread = UNSET if result.unread is None else [_unread(one) for one in result.unread]
    return record


def _form_field(place: PlacedWidget) -> FormFieldRecord:
    """Return the record of a form field that the PDF itself defines."""
    widget = place.widget
    checked = UNSET if widget.checked is None else widget.checked
    return FormFieldRecord(
        widget.name, widget.kind, widget.value, place.page_number, box(place.box), checked
    )


def _unread(place: UnreadBox) -> UnreadRecord:
    """Return the record of a box with text that was detected but not recognised."""
    return UnreadRecord(box(place.box), place.page_number)


def _blocks(findings: Sequence[Finding], table_id: Callable[[int], UUID]) -> dict[int, _Block]:
    """Return numbers and names for all pairs and tables, by index in `findings`."""
    places = range(len(findings))
    pairs = [place for place in places if isinstance(findings[place].item, FormField)]
    blocks = {place: _Block(number) for number, place in enumerate(pairs, 1)}
    tables = [
        (place, finding.item)
        for place, finding in enumerate(findings)
        if isinstance(finding.item, TableBlock)
    ]
    names = _names((table for _, table in tables), table_id)
    for number, (place, table) in enumerate(tables, len(pairs) + 1):
        blocks[place] = _Block(number, names[table.number], str(len(names)))
    return blocks


def _names(tables: Iterable[TableBlock], table_id: Callable[[int], UUID]) -> dict[int, str]:
    """Return the name of each table by its number.

    A table without a name gets a name made of its number and an id.
    """
    names = {table.number: table.table.name for table in tables}
    # The id keeps unnamed tables of several documents apart.
    return {number: name or f"table{number}_{table_id(number)}" for number, name in names.items()}


def _item(task: str, finding: Finding, block: _Block | None) -> Any:
    item = finding.item
    if isinstance(item, TextLine):
        attributes = TextAttributes(finding.page_number)
        if finding.place is not None:
            attributes.block = finding.place.block
            attributes.line = finding.place.line
            attributes.order = finding.place.order
        attributes.role = finding.role or UNSET
        return TextItem(finding.probability, item.text, box(finding.box), attributes)
    if isinstance(item, Contact):
        tagged = ContactAttributes(item.tag, finding.page_number)
        return ContactItem(finding.probability, item.text, box(finding.box), tagged)
    if block is None:
        raise TypeError(f"Nothing is known to describe {type(item).__name__}.")
    if isinstance(item, FormField):
        return _pair(finding, item, block)
    return _table(task, finding, block)


def box(place: PixelBox) -> BoundingBoxRecord:
    """Return the record of a box in pixels."""
    return BoundingBoxRecord(place.min_x, place.min_y, place.max_x, place.max_y)


def _pair(finding: Finding, field: FormField, block: _Block) -> PairItem:
    """Return the record of a key and its value."""
    view = finding.view
    attributes = PairAttributes(
        block_id=block.block_id,
        key=FieldPart(field.entity, field.key_text, _part_box(view, field.key_box)),
        value=FieldPart(field.entity, field.value_text, _part_box(view, field.value_box)),
        language=LANGUAGE,
        page_number=finding.page_number,
        normalized_text=UNSET if field.normalized is None else field.normalized,
        role=finding.role or UNSET,
    )
    if finding.is_ticked is not None:
        attributes.value.checked = finding.is_ticked
    return PairItem(finding.probability, "key-value", box(finding.box), attributes)


def _part_box(view: ReadPage, rect: Rect | None) -> BoundingBoxRecord:
    """Return the record of the box of a key or value; 1, 1, 1, 1 without a box."""
    return _NOWHERE if rect is None else box(view.answer_box(rect))


def _table(task: str, finding: Finding, block: _Block) -> TableItem | FormTableItem:
    """Return the record of a table, in the form that the task needs."""
    found: Any = finding.item
    cells = [_cell(finding.view, found, number) for number in range(len(found.table.table.cells))]
    attributes = TableAttributes(
        block.name, block.count, cells, finding.page_number, block.block_id, finding.role or UNSET
    )
    if task == FORM:
        return FormTableItem(finding.probability, "table", box(finding.box), attributes)
    label = found.table.table.text
    return TableItem(finding.probability, label, box(finding.box), attributes)


def _cell(view: ReadPage, block: TableBlock, number: int) -> CellRecord:
    named, normalized = block.table, block.normalized[number]
    cell, entity = named.table.cells[number], named.cell_entities[number]
    return CellRecord(
        bounding_box=box(view.answer_box(cell.box)),
        text=cell.text,
        probability=shown_probability(cell.probability),
        cell_location=CellPlace(cell.row, cell.column),
        row_cell_location=_line(cell, cell.row, named.row_entities, "rowHeader"),
        col_cell_location=_line(cell, cell.column, named.column_entities, "columnHeader"),
        entity=UNSET if entity is None else entity,
        cell_type=cell.kind,
        normalized_text=UNSET if normalized is None else normalized,
    )


def _line(cell: Cell, index: int, entities: Mapping[int, str], header: str) -> CellLine:
    """Return the record of the row that contains a cell, or of the column.

    The record has the number `index` of the row or column, and its entity in `entities`, which
    comes from its header. For a cell that is itself such a header (of the kind `header`), the
    record has no entity.
    """
    entity = None if cell.kind == header else entities.get(index)
    return CellLine(index, UNSET if entity is None else entity)
