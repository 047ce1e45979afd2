"""Extends values by further texts: words in the same line, and lines below."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isfinite, isinf

import numpy as np

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.addresses import normalized_address
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.caption_words import looks_like_label
from chalicelib.engines.ocr.forms.field_kinds import has_span, is_one_line, is_spaced
from chalicelib.engines.ocr.forms.fragments import UnmatchedText
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.rulings import PageRules
from chalicelib.engines.ocr.forms.segments import LineSegment, is_level
from chalicelib.engines.ocr.forms.values.by_top import ByTop
from chalicelib.engines.ocr.forms.values.candidates import (
    ADJACENT,
    BELOW,
    BOXED,
    INLINE,
    RIGHT,
    Candidate,
)
from chalicelib.engines.ocr.kinds.address import address_confidence
from chalicelib.engines.ocr.kinds.amounts import find_money, find_numbers
from chalicelib.engines.ocr.kinds.dates import find_dates
from chalicelib.engines.ocr.kinds.internet import find_mails
from chalicelib.engines.ocr.kinds.phone import find_phones
from chalicelib.engines.ocr.kinds.span import word_set

_FINDERS = (find_money, find_numbers, find_dates, find_phones, find_mails)
_OPEN_MARKS = (",", "-", "–", "&", "/", "(", "+")
_OPEN_WORDS = word_set("and or of the for with to in at by a an und et y de from on")
# A value ends after such an amount, because the next amount of the row is in another column.
_AMOUNT = re.compile(r"[-(]?[$€£]?\s?\d{1,3}(?:[.,]?\d{3})*[.,]\d\d\)?")


def is_amount(text: str) -> bool:
    """Return whether a text is one whole amount of money, with cents."""
    return _AMOUNT.fullmatch(text) is not None


def _kind(text: str) -> int | None:
    """Return the index of the finder in `_FINDERS` that matches a whole text; None if none does."""
    if is_amount(text):
        return 0
    length = len(text.strip(" .;"))
    finders = _FINDERS if len(text) <= settings.LONGEST_TYPED_CHARACTERS else ()
    kinds = (any(one.end - one.start >= length for one in find(text)) for find in finders)
    return next((kind for kind, is_whole in enumerate(kinds) if is_whole), None)


def continues(line: str, below: str, types: Sequence[str]) -> bool:
    """Return whether `below` continues the value in `line`: an address or an unfinished text."""
    text = line.rstrip()
    last = text.split()[-1:]
    return (
        "ADDRESS" in types
        or text.endswith(_OPEN_MARKS)
        or text.count("(") > text.count(")")
        or any(word.lower() in _OPEN_WORDS for word in last)
        or any(map(_is_street, (line, below)))
    )


def _is_street(text: str) -> bool:
    certainty = address_confidence(text[: settings.LONGEST_TYPED_CHARACTERS])
    return certainty >= settings.STREET_CERTAINTY


class Continuation:
    """Extends values by adjacent texts that belong to no other key."""

    def __init__(
        self,
        keys: Sequence[FoundKey],
        unmatched: UnmatchedText,
        rulings: PageRules,
        used: Iterable[int],
    ) -> None:
        """Index the texts of a page by position; `used` has the indexes of the texts of values."""
        self._fragments = unmatched.fragments
        self._rulings = rulings
        self._used = set(used)
        labels = [segment for key in keys for segment in key.segments]
        labels += unmatched.labels
        self._labels = ByTop([segment.rect for segment in labels], lambda rect: rect)
        self._texts = ByTop(range(len(self._fragments)), self._rect)
        self._right_edge = max((self._rect(one).max_x for one in self._texts.every), default=0.0)

    def extend(
        self, key: FoundKey, chosen: Candidate, types: Sequence[str], *, has_address: bool
    ) -> list[int]:
        """Return the indexes of all texts of a value, in reading order.

        Args:
            key: the key.
            chosen: first text of the value.
            types: entity types of the key.
            has_address: whether the template has another key for an address below the value.
        """
        segment, reach = self._segment(chosen.fragment), 0.0
        is_whole = is_amount(segment.text) or self._fragments[chosen.fragment].choice is not None
        if is_whole or (is_one_line(types) and has_span(types, segment.text)):
            return [chosen.fragment]
        if chosen.relation == RIGHT:
            gap = segment.rect.min_x - key.rect.max_x
            reach = min(settings.FAR_GAP_SHARE * gap, settings.FAR_GAP_HEIGHTS * segment.height)
        elif chosen.relation in {ADJACENT, BOXED}:
            reach = self._rest_of_box(key, segment.rect)
        end = segment.rect.max_x + reach if chosen.relation == BOXED else 0.0
        first = [chosen.fragment, *self._rest_of_line(chosen.fragment, reach, end)]
        if is_one_line(types):
            return first
        lines = [first]
        # Amounts, dates and numbers never have further lines.
        while len(lines) < settings.MOST_BOX_ROWS and self._kind_of(lines[-1]) is None:
            below = self._next_line(key, chosen, lines[-1], types)
            if below is None or (
                has_address
                and address_confidence(self._segment(below).text) >= settings.STREET_CERTAINTY
            ):
                break
            self._used.add(below)
            lines.append([below, *self._rest_of_line(below)])
        return [fragment for line in lines for fragment in line]

    def text_below(self, number: int, reach: float = settings.LINE_GAP_HEIGHTS) -> int | None:
        """Return the index of the nearest text at most `reach` text heights below a value's text.

        None if there is none, or if the nearest text is a label.
        """
        rect, height = self._rect(number), self._segment(number).height
        low = rect.max_y - settings.OVERLAP_HEIGHTS * height
        high = rect.max_y + reach * height
        # If a label and a text are at the same position, the label counts.
        texts = [(label, -1) for label in self._labels.between(low, high)]
        free = filter(self._is_free, self._texts.between(low, high))
        texts += [(self._rect(one), one) for one in free]
        column = [each for each in texts if rect.min_x - each[0].width < each[0].min_x < rect.max_x]
        below = min(((each.min_y, one) for each, one in column), default=(0.0, -1))[1]
        return None if below < 0 else below

    def heads_column(self, key: FoundKey, chosen: Candidate) -> bool:
        """Return whether a key is the header of a column, with at least three rows below.

        The rows have texts of the same kind and are equally far apart. In other layouts, the texts
        below a value may belong to another field.
        """
        kind = self._kind_of([chosen.fragment])
        rows = [chosen.fragment] if chosen.relation == BELOW and kind is not None else []
        for _ in rows[:1] * 2:
            below = self.text_below(rows[-1], settings.BELOW_HEIGHTS)
            if below is not None and below not in rows and self._kind_of([below]) == kind:
                rows.append(below)
        middles = [key.segments[-1].rect.center[1], *(self._rect(each).center[1] for each in rows)]
        slack = settings.OFF_LEVEL_HEIGHTS * key.height
        return bool(np.count_nonzero(abs(np.diff(middles, 2)) < slack) == 2)

    def _rest_of_box(self, key: FoundKey, value: Rect) -> float:
        """Return how far a value is from the right side of its box, in pixels.

        Return 0 if the box has more than one caption.
        """
        box = self._rulings.box(key.rect)
        inside = sum(map(box.has_center_of, self._labels.every))
        is_only = isfinite(box.area) and inside == len(key.segments)
        return box.max_x - value.max_x if is_only else 0.0

    def _kind_of(self, line: Sequence[int]) -> int | None:
        return _kind(" ".join(self._segment(fragment).text for fragment in line))

    def _rest_of_line(self, number: int, reach: float = 0.0, end: float = 0.0) -> list[int]:
        """Return the indexes of the next words of a line; gaps up to `reach` pixels are accepted.

        A ruled line before a word ends the line, unless the word ends left of x position `end`.
        """
        found: list[int] = []
        while (
            len(found) < settings.VALUE_FRAGMENTS
            and (following := self._next_word(number, reach, end)) is not None
        ):
            self._used.add(following)
            found.append(following)
            number = following
        return found

    def _next_word(self, number: int, reach: float, end: float) -> int | None:
        """Return the index of the next text in the line; None if a label or rule comes first."""
        segment = self._segment(number)
        rect, height = segment.rect, segment.height
        word_gap = settings.WORD_GAP_HEIGHTS * height
        near = [
            (self._rect(other).min_x, other)
            for other in self._texts.between(
                rect.min_y - settings.HIGHER_UP_HEIGHTS * height, rect.max_y
            )
            if self._is_free(other)
            and _continues_line(segment, self._segment(other), word_gap, reach)
            and not _is_caption(segment, self._segment(other))
            and not _is_speck(self._segment(other))
        ]
        if not near:
            return None
        start, other = min(near)
        is_labelled = any(
            rect.max_x - height < label.min_x < start for label in self._labels.level(rect)
        )
        is_near = self._rect(other).max_x < end or _is_comb(segment, self._segment(other))
        is_ruled = not is_near and self._rulings.between_columns(rect, self._rect(other))
        return None if is_labelled or is_ruled else other

    def _next_line(
        self, key: FoundKey, chosen: Candidate, line: Sequence[int], types: Sequence[str]
    ) -> int | None:
        """Return the index of the text that begins a value's next line; None at the end."""
        last = self._segment(line[0])
        begins = [(self._rect(chosen.fragment).min_x, False)]
        if chosen.relation in {INLINE, RIGHT}:
            begins.append((key.rect.min_x, True))
        is_full = self._is_full(line, min(key.rect.min_x, last.rect.min_x))
        near = [
            (self._rect(other).min_y, other, hangs)
            for other in self._texts.between(last.rect.min_y, last.rect.max_y + 2 * last.height)
            if other not in line
            for begin, hangs in begins
            if _follows(last, self._segment(other), begin)
            or (chosen.relation == BELOW and _is_centred(key.rect, last, self._segment(other)))
        ]
        if not near:
            return None
        _, other, hangs = min(near)
        texts = self._segment(line[-1]).text, self._segment(other).text
        is_address = normalized_address(", ".join(texts)) is not None
        is_placed = _is_centred(key.rect, last, self._segment(other)) or (
            chosen.relation in {ADJACENT, BOXED} and self._is_alone(key, last.rect, other)
        )
        is_captioned = key.has_colon and chosen.relation == BELOW
        is_captioned = is_captioned or not _is_alike(key.segments[-1], last)
        is_alike = not hangs and is_captioned and _is_alike(last, self._segment(other))
        is_alike = is_alike and "NAME" not in types and self._is_block(chosen, last)
        must_be_full = not (is_address or is_placed or is_alike) and (
            hangs or not continues(*texts, types)
        )
        is_end = (
            not self._is_free(other)
            or self._has_own_label(other, key, chosen)
            or (hangs and self._begins_row(other))
            or (must_be_full and not is_full)
            or self._is_parted(last, other)
        )
        return None if is_end else other

    def _is_alone(self, key: FoundKey, line: Rect, number: int) -> bool:
        """Return whether a line and the next one are in one closed box with no other caption."""
        box = self._rulings.box(line)
        labels = sum(map(box.has_center_of, self._labels.every))
        own = sum(box.has_center_of(segment.rect) for segment in key.segments)
        return isfinite(box.area) and labels == own and box.has_center_of(self._rect(number))

    def _is_parted(self, upper: LineSegment, number: int) -> bool:
        """Return whether a ruled line below a line of text ends the value.

        Ruled lines for handwriting do not end a value whose text ends with a comma.
        """
        box = self._rulings.box(upper.rect)
        is_open = isinf(box.min_x) and isinf(box.max_x)
        is_unfinished = is_open and upper.text.rstrip().endswith(_OPEN_MARKS)
        return not is_unfinished and bool(
            self._rulings.between_lines(upper.rect, self._rect(number))
        )

    def _has_own_label(self, number: int, key: FoundKey, chosen: Candidate) -> bool:
        """Return whether a line below a value belongs to a label on its left, not to the value."""
        rect = self._rect(number)
        left = self._labels.level(rect)
        if chosen.relation != BELOW:
            left += [
                self._rect(other)
                for other in self._texts.between(
                    rect.min_y - settings.HIGHER_UP_HEIGHTS * key.height, rect.max_y
                )
                if other != number
                and is_level(rect, self._rect(other))
                and self._rect(other).height <= 2 * rect.height
            ]
        return any(
            label.max_x <= rect.min_x + settings.OVERLAP_HEIGHTS * key.height
            and label.max_x > key.rect.min_x
            for label in left
        )

    def _is_block(self, chosen: Candidate, last: LineSegment) -> bool:
        """Return whether a value may be an address: it is short, and does not begin with a code."""
        first = self._segment(chosen.fragment)
        is_code = " " not in first.text and any(map(str.isdecimal, first.text))
        height = last.rect.max_y - first.rect.min_y
        return not is_code and 2 * height < settings.TALLEST_BOX_HEIGHTS * first.height

    def _begins_row(self, number: int) -> bool:
        """Return whether a text is followed by a wide gap and another text on the same line."""
        rect = self._rect(number)
        gap = settings.WORD_GAP_HEIGHTS * rect.height
        return any(
            self._rect(other).min_x > rect.max_x + gap and is_level(rect, self._rect(other))
            for other in self._texts.between(rect.min_y - rect.height, rect.max_y)
        )

    def _is_full(self, line: Sequence[int], begin: float) -> bool:
        """Return whether a line reaches nearly to the right edge of the page's text.

        A shorter line ends its paragraph.
        """
        last = self._segment(line[-1])
        is_long = last.rect.max_x - begin > settings.FULL_LINE_HEIGHTS * last.height
        is_half = continues(last.text, "", ())
        is_at_edge = last.rect.max_x > settings.FULL_LINE_SHARE * self._right_edge
        return (is_long or is_half) and is_at_edge

    def _is_free(self, number: int) -> bool:
        fragment = self._fragments[number]
        return number not in self._used and fragment.owner is None and not fragment.is_labelled

    def _segment(self, number: int) -> LineSegment:
        return self._fragments[number].segment

    def _rect(self, number: int) -> Rect:
        return self._fragments[number].segment.rect


