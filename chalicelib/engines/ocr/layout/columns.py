"""Divides a page into flows: parts that are read row by row, one flow after the other.

A page is split at the heights where columns begin and end, then at its gutters. Each part is split
again in the same way. A gutter is a vertical gap over the full height of a part, with text on both
sides. Tables have gutters, too. So text counts as columns only if its lines are long, or if the
rows on both sides are not at the same heights.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median

from chalicelib.domain.documents.page import Quad, Rect, TextLine
from chalicelib.engines.ocr.layout.marks import Mark, find_mark

# Maximum distance of the middles in one row, as a fraction of the lower line's height.
_SAME_ROW = 0.5
# Minimum width of a gutter, in text heights.
_GUTTER = 0.7
# Ascenders and descenders may overlap the next line by this much, in heights.
_OVERLAP = 0.1
# Heights above the baseline of capitals and of letters such as x, and depth of descenders, in ems.
_RISE, _LOW_RISE, _FALL = 0.73, 0.53, 0.21
_LOW = frozenset("acegmnopqrsuvwxyz.,:;-–—_~+<>=• ")
_HANGING = frozenset("gjpqyQ,;()[]{}|_/ęąçµ")
# Minimum number of rows of a column.
_ROWS = 2
# Minimum median number of characters of the lines of a text column.
_PROSE = 18
# Minimum fraction of a column's width that its lines fill.
_FULL = 0.6
# Maximum distance between the middles of matching rows, in heights.
_MATCHING = 0.3
# Minimum distance of a page header or page number from the text, in heights.
_APART = 0.8
# Minimum of a gutter's rows times its width, in heights: spaces may line up in a few lines.
_RIVER = 4.0
# Minimum gap across all columns above an image, in heights.
_PICTURE = 3.0
# Minimum height of a heading, in heights of the surrounding text.
_LARGER = 1.2
# Maximum depth of columns within columns.
_DEEPEST = 6
# Minimum number of characters of a vertical text, and minimum height of its box, in widths.
_WORD, _UPRIGHT = 3, 1.5
# Number of gutters of a band that are examined, the widest.
_TRIED = 8

# Left and right.
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words, or a part of one, on a deskewed page."""

    index: int
    """Index of the piece's run among the runs of its page; tables are counted after the runs."""
    begin: int
    end: int
    """Index after the piece's last character in the run; `begin` is its first character's index."""
    left: float
    top: float
    right: float
    bottom: float
    first_word: int = 0
    """Number of characters of the piece's first word."""
    mark: Mark | None = None
    """Mark of a list item with which the piece begins."""

    @property
    def length(self) -> int:
        """Number of characters."""
        return self.end - self.begin

    @property
    def middle(self) -> float:
        """Distance of the vertical middle from the top of the page."""
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        """Height of the box, at least a pixel."""
        return max(1.0, self.bottom - self.top)

    @property
    def is_turned(self) -> bool:
        """Whether the text is vertical, as sometimes in margins."""
        return self.length >= _WORD and self.height > _UPRIGHT * (self.right - self.left)

    @property
    def size(self) -> float:
        """Height of the letters."""
        return max(1.0, self.right - self.left) if self.is_turned else self.height


Row = list[Piece]


def level_pieces(
    lines: Sequence[TextLine], slope: float, *, is_exact: bool, places: Sequence[Rect] = ()
) -> list[Piece]:
    """Rotate runs of words so that lines are horizontal, and split the runs at wide gaps.

    Args:
        lines: the runs of a page.
        slope: slope of the page, in radians.
        is_exact: whether boxes are as high as the font and no run crosses a gutter. If not, each
            box is only as high as the ink. It is extended to the height of a capital and the depth
            of a descender, and the run is split at wide gaps.
        places: boxes of tables. Each becomes one piece; these pieces are last.
    """
    level = _Turn(slope)
    pieces: list[Piece] = []
    runs = [
        Piece(index, 0, len(line.text), *level.box(line.corners))
        for index, line in enumerate(lines)
    ]
    # The runs of a line are as high as its ink, whatever letters each of them has.
    texts: dict[tuple[float, float], str] = defaultdict(str)
    for run in runs:
        texts[round(run.top, 2), round(run.bottom, 2)] += lines[run.index].text
    for run in runs:
        line = lines[run.index]
        if is_exact:
            pieces.append(_with_words(run, line.text))
            continue
        rise, fall = _extent(texts[round(run.top, 2), round(run.bottom, 2)])
        size = (run.bottom - run.top) / (rise + fall)
        top, bottom = run.bottom - (fall + _RISE) * size, run.bottom + (_FALL - fall) * size
        parts = _parts(replace(run, top=top, bottom=bottom), line)
        pieces += [_with_words(part, line.text) for part in parts]
    for index, place in enumerate(places, len(lines)):
        box = level.box(TextLine("", 1.0, place).corners)
        pieces.append(Piece(index, 0, _PROSE, *box))
    return pieces


