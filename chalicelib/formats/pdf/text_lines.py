"""Groups the characters of a PDF page into lines of text.

Runs in the child process that reads PDFs (child.py); imports only the standard library.
Characters are grouped by direction and then by baseline. The groups are split at wide gaps. All
coordinates are pixels of the page's raster, counted from its top left corner.

text_lines(glyphs) -> [Line("Total due", box, None, (0.05, ...)), ...] in reading order
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from chalicelib.formats.pdf.directions import (
    is_mostly_right_to_left,
    is_right_to_left,
    is_spacing,
    logical_order,
    paired,
    reading_rank,
)
from chalicelib.formats.pdf.glyphs import Glyph

Point = tuple[float, float]

# Height of a line above its baseline, in font sizes.
ASCENT = 0.75
# Depth of a line below its baseline, in font sizes.
DESCENT = 0.22
# A wider gap ends a line, in font sizes.
SPLIT_GAP = 1.0

# Baselines that differ by less are the same, in font sizes.
_BASELINE = 0.2
# A wider gap separates words if the characters do not follow each other in the file.
_WORD_GAP = 0.2
# A wider gap separates words even if the characters follow each other and no space is between.
_OPEN_GAP = 0.5
# A wider gap ends a line even between letters of a word with wide letter spacing.
_LETTER_GAP = 2.0
# Equal characters of two text objects that are nearer than this were printed twice, for bold.
_OVERPRINT = 0.12
# Number of preceding characters that are compared to find an overprint.
_LOOK_BACK = 4
# A superscript or subscript is smaller than this fraction of its neighbour's size.
_SMALL = 0.85
# Greatest rise of a superscript, in font sizes of its neighbour.
_INDEX_RISE = 0.6
# Greatest drop of a subscript.
_INDEX_FALL = 0.35
# Greatest gap to the neighbour.
_INDEX_GAP = 0.35
# A line is bold if at least this fraction of its characters is.
_BOLD_SHARE = 0.9
# Greatest overlap with the neighbour, as in formulas with one index above another.
_INDEX_OVERLAP = 0.5


class Line(NamedTuple):
    """A line of text on a page."""

    text: str
    """Words separated by single spaces."""
    box: tuple[float, float, float, float]
    """Smallest x, smallest y, largest x, largest y."""
    quad: tuple[Point, Point, Point, Point] | None
    """Corners from the top left in reading direction, clockwise; None for an upright line."""
    places: tuple[float, ...]
    """Centre of each character along the line, 0 to 1; descending in right-to-left text."""
    bold: bool = False
    """Whether nearly all letters of the line are bold."""


class _Unit(NamedTuple):
    """A unit of a line: a character with its marks, a ligature, or a space."""

    text: str
    middles: list[float]
    """Centre of each character along the reading direction."""


class _Letter(NamedTuple):
    """A character, with its positions along and across the reading direction."""

    base: float
    """Position of the baseline across the reading direction; grows downwards."""
    origin: float
    """Start of the character along the reading direction."""
    order: int
    """Index of the character in the PDF."""
    start: float
    """Start of the ink along the reading direction."""
    end: float
    """End of the ink along the reading direction."""
    size: float
    """Height of the font in pixels."""
    glyph: Glyph
    """The character itself."""


class _Direction(NamedTuple):
    """A reading direction, and its coordinate system."""

    along: Point
    """Unit vector of the reading direction."""

    def flatten(self, x: float, y: float) -> Point:
        """Convert a point to coordinates along and across the reading direction."""
        across, down = self.along
        return x * across + y * down, y * across - x * down

    def restore(self, along: float, down: float) -> Point:
        across, below = self.along
        # A thousandth of a pixel is enough, and keeps the process's answer short.
        return round(along * across - down * below, 3), round(along * below + down * across, 3)


def text_lines(glyphs: list[Glyph]) -> list[Line]:
    """Return the lines of a page, grouped by reading direction.

    The most common direction is first. In each group, lines are sorted from top to bottom.
    """
    sizes = _true_sizes(glyphs)
    texts = [glyph.text for glyph in glyphs]
    is_reversed = is_right_to_left("".join(texts)) and is_mostly_right_to_left(texts)
    groups: dict[float, list[int]] = defaultdict(list)
    for number, glyph in enumerate(glyphs):
        groups[glyph.angle].append(number)
    lines: list[Line] = []
    for angle, members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        frame = _Direction(_unit(angle))
        letters = [_place(number, glyphs[number], sizes, frame) for number in members]
        for row in _rows(_level(_with_ends(letters))):
            lines += (_line(piece, frame, angle == 0, is_reversed) for piece in _pieces(row))
    return lines


def _unit(angle: float) -> Point:
    if angle % 90 == 0:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[int(angle // 90) % 4]
    return math.cos(math.radians(angle)), math.sin(math.radians(angle))


def _true_sizes(glyphs: list[Glyph]) -> dict[int, float]:
    # Some files declare absurd font sizes, so they are corrected by the ink.
    sizes: dict[int, float] = {}
    tallest: dict[int, float] = defaultdict(float)
    for glyph in glyphs:
        sizes[glyph.run] = glyph.size
        if glyph.text.isalnum() and glyph.angle % 90 == 0:
            upright = glyph.angle % 180 == 0
            low, high = (1, 3) if upright else (0, 2)
            tallest[glyph.run] = max(tallest[glyph.run], glyph.box[high] - glyph.box[low])
    for run, tall in tallest.items():
        if tall > 0 and not 0.3 * sizes[run] < tall < 1.3 * sizes[run]:
            sizes[run] = tall / ASCENT
    return {run: max(size, 1e-3) for run, size in sizes.items()}


def _place(number: int, glyph: Glyph, sizes: dict[int, float], frame: _Direction) -> _Letter:
    origin, base = frame.flatten(*glyph.origin)
    left, top, right, bottom = glyph.box
    one, _ = frame.flatten(left, top)
    other, _ = frame.flatten(right, bottom)
    start, end = min(one, other), max(one, other)
    return _Letter(base, origin, number, start, end, sizes[glyph.run], glyph)


def _with_ends(letters: list[_Letter]) -> list[_Letter]:
    """Set the start and the end of slanted characters, because their upright boxes are too wide.

    A character starts at its origin, and usually ends where the next character starts.
    """
    if not letters or letters[0].glyph.angle % 90 == 0:
        return letters
    found = []
    for letter, following in zip(letters, [*letters[1:], None], strict=True):
        width = 0.5 * letter.size
        if following and following.glyph.run == letter.glyph.run:
            step = following.origin - letter.origin
            width = min(step, width) if following.glyph.spaced else min(step, letter.size)
        end = letter.origin + max(width, 0.0)
        found.append(letter._replace(start=letter.origin, end=end))
    return found


def _level(letters: list[_Letter]) -> list[_Letter]:
    found = list(letters)
    for number in range(1, len(found)):
        found[number] = _leaning(found[number], found[number - 1])
    for number in range(len(found) - 2, -1, -1):
        found[number] = _leaning(found[number], found[number + 1])
    return found


def _leaning(letter: _Letter, other: _Letter) -> _Letter:
    gap = max(letter.start - other.end, other.start - letter.end)
    shift = letter.base - other.base
    is_adjacent = -_INDEX_OVERLAP * other.size < gap < _INDEX_GAP * other.size
    is_near = -_INDEX_RISE * other.size < shift < _INDEX_FALL * other.size
    if letter.size < _SMALL * other.size and is_adjacent and is_near:
        return letter._replace(base=other.base, size=other.size)
    return letter


def _rows(letters: list[_Letter]) -> Iterator[list[_Letter]]:
    row: list[_Letter] = []
    for letter in sorted(letters):
        if row and letter.base - row[0].base > _BASELINE * min(letter.size, row[0].size):
            yield row
            row = []
        row.append(letter)
    if row:
        yield row


def _pieces(row: list[_Letter]) -> Iterator[list[_Letter]]:
    # Some files print characters twice, so those that overlap another one are dropped.
    piece: list[_Letter] = []
    reach = 0.0
    for letter in sorted(row, key=lambda one: (one.origin, one.order)):
        if piece and letter.start - reach > _widest_gap(piece[-1], letter):
            yield piece
            piece = []
        if any(_is_overprint(letter, other) for other in piece[-_LOOK_BACK:]):
            continue
        reach = max(reach, letter.end) if piece else letter.end
        piece.append(letter)
    if piece:
        yield piece


def _widest_gap(previous: _Letter, letter: _Letter) -> float:
    share = _LETTER_GAP if _within_word(previous, letter) else SPLIT_GAP
    return share * max(letter.size, previous.size)


def _within_word(previous: _Letter, letter: _Letter) -> bool:
    follower = _follower(previous, letter)
    return (
        follower is not None
        and letter.glyph.run == previous.glyph.run
        and not follower.glyph.spaced
    )


def _follower(previous: _Letter, letter: _Letter) -> _Letter | None:
    """Return whichever of two adjacent characters follows the other in the PDF; None if neither."""
    is_reversed = is_right_to_left(letter.glyph.text)
    # PDFium puts brackets and spaces between two directions in the wrong order.
    if is_right_to_left(previous.glyph.text) != is_reversed:
        return None
    if is_reversed:
        return previous if previous.order == letter.order + 1 else None
    return letter if letter.order == previous.order + 1 else None


def _is_overprint(letter: _Letter, other: _Letter) -> bool:
    return (
        letter.glyph.text == other.glyph.text
        and letter.glyph.run != other.glyph.run
        and abs(letter.origin - other.origin) < _OVERPRINT * letter.size
    )


def _line(letters: list[_Letter], frame: _Direction, upright: bool, is_reversed: bool) -> Line:
    start = min(letter.start for letter in letters)
    end = max(max(letter.end for letter in letters), start + 1e-3)
    text, middles = _read(letters, is_reversed)
    places = tuple(round(min(1.0, max(0.0, (at - start) / (end - start))), 5) for at in middles)
    size = max(letter.size for letter in letters)
    base = max((letter.size, letter.base) for letter in letters)[1]
    top, bottom = base - ASCENT * size, base + DESCENT * size
    corners = ((start, top), (end, top), (end, bottom), (start, bottom))
    one, two, three, four = (frame.restore(*corner) for corner in corners)
    quad = (one, two, three, four)
    across, down = zip(*quad, strict=True)
    box = (min(across), min(down), max(across), max(down))
    bold = sum(letter.glyph.bold for letter in letters) >= _BOLD_SHARE * len(letters)
    return Line(text, box, None if upright else quad, places, bold)


def _read(letters: list[_Letter], is_reversed: bool) -> tuple[str, list[float]]:
    """Return the text of a line in the order of reading, and the centre of each character."""
    is_mixed = is_right_to_left("".join(letter.glyph.text for letter in letters))
    groups = _with_marks(letters) if is_mixed else [[letter] for letter in letters]
    units: list[_Unit] = []
    reach = -math.inf
    for previous, group in zip([None, *groups[:-1]], groups, strict=True):
        if previous and _parts_words(previous[0], group[0]):
            units.append(_Unit(" ", [(previous[0].end + group[0].start) / 2]))
        middles = [middle for letter in group for middle in _spread(letter)]
        units.append(_Unit("".join(letter.glyph.text for letter in group), middles))
    # The boxes of slanted letters overlap, so their positions may decrease.
    for number, unit in enumerate(units):
        reach = max(reach, min(unit.middles))
        units[number] = unit._replace(middles=[max(reach, middle) for middle in unit.middles])
        reach = max(units[number].middles)
    if is_mixed:
        order = logical_order([unit.text for unit in units], is_reversed)
        units = [units[number] for number in order]
    text = "".join(unit.text for unit in units)
    return paired(text) if is_mixed else text, [at for unit in units for at in unit.middles]


def _with_marks(letters: list[_Letter]) -> list[list[_Letter]]:
    """Group each letter with its combining marks, and the letters of each ligature."""
    groups: list[list[_Letter]] = []
    for letter in letters:
        last = groups[-1] if groups else []
        middle = (letter.start + letter.end) / 2
        is_same = bool(last) and last[0].origin == letter.origin and last[0].end == letter.end
        is_mark = not is_spacing(letter.glyph.text)
        if is_same or (is_mark and last and middle <= max(one.end for one in last)):
            last.append(letter)
        elif last and not any(is_spacing(one.glyph.text) for one in last):
            # A mark may begin further to the left than its letter.
            last.append(letter)
        else:
            groups.append([letter])
    return [sorted(group, key=lambda one: reading_rank(one.glyph.text)) for group in groups]


def _parts_words(previous: _Letter, letter: _Letter) -> bool:
    if _within_word(previous, letter):
        return False
    gap = letter.start - previous.end
    size = min(letter.size, previous.size)
    follower = _follower(previous, letter)
    if follower is not None:
        return follower.glyph.spaced or gap > _OPEN_GAP * size
    return gap > _WORD_GAP * size


def _spread(letter: _Letter) -> list[float]:
    count = len(letter.glyph.text)
    width = (letter.end - letter.start) / count
    return [letter.start + (number + 0.5) * width for number in range(count)]