def _is_caption(left: LineSegment, right: LineSegment) -> bool:
    """Return whether the text on the right looks like a caption and is not near the left text."""
    gap = right.rect.min_x - left.rect.max_x
    return gap > settings.CAPTION_GAP_HEIGHTS * left.height and looks_like_label(right.text)


def _is_speck(segment: LineSegment) -> bool:
    """Return whether a text is a single uncertain character, which may be a tick or a stain."""
    return len(segment.text) == 1 and segment.line.probability < settings.CLEAR_CHARACTER


def _is_comb(first: LineSegment, second: LineSegment) -> bool:
    return is_spaced(first.text) and is_spaced(second.text)


def _continues_line(left: LineSegment, right: LineSegment, word_gap: float, reach: float) -> bool:
    """Return whether one text continues another in the same line.

    `word_gap` is the largest gap between two words, in pixels. A wider gap of up to `reach` pixels
    is accepted, too.
    """
    height = left.height
    gap = right.rect.min_x - left.rect.max_x
    farthest = max(settings.BELOW_HEIGHTS * height, word_gap, reach)
    if not (
        -settings.OVERLAP_HEIGHTS * height < gap < farthest and is_level(left.rect, right.rect)
    ):
        return False
    if _is_comb(left, right):
        return True
    # Parts of one line were divided where columns meet.
    nearest = 0.0 if left.line is right.line else word_gap
    off = abs(left.rect.center[1] - right.rect.center[1])
    is_other_print = off > settings.OFF_LEVEL_HEIGHTS * height and right.height > height
    return gap < max(nearest, reach) and not is_other_print


