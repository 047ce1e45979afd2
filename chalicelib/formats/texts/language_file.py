"""Reads the rows of a text upload: CSV, TSV, a JSON array or JSON lines.

The limits are in the specification (Limits), the formats in section 5 of the API contract.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import BinaryIO, NamedTuple, TextIO

from chalicelib.domain.common.limits import (
    MAX_DATASET_EXAMPLES,
    MAX_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
)
from chalicelib.domain.datasets.dataset import SENTIMENTS
from chalicelib.domain.datasets.label_names import INVISIBLE, is_visible, normal_form
from chalicelib.domain.datasets.upload_format import RECOGNISED, XLSX
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.delimited import (
    drop_empty_end,
    read_records,
)
from chalicelib.formats.texts.encoding import open_text
from chalicelib.formats.texts.json_records import CutValue, read_values
from chalicelib.formats.texts.json_shapes import ObjectFault
from chalicelib.formats.texts.layout import DELIMITER_NAMES, TextLayout
from chalicelib.formats.texts.recognition import recognise

_CHECK_ROWS = 1_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class TextRow(NamedTuple):
    """A row that can become an example."""

    number: int
    """Number of the row from 1, as in a spreadsheet, or of the object in JSON."""
    text: str
    """Text as sent: 1 to 20,000 characters, not only white space."""
    label: str
    """Label, trimmed and cut to 180 characters; in lower case for sentiments."""
    full_label: str
    """Label as in `label`, but not cut."""


class RejectedRow(NamedTuple):
    """A row that cannot become an example."""

    row: int
    """Number of the row, counted like `TextRow.number`."""
    reason: str
    """What is wrong, with limit, value and what to do, for the receipt."""
    is_missing: bool = False
    """Whether the row was rejected because its label stands for a missing value."""


def make_row(number: int, text: str, label: str, *, sentiment: bool) -> TextRow | RejectedRow:
    """Check a text and a label by all rules for examples.

    Args:
        number: number of the row.
        text: the text as the user sent it.
        label: the label as the user sent it. It is trimmed here.
        sentiment: whether only positive, negative and neutral are valid labels.

    Returns:
        A valid row, or the reason why it is rejected.
    """
    text = text.removesuffix("\r")
    full_label = normal_form(label)
    reason = _find_text_fault(text) or _find_label_fault(full_label)
    if not reason and sentiment:
        full_label = full_label.lower()
        if full_label not in SENTIMENTS:
            shown = _shorten(label.strip())
            reason = (
                f'the label is "{shown}"; use positive, negative or neutral, or upload the file '
                "as type text-intent, which takes any label."
            )
    if reason:
        return RejectedRow(number, reason)
    if len(full_label) <= MAX_NAME_CHARACTERS:
        return TextRow(number, text, full_label, full_label)
    return TextRow(number, text, full_label[:MAX_NAME_CHARACTERS].rstrip(), full_label)


def _find_text_fault(text: str) -> str:
    if not text or text.isspace():
        return "the text is missing; give each row a text and a label."
    if len(text) > MAX_TEXT_CHARACTERS:
        line_count = text.count("\n") + 1
        hint = f" It spans {line_count:,} lines: is its quote closed?" if line_count > 1 else ""
        return (
            f"the text has {len(text):,} characters, the limit is {MAX_TEXT_CHARACTERS:,}; "
            f"shorten it or split it into several rows.{hint}"
        )
    if "\x00" in text:
        return "the text holds a NUL character; remove it."
    if not text.isascii() and _SURROGATE.search(text):
        return "the text holds half of a surrogate pair; save the file as UTF-8 again."
    return ""


@lru_cache(maxsize=1024)
def _find_label_fault(label: str) -> str:
    if not label:
        return "the label is missing; give each row a text and a label."
    control = _CONTROL.search(label)
    if control:
        code = ord(control.group())
        return f"the label holds the control character U+{code:04X}; remove it."
    if not label.isascii() and _SURROGATE.search(label):
        return "the label holds half of a surrogate pair; save the file as UTF-8 again."
    if not label.isascii() and not is_visible(label):
        return f"{INVISIBLE} Write a name that can be read."
    return ""


def _shorten(value: str) -> str:
    shown = value if len(value) <= 40 else f"{value[:40]}…"
    return shown.encode("utf-8", "replace").decode()


class LabelMerges:
    """Finds different labels that become equal when they are cut to 180 characters.

    Add all rows in a first pass over the file, and check each row in a second pass.
    """

    def __init__(self) -> None:
        self._full_labels: dict[str, str] = {}
        self._merged: set[str] = set()

    def add(self, row: TextRow) -> None:
        """Record the label of a row. The memory depends only on the number of different labels."""
        known = self._full_labels.setdefault(row.label, row.full_label)
        if known != row.full_label:
            self._merged.add(row.label)

    def find_rejection(self, row: TextRow) -> RejectedRow | None:
        """Return a rejection if another label has the same first 180 characters; otherwise None."""
        if row.label not in self._merged:
            return None
        return RejectedRow(
            row.number,
            f"the label has {len(row.full_label):,} characters and equals another one when cut "
            f"to {MAX_NAME_CHARACTERS}; make the labels differ in their first "
            f"{MAX_NAME_CHARACTERS} characters.",
        )


def read_rows(
    file: BinaryIO,
    *,
    sentiment: bool = False,
    layout: TextLayout | None = None,
    check: Callable[[], None] = lambda: None,
) -> Iterator[TextRow | RejectedRow]:
    """Yield the rows of an upload in the order of the file.

    Blank rows are skipped. Each other row becomes a TextRow or a RejectedRow. Memory is limited to
    one row of delimited text, or 3 million characters of JSON. See the specification, section
    Upload formats.

    Args:
        file: the upload, seekable; it is read from its start. It stays open, so that it can be read
            again after the last row. Only one iteration at a time is possible.
        sentiment: whether only positive, negative and neutral are valid labels.
        layout: How to read the file, from `recognise`; None to detect it.
        check: Called often, also while blank rows are skipped; may raise an error to stop.

    Yields:
        Rows and rejections. A row has a text of 1 to 20,000 characters and a label of 1 to 180.

    Raises:
        InvalidUpload: the file as a whole cannot be read, has no row except a header, or has more
            than 1,000,000 rows.
    """
    layout = layout or recognise(file, RECOGNISED)
    with open_text(file, layout.encoding) as stream:
        read = _read_json if layout.is_json else _read_delimited
        rows = read(stream, layout, sentiment, check)
        row_count = 0
        for row in rows:
            row_count += 1
            if row_count > MAX_DATASET_EXAMPLES:
                raise InvalidUpload(
                    f"The file has more than {MAX_DATASET_EXAMPLES:,} rows, the limit of a "
                    "dataset; split it into several datasets."
                )
            yield row
    if not row_count:
        raise InvalidUpload("The file has no rows. Send at least one text with its label.")


def _read_delimited(
    stream: TextIO, layout: TextLayout, sentiment: bool, check: Callable[[], None]
) -> Iterator[TextRow | RejectedRow]:
    """Yield the rows of delimited text, except blank rows and rows that the layout skips."""
    for record in read_records(stream, layout.delimiter):
        if record.number % _CHECK_ROWS == 0:
            check()
        # With `joins_cells`, the last cell can be the label. If it is empty, the label is missing.
        cells = record.cells if layout.joins_cells else drop_empty_end(record.cells)
        if record.number in layout.skipped or (
            len(cells) < 2 and not record.fault and not "".join(cells).strip()
        ):
            continue
        reason = record.fault or _find_row_fault(cells, layout)
        if reason:
            yield RejectedRow(record.number, reason)
            continue
        text, label = layout.pick(cells)
        yield make_row(record.number, text, label, sentiment=sentiment)


def _find_row_fault(cells: list[str], layout: TextLayout) -> str:
    count = len(cells)
    if layout.tool and count < 2:
        return "the utterance has no intent; give it one."
    if layout.kind == XLSX and count < 2:
        return (
            "the row has one cell; put text and label into two columns. Errors such as #N/A, and "
            "formulas whose results were not saved, are empty cells."
        )
    # The last cell is compared first, because it differs from the header in most rows.
    repeats = bool(layout.header) and cells[-1].strip() == layout.header[-1]
    if repeats and tuple(c.removeprefix("\ufeff").strip() for c in cells) == layout.header:
        return "the row repeats the header; remove it."
    if count >= 2 and layout.fits(cells):
        return ""
    name = DELIMITER_NAMES[layout.delimiter]
    if count < 2:
        return f"the row has one cell; separate text and label by a {name}."
    whole = "text and label are two" if layout.width == 2 else f"whole rows have {layout.width}"
    more = ", or name the other columns in the header" if layout.header else ""
    return (
        f"the row has {count:,} cells, {whole}; put a text that holds a {name} in double "
        f"quotes{more}."
    )


def _read_json(
    stream: TextIO, layout: TextLayout, sentiment: bool, check: Callable[[], None]
) -> Iterator[TextRow | RejectedRow]:
    number = 0
    try:
        for number, value in enumerate(read_values(stream), start=1):
            if number % _CHECK_ROWS == 0:
                check()
            yield _read_object(number, value, layout, sentiment)
    except CutValue:
        yield RejectedRow(number + 1, "the file ends inside this object; export the file again.")


def _read_object(
    number: int, value: object, layout: TextLayout, sentiment: bool
) -> TextRow | RejectedRow:
    try:
        text, label = layout.shape.pair(value)
    except ObjectFault as fault:
        return RejectedRow(number, str(fault))
    return make_row(number, text, label, sentiment=sentiment)
