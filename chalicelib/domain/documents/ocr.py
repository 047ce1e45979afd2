"""Requests and findings of OCR. See contract section 6."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chalicelib.domain.documents.characters import DOCUMENTED
from chalicelib.domain.documents.findings import Contact, FormField, NamedTable, Table
from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.domain.documents.form_widgets import PlacedWidget
from chalicelib.domain.documents.layout import (
    BODY,
    MARKDOWN,
    NOWHERE,
    ReadingPlace,
    Role,
    WrittenBlock,
)
from chalicelib.domain.documents.page import PageNote, ReadPage, Rect, TextLine, around
from chalicelib.domain.documents.picture import PixelBox

TEXT: Final = "text"
TABLE: Final = "table"
CONTACT: Final = "contact"
FORM: Final = "form"
# A text counts as the key if its score is at least this fraction of the best page's score, so that
# a page that merely mentions the key is ignored.
_KEY_SHARE = 0.6
# OCR tasks, the default first.
TASKS = (TEXT, TABLE, CONTACT, FORM)


@dataclass(frozen=True, slots=True)
class OcrRequest:
    """Options of an OCR call."""

    task: str
    """One of TASKS."""
    template: FormTemplate | None = None
    """The keys and header cells to find. Set only for the task FORM."""
    links_tables: bool = False
    """Whether the parts of a table on several pages get one table number and consecutive rows."""
    alphabet: str = DOCUMENTED
    """One of ALPHABETS: the characters that recognised text may have."""
    layout: bool = False
    """Whether to return roles and page notes; for TEXT also reading order and unread areas."""
    output: str | None = None
    """Format of the whole text for the task TEXT, one of OUTPUTS; None to leave out this text."""
    has_pages: bool = False
    form_fields: bool = False
    """Whether the interactive form fields of a PDF are returned."""
    page_images: bool = False
    """Whether the pages of a PDF are returned as images."""
    page_furniture: bool = False
    """Whether Markdown output contains the headers and footers of pages."""

    @property
    def has_roles(self) -> bool:
        """Return whether the request asks for the roles of items and for page notes."""
        return self.layout and self.task in (TEXT, TABLE, FORM)

    @property
    def needs_pixels(self) -> bool:
        """Return whether the request needs the page's image even if the page has a text layer."""
        return self.finds_tables or (self.task == TEXT and self.output == MARKDOWN)

    @property
    def finds_tables(self) -> bool:
        """Return whether the request needs tables."""
        return self.task == TABLE or (self.template is not None and self.template.finds_tables)


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table of the answer, with the normalized values of its cells."""

    table: NamedTable
    normalized: tuple[str | None, ...]
    """For each cell, the U.S. address in it as a JSON object; None for a cell without an address.
    """
    number: int
    """Number of the table in the document, from 1. Parts of one table share a number."""


Item = TextLine | Contact | FormField | Table | TableBlock


@dataclass(frozen=True, slots=True)
class Finding:
    """One item of an answer, with its page and its position on the page."""

    view: ReadPage
    """The page that contains the item, without its pixels and lines."""
    position: int
    """Index of the item among the findings of the page, in reading order, from 0."""
    item: Item
    place: ReadingPlace | None = None
    """Position in the reading order of the whole document, if requested."""
    role: Role | None = None
    """Role of the text on its page, such as a heading; None if not requested."""
    is_ticked: bool | None = None
    """Whether the tick box in a form field is ticked; None if the field has no tick box."""

    @property
    def page_number(self) -> int:
        """Return the page number, from 1."""
        return self.view.page.number

    @property
    def probability(self) -> float:
        """Return the probability of the item, 0 to 1, rounded as in answers."""
        item = self.item.table.table if isinstance(self.item, TableBlock) else self.item
        return shown_probability(item.probability)

    @property
    def box(self) -> PixelBox:
        """Return the box of the item, in pixels of the page as displayed."""
        return self.view.answer_box(place_of(self.item))


@dataclass(frozen=True, slots=True)
class PageFindings:
    """Everything that was found on one page."""

    findings: tuple[Finding, ...]
    """Findings in reading order. Their `place` is the position within the page."""
    view: ReadPage
    """The page, without its pixels and lines."""
    unread: tuple[Rect, ...]
    """Boxes of text that was detected but not recognised."""
    blocks: tuple[WrittenBlock, ...]
    """The blocks of the page's text, if requested."""
    image: bytes | None = None
    """The page as a JPEG file, if requested."""
    notes: tuple[PageNote, ...] = ()
    """Notes on what may be missing in the answer."""

    @property
    def size(self) -> PageSize:
        """Return the size of the page in the answer."""
        return PageSize(self.view.page.number, *self.view.page.answer_size)

    @property
    def unread_boxes(self) -> list[UnreadBox]:
        """Return the boxes of text that was detected but not recognised, from top to bottom."""
        places = sorted(self.unread, key=lambda rect: (rect.min_y, rect.min_x))
        number = self.view.page.number
        return [UnreadBox(self.view.answer_box(place), number) for place in places]


@dataclass(frozen=True, slots=True)
class UnreadBox:
    """A box around text that was detected but not recognised."""

    box: PixelBox
    """The box, in pixels as the API returns them."""
    page_number: int
    """Number of the page, from 1."""


