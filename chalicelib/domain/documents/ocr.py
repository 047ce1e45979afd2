"""What reading a document is asked for, and what is found in it. Contract section 6.

Found by chalicelib/engines/ocr, put together by a service, described for the wire by
chalicelib/web/records/describe_ocr.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from chalicelib.domain.documents.characters import DOCUMENTED
from chalicelib.domain.documents.findings import Contact, FormField, NamedTable, Table
from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.domain.documents.layout import MARKDOWN, NOWHERE, ReadingPlace, WrittenBlock
from chalicelib.domain.documents.page import ReadPage, Rect, TextLine, around
from chalicelib.domain.documents.picture import PixelBox

TEXT: Final = "text"
TABLE: Final = "table"
CONTACT: Final = "contact"
FORM: Final = "form"
# How much a text stands as a key does at the least, as a share of what it does on another page.
_KEY_SHARE = 0.6
# Kinds of findings that can be asked for, the default first.
TASKS = (TEXT, TABLE, CONTACT, FORM)


@dataclass(frozen=True, slots=True)
class OcrRequest:
    """What a call asks for."""

    task: str
    """One of TASKS."""
    template: FormTemplate | None = None
    """What to look for; there is one if and only if the task is FORM."""
    links_tables: bool = False
    """Whether the parts of one table on several pages are answered as one."""
    alphabet: str = DOCUMENTED
    """One of ALPHABETS: the letters that recognised text may have."""
    layout: bool = False
    """Whether items of task TEXT tell their block, line and order, and what was not read."""
    output: str | None = None
    """One of OUTPUTS: how the whole text is written for task TEXT; None leaves it out."""
    has_pages: bool = False
    """Whether the sizes of the pages are told."""

    @property
    def needs_pixels(self) -> bool:
        """Whether a page's text layer is not enough."""
        return self.finds_tables or (self.task == TEXT and self.output == MARKDOWN)

    @property
    def finds_tables(self) -> bool:
        """Whether tables are looked for."""
        return self.task == TABLE or (self.template is not None and self.template.finds_tables)


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table with everything that an answer says about its cells."""

    table: NamedTable
    """The table and the names that headers give."""
    normalized: tuple[str | None, ...]
    """For each cell: the address it holds, as a JSON object; None for anything else."""
    number: int
    """Its place among the tables of the document, from 1; parts of one table share it."""


Item = TextLine | Contact | FormField | Table | TableBlock


@dataclass(frozen=True, slots=True)
class Finding:
    """One item of an answer, and where it is."""

    view: ReadPage
    """The page it was found on, without its pixels and lines."""
    position: int
    """Its place among the findings of that page, in reading order, from 0."""
    item: Item
    """What was found, in the coordinates of the page."""
    place: ReadingPlace | None = None
    """Where it is in the reading of the whole document, when that was asked for."""

    @property
    def page_number(self) -> int:
        """Number of the page, from 1."""
        return self.view.page.number

    @property
    def probability(self) -> float:
        """How sure it is, 0 to 1, rounded as answers show it."""
        item = self.item.table.table if isinstance(self.item, TableBlock) else self.item
        return shown_probability(item.probability)

    @property
    def box(self) -> PixelBox:
        """Where it is, in pixels of the answer."""
        return self.view.answer_box(place_of(self.item))


@dataclass(frozen=True, slots=True)
class PageFindings:
    """What was found on one page."""

    findings: tuple[Finding, ...]
    """In reading order; their places count from the beginning of the page."""
    view: ReadPage
    """The page, without its pixels and lines."""
    unread: tuple[Rect, ...]
    """Where text was found but not read."""
    blocks: tuple[WrittenBlock, ...]
    """What the text is written from, when that was asked for."""

    @property
    def size(self) -> PageSize:
        """How large the page is."""
        return PageSize(self.view.page.number, *self.view.page.answer_size)

    @property
    def unread_boxes(self) -> list[UnreadBox]:
        """Where text was found but not read, from the top."""
        places = sorted(self.unread, key=lambda rect: (rect.min_y, rect.min_x))
        number = self.view.page.number
        return [UnreadBox(self.view.answer_box(place), number) for place in places]


@dataclass(frozen=True, slots=True)
class UnreadBox:
    """Where text was found but not read."""

    box: PixelBox
    """In pixels of the answer."""
    page_number: int
    """From 1."""


@dataclass(frozen=True, slots=True)
class PageSize:
    """How large a page is that was read."""

    number: int
    """From 1."""
    width: int
    """Width as displayed, in pixels of the answer."""
    height: int
    """Height as displayed, in pixels of the answer."""


@dataclass(frozen=True, slots=True)
class DocumentFindings:
    """What was found in a document."""

    findings: tuple[Finding, ...]
    """The surest first."""
    unread: tuple[UnreadBox, ...] | None = None
    """Where text was found but not read, when that was asked for."""
    text: str | None = None
    """The whole text, when that was asked for."""
    pages: tuple[PageSize, ...] | None = None
    """Sizes of all pages, when they were asked for."""


def numbered_through(pages: Iterable[PageFindings]) -> list[Finding]:
    """Return the findings of all pages; their places count through the document."""
    found: list[Finding] = []
    last = NOWHERE
    for page in pages:
        places = [each.place.behind(last) for each in page.findings if each.place is not None]
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


def shown_probability(value: float) -> float:
    """Bring a probability into 0 to 1, with six digits."""
    return round(min(1.0, max(0.0, float(value))), 6)


def place_of(item: Item) -> Rect:
    """Return the rectangle of an item: the union of those that it really has."""
    if isinstance(item, TableBlock):
        return item.table.table.box
    if isinstance(item, FormField):
        return around(box for box in (item.key_box, item.value_box) if box is not None)
    return item.box


def without_content(page: ReadPage) -> ReadPage:
    """Return what leads from a page to its answer, and let pixels and lines go."""
    return replace(
        page, page=replace(page.page, pixels=None, layer=None), pixels=None, lines=(), unread=()
    )


def count_line_words(lines: Iterable[TextLine]) -> int:
    """Count words as the limit of a picture does."""
    return sum(len(line.text.split()) for line in lines)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort by probability, descending, equal ones by page and in reading order."""
    return tuple(
        sorted(findings, key=lambda item: (-item.probability, item.page_number, item.position))
    )


def best_fields(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Keep one field of each entity: with a value, then where the key fits best, then the first.

    A page that merely mentions the key does not count beside one where it stands as keys do.
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
        kept = best.get(finding.item.entity)
        if kept is None or rank > kept[0]:
            best[finding.item.entity] = rank, finding
    return tuple(finding for _, finding in best.values())


def in_reading_order(items: Iterable[Item]) -> list[Item]:
    """Sort items by rows, each from left to right.

    An item belongs to a row when its middle is above the bottom of the row's first item.
    """
    rows: list[list[tuple[Rect, Item]]] = []
    placed = [(place_of(item), item) for item in items]
    for rect, item in sorted(placed, key=lambda pair: pair[0].center[1]):
        if not rows or rect.center[1] > rows[-1][0][0].max_y:
            rows.append([])
        rows[-1].append((rect, item))
    return [item for row in rows for _, item in sorted(row, key=lambda pair: pair[0].min_x)]
