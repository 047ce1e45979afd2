"""Groups the characters of a PDF page into lines of text.

Runs in the child process that reads PDFs (child.py); imports only the standard library.
Characters are grouped by direction, then by baseline, then split at wide gaps. All coordinates
are pixels of the page's raster, origin at the top left. Every step is a sort or one pass.

text_lines(glyphs) -> [Line("Total due", box, None, (0.05, ...)), ...] in reading order
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

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
# The same for text objects that do follow each other, even if the PDF has no space there.
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
# Greatest overlap with the neighbour, as in formulas with one index above another.
_INDEX_OVERLAP = 0.5


class Line(NamedTuple):
    """A line of text."""

    text: str
    """Words separated by single spaces."""
    box: tuple[float, float, float, float]
    """Least x, least y, greatest x, greatest y."""
    quad: tuple[Point, Point, Point, Point] | None
    """Top left, top right, bottom right, bottom left as read; None for an upright line."""
    places: tuple[float, ...]
    """Centre of each character along the line, 0 to 1."""


class _Letter(NamedTuple):
    """A character in the coordinates of its direction."""

    base: float
    """Its baseline, across the direction of reading; grows downwards."""
    origin: float
    """Its start along the direction of reading."""
    order: int
    """Its position among the characters of the page."""
    start: float
    """Start of its ink."""
    end: float
    """End of its ink."""
    size: float
    """Height of its font."""
    glyph: Glyph
    """The character itself."""


class _Direction(NamedTuple):
    """A direction of reading as a system of coordinates."""

    along: Point
    """Unit vector of the direction of reading."""

    def flatten(self, x: float, y: float) -> Point:
        """Return how far along and how far down a point is."""
        across, down = self.along
        return x * across + y * down, y * across - x * down

    def restore(self, along: float, down: float) -> Point:
        across, below = self.along
        # A thousandth of a pixel is enough, and keeps the process's answer short.
        return round(along * across - down * below, 3), round(along * below + down * across, 3)


def text_lines(glyphs: list[Glyph]) -> list[Line]:
    """Return the lines of a page: the most common direction first, from top to bottom."""
    sizes = _true_sizes(glyphs)
    groups: dict[float, list[int]] = defaultdict(list)
    for number, glyph in enumerate(glyphs):
        groups[glyph.angle].append(number)
    lines: list[Line] = []
    for angle, members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        frame = _Direction(_unit(angle))
        letters = [_place(number, glyphs[number], sizes, frame) for number in members]
        for row in _rows(_level(_with_ends(letters))):
            lines += (_line(piece, frame, angle == 0) for piece in _pieces(row))
    return lines


def _unit(angle: float) -> Point:
    if angle % 90 == 0:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[int(angle // 90) % 4]
    return math.cos(math.radians(angle)), math.sin(math.radians(angle))


def _true_sizes(glyphs: list[Glyph]) -> dict[int, float]:
    # Some files declare absurd font sizes, so they are corrected by the ink.
    said: dict[int, float] = {}
    tallest: dict[int, float] = defaultdict(float)
    for glyph in glyphs:
        said[glyph.run] = glyph.size
        if glyph.text.isalnum() and glyph.angle % 90 == 0:
            upright = glyph.angle % 180 == 0
            low, high = (1, 3) if upright else (0, 2)
            tallest[glyph.run] = max(tallest[glyph.run], glyph.box[high] - glyph.box[low])
    for run, tall in tallest.items():
        if tall > 0 and not 0.3 * said[run] < tall < 1.3 * said[run]:
            said[run] = tall / ASCENT
    return {run: max(size, 1e-3) for run, size in said.items()}


def _place(number: int, glyph: Glyph, sizes: dict[int, float], frame: _Direction) -> _Letter:
    origin, base = frame.flatten(*glyph.origin)
    left, top, right, bottom = glyph.box
    one, _ = frame.flatten(left, top)
    other, _ = frame.flatten(right, bottom)
    start, end = min(one, other), max(one, other)
    return _Letter(base, origin, number, start, end, sizes[glyph.run], glyph)


def _with_ends(letters: list[_Letter]) -> list[_Letter]:
    """Set the ends of slanted characters from the start of the next one.

    The upright box around a slanted character is wider than the character is long.
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
    return (
        letter.order == previous.order + 1
        and letter.glyph.run == previous.glyph.run
        and not letter.glyph.spaced
    )


def _is_overprint(letter: _Letter, other: _Letter) -> bool:
    return (
        letter.glyph.text == other.glyph.text
        and letter.glyph.run != other.glyph.run
        and abs(letter.origin - other.origin) < _OVERPRINT * letter.size
    )


def _line(letters: list[_Letter], frame: _Direction, upright: bool) -> Line:
    start = min(letter.start for letter in letters)
    end = max(max(letter.end for letter in letters), start + 1e-3)
    texts: list[str] = []
    middles: list[float] = []
    for previous, letter in zip([None, *letters[:-1]], letters, strict=True):
        if previous and _parts_words(previous, letter):
            texts.append(" ")
            middles.append((previous.end + letter.start) / 2)
        texts.append(letter.glyph.text)
        middles += _spread(letter)
    places = _rising((middle - start) / (end - start) for middle in middles)
    size = max(letter.size for letter in letters)
    base = max((letter.size, letter.base) for letter in letters)[1]
    top, bottom = base - ASCENT * size, base + DESCENT * size
    corners = ((start, top), (end, top), (end, bottom), (start, bottom))
    one, two, three, four = (frame.restore(*corner) for corner in corners)
    quad = (one, two, three, four)
    across, down = zip(*quad, strict=True)
    box = (min(across), min(down), max(across), max(down))
    return Line("".join(texts), box, None if upright else quad, places)


def _parts_words(previous: _Letter, letter: _Letter) -> bool:
    if _within_word(previous, letter):
        return False
    gap = letter.start - previous.end
    size = min(letter.size, previous.size)
    if letter.order == previous.order + 1:
        return letter.glyph.spaced or gap > _OPEN_GAP * size
    return gap > _WORD_GAP * size


def _spread(letter: _Letter) -> list[float]:
    count = len(letter.glyph.text)
    width = (letter.end - letter.start) / count
    return [letter.start + (number + 0.5) * width for number in range(count)]


def _rising(places: Iterable[float]) -> tuple[float, ...]:
    # The boxes of slanted letters overlap, so their positions may decrease.
    found: list[float] = []
    last = 0.0
    for place in places:
        last = min(1.0, max(last, place))
        found.append(round(last, 5))
    return tuple(found)