@dataclass(frozen=True, slots=True)
class PageSize:
    """The number of a page, and the size at which the page is displayed."""

    number: int
    """Number of the page, from 1."""
    width: int
    """Width in pixels, as the API returns it."""
    height: int
    """Height in pixels, as the API returns it."""
    image: str | None = None
    """Presigned URL of the page's image, if requested."""


@dataclass(frozen=True, slots=True)
class DocumentFindings:
    """Everything that was found in a document."""

    findings: tuple[Finding, ...]
    unread: tuple[UnreadBox, ...] | None = None
    """Boxes of text that was detected but not recognised; None if not requested."""
    text: str | None = None
    pages: tuple[PageSize, ...] | None = None
    form_widgets: tuple[PlacedWidget, ...] | None = None
    """The interactive form fields of the PDF; None if not requested."""
    notes: tuple[PageNote, ...] | None = None
    """Notes on pages, if requested."""


def numbered_through(pages: Iterable[PageFindings]) -> list[Finding]:
    """Return the findings of all pages, with `place` changed to positions in the document."""
    found: list[Finding] = []
    last = NOWHERE
    for page in pages:
        places = [each.place.after(last) for each in page.findings if each.place is not None]
        if len(places) == len(page.findings):
            found += [replace(e, place=p) for e, p in zip(page.findings, places, strict=True)]
        else:
            found += page.findings
        if places:
            last = ReadingPlace(
                max(place.block for place in places),
                max(place.line for place in places),
                max(place.order for place in places),
            )
    return found


def with_tick(finding: Finding) -> Finding:
    """Return the finding of a form field with the state of its tick box: ticked or not.

    Without a text, the value is the tick box. A finding without a tick box is returned unchanged.
    """
    item = finding.item
    if not isinstance(item, FormField) or (tick := item.tick) is None:
        return finding
    if item.value_box is None:
        item = replace(item, value_text=tick.value, value_box=tick.rect)
    return replace(finding, item=item, is_ticked=tick.is_ticked)


def with_roles(page: PageFindings, roles: Sequence[Role]) -> PageFindings:
    """Give each finding of a page the role of the block that contains it."""
    special = [
        (block.box, role)
        for block, role in zip(page.blocks, roles, strict=True)
        if role != BODY and block.box is not None
    ]
    return replace(
        page, findings=tuple(replace(each, role=_role(each, special)) for each in page.findings)
    )


def _role(finding: Finding, special: Sequence[tuple[Rect, Role]]) -> Role:
    own = place_of(finding.item)
    return next((role for box, role in special if box.overlap(own) > own.area / 2), BODY)


def shown_probability(value: float) -> float:
    """Clip a probability to the range 0 to 1 and round it to six digits."""
    return round(min(1.0, max(0.0, float(value))), 6)


def place_of(item: Item) -> Rect:
    """Return the smallest rectangle that contains all parts of an item."""
    if isinstance(item, TableBlock):
        return item.table.table.box
    if isinstance(item, FormField):
        return around(box for box in (item.key_box, item.value_box) if box is not None)
    return item.box


def without_content(page: ReadPage) -> ReadPage:
    """Return a page without its pixels and lines, to free their memory."""
    return replace(
        page, page=replace(page.page, pixels=None, layer=None), pixels=None, lines=(), unread=()
    )


def count_line_words(lines: Iterable[TextLine]) -> int:
    """Count the words in lines, by the rules of the word limit for images."""
    return sum(len(line.text.split()) for line in lines)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by descending probability, then by page, then by reading order."""
    return tuple(
        sorted(findings, key=lambda item: (-item.probability, item.page_number, item.position))
    )


def best_fields(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return, for each entity, the best of the form fields on all pages.

    Fields are compared by these criteria, in this order: whether the key matches well; whether
    there is a value; `fit`, or the probability if there is no `fit`; and the page number.
    """
    every = list(findings)
    scores: dict[str, float] = {}
    for each in every:
        if isinstance(each.item, FormField):
            scores[each.item.entity] = max(each.item.key_score, scores.get(each.item.entity, 0.0))
    best: dict[str, tuple[tuple[bool, bool, float, int], Finding]] = {}
    for finding in every:
        if not isinstance(finding.item, FormField):
            continue
        fit = finding.probability if finding.item.fit is None else finding.item.fit
        is_key = finding.item.key_score >= _KEY_SHARE * scores[finding.item.entity]
        rank = (is_key, bool(finding.item.value_text), fit, -finding.page_number)
        former = best.get(finding.item.entity)
        if former is None or rank > former[0]:
            best[finding.item.entity] = rank, finding
    return tuple(finding for _, finding in best.values())


def in_reading_order(items: Iterable[Item]) -> list[Item]:
    """Sort items row by row from top to bottom, and within a row from left to right.

    An item belongs to a row if its centre is above the bottom of the row's first item.
    """
    rows: list[list[tuple[Rect, Item]]] = []
    placed = [(place_of(item), item) for item in items]
    for rect, item in sorted(placed, key=lambda pair: pair[0].center[1]):
        if not rows or rect.center[1] > rows[-1][0][0].max_y:
            rows.append([])
        rows[-1].append((rect, item))
    return [item for row in rows for _, item in sorted(row, key=lambda pair: pair[0].min_x)]
