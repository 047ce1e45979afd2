"""Draws pages with known text for benchmarks. The same arguments give the same page.

The sentences, in nine languages, were written for this project (latin_sentences.json). Columns are
filled with words of the English sentences.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

SENTENCES: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "latin_sentences.json").read_text(encoding="utf-8")
)
"""Sentences by language; all languages except English have accents."""
FONTS = ("DejaVuSans.ttf", "DejaVuSerif.ttf", "STIXGeneral.ttf")
_WORDS = [word.strip(",;.").lower() for each in SENTENCES["en"] for word in each.split()]


@dataclass
class DrawnPage:
    """A drawn page and its true text."""

    content: bytes
    """A PNG file."""
    texts: list[str] = field(default_factory=list)
    """The paragraphs in reading order."""


@cache
def font(name: str, size: int) -> FreeTypeFont:
    """Return a font that is installed with matplotlib."""
    import matplotlib

    return ImageFont.truetype(str(Path(matplotlib.get_data_path(), "fonts", "ttf", name)), size)


def language_page(language: str, number: int) -> DrawnPage:
    """Draw a page of sentences of one language."""
    random = Random(f"{language} {number}")
    face = font(random.choice(FONTS), random.randint(20, 30))
    sentences = random.sample(SENTENCES[language], 6)
    lines = [line for each in sentences for line in wrapped(each, face, 900)]
    step = round(face.size * random.uniform(1.3, 1.6))
    image = Image.new("RGB", (1000, step * len(lines) + 100), "white")
    pen = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        pen.text((50, 50 + row * step), line, "black", face)
    return DrawnPage(_png(image), sentences)


def wrapped(text: str, face: FreeTypeFont, width: float) -> list[str]:
    """Break a text into lines of at most `width` pixels."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if face.getlength(longer) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def columns_page(columns: int, number: int) -> DrawnPage:
    """Draw an A4 page at 150 dpi: a title, and sections in columns with images between the text."""
    return _Sheet(columns, Random(f"{columns} columns {number}")).page()


class _Sheet:
    """A page in columns while it is drawn."""

    WIDTH, HEIGHT, MARGIN = 1240, 1754, 90

    def __init__(self, columns: int, random: Random) -> None:
        self._random = random
        self._columns = columns
        self._image = Image.new("RGB", (self.WIDTH, self.HEIGHT), "white")
        self._pen = ImageDraw.Draw(self._image)
        self._texts: list[str] = []
        self._name = random.choice(FONTS)
        self._size = random.randint(20, 24) if columns == 2 else random.randint(17, 19)
        self._step = self._size * random.uniform(1.25, 1.5)
        self._gutter = self._size * random.uniform(1.2, 2.5)
        self._is_justified = random.random() < 0.5
        self._indents = random.random() < 0.5

    def page(self) -> DrawnPage:
        """Draw the whole page from top to bottom."""
        y = float(self.MARGIN)
        if self._random.random() < 0.5:
            y = self._running_head(y)
        y = self._across(y, 2.0, is_centred=True)
        bottom = self.HEIGHT - self.MARGIN - 2.5 * self._step
        middle = y + (bottom - y) * self._random.uniform(0.35, 0.65)
        self._section(y, middle)
        y = middle + self._step
        if self._random.random() < 0.4:
            y = self._picture(self.MARGIN, y, self.WIDTH - 2 * self.MARGIN) + self._step
        y = self._across(y, 1.4, is_centred=self._random.random() < 0.5)
        self._section(y, bottom)
        self._page_number()
        return DrawnPage(_png(self._image), self._texts)

    def _running_head(self, y: float) -> float:
        """Write two short texts into the upper corners of the page; return the y below them."""
        face = font(self._name, round(0.8 * self._size))
        left, right = "The Hollow Mill Gazette", f"Autumn {self._random.randint(1900, 1999)}"
        self._pen.text((self.MARGIN, y), left, "black", face)
        self._pen.text((self.WIDTH - self.MARGIN, y), right, "black", face, anchor="ra")
        self._texts += [left, right]
        return y + 3 * self._step

    def _across(self, y: float, growth: float, *, is_centred: bool) -> float:
        """Write a heading over all columns."""
        face = font(self._name, round(growth * self._size))
        text = self._sentence(4, 12).rstrip(".")
        for line in wrapped(text, face, self.WIDTH - 2 * self.MARGIN):
            x = self.MARGIN
            if is_centred:
                x += round((self.WIDTH - 2 * self.MARGIN - face.getlength(line)) / 2)
            self._pen.text((x, y), line, "black", face)
            y += growth * self._step
        self._texts.append(text)
        return y + self._step

    def _section(self, top: float, bottom: float) -> None:
        """Fill all columns with text; at most one column also gets a picture."""
        width = (self.WIDTH - 2 * self.MARGIN - (self._columns - 1) * self._gutter) / self._columns
        pictured = self._random.randrange(self._columns + 1)
        for column in range(self._columns):
            x = self.MARGIN + column * (width + self._gutter)
            y = top + self._random.uniform(0, 0.5) * self._step
            place = self._random.uniform(top, bottom - 200) if column == pictured else None
            self._column(x, y, width, bottom, place)

    def _column(self, x: float, y: float, width: float, bottom: float, place: float | None) -> None:
        """Write paragraphs until a column is full."""
        face = font(self._name, self._size)
        while True:
            if place is not None and y > place and y + 200 < bottom:
                y, place = self._picture(x, y, width) + 0.7 * self._step, None
            text = " ".join(self._sentence(6, 14) for _ in range(self._random.randint(2, 4)))
            indent = 1.5 * self._size if self._indents else 0
            first, *rest = wrapped(text, face, width - indent)
            lines = [first, *wrapped(" ".join(rest), face, width)] if rest else [first]
            if y + len(lines) * self._step > bottom:
                return
            for number, line in enumerate(lines):
                left = x + (0 if number else indent)
                is_last = number == len(lines) - 1
                self._line(line, left, y, None if is_last else x + width - left)
                y += self._step
            y += 0 if self._indents else 0.6 * self._step
            self._texts.append(text)

    def _line(self, line: str, x: float, y: float, width: float | None) -> None:
        """Write a line; if a width is given, stretch it to the width of the column."""
        face, words = font(self._name, self._size), line.split()
        if width is None or not self._is_justified or len(words) < 2:
            self._pen.text((x, y), line, "black", face)
            return
        space = (width - sum(map(face.getlength, words))) / (len(words) - 1)
        for word in words:
            self._pen.text((x, y), word, "black", face)
            x += face.getlength(word) + space

    def _picture(self, x: float, y: float, width: float) -> float:
        """Draw a picture of shapes in a frame; return the y below it."""
        height = self._random.uniform(100, 180)
        self._pen.rectangle((x, y, x + width, y + height), "#d8d8d8", "#707070")
        for _ in range(7):
            left, top = x + self._random.uniform(0, 0.8) * width, y + height / 5
            box = (left, top, left + 0.15 * width, top + self._random.uniform(0.3, 0.7) * height)
            self._pen.ellipse(box, f"#{self._random.randrange(40, 99)}8090")
        return y + height

    def _page_number(self) -> None:
        text, x = str(self._random.randint(2, 98)), self._random.choice((0.5, 0.9))
        face = font(self._name, self._size)
        self._pen.text((x * self.WIDTH, self.HEIGHT - self.MARGIN), text, "black", face)
        self._texts.append(text)

    def _sentence(self, least: int, most: int) -> str:
        words = self._random.choices(_WORDS, k=self._random.randint(least, most))
        return " ".join(words).capitalize() + "."


def _png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