def _parts(run: Piece, line: TextLine) -> Iterator[Piece]:
    """Split a run at gaps that are as wide as a gutter."""
    width = run.right - run.left
    shown = [at for at, letter in enumerate(line.text) if letter != " "]
    steps = [line.places[b] - line.places[a] for a, b in pairwise(shown)] if line.places else []
    usual = median(steps) if steps else 0.0
    start, left = 0, run.left
    for (before, behind), step in zip(pairwise(shown), steps, strict=False):
        if behind - before > 1 and (step - usual) * width >= _GUTTER * run.height:
            right = run.left + (line.places[before] + usual / 2) * width
            yield replace(run, begin=start, end=before + 1, left=left, right=right)
            start, left = behind, run.left + (line.places[behind] - usual / 2) * width
    yield replace(run, begin=start, left=left)


def _with_words(piece: Piece, text: str) -> Piece:
    """Set the first word and the list mark of a piece of a run with a text."""
    own = text[piece.begin : piece.end]
    # A mark may be a separate piece.
    return replace(piece, first_word=len(own.split(" ", 1)[0]), mark=find_mark(f"{own} -"))


class _Turn:
    """A page rotated until its lines are horizontal."""

    def __init__(self, slope: float) -> None:
        self._cosine, self._sine = math.cos(slope), math.sin(slope)

    def box(self, corners: Quad) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a quadrangle on the rotated page."""
        across = [x * self._cosine + y * self._sine for x, y in corners]
        down = [y * self._cosine - x * self._sine for x, y in corners]
        top, bottom = min(down), max(down)
        if abs(down[1] - down[0]) < abs(across[1] - across[0]) / 2:
            # Boxes of slightly rotated lines are too high, so the height comes from the corners.
            spare = (bottom - top - math.dist(corners[0], corners[3])) / 2
            top, bottom = top + max(0.0, spare), bottom - max(0.0, spare)
        return min(across), top, max(across), bottom


def _extent(text: str) -> tuple[float, float]:
    """Return how far a text rises above the baseline and falls below it, in ems."""
    rise = _RISE if any(letter not in _LOW for letter in text) else _LOW_RISE
    return rise, _FALL if any(letter in _HANGING for letter in text) else 0.0


def rows_of(pieces: Iterable[Piece]) -> list[Row]:
    """Group pieces into rows from top to bottom, each from left to right."""
    rows: list[Row] = []
    middle = 0.0
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        row = rows[-1] if rows else []
        if row and piece.middle - middle <= _SAME_ROW * min(piece.height, row[-1].height):
            middle += (piece.middle - middle) / (len(row) + 1)
            row.append(piece)
        else:
            rows.append([piece])
            middle = piece.middle
    return [sorted(row, key=lambda piece: piece.left) for row in rows]


def flows(pieces: Sequence[Piece]) -> list[list[Row]]:
    """Return the parts of a page that are read row by row, in reading order, as lists of rows."""
    if not pieces:
        return []
    height = median(piece.height for piece in pieces)
    strips = _strips(pieces, height)
    head, body, foot = _without_ends(strips, height)
    parts = [*([head] if head else []), *_flows(body, height, 0), *([foot] if foot else [])]
    return [rows_of(part) for part in parts]


class _Strip:
    """A horizontal strip of a part of the page, with empty space above and below its pieces."""

    def __init__(self, pieces: list[Piece], height: float) -> None:
        self.pieces = pieces
        self.top = min(piece.top for piece in pieces)
        self.bottom = max(piece.bottom for piece in pieces)
        self.left = min(piece.left for piece in pieces)
        self.right = max(piece.right for piece in pieces)
        own = median(piece.height for piece in pieces)
        # The spaces of a title are as wide as the gutters of the text below.
        self.free = find_free(pieces, own if own > _LARGER * height else _GUTTER * height)

        self.height = max(piece.height for piece in pieces)

    @property
    def is_row(self) -> bool:
        """Return whether the pieces are in one row."""
        return self.bottom - self.top < 2 * self.height

    @property
    def is_divided(self) -> bool:
        """Whether there is a gap between two of the pieces."""
        return len(self.free) > 2


def _strips(pieces: Iterable[Piece], height: float) -> list[_Strip]:
    """Split a part of a page at every horizontal gap."""
    found: list[list[Piece]] = []
    reach = -math.inf
    for piece in sorted(pieces, key=lambda piece: piece.top):
        own = _OVERLAP * piece.height
        if piece.top + own >= reach:
            found.append([])
        found[-1].append(piece)
        reach = max(reach, piece.bottom - own)
    return [_Strip(strip, height) for strip in found]


def find_free(pieces: Iterable[Piece], minimum: float) -> list[Interval]:
    """Return the x intervals without pieces: gaps at least `minimum` wide, and both margins."""
    free = []
    reach = -math.inf
    for piece in sorted(pieces, key=lambda piece: piece.left):
        if piece.left - reach >= minimum:
            free.append((reach, piece.left))
        reach = max(reach, piece.right)
    return [*free, (reach, math.inf)]


def _common(one: list[Interval], other: list[Interval], minimum: float) -> list[Interval]:
    """Return the intervals that both lists cover and that are at least `minimum` wide."""
    found = []
    first = second = 0
    while first < len(one) and second < len(other):
        left = max(one[first][0], other[second][0])
        right = min(one[first][1], other[second][1])
        if right - left >= minimum:
            found.append((left, right))
        if one[first][1] < other[second][1]:
            first += 1
        else:
            second += 1
    return found


def _without_ends(
    strips: list[_Strip], height: float
) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Return the pieces of the page header, of the body, and of the page number."""
    first, last = 0, len(strips)
    if len(strips) > 2 and strips[0].is_row:
        first = int(strips[1].top - strips[0].bottom > _APART * height)
    if len(strips) - first > 2 and strips[-1].is_row:
        last -= int(strips[-1].top - strips[-2].bottom > _APART * height)
    parts = strips[:first], strips[first:last], strips[last:]
    head, body, foot = ([piece for strip in part for piece in strip.pieces] for part in parts)
    return head, body, foot


