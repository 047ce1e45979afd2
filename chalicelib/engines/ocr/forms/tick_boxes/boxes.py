"""Finds the tick boxes of a page: fields of a PDF's form, drawn squares, and characters like ☐."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chalicelib.domain.documents.page import ReadPage, Rect, Square, TextLine
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.segments import LineSegment, deskewed, edge, text_height
from chalicelib.engines.ocr.forms.tick_boxes.squares import find_squares
from chalicelib.engines.ocr.forms.values.by_top import ByTop
from chalicelib.engines.ocr.tables.rulings import darkest_channel
from chalicelib.engines.ocr.turning import turned_rects

# Characters and brackets that stand for boxes. Bullets and brackets with a mark are ticked boxes
# only on a page that also has empty boxes.
_SIGN = re.compile(
    r"(?P<ticked>[☒☑🗷🗹]|\[ ?[xX×✓✔✗✘] ?\])"
    r"|(?P<empty>[☐□▢❏❑❒◻○◯]|\[ {0,3}\]|(?<!\S)\( {0,3}\))"
    r"|(?P<doubtful>[✓✔✗✘●◉⦿]|(?<!\S)\( ?[xX×✓✔✗✘•●] ?\))"
)
# Characters that people and programs put into boxes.
_MARKS = re.compile(r"[\sxXvV×√✓✔✗✘•●■☐☑☒]+")
# Characters as which engines read circles.
_CIRCLES = frozenset(" OoQ@©®●•°")
# Start and end of characters in a text.
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FoundBox:
    """A tick box or radio button on the page."""

    place: LineSegment
    """Position; its text has no meaning."""
    is_ticked: bool
    value: str = ""
    """Value that the field of a PDF's form exports if it is ticked."""
    mark: LineSegment | None = None
    """Text inside a drawn box, such as an X."""

    @property
    def rect(self) -> Rect:
        """Rectangle on the deskewed page."""
        return self.place.rect


def find_boxes(
    page: ReadPage, segments: Sequence[LineSegment], angle: float
) -> tuple[tuple[LineSegment, ...], tuple[FoundBox, ...]]:
    """Find the tick boxes of a page.

    Args:
        page: the page; without pixels, drawn squares are not found.
        segments: the texts of the page.
        angle: clockwise rotation of the page, in radians.

    Returns:
        The texts, divided at the boxes and without their characters; and the boxes.
    """
    drawn = _drawn_boxes(page, segments, angle)
    numbers = ByTop(range(len(drawn)), lambda number: drawn[number].box.rect)
    inside = [dict(_spans_inside(segment, drawn, numbers)) for segment in segments]
    others = {
        number
        for segment, spans in zip(segments, inside, strict=True)
        for number, span in spans.items()
        if _is_character(segment, span, drawn[number].square)
    }
    has_empty = any(one["empty"] for each in segments for one in _SIGN.finditer(each.text))
    texts: list[LineSegment] = []
    boxes: list[FoundBox] = []
    marks: dict[int, LineSegment] = {}
    for segment, spans in zip(segments, inside, strict=True):
        signs = dict(_signs(segment, has_empty=has_empty))
        # The state of a character is certain, so a drawn box at its place is not needed.
        others |= {n for n, (a, b) in spans.items() if any(a <= y and x <= b for x, y in signs)}
        kept = {number: span for number, span in spans.items() if number not in others}
        rects = [drawn[number].box.rect for number in kept]
        parts = _without(segment, [*signs, *kept.values()])
        texts += (_clipped(each, rects) for each in parts) if rects else parts
        boxes += signs.values()
        marks |= {n: segment.part(*span) for n, span in spans.items() if span[0] < span[1]}
    for number, each in enumerate(drawn):
        if number not in others:
            # A PDF's form draws marks of its own. In an empty box, an engine reads its sides.
            mark = marks.get(number) if each.box.is_ticked and each.square else None
            boxes.append(replace(each.box, mark=mark if mark and mark.text.isalnum() else None))
    return tuple(texts), tuple(boxes)


@dataclass(frozen=True, slots=True)
class _DrawnBox:
    box: FoundBox
    square: Square | None = None
    """The drawn square; None for a field of a PDF's form, whose state is certain."""


def _drawn_boxes(page: ReadPage, segments: Sequence[LineSegment], angle: float) -> list[_DrawnBox]:
    """Return the tick boxes of a PDF's form, and the squares that are not part of them."""
    own = page.page
    ticks = [each for each in own.widgets if each.checked is not None and page.unrolling is None]
    ticks = ticks[: settings.MOST_ALIKE]
    rects = turned_rects([each.rect for each in ticks], page.turns, own.width, own.height)
    found = [
        _DrawnBox(FoundBox(_placed(rect, angle), bool(widget.checked), widget.value))
        for rect, widget in zip(rects, ticks, strict=True)
        if rect.area > 0
    ]
    least, most = settings.TICK_INK_SHARES
    squares = _tick_squares(_squares(page, segments))
    empty = [square.rect for square in squares if square.ink <= least]
    for square in squares:
        # A filled square is a bullet or a part of a picture, unless others like it are empty.
        is_box = square.ink <= most or any(_is_as_large(square.rect, other) for other in empty)
        if is_box and not any(rect.overlap(square.rect) > 0 for rect in rects):
            box = FoundBox(_placed(square.rect, angle), square.ink > least)
            found.append(_DrawnBox(box, square))
    return found