def _is_alike(upper: LineSegment, lower: LineSegment) -> bool:
    """Return whether two lines are printed in the same size, both bold or neither."""
    least, most = sorted((upper.height, lower.height))
    return upper.line.is_bold == lower.line.is_bold and least >= settings.SAME_PRINT * most


def _is_centred(key: Rect, upper: LineSegment, lower: LineSegment) -> bool:
    """Return whether two lines are centred below a key and begin at different x positions."""
    off = max(abs(line.rect.center[0] - key.center[0]) for line in (upper, lower))
    return off < settings.SAME_MIDDLE_HEIGHTS * upper.height < abs(
        lower.rect.min_x - upper.rect.min_x
    ) and _follows(upper, lower, lower.rect.min_x)


def _follows(upper: LineSegment, lower: LineSegment, begin: float) -> bool:
    """Return whether a segment is the next line of a text whose left edge is `begin`."""
    height = upper.height
    gap = (lower.rect.min_y - upper.rect.max_y) / height
    is_alike = min(height, lower.height) >= settings.SAME_SIZE * max(height, lower.height)
    if upper.line.probability == lower.line.probability == 1.0:
        # Boxes of a text layer have the height of the font.
        is_alike = abs(height - lower.height) < 1
    starts = abs(lower.rect.min_x - begin) < height
    return is_alike and starts and -settings.OVERLAP_HEIGHTS < gap < settings.LINE_GAP_HEIGHTS