def _flows(pieces: list[Piece], height: float, depth: int) -> list[list[Piece]]:
    """Split a part of a page recursively into parts that are read row by row."""
    found: list[list[Piece]] = []
    plain: list[Piece] = []
    for band in _bands(_strips(pieces, height), height):
        columns = _columns(band, height) if depth < _DEEPEST else None
        if columns is None:
            plain += band
            continue
        found += [plain] if plain else []
        plain = []
        for column in columns:
            found += _flows(column, height, depth + 1)
    return [*found, plain] if plain else found


def _bands(strips: list[_Strip], height: float) -> list[list[Piece]]:
    """Group neighbouring strips into bands: strips that share a gutter, or that have no gutters."""
    bands: list[_Band] = []
    for number, strip in enumerate(strips):
        follower = strips[number + 1] if number + 1 < len(strips) else None
        if bands and bands[-1].takes(strip, follower):
            bands[-1].add(strip)
            continue
        first, *others = [*(bands[-1].cut_column(strip) if bands else []), strip]
        bands.append(_Band(first, height))
        for other in others:
            bands[-1].add(other)
    return [
        [piece for strip in band.strips for piece in strip.pieces] for band in bands if band.strips
    ]


class _Band:
    """Neighbouring strips that share a gutter, or that have no gutters."""

    def __init__(self, strip: _Strip, height: float) -> None:
        self.strips = [strip]
        self._height = height
        self._left, self._right = strip.left, strip.right
        self._free = strip.free
        self._has_columns = strip.is_divided

    def takes(self, strip: _Strip, follower: _Strip | None) -> bool:
        """Return whether a strip belongs to the band; `follower` is the strip below it, if any."""
        if not self._has_columns and not strip.is_divided:
            return True
        gutters = self._gutters(strip)
        if not self._has_columns:
            # Text above only a left column belongs to this column.
            first = gutters[0] if gutters else (-math.inf, math.inf)
            return self._right <= first[0] and first[1] <= strip.free[1][1]
        return bool(gutters) and not (
            self._ends_at_picture(strip, gutters[0]) or self._is_heading(strip, follower, gutters)
        )

    def add(self, strip: _Strip) -> None:
        """Add a strip to the band."""
        self._free = _common(self._free, strip.free, _GUTTER * self._height)
        self._left, self._right = min(self._left, strip.left), max(self._right, strip.right)
        self._has_columns |= strip.is_divided
        self.strips.append(strip)

    def cut_column(self, below: _Strip) -> list[_Strip]:
        """Remove and return the last strips if they begin the right column of the strip below."""
        found: list[_Strip] = []
        left = below.free[-2][1] if below.is_divided else math.inf
        top = below.top
        while self.strips and not self._has_columns:
            last = self.strips[-1]
            is_apart = top - last.bottom > _APART * self._height
            if is_apart or abs(last.left - left) > self._height:
                break
            found.insert(0, self.strips.pop())
            top = last.top
        return found

    def _gutters(self, strip: _Strip) -> list[Interval]:
        """Return the gutters that the band and a further strip share."""
        left, right = min(self._left, strip.left), max(self._right, strip.right)
        common = _common(self._free, strip.free, _GUTTER * self._height)
        return [each for each in common if each[0] >= left and each[1] <= right]

    def _ends_at_picture(self, strip: _Strip, gutter: Interval) -> bool:
        """Return whether both columns end at one height and begin again at one, as at images."""
        if strip.top - self.strips[-1].bottom < _PICTURE * self._height:
            return False
        above, below = (_sides(part.pieces, gutter) for part in (self.strips[-1], strip))
        if not (all(above) and all(below)):
            return False
        ends = [max(piece.bottom for piece in side) for side in above]
        begins = [min(piece.top for piece in side) for side in below]
        return max(abs(ends[0] - ends[1]), abs(begins[0] - begins[1])) < self._height

    def _is_heading(self, strip: _Strip, follower: _Strip | None, gutters: list[Interval]) -> bool:
        """Return whether a row on one side of a gutter is the heading of the text below it."""
        gutter = gutters[0]
        if follower is None or not strip.is_row or all(_sides(strip.pieces, gutter)):
            return False
        is_larger = strip.height >= _LARGER * self._height
        is_apart = strip.top - self.strips[-1].bottom > _APART * self._height
        if _common(gutters, follower.free, _GUTTER * self._height):
            return is_larger and is_apart and all(_sides(follower.pieces, gutter))
        return is_larger or is_apart