def _squares(page: ReadPage, segments: Sequence[LineSegment]) -> Sequence[Square]:
    """Return the squares that the PDF draws, or those that are found in the pixels of the page."""
    own = page.page
    if page.is_exact and not own.pictures:
        places = [each.rect for each in own.squares]
        turned = turned_rects(places, page.turns, own.width, own.height)
        return [replace(each, rect=at) for each, at in zip(own.squares, turned, strict=True)]
    if page.pixels is None:
        return ()
    return find_squares(darkest_channel(page.pixels), text_height(segments))


def _tick_squares(squares: Sequence[Square]) -> list[Square]:
    """Leave out squares in rows, which are boxes for single characters, and squares of patterns."""
    some = squares[: settings.MOST_ALIKE]
    return [one for one in some if not any(_is_same_row(one.rect, each.rect) for each in some)]


def _is_same_row(first: Rect, second: Rect) -> bool:
    across, down = (abs(a - b) for a, b in zip(first.center, second.center, strict=True))
    is_alike = abs(first.width - second.width) < settings.BOX_OFF_SHARE * first.width
    return is_alike and 0 < across < 2 * first.width and down < first.height / 2


def _is_as_large(first: Rect, second: Rect) -> bool:
    off = max(abs(first.width - second.width), abs(first.height - second.height))
    return off <= settings.RULE_JOINT_PIXELS


def _placed(rect: Rect, angle: float) -> LineSegment:
    line = TextLine("\N{BALLOT BOX}", 1.0, rect)
    return LineSegment(line, 0, 1, deskewed(line, angle))


def _spans_inside(
    segment: LineSegment, drawn: Sequence[_DrawnBox], numbers: ByTop[int]
) -> Iterator[tuple[int, _Span]]:
    """Yield the index of each box in a text, and the characters inside the box.

    The span is empty if the box is between two characters. `numbers` has the indexes of the boxes.
    """
    rect = segment.rect
    near = ((number, drawn[number].box.rect) for number in numbers.level(rect))
    level = [(number, box) for number, box in near if rect.has_center_of(box)]
    middles = list(_middles(segment)) if level else []
    for number, box in level:
        at = [n for n, x in enumerate(middles) if box.min_x < x < box.max_x]
        before = sum(x < box.center[0] for x in middles)
        yield number, (at[0], at[-1] + 1) if at else (before, before)


def _middles(segment: LineSegment) -> Iterator[float]:
    """Yield the x position of the middle of each character on the deskewed page."""
    line, rect = segment.line, segment.rect
    count = len(line.text)
    places = line.places if len(line.places) == count else [(n + 0.5) / count for n in range(count)]
    first, last = sorted((edge(line, segment.start), edge(line, segment.end)))
    for place in places[segment.start : segment.end]:
        yield rect.min_x + (place - first) / (last - first or 1.0) * rect.width


def _is_character(segment: LineSegment, span: _Span, square: Square | None) -> bool:
    """Return whether a square is a letter of a text, or contains something else than a mark.

    Marks that an engine reads may become any character, but are not near other letters.
    """
    start, end = span
    text = segment.text
    if square is None or start == end:
        return False
    if square.is_round and segment.line.probability < 1.0:
        return not _CIRCLES.issuperset(text[start:end])
    if segment.line.probability == 1.0 or any(map(str.isdecimal, text[start:end])):
        return _MARKS.fullmatch(text[start:end]) is None
    return square.is_tight and (text[start - 1 : start] + text[end : end + 1]).strip() != ""


def _signs(segment: LineSegment, *, has_empty: bool) -> Iterator[tuple[_Span, FoundBox]]:
    """Yield the characters that stand for boxes, with their states."""
    for match in _SIGN.finditer(segment.text):
        if has_empty or not match["doubtful"]:
            place = segment.part(*match.span())
            yield match.span(), FoundBox(place, not match["empty"])


def _clipped(segment: LineSegment, rects: Iterable[Rect]) -> LineSegment:
    """Return a text that ends at the boxes left and right of it. Engines add boxes to texts."""
    low, high = segment.rect.min_x, segment.rect.max_x
    middle = segment.rect.center[0]
    for rect in rects:
        if rect.center[0] < middle:
            low = max(low, min(rect.max_x, middle))
        else:
            high = min(high, max(rect.min_x, middle))
    return replace(segment, rect=replace(segment.rect, min_x=low, max_x=high))


def _without(segment: LineSegment, cuts: Iterable[_Span]) -> Iterator[LineSegment]:
    """Yield the parts of a text between the characters of boxes."""
    begin = 0
    for start, end in (*sorted(cuts), (len(segment.text), len(segment.text))):
        if segment.text[begin:start].strip():
            yield segment.part(begin, start) if begin or start < len(segment.text) else segment
        begin = max(begin, end)
