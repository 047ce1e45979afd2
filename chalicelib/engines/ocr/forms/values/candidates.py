"""Finds, for each key, the nearby texts that may be its value, and scores them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isinf
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.caption_words import looks_like_label
from chalicelib.engines.ocr.forms.field_kinds import fitness, is_boxed_row, is_one_line, is_split
from chalicelib.engines.ocr.forms.fragments import UnmatchedText, is_enumeration
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.rulings import PageRules
from chalicelib.engines.ocr.forms.values.line_numbers import NumberedLines
from chalicelib.engines.ocr.forms.values.next_cells import values_in_next_cells
from chalicelib.engines.ocr.forms.values.statements import StatementColumns
from chalicelib.engines.ocr.kinds.dates import find_dates

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles

    Rects = Doubles
    Measure = Callable[[Rects, Rect, float], Rects]


_PERCENTAGE = re.compile(r"[-–(]?\d[\d.,]* ?%\)?")

# Distance and direction of one text from another on a deskewed page.


def as_array(rects: Sequence[Rect]) -> Rects:
    """Return rectangles as an array, float64, shape (rectangles, 4): left, top, right, bottom."""
    rows = [(rect.min_x, rect.min_y, rect.max_x, rect.max_y) for rect in rects]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 4)


def right_gaps(rects: Rects, rect: Rect, height: float) -> Rects:
    """Return the distance of each rectangle that is to the right of a key; infinity for others.

    Args:
        rects: left, top, right, bottom; shape (rectangles, 4).
        rect: rectangle of the key.
        height: height of the key in pixels; distances are multiples of it.
    """
    low = np.maximum(rects[:, 1], rect.min_y)
    high = np.minimum(rects[:, 3], rect.max_y)
    heights = np.minimum(rects[:, 3] - rects[:, 1], rect.height)
    gaps: Rects = (rects[:, 0] - rect.max_x) / height
    is_level = (high - low >= settings.SAME_LINE_SHARE * heights) & (
        rects[:, 3] - rects[:, 1] <= settings.BELOW_HEIGHTS * rect.height
    )
    # A key of one digit is so narrow that it would be to the right of itself.
    is_right = (gaps >= -settings.OVERLAP_HEIGHTS) & (rects[:, 0] > rect.min_x)
    return np.where(is_level & is_right, gaps, np.inf)


def below_gaps(rects: Rects, rect: Rect, height: float) -> Rects:
    """Return each rectangle's distance below a key, in heights of the key; infinity for others."""
    gaps: Rects = (rects[:, 1] - rect.max_y) / height
    is_near = (gaps >= -settings.OVERLAP_HEIGHTS) & (gaps <= settings.BELOW_HEIGHTS)
    return np.where(is_near & _shares_column(rects, rect, height), gaps, np.inf)


def above_gaps(rects: Rects, rect: Rect, height: float) -> Rects:
    """Return each rectangle's distance above a key, in heights of the key; infinity for others."""
    gaps: Rects = (rect.min_y - rects[:, 3]) / height
    is_near = (gaps >= -settings.OVERLAP_HEIGHTS) & (gaps <= settings.ABOVE_HEIGHTS)
    return np.where(is_near & _shares_column(rects, rect, height), gaps, np.inf)


def _shares_column(rects: Rects, rect: Rect, height: float) -> Bools:
    """Return, for each rectangle, whether it overlaps a key horizontally or is indented."""
    overlap = np.minimum(rects[:, 2], rect.max_x) - np.maximum(rects[:, 0], rect.min_x)
    starts = np.abs(rects[:, 0] - rect.min_x) <= height
    is_indented = (rects[:, 0] >= rect.min_x) & (
        rects[:, 0] <= rect.max_x + settings.BELOW_HEIGHTS * height
    )
    return np.asarray((overlap >= 0.5 * height) | (starts & (overlap > 0)) | is_indented)


