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
from chalicelib.engines.ocr.forms.caption_words import REMARK
from chalicelib.engines.ocr.forms.fragments import Choice, FormFragment, UnmatchedText
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.rulings import PageRules
from chalicelib.engines.ocr.forms.segments import LineSegment, is_level
from chalicelib.engines.ocr.forms.tick_boxes.boxes import FoundBox
from chalicelib.engines.ocr.forms.values.by_top import ByTop
from chalicelib.engines.ocr.grouping import grouped

# Numbers of lines and boxes, and amounts. They are next to tick boxes, but are not their texts.
_NUMBER = re.compile(r"\W*\d[.,\d]*[a-z]?\W*")


@dataclass(frozen=True, slots=True)
class _Option:
    """A tick box and its text: next to it, or at the head of its column."""

    box: FoundBox
    segments: tuple[LineSegment, ...]
    """The lines of the text."""
    rect: Rect
    """Rectangle around the box and the text next to it."""


class PageBoxes:
    """The tick boxes of a page, by what they label."""

    def __init__(
        self,
        boxes: Sequence[FoundBox],
        keys: Sequence[FoundKey],
        unmatched: UnmatchedText,
        rules: PageRules,
    ) -> None:
        """Find the text next to each box; `unmatched` has the texts of the page without keys."""
        self._unmatched, self._rules = unmatched, rules
        self._keyed = {id(part): place for place, key in enumerate(keys) for part in key.segments}
        texts = [part for key in keys for part in key.segments]
        texts += [*unmatched.labels, *(each.segment for each in unmatched.fragments)]
        self._texts = ByTop(texts, lambda each: each.rect)
        self._boxes = ByTop(boxes[: settings.MOST_ALIKE], lambda each: each.rect)
        labels = list(self._labels())
        self.of_keys: dict[int, FoundBox] = {}
        """The box of a key without options, by index of the key."""
        self.labelled: set[int] = set()
        """Indexes of the keys that begin after a box. Their boxes are their values."""
        for box, label in labels:
            if label is not None and (place := self._keyed.get(id(label))) is not None:
                self.of_keys.setdefault(place, box)
                if label.rect.min_x > box.rect.center[0]:
                    self.labelled.add(place)
        options = self._options([(box, label) for box, label in labels if label is not None])
        self._own = {id(each) for option in options for each in option.segments}
        free = [box for box, label in labels if label is None]
        headed = list(self._headed(free))
        self._lists = [*self._grouped(options), *headed]
        used = {id(option.box) for option in chain.from_iterable(headed)}
        self.of_keys |= self._boxes_near(keys, [box for box in free if id(box) not in used])

    def _options(self, labels: Sequence[tuple[FoundBox, LineSegment]]) -> list[_Option]:
        """Return the boxes next to texts that are no keys."""
        taken = {id(label) for _, label in labels} | self._keyed.keys()
        pairs = [
            (box, self._with_lines_below(label, taken))
            for box, label in labels
            if id(label) not in self._keyed
        ]
        return [_Option(box, own, around((box.rect, *(e.rect for e in own)))) for box, own in pairs]

    def with_choices(self) -> UnmatchedText:
        """Replace the options of each list by one text, which has the ticked ones as its choice."""
        every = self._unmatched
        # Text in brackets after a key says how to tick: "Status: (check one)".
        fragments = [
            each
            for each in every.fragments
            if id(each.segment) not in self._own
            and not (self._lists and each.owner is not None and REMARK.fullmatch(each.segment.text))
        ]
        labels = [each for each in every.labels if id(each) not in self._own]
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
            # Next to single boxes, numbers are those of lines; in a row of boxes, they are a scale.
            is_scale = len(row) >= settings.FEWEST_CAPTIONS
            sides = [
                [self._text_next_to(box, is_right=way, is_scale=is_scale) for box in row]
                for way in (True, False)
            ]
            counts = [sum(each is not None for each in side) for side in sides]
            if counts[1] > counts[0]:
                sides.reverse()
            for box, *labels in zip(row, *sides, strict=True):
                free = (each for each in labels if each is not None and id(each) not in used)
                label = next(free, None)
                used.add(id(label))
                yield box, label

    def _headed(self, free: Sequence[FoundBox]) -> Iterator[list[_Option]]:
        """Yield the rows of boxes without texts next to them, below the heads of their columns."""
        rows = grouped(free, lambda row, box: is_level(row[0].rect, box.rect))
        rects = [box.rect for box in free]
        for row in rows if len(free) > 1 else ():
            row.sort(key=lambda box: box.rect.min_x)
            heads = [self._head(box.rect, rects) for box in row]
            known = {id(head) for head in heads if head is not None} - self._keyed.keys()
            if len(row) > 1 and len(known) == len(row):
                yield [
                    _Option(box, (head,), box.rect)
                    for box, head in zip(row, heads, strict=True)
                    if head is not None
                ]

    def _head(self, rect: Rect, free: Sequence[Rect]) -> LineSegment | None:
        """Return the lowest text above a column of boxes; `free` has the boxes of all columns."""
        column = [each for each in free if abs(each.center[0] - rect.center[0]) < rect.width]
        top = min(each.min_y for each in column)
        above = [
            each
            for each in self._texts.between(0.0, top)
            if each.rect.min_x - rect.width < rect.center[0] < each.rect.max_x + rect.width
            and each.rect.center[1] < top
        ]
        return max(above, key=lambda each: each.rect.max_y, default=None)

    def _text_next_to(self, box: FoundBox, *, is_right: bool, is_scale: bool) -> LineSegment | None:
        """Return the nearest text right or left of a box, if it is near and no box is between."""
        own, height = box.rect, box.rect.height

        def gap(rect: Rect) -> float:
            ahead = rect.min_x - own.max_x if is_right else own.min_x - rect.max_x
            is_near = -settings.OVERLAP_HEIGHTS < ahead / height < settings.BELOW_HEIGHTS
            return ahead if is_near and rect.height < settings.BELOW_HEIGHTS * height else inf

        texts = [
            each
            for each in self._texts.level(own)
            if (is_scale or _NUMBER.fullmatch(each.text) is None)
            and (is_right or not each.text.endswith((":", "：")))
        ]
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
        rows = grouped(in_rows, lambda row, option: self._is_next_to(row[-1], option))
        rows.sort(key=lambda row: (row[0].rect.min_y, row[0].rect.min_x))
        lists = grouped(rows, lambda found, row: any(self._is_above(each, row) for each in found))
        return [list(chain.from_iterable(each)) for each in lists]

    def _is_next_to(self, left: _Option, right: _Option) -> bool:
        """Return whether two options are neighbours in a row, with no other text between."""
        if not is_level(left.rect, right.rect) or right.rect.min_x < left.rect.center[0]:
            return False
        gap = replace(left.rect, min_x=left.rect.max_x, max_x=right.rect.min_x)
        is_ruled = self._rules.between_columns(left.rect, right.rect)
        return not is_ruled and not self._has_other_text(gap) and not self._is_below_caption(right)

    def _is_below_caption(self, option: _Option) -> bool:
        """Return whether a text that is no option is directly above the option's column."""
        top, reach = option.box.rect, settings.BELOW_HEIGHTS * option.box.rect.height
        column = [each.rect for each in self._boxes.every if _is_aligned(each.rect, top)]
        for rect in sorted(column, key=lambda each: -each.min_y):
            top = rect if 0 < top.min_y - rect.min_y < reach else top
        return any(
            _is_aligned(each.rect, top) and id(each) not in self._own
            for each in self._texts.between(top.min_y - reach, top.min_y - top.height / 2)
        )

    def _is_above(self, upper: Sequence[_Option], lower: Sequence[_Option]) -> bool:
        """Return whether two rows belong to one list: boxes below each other, no caption between.

        A text left of the lower row is the caption of another list.
        """
        height = lower[0].box.rect.height
        for one, other in product(upper, lower):
            down = other.rect.min_y - one.rect.max_y
            is_below = _is_aligned(one.box.rect, other.box.rect)
            if is_below and 0 <= down + height / 2 < settings.BELOW_HEIGHTS * height:
                gap = replace(other.rect, min_y=one.rect.max_y, max_y=one.rect.max_y + down)
                is_ruled = self._rules.between_lines(one.rect, other.rect)
                return not (is_ruled or self._has_other_text(gap) or self._is_led(lower[0]))
        return False

    def _has_other_text(self, gap: Rect) -> bool:
        texts = self._texts.between(gap.min_y - gap.height, gap.max_y)
        return any(id(each) not in self._own and gap.has_center_of(each.rect) for each in texts)

    def _is_led(self, option: _Option) -> bool:
        """Return whether another text is left of an option, such as the caption of a new list."""
        rect = option.rect
        reach = rect.min_x + option.box.rect.width
        left = [each for each in self._texts.level(rect) if each.rect.max_x < reach]
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


def _is_aligned(text: Rect, box: Rect) -> bool:
    return abs(text.min_x - box.min_x) < box.height / 2
