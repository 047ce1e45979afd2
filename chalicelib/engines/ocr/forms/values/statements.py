"""Assigns the numbers of a pay statement to its row labels and column headers.

Pay statements have columns for the rate, the hours, the amount of the period and the sum of the
year. A row label's value is the amount of the period, even if another number is nearer. A row
label and a column header together can also be a key: "Overtime Hours".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.domain.documents.page import Rect, around
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.field_kinds import has_span
from chalicelib.engines.ocr.forms.fragments import FormFragment
from chalicelib.engines.ocr.forms.segments import LineSegment, is_level
from chalicelib.engines.ocr.forms.spelling import fold, tokens
from chalicelib.engines.ocr.kinds.span import WORD_LISTS

# Kinds of columns: rate per hour, hours, amount of the period, sum of the year.
RATE, COUNT, AMOUNT, SUM = "rate", "count", "amount", "sum"
_HEADERS = {kind: WORD_LISTS[f"column {kind}"].split(", ") for kind in (RATE, COUNT, AMOUNT, SUM)}
_KINDS = {fold(text): kind for kind, texts in _HEADERS.items() for text in texts}
# Headers of several words by their first and their second line.
_LINES = {
    (fold(" ".join(words[:at])), fold(" ".join(words[at:]))): kind
    for kind, texts in _HEADERS.items()
    for words in map(str.split, texts)
    for at in range(1, len(words))
}
_FIRST_LINES, _SECOND_LINES = map(set, zip(*_LINES, strict=True))
_TOTAL = "total"
_OF_YEAR = (fold("ytd"), fold("year to date"))
_NUMERIC = frozenset(("NUMBER", "CURRENCY"))


@dataclass(frozen=True, slots=True)
class _Header:
    kind: str
    rect: Rect


@dataclass(frozen=True, slots=True)
class Crossing:
    """A number in a table, found by its row label and its column header."""

    label: LineSegment
    """Label of the row."""
    fragment: int
    """Index of the number in the list of fragments."""


class StatementColumns:
    """The columns of a pay statement on a page; empty on other pages."""

    def __init__(self, segments: Sequence[LineSegment], fragments: Sequence[FormFragment]) -> None:
        """Find the column headers, if a row has headers of at least two kinds."""
        self._fragments = fragments
        known = [
            _Header(kind, segment.rect)
            for segment in segments
            if (kind := _KINDS.get(fold(segment.text)))
        ]
        known += _in_two_lines(segments)
        known = known if len(known) <= settings.MOST_ALIKE else []
        self._headers = [
            each
            for each in known
            if any(one.kind != each.kind and is_level(each.rect, one.rect) for one in known)
        ]
        self._labels: dict[str, list[LineSegment]] = {}
        for segment in segments if self._headers else ():
            self._labels.setdefault(fold(segment.text), []).append(segment)

    def own_number(self, label: Rect, text: str, types: Sequence[str]) -> tuple[bool, int | None]:
        """Find the number in a row that is the value of the row's label.

        It is the year-to-date sum if the label contains `YTD` or `year to date`. Otherwise it is
        the hours if the key's `types` contain NUMBER, and the amount of the period if not.

        Returns:
            Whether the row has numbers in known columns, and the index of the number; None if
            missing.
        """
        if not self._headers or (types and not set(types) & _NUMERIC):
            return False, None
        kinds = self._row(label)
        wanted = COUNT if "NUMBER" in types else AMOUNT
        if any(word in fold(text) for word in _OF_YEAR):
            wanted = SUM
        if set(kinds) == {SUM} and self._is_below_table(kinds[SUM]):
            wanted = SUM
        own = kinds.get(wanted)
        # A number that is near its label, in a column of another kind, is below the table.
        gaps = [self._fragments[each].segment.rect.min_x - label.max_x for each in kinds.values()]
        is_row = own is not None or min(gaps, default=0.0) > settings.FAR_GAP_HEIGHTS * label.height
        return is_row, own

    def crossings(self, key: TemplateKey) -> Iterator[Crossing]:
        """Yield the numbers whose row label and column header together are a key's text."""
        if not self._headers or not set(key.types) & _NUMERIC:
            return
        for variation in key.variations:
            words = [word.folded for word in tokens(variation)]
            for at in range(1, len(words)):
                first, last = "".join(words[:at]), "".join(words[at:])
                for column, row in ((first, last), (last, first)):
                    for label in self._labels.get(row, [])[: settings.MOST_BOX_ROWS]:
                        is_total = row == _TOTAL and self._is_titled(label.rect, column)
                        kind = AMOUNT if is_total else _KINDS.get(column)
                        numbers = self._row(label.rect) if kind else {}
                        # A lone amount in the column of the year may be below the table.
                        if kind in numbers and (kind != SUM or AMOUNT in numbers):
                            yield Crossing(label, numbers[kind])

    def _is_titled(self, row: Rect, title: str) -> bool:
        """Return whether the text `title` is in the nearest header line above a row."""
        return any(
            is_level(rect, header.rect)
            and abs(rect.min_x - row.min_x) < row.height
            and not any(rect.max_y < each.rect.min_y < row.min_y for each in self._headers)
            for rect in (label.rect for label in self._labels.get(title, ()))
            for header in self._headers
            if rect.min_y < row.min_y
        )

    def _row(self, label: Rect) -> dict[str, int]:
        """Return, by kind of column, the index of the number to the right of a row label."""
        found: dict[str, int] = {}
        rects = [fragment.segment.rect for fragment in self._fragments]
        # From the left, because the next table may have a row at the same height.
        for number in sorted(range(len(rects)), key=lambda each: rects[each].min_x):
            rect = rects[number]
            if rect.min_x < label.max_x - rect.height / 2 or not is_level(label, rect):
                continue
            kind = self._kind(rect)
            text = self._fragments[number].segment.text
            if kind and kind not in found and has_span(("NUMBER",), text):
                found[kind] = number
        return found

    def _is_below_table(self, number: int) -> bool:
        """Return whether the text above a number is too far away to belong to the same table."""
        rect = self._fragments[number].segment.rect
        top = rect.min_y - settings.PRINTED_LINE_GAP_HEIGHTS * rect.height
        others = (fragment.segment.rect for fragment in self._fragments)
        return not any(
            top < each.max_y < rect.center[1] and not _offset(rect, each) for each in others
        )

    def _kind(self, rect: Rect) -> str | None:
        """Return the kind of a number's column, by the nearest header above it, or None."""
        above = [
            each
            for each in self._headers
            if each.rect.center[1] < rect.min_y
            and _offset(rect, each.rect) < settings.HEADER_OFFSET_HEIGHTS * rect.height
        ]
        lowest = max((each.rect.center[1] for each in above), default=0.0)
        nearest = [each for each in above if each.rect.center[1] > lowest - rect.height]
        return min(nearest, key=lambda each: _offset(rect, each.rect)).kind if nearest else None


def _in_two_lines(segments: Sequence[LineSegment]) -> Iterator[_Header]:
    """Yield the column headers whose words are in two lines, one below the other."""
    uppers = [each for each in segments if fold(each.text) in _FIRST_LINES]
    lowers = [(each, second) for each in segments if (second := fold(each.text)) in _SECOND_LINES]
    for upper in uppers[: settings.MOST_ALIKE]:
        for lower, second in lowers[: settings.MOST_ALIKE]:
            kind = _LINES.get((fold(upper.text), second))
            gap = abs(lower.rect.min_y - upper.rect.max_y) / upper.height
            is_below = gap < settings.LINE_GAP_HEIGHTS and not _offset(lower.rect, upper.rect)
            if kind and is_below:
                yield _Header(kind, around((upper.rect, lower.rect)))


def _offset(rect: Rect, header: Rect) -> float:
    return max(0.0, rect.min_x - header.max_x, header.min_x - rect.max_x)