def nearest_stacked(gaps: Rects, rects: Rects, rect: Rect, height: float) -> int:
    """Return the index of the rectangle that is nearest to a key.

    Among rectangles that are almost equally near, alignment with the key counts, too. `gaps` has
    the distances from the key `rect`, in key heights; infinity excludes a rectangle.
    """
    starts = np.abs(rects[:, 0] - rect.min_x)
    centres = np.abs((rects[:, 0] + rects[:, 2]) / 2 - rect.center[0])
    cost = gaps + np.minimum(starts, centres) / (settings.WIDE_BOX_TIMES * height)
    cost[gaps > gaps.min() + settings.SAME_ROW_HEIGHTS] = np.inf
    return int(cost.argmin())


def nearness_stacked(
    gap: float, other: Doubles, rect: Rect, height: float, is_below: bool
) -> float:
    """Return a factor, 0 to 1: higher for texts that are near a key and aligned with it.

    `gap` is in heights of the key, and `other` the text's rectangle: left, top, right, bottom.
    """
    centre = (other[0] + other[2]) / 2
    is_aligned = abs(other[0] - rect.min_x) <= height or abs(centre - rect.center[0]) <= height
    aside = settings.OUT_OF_LINE if other[0] < rect.max_x else settings.BEHIND_KEY
    stands = 1.0 if is_aligned else aside
    decay = settings.DECAY_BELOW_HEIGHTS if is_below else settings.DECAY_ABOVE_HEIGHTS
    return math.exp(-max(0.0, gap - settings.LINE_SPACE_HEIGHTS) / decay) * stands


# In the key's line, or directly after its colon.
INLINE = "inline"
RIGHT = "right"
BELOW = "below"
ABOVE = "above"
# In the ruled box that the key labels.
BOXED = "boxed"
# In the value cell to the right of the key's cell.
ADJACENT = "adjacent"
# After the second copy of the line's number.
NUMBERED = "numbered"
# In the key's row of a pay statement, in the column that matches the key.
CROSSED = "crossed"

