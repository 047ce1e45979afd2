"""Finds what the tick boxes of a page label: options of a list, or keys.

A list of options is in a row, in a column, or in both. Its ticked options are a value. For its key,
the list is one text at the place of the first option.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import inf

from chalicelib.domain.documents.page import Rect, around
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.fragments import Choice, FormFragment, UnmatchedText
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.rulings import PageRules
from chalicelib.engines.ocr.forms.segments import LineSegment, is_level
from chalicelib.engines.ocr.forms.tick_boxes.boxes import FoundBox
from chalicelib.engines.ocr.forms.values.by_top import ByTop
from chalicelib.engines.ocr.grouping import grouped

# Numbers of lines and boxes, and amounts. They are next to tick boxes, but are not their texts.
_NUMBER = re.compile(r"[\W\d]*\d[.,\d]*[a-z]?\W*")


@dataclass(frozen=True, slots=True)
class _Option:
    """A tick box and the text next to it."""

    box: FoundBox
    segments: tuple[LineSegment, ...]
    """The lines of the text."""

    @property
    def rect(self) -> Rect:
        return around((self.box.rect, *(each.rect for each in self.segments)))


class PageBoxes:
    """The tick boxes of a page, by what they label."""

    def __init__(
        self,
        boxes: Sequence[FoundBox],
        keys: Sequence[FoundKey],
        segments: Sequence[LineSegment],
        rules: PageRules,
    ) -> None:
        """Find the text next to each box; `segments` are the texts of the page."""
        boxes = boxes[: settings.MOST_ALIKE]
        self._texts = ByTop(segments, lambda each: each.rect)
        self._boxes = ByTop(boxes, lambda each: each.rect)
        self._rules = rules
        owners = {part[0]: place for place, key in enumerate(keys) for part in key.parts}
        keyed = {id(segments[number]): place for number, place in owners.items()}
        self.of_keys: dict[int, FoundBox] = {}
        """The box of a key without options, by index of the key."""
        self.labelled: set[int] = set()
        """Indexes of the keys that begin after a box. Their boxes are their values."""
        free: list[FoundBox] = []
        labelled: list[tuple[FoundBox, LineSegment]] = []
        for box, label in self._labels() if boxes else ():
            if label is None:
                free.append(box)
            elif id(label) in keyed:
                place = keyed[id(label)]
                self.of_keys.setdefault(place, box)
                if label.rect.min_x > box.rect.center[0]:
                    self.labelled.add(place)
            else:
                labelled.append((box, label))
        taken = {id(label) for _, label in labelled} | keyed.keys()
        options = [_Option(box, self._with_lines_below(label, taken)) for box, label in labelled]
        self._own = {id(each) for option in options for each in option.segments}
        self._lists = self._grouped(options)
        self.of_keys |= self._boxes_near(keys, free)

    def with_choices(self, unmatched: UnmatchedText) -> UnmatchedText:
        """Replace the options of each list by one text, which has the ticked ones as its choice."""
        if not self._lists:
            return unmatched
        spans: dict[int, list[tuple[int, int]]] = {}
        for each in chain.from_iterable(self._lists):
            for segment in each.segments:
                spans.setdefault(id(segment.line), []).append((segment.start, segment.end))

        def is_option(segment: LineSegment) -> bool:
            own = spans.get(id(segment.line), ())
            return any(start <= segment.start and segment.end <= end for start, end in own)

        fragments = [each for each in unmatched.fragments if not is_option(each.segment)]
        labels = [each for each in unmatched.labels if not is_option(each)]
        for options in self._lists:
            ticked = tuple(each for each in options if each.box.is_ticked)
            first = (ticked or options)[0]
            place = replace(first.segments[0], rect=options[0].rect)
            if ticked or len(options) > 1:
                choice = Choice(first.box, tuple(each.segments for each in ticked))
                fragments.append(FormFragment(place, choice=choice))
            else:
                labels.append(place)
        return UnmatchedText(tuple(fragments), tuple(labels))

    def _labels(self) -> Iterator[tuple[FoundBox, LineSegment | None]]:
        """Yield each box with the text next to it, if any. A text belongs to one box.

        Texts are right of their boxes, unless more boxes of the row have a text on the left.
        """
        used: set[int] = set()
        rows = grouped(self._boxes.every, lambda row, box: is_level(row[0].rect, box.rect))
        for row in rows:
            sides = [[self._beside(box, is_right=way) for box in row] for way in (True, False)]
            counts = [sum(each is not None for each in side) for side in sides]
            if counts[1] > counts[0]:
                sides.reverse()
            for box, *labels in zip(row, *sides, strict=True):
                free = (each for each in labels if each is not None and id(each) not in used)
                label = next(free, None)
                used.add(id(label))
                yield box, label

    def _beside(self, box: FoundBox, *, is_right: bool) -> LineSegment | None:
        """Return the nearest text right or left of a box, if it is near and no box is between."""
        own, height = box.rect, box.rect.height

        def gap(rect: Rect) -> float:
            ahead = rect.min_x - own.max_x if is_right else own.min_x - rect.max_x
            is_near = -settings.OVERLAP_HEIGHTS < ahead / height < settings.BELOW_HEIGHTS
            return ahead if is_near and rect.height < settings.BELOW_HEIGHTS * height else inf

        texts = [each for each in self._texts.level(own) if _is_label(each.text, is_right)]
        nearest = min(texts, key=lambda each: gap(each.rect), default=None)
        others = (gap(each.rect) for each in self._boxes.level(own) if each is not box)
        least = min(others, default=inf)
        return None if nearest is None or not gap(nearest.rect) < least else nearest

    def _with_lines_below(self, label: LineSegment, taken: set[int]) -> tuple[LineSegment, ...]:
        """Return the lines of an option's text. Further lines begin with a small letter."""
        lines = [label]
        while len(lines) < settings.KEY_LINES:
            last = lines[-1]
            low, reach = last.rect.max_y, settings.LINE_GAP_HEIGHTS * last.height
            below = [
                each
                for each in self._texts.between(low - reach, low + reach)
                if abs(each.rect.min_x - last.rect.min_x) < last.height / 2
                and id(each) not in taken
                and each.rect.min_y > last.rect.center[1]
                and each.text[:1].islower()
            ]
            if not below:
                break
            lines.append(below[0])
        return tuple(lines)

    def _grouped(self, options: Sequence[_Option]) -> list[list[_Option]]:
        """Group options into lists: first the options of each row, then rows below each other."""
        in_rows = sorted(options, key=lambda each: each.rect.min_x)
        rows = grouped(in_rows, lambda row, option: self._is_beside(row[-1], option))
        rows.sort(key=lambda row: (row[0].rect.min_y, row[0].rect.min_x))
        lists = grouped(rows, lambda found, row: any(self._is_above(each, row) for each in found))
        return [list(chain.from_iterable(each)) for each in lists]

    def _is_beside(self, left: _Option, right: _Option) -> bool:
        """Return whether two options are neighbours in a row, with no other text between."""
        if not is_level(left.rect, right.rect) or right.rect.min_x < left.rect.center[0]:
            return False
        gap = replace(left.rect, min_x=left.rect.max_x, max_x=right.rect.min_x)
        is_ruled = self._rules.between_columns(left.rect, right.rect)
        return not is_ruled and not self._has_other_text(gap)

    def _is_above(self, upper: Sequence[_Option], lower: Sequence[_Option]) -> bool:
        """Return whether two rows belong to one list: boxes below each other, no caption between.

        A text left of the lower row is the caption of another list.
        """
        height = lower[0].box.rect.height
        for one, other in product(upper, lower):
            down = other.rect.min_y - one.rect.max_y
            is_below = abs(one.box.rect.min_x - other.box.rect.min_x) < height / 2
            if is_below and 0 <= down + height / 2 < settings.BELOW_HEIGHTS * height:
                gap = replace(other.rect, min_y=one.rect.max_y, max_y=one.rect.max_y + down)
                return not self._has_other_text(gap) and not self._is_led(lower[0])
        return False

    def _has_other_text(self, gap: Rect) -> bool:
        texts = self._texts.between(gap.min_y - gap.height, gap.max_y)
        return any(id(each) not in self._own and gap.has_center_of(each.rect) for each in texts)

    def _is_led(self, option: _Option) -> bool:
        """Return whether another text is left of an option, such as the caption of a new list."""
        rect = option.box.rect
        left = [each for each in self._texts.level(rect) if each.rect.max_x <= rect.center[0]]
        nearest = max(left, key=lambda each: each.rect.max_x, default=None)
        if nearest is None or id(nearest) in self._own:
            return False
        return not self._rules.between_columns(nearest.rect, rect)

    def _boxes_near(
        self, keys: Sequence[FoundKey], free: Sequence[FoundBox]
    ) -> Mapping[int, FoundBox]:
        """Return boxes with no text next to them that are right of keys, below or above them."""
        pairs = sorted(
            (gap, place, number)
            for place, key in enumerate(keys)
            if place not in self.of_keys
            for number, box in enumerate(free)
            if (gap := self._gap(key, box)) < inf
        )
        found: dict[int, FoundBox] = {}
        used: set[int] = set()
        for _, place, number in pairs:
            if place not in found and number not in used:
                found[place] = free[number]
                used.add(number)
        return found

    def _gap(self, key: FoundKey, box: FoundBox) -> float:
        """Return the distance from a key to a box, if no other text is between them."""
        rect, place = key.rect, box.rect
        if is_level(rect, place) and place.min_x >= rect.max_x:
            gap = replace(rect, min_x=rect.max_x, max_x=place.min_x)
            texts = [each for each in self._texts.level(rect) if gap.has_center_of(each.rect)]
            return inf if texts else place.min_x - rect.max_x
        if not rect.min_x - key.height < place.center[0] < rect.max_x + key.height:
            return inf
        below, above = place.min_y - rect.max_y, rect.min_y - place.max_y
        if 0 <= below + key.height / 2 < settings.BELOW_HEIGHTS * key.height:
            return below
        return above if 0 <= above + key.height / 2 < settings.ABOVE_HEIGHTS * key.height else inf


def _is_label(text: str, is_right: bool) -> bool:
    """Return whether a text next to a box may be its label: not a number, or a caption before."""
    return _NUMBER.fullmatch(text) is None and (is_right or not text.endswith((":", "：")))