def _sides(pieces: Iterable[Piece], gutter: Interval) -> tuple[list[Piece], list[Piece]]:
    sides: tuple[list[Piece], list[Piece]] = [], []
    for piece in pieces:
        sides[piece.left > gutter[0]].append(piece)
    return sides


def _columns(pieces: list[Piece], height: float) -> tuple[list[Piece], list[Piece]] | None:
    """Split a band into left and right at a gutter between columns; None if there is no gutter."""
    gutters = find_free(pieces, _GUTTER * height)[1:-1]
    for gutter in sorted(gutters, key=lambda each: each[0] - each[1])[:_TRIED]:
        sides = _sides(pieces, gutter)
        number = gutters.index(gutter)
        before = gutters[number - 1][0] if number else -math.inf
        behind = gutters[number + 1][0] if number + 1 < len(gutters) else math.inf
        if _are_columns(sides, before, behind):
            return sides
    return None


def _are_columns(sides: tuple[list[Piece], list[Piece]], before: float, behind: float) -> bool:
    """Return whether the two sides of a gutter are columns, which are read one after the other.

    They are not columns if one side ends above the top of the other side.
    """
    left, right = rows_of(sides[0]), rows_of(sides[1])
    few = min(len(left), len(right))
    lowest_top = max(min(piece.top for piece in side) for side in sides)
    if min(max(piece.bottom for piece in side) for side in sides) <= lowest_top:
        return False
    if few < _ROWS:
        return _is_tall(left, right) or _is_tall(right, left)
    if not _match(left, right):
        return True
    width = min(row[0].left for row in right) - max(row[-1].right for row in left)
    if few * width < _RIVER * median(piece.height for piece in sides[0]):
        return False
    nearest = (
        rows_of(piece for piece in sides[0] if piece.left > before),
        rows_of(piece for piece in sides[1] if piece.left <= behind),
    )
    return all(
        is_prose(side) or is_prose(near) or _is_list(side)
        for side, near in zip((left, right), nearest, strict=True)
    )


def _is_tall(rows: list[Row], others: list[Row]) -> bool:
    """Return whether a single piece, such as a table, is as high as several other rows."""
    height = median(piece.height for row in others for piece in row)
    return len(rows) == 1 and len(others) >= _ROWS and rows[0][0].height >= _ROWS * height


def _is_list(rows: list[Row]) -> bool:
    """Return whether most rows begin with a bullet, unlike the cells of a table."""
    marks = (row[0].mark for row in rows)
    return 2 * sum(mark is not None and not mark.is_weak for mark in marks) >= len(rows)


def is_prose(rows: list[Row]) -> bool:
    """Return whether most rows are long, and as wide as their column."""
    left = min(row[0].left for row in rows)
    width = max(piece.right for row in rows for piece in row) - left
    lengths = [sum(piece.length for piece in row) for row in rows]
    filled = [max(piece.right for piece in row) - row[0].left for row in rows]
    return median(lengths) >= _PROSE and median(filled) >= _FULL * width


def _match(left: list[Row], right: list[Row]) -> bool:
    """Return whether most rows of the shorter side are at the height of a row on the other side."""
    few, many = sorted((left, right), key=len)
    middles = [fmean(piece.middle for piece in row) for row in many]
    matching = 0
    for row in few:
        own = fmean(piece.middle for piece in row)
        nearest = min(abs(own - middle) for middle in middles)
        matching += nearest <= _MATCHING * min(piece.height for piece in row)
    return 2 * matching >= len(few)