_BASE = {INLINE: 1.0, NUMBERED: 1.0, BELOW: 0.9, ABOVE: 0.75}
# Factor for a text of caption words.
_LABEL_LIKE = {RIGHT: 0.3, BELOW: 0.5}
# Factor if a ruled line separates key and value.
_RULED = {RIGHT: 0.45, BELOW: 0.4, ABOVE: 1.0}
# Factor if no ruled line separates them; a signature above its caption has a line.
_UNRULED = {RIGHT: 1.0, BELOW: 1.0, ABOVE: 0.4}
# Factor if the ruled lines are unknown.
_UNKNOWN = {RIGHT: 1.0, BELOW: 1.0, ABOVE: 0.8}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be the value of a key."""

    key: int
    """Index of the key in the list of keys."""
    fragment: int
    """Index of the text in the list of fragments."""
    relation: str
    """Direction from the key, or rule by which the text was found.

    INLINE, RIGHT, BELOW, ABOVE, BOXED, ADJACENT, NUMBERED or CROSSED.
    """
    score: float
    """Score without regard to competing candidates, 0 to about 1."""


class Neighbourhood:
    """The texts and labels of a page, for searches by position."""

    def __init__(
        self,
        keys: Sequence[FoundKey],
        unmatched: UnmatchedText,
        rulings: PageRules,
        numbered: NumberedLines,
        columns: StatementColumns,
    ) -> None:
        """Index the texts of a page by position."""
        self.keys = keys
        self._columns = columns
        self._numbered = numbered
        self._key_rects = [segment.rect for key in keys for segment in key.segments]
        self.fragments = unmatched.fragments
        self._rulings = rulings
        self._headed = values_in_next_cells(keys, unmatched, rulings)
        self._is_owned = np.array([each.owner is not None for each in self.fragments], dtype=bool)
        self._is_labelled = np.array([each.is_labelled for each in self.fragments], dtype=bool)
        self._has_digit = np.array(
            [any(map(str.isdecimal, each.segment.text)) for each in self.fragments], dtype=bool
        )
        self._rects = as_array([fragment.segment.rect for fragment in self.fragments])
        self._is_rate = np.array([self._is_before_amount(n) for n in range(len(self.fragments))])
        others = [segment.rect for segment in unmatched.labels]
        self._labels = as_array([*self._key_rects, *others])
        self._captions = as_array([key.rect for key in keys] + others)
        self._is_reversed = bool(self.fragments) and self._are_below_values()

    def _is_before_amount(self, number: int) -> bool:
        """Return whether a text is a percentage, and the next text of its row an amount."""
        segment = self.fragments[number].segment
        if _PERCENTAGE.fullmatch(segment.text) is None:
            return False
        gaps = right_gaps(self._rects, segment.rect, segment.height)
        after = self.fragments[int(gaps.argmin())].segment.text
        return bool(np.isfinite(gaps).any()) and fitness(("CURRENCY",), after) > 1

    def _are_below_values(self) -> bool:
        """Return whether nearly all captions without a colon are below their values."""
        sides = [self._nearest_side(key) for key in self.keys if not key.has_colon]
        most = settings.SECOND_CAPTION_SHARE * (len(sides) - sides.count(None))
        return settings.FEWEST_CAPTIONS <= sides.count(ABOVE) > most

    def _nearest_side(self, key: FoundKey) -> str | None:
        """Return the direction in which a text is by far the nearest to a key, or None."""
        rect, gaps = key.rect, {}
        for side, measure in ((RIGHT, right_gaps), (BELOW, below_gaps), (ABOVE, above_gaps)):
            every = measure(self._rects, rect, key.height)
            label = measure(self._captions, rect, key.height).min(initial=np.inf)
            gaps[side] = every.min() if every.min() < label else np.inf
        place = self.fragments[int(every.argmin())].segment.rect  # the nearest one above
        if isfinite(gaps[ABOVE]) and self._rulings.between_lines(place, rect):
            return BELOW
        side = min(gaps, key=gaps.__getitem__)
        least = 2 * max(gaps.pop(side), settings.LINE_SPACE_HEIGHTS)
        return side if least < min(gaps.values()) else None

    def candidates(self, templates: Sequence[TemplateKey]) -> list[Candidate]:
        """Return the texts that may be values of the keys; `templates` has the keys' types."""
        owned = {fragment.owner: number for number, fragment in enumerate(self.fragments)}
        found = []
        for number, key in enumerate(self.keys):
            types, expected = templates[key.number].types, templates[key.number].format
            line_number = self._numbered.before_value(key, self._key_rects)
            is_row, own = self._columns.own_number(key.rect, key.text, types)
            is_row = is_row and (own is None or self._has_format(expected, own))
            # Line numbers and columns are stronger signs than any distance.
            if line_number is not None:
                places = list(self._behind(line_number.rect))
            elif is_row:
                places = [] if own is None else [(CROSSED, own, 1.0)]
            elif (headed := self._headed.get(number)) is not None:
                is_adjacent = self._rects[headed, 0] > key.rect.max_x
                places = [(ADJACENT if is_adjacent else BOXED, headed, 1.0)]
            else:
                places = [(INLINE, owned[number], 1.0)] if number in owned else []
                places += self._around(key, types) if len(self.fragments) else []
            places = [place for place in places if self._has_kind(key, types, place[1])]
            formatted = [place for place in places if self._has_format(expected, place[1])]
            found += [
                Candidate(number, fragment, kind, near * self._score(key, types, kind, fragment))
                for kind, fragment, near in formatted or places
            ]
        return found

    def _has_kind(self, key: FoundKey, types: Sequence[str], number: int) -> bool:
        """Return whether a text may be the value of a caption that lacks a word of its key."""
        text = self.fragments[number].segment.text
        if key.kind == "DATE":
            dates = find_dates(text[: settings.LONGEST_TYPED_CHARACTERS])
            return any(date.start == 0 for date in dates)
        is_name = (
            fitness([key.kind], text) > 1 and text[:1].isupper() and not looks_like_label(text)
        )
        return not key.kind or (is_name and fitness(types, text) >= 1)

    def _has_format(self, expected: str, number: int) -> bool:
        """Return whether whole words of a text match an expression; an empty one matches all."""
        text = self.fragments[number].segment.text[: settings.LONGEST_TYPED_CHARACTERS]
        wanted = rf"(?<!\S)(?:{expected or '.*'})(?!\S)"
        return re.search(wanted, text, re.IGNORECASE) is not None

    def _score(self, key: FoundKey, types: Sequence[str], relation: str, number: int) -> float:
        """Return how well a fragment fits a key, without regard to its distance."""
        fragment = self.fragments[number]
        score = _BASE.get(relation, settings.PLACE_WEIGHT) * self._fitness(types, number)
        if fragment.owner is None:
            is_label = fragment.choice is None and looks_like_label(fragment.segment.text)
            factor = _LABEL_LIKE.get(relation, settings.LABEL_LIKE_FACTOR)
            return score * factor if is_label else score
        # In the key's own line, even caption words are its value.
        is_sure = key.has_colon or self._has_digit[number]
        return score if is_sure else settings.KEY_BEFORE_FEW_WORDS * score

    def _fitness(self, types: Sequence[str], number: int) -> float:
        """Return how well a text matches a key's types; 1 or more for a match.

        The text is also tried together with the next word, because a number may be read as two
        words. An address is also tried with the line below, because its first line may be a name.
        """
        segment = self.fragments[number].segment
        fits = fitness(types, segment.text)
        if fits >= 1.0:
            return fits
        rect, height = segment.rect, segment.height
        if is_one_line(types):
            gaps = right_gaps(self._rects, rect, height)
            gaps[number] = np.inf
            behind = int(gaps.argmin())
            is_next = gaps[behind] < settings.WORD_GAP_HEIGHTS and not self._is_owned[behind]
            word = self.fragments[behind].segment.text
            is_next = is_next and is_split(types, segment.text, word)
            return max(fits, fitness(types, f"{segment.text} {word}")) if is_next else fits
        if "ADDRESS" not in types:
            return fits
        gaps = (self._rects[:, 1] - rect.max_y) / height
        is_next = (gaps > -settings.OVERLAP_HEIGHTS) & (gaps < settings.PRINTED_LINE_GAP_HEIGHTS)
        is_next &= np.abs(self._rects[:, 0] - rect.min_x) < height
        if not is_next.any():
            return fits
        below = self.fragments[int(np.where(is_next, gaps, np.inf).argmin())].segment.text
        return max(fits, fitness(types, f"{segment.text}, {below}"))

    def _behind(self, number: Rect) -> Iterator[tuple[str, int, float]]:
        """Yield the value to the right of a line number on a tax form.

        `number` is the box of the line number. A text on the same baseline is preferred.
        """
        gaps = right_gaps(self._rects, number, number.height)
        labels = right_gaps(self._labels, number, number.height)
        if gaps.min(initial=np.inf) < labels.min(initial=np.inf):
            first = self._rects[int(gaps.argmin())]
            off = np.abs(self._rects[:, 3] - number.max_y) / number.height
            is_stacked = (self._rects[:, 0] < first[2]) & (self._rects[:, 2] > first[0])
            fragment = int(np.where(is_stacked & np.isfinite(gaps), off, np.inf).argmin())
            place = self.fragments[fragment].segment.rect
            # After an empty cell, the next text is the value of another column.
            edges = self._rulings.box(number).max_x, self._rulings.box(place).min_x
            is_next = edges[1] - edges[0] < number.height
            if is_next and self._numbered.is_nearest(number, place):
                yield NUMBERED, fragment, 1.0

    def _around(self, key: FoundKey, types: Sequence[str]) -> Iterator[tuple[str, int, float]]:
        """Yield the nearest text right of, below and above a key: direction, index and nearness.

        For a key that labels an empty box, nothing is yielded. If the box contains a suitable text,
        only this text is yielded.
        """
        box = None if key.has_colon or self._is_reversed else self._own_box(key)
        if box is None and not key.has_colon and (lines := self._above_caption(key)):
            yield BOXED, lines[0], 1.0
            return
        if box is not None:
            inside = _is_inside(self._rects, box) & ~self._is_owned & ~self._is_labelled
            # A text left of the caption is its number.
            is_below = self._rects[:, 1] > key.rect.min_y + key.height / 2
            inside &= is_below | (self._rects[:, 2] > key.rect.min_x)
            others = _is_inside(self._labels, box).sum() - len(key.segments)
            # A box with several other captions may be a column of captions.
            if not inside.any() and others < 2:
                return
            first = self._first_inside(inside, key)
            gap = self._rects[first, 1] - key.rect.max_y
            # A text in a box with no other caption is its value, at any distance.
            is_near = gap < settings.BELOW_HEIGHTS * key.height or self._is_alone(key, box)
            if (
                is_near
                and inside[first]
                and fitness(types, self.fragments[first].segment.text) > settings.MISFIT
            ):
                yield BOXED, first, 1.0
                return
        yield from self._right(key)
        yield from self._stacked(key, BELOW, below_gaps)
        # Signatures are above their captions. After a colon, the value follows.
        if not key.has_colon:
            yield from self._stacked(key, ABOVE, above_gaps)

    def _own_box(self, key: FoundKey) -> Rect | None:
        """Return the box that a key labels; None if there is none.

        The key must be the first text in its box, with space below.
        """
        rect, height = key.rect, key.height
        box = self._rulings.box(rect)
        is_open = isinf(box.height) or (isinf(box.min_x) and isinf(box.max_x))
        if is_open or not self._rulings.is_drawn(box):
            return None
        room, above = box.max_y - rect.max_y, rect.min_y - box.min_y
        if room < max(settings.BOX_ROOM_HEIGHTS * height, 2 * above):
            return None
        if room > settings.TALLEST_BOX_HEIGHTS * height and not self._is_alone(key, box):
            return None
        texts = np.concatenate((self._rects, self._labels))
        texts = texts[_is_inside(texts, box)]
        is_first = texts[:, 1].min(initial=np.inf) >= rect.min_y - height / 2
        has_row = bool(np.isfinite(right_gaps(texts, rect, height)).any())
        if isinf(box.min_x):
            box = replace(box, min_x=rect.min_x - height)
        return box if is_first and not has_row else None

    def _is_alone(self, key: FoundKey, box: Rect) -> bool:
        """Return whether a box is closed, and a key is the only caption in it."""
        return isfinite(box.area) and _is_inside(self._labels, box).sum() == len(key.segments)

    def _above_caption(self, key: FoundKey) -> list[int]:
        """Return the indexes of the lines above a caption that is at the bottom of its box.

        Text above a wide gap belongs to another caption.
        """
        rect, height = key.rect, key.height
        box = self._rulings.box(rect)
        row = self._rects[_is_inside(self._rects, box)]
        has_row = bool(np.isfinite(right_gaps(row, rect, height)).any())
        room = settings.BOX_ROOM_HEIGHTS * height
        if len(row) == 1 and _is_inside(self._labels, box).sum() == len(key.segments):
            # The only text of the box is above its only caption.
            room = rect.min_y - box.min_y
        if not isfinite(box.area) or box.max_y - rect.max_y > room or has_row:
            return []
        inside = _is_inside(self._rects, box) & ~self._is_owned & ~self._is_labelled
        inside &= (self._rects[:, 3] <= rect.min_y + height / 2) & (
            np.abs(self._rects[:, 0] - rect.min_x) < settings.BELOW_HEIGHTS * height
        )
        block: list[int] = []
        for number in sorted(np.flatnonzero(inside), key=lambda each: -self._rects[each, 1]):
            last = self._rects[block[0]] if block else None
            if last is not None and last[1] - self._rects[number, 3] > last[3] - last[1]:
                break
            block.insert(0, int(number))
        return block

    def _first_inside(self, inside: Bools, key: FoundKey) -> int:
        """Return the index of the text nearest to a key, among the texts `inside` its box."""
        left, top = self._rects[:, 0] - key.rect.min_x, self._rects[:, 1] - key.rect.max_y
        return int(np.where(inside, top + np.abs(left) / settings.WIDE_BOX_TIMES, np.inf).argmin())

    def _right(self, key: FoundKey) -> Iterator[tuple[str, int, float]]:
        """Yield direction, index and nearness of the text to the right of a key, if any."""
        rect, height = key.rect, key.height
        gaps = right_gaps(self._rects, rect, height)
        # A rate between a caption and its amount is not the value.
        gaps[self._is_owned | self._is_rate] = np.inf
        label = float(right_gaps(self._captions, rect, height).min(initial=np.inf))
        fragment = int(gaps.argmin())
        gap = float(gaps[fragment])
        if gap >= label:
            return
        near = math.exp(-max(0.0, gap) / settings.DECAY_RIGHT_HEIGHTS)
        if key.has_colon and gap < settings.BELOW_HEIGHTS:
            yield INLINE, fragment, near
        elif not self._is_labelled[fragment]:
            value = self.fragments[fragment].segment
            is_ruled = self._rulings.between_columns(key.segments[-1].rect, value.rect)
            # A rule may be the side of a one-character box, or of a cell with a tick box.
            is_cell = is_boxed_row(value.text) or self.fragments[fragment].choice is not None
            is_ruled = not is_cell and is_ruled
            weight = settings.LABEL_LIKE_FACTOR if self._is_adjacent_caption(key, fragment) else 1.0
            yield RIGHT, fragment, near * weight * _weigh(RIGHT, is_ruled)

    def _is_adjacent_caption(self, key: FoundKey, fragment: int) -> bool:
        """Return whether a text next to a key is a caption, because both have numbers below."""
        return not self._has_digit[fragment] and all(
            (below_gaps(self._rects, rect, rect.height) < settings.LINE_GAP_HEIGHTS)[
                self._has_digit
            ].any()
            for rect in (key.segments[-1].rect, self.fragments[fragment].segment.rect)
        )

    def _stacked(
        self, key: FoundKey, relation: str, measure: Measure
    ) -> Iterator[tuple[str, int, float]]:
        rect, height = _with_number(key), key.height
        gaps = measure(self._rects, rect, height)
        labels = (
            measure(self._captions, rect, height).min(initial=np.inf),
            gaps[self._is_labelled].min(initial=np.inf),
        )
        gaps[self._is_owned | self._is_labelled | (gaps >= min(labels))] = np.inf
        if np.isinf(gaps).all():
            return
        is_below = relation == BELOW
        fragment = nearest_stacked(gaps, self._rects, rect, height)
        near = nearness_stacked(
            float(gaps[fragment]), self._rects[fragment], rect, height, is_below
        )
        place = self.fragments[fragment].segment.rect
        is_ruled = (
            self._rulings.between_lines(key.segments[-1].rect, place)
            if is_below
            else self._rulings.between_lines(place, key.segments[0].rect)
        )
        if is_below and place.min_x > rect.max_x:
            is_ruled = is_ruled or self._rulings.between_columns(key.segments[-1].rect, place)
        if self._is_reversed:
            is_ruled, relation = not is_below, ABOVE
        yield BELOW if is_below else ABOVE, fragment, near * _weigh(relation, is_ruled)


def _with_number(key: FoundKey) -> Rect:
    first = key.segments[0]
    number = first.line.text[: first.start]
    if not is_enumeration(number.strip()):
        return key.rect
    width = len(number) * first.rect.width / len(first.text)
    return replace(key.rect, min_x=min(key.rect.min_x, first.rect.min_x - width))


def _is_inside(rects: Rects, box: Rect) -> Bools:
    x, y = (rects[:, 0] + rects[:, 2]) / 2, (rects[:, 1] + rects[:, 3]) / 2
    return np.asarray((x > box.min_x) & (x < box.max_x) & (y > box.min_y) & (y < box.max_y))


def _weigh(relation: str, is_ruled: bool | None) -> float:
    """Return a factor for a candidate: lower if a ruled line separates it from its key."""
    if is_ruled is None:
        return _UNKNOWN[relation]
    return _RULED[relation] if is_ruled else _UNRULED[relation]
