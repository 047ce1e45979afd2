"""Finds header cells, and recognises labels and numbers."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain.documents.findings import COLUMN_HEADER, NORMAL, ROW_HEADER
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.grid import FilledGrid, Slot, text_of

# Currency signs that may be printed far from their amounts.
SIGNS = frozenset("$€£¥")


def is_wordy(text: str) -> bool:
    """Return whether a text is long enough to be a line of running text."""
    letters = sum(character.isalpha() for character in text)
    is_long = len(text.split()) >= settings.PROSE_WORDS
    return is_long and letters > 0.5 * len(text.replace(" ", ""))


def is_numeric(text: str) -> bool:
    """Return whether a text is a number, amount, percentage, range or placeholder such as a dash.

    Identifiers that begin with letters, such as `UD-557`, are not numeric.
    """
    digits = sum(character.isdigit() for character in text)
    letters = sum(character.isalpha() for character in text)
    if not letters:
        return text != ""
    first = next(character for character in text if character.isalnum())
    return digits > letters and (first.isdigit() or text.split()[0].isalpha())


def is_value(text: str) -> bool:
    """Return whether a text is numeric, but not a year, which may be a column header."""
    is_year = len(text) == 4 and text.isdigit() and text[:2] in ("18", "19", "20", "21")
    return is_numeric(text) and not is_year


def are_numeric(texts: Sequence[str]) -> bool:
    """Return whether at least half of the texts are numeric; True for no texts."""
    return 2 * sum(map(is_numeric, texts)) >= len(texts)


def kinds(filled: FilledGrid) -> tuple[str, ...]:
    """Return the kind of each cell: columnHeader, rowHeader or normal."""
    slots = filled.grid.slots
    texts = [text_of(lines) for lines in filled.texts]
    head = _head_rows(slots, texts)
    is_first_named = _first_column_names(slots, texts, head)
    return tuple(
        COLUMN_HEADER
        if slot.row < head
        else ROW_HEADER
        if is_first_named and slot.column == 0 and text
        else NORMAL
        for slot, text in zip(slots, texts, strict=True)
    )


def _head_rows(slots: Sequence[Slot], texts: Sequence[str]) -> int:
    """Return the number of header rows, 0 if there is no header.

    The rows that the network marked are used. If there are none, or too many, the header is
    determined from cells that span rows or columns, and from the contrast of words and numbers.
    """
    rows = max((slot.rows.stop for slot in slots), default=0)
    predicted = max((slot.rows.stop for slot in slots if slot.is_head), default=0)
    if predicted and 2 * predicted <= max(2, rows):
        return predicted
    if rows < 2:
        return 0
    spanned = max((slot.rows.stop for slot in slots if slot.row == 0), default=1)
    head = spanned if 2 * spanned <= rows else 1
    while 2 * head < rows and _spans_columns(slots, texts, head - 1):
        head += 1
    return head if _contrasts(slots, texts, head) else 0


def _spans_columns(slots: Sequence[Slot], texts: Sequence[str], row: int) -> bool:
    own = [n for n, slot in enumerate(slots) if slot.row == row]
    return len(own) > 1 and any(slots[n].column_span > 1 and texts[n] for n in own)


def _contrasts(slots: Sequence[Slot], texts: Sequence[str], head: int) -> bool:
    """Return whether at least half of the texts in the first `head` rows are words or years."""
    top = [text for slot, text in zip(slots, texts, strict=True) if slot.row < head and text]
    return bool(top) and 2 * sum(map(is_value, top)) <= len(top)


def _first_column_names(slots: Sequence[Slot], texts: Sequence[str], head: int) -> bool:
    columns: dict[int, list[str]] = {}
    for slot, text in zip(slots, texts, strict=True):
        if slot.row >= head and text and slot.column_span == 1:
            columns.setdefault(slot.column, []).append(text)
    first = columns.pop(0, [])
    numeric = sum(map(are_numeric, columns.values()))
    return len(first) > 1 and not are_numeric(first) and 0 < len(columns) <= 2 * numeric
