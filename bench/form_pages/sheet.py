"""A page on which generated forms are drawn, with the lines that its text layer would have."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
from PIL import Image, ImageDraw

from bench.drawn_pages import font, wrapped
from bench.form_pages.contents import Entry
from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.formats.pdf.text_lines import ASCENT, DESCENT

WIDTH, HEIGHT = 1240, 1754
"""Pixels of an A4 page at 150 dots an inch."""
MARGIN = 90
LEAST_SIZE = 13
"""Pixels of the smallest print that an engine reads well."""
CAPTION_FONTS = (
    "DejaVuSans.ttf", "DejaVuSerif.ttf", "STIXGeneral.ttf", "DejaVuSans-Bold.ttf", "cmss10.ttf",
    "STIXGeneralBol.ttf",
)  # fmt: skip
VALUE_FONTS = (
    "DejaVuSans.ttf", "DejaVuSansMono.ttf", "cmtt10.ttf", "STIXGeneralItalic.ttf",
    "DejaVuSerif.ttf",
)  # fmt: skip
# Fractions of pages whose template names types of fields, and several texts of each key.
TYPED_SHARE, VARIED_SHARE = 0.4, 0.5
# Smallest size of small print, in pixels.
SMALL_PRINT = 14
_WITH_CENTS = re.compile(r"([-(]?\$?\d{1,3}(?:,\d{3})*)\.(\d\d)")


@dataclass
class Sheet:
    """A page under construction, with fonts chosen at random."""

    random: Random
    language: str = "en"
    image: Image.Image = field(default_factory=lambda: Image.new("L", (WIDTH, HEIGHT), 255))
    lines: list[TextLine] = field(default_factory=list)
    rules: list[Rect] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    issued: FormTemplate | None = None
    """Template that ships for such a document; the page has only some of its keys."""
    doubtful: set[str] = field(default_factory=set)
    """Entities whose value a person could answer in several ways: not judged."""
    cents: str = ""
    """How cents are set apart from dollars: "space", "runs", "rule", or by a point if empty."""
    has_side_letters: bool = False
    """Whether boxes 12 of a wage statement have upright letters at their sides."""
    is_joined: bool = False
    """Whether the text layer joins neighbouring texts of one line, as PDF readers do."""

    def __post_init__(self) -> None:
        """Choose fonts and sizes."""
        self.caption_font = self.random.choice(CAPTION_FONTS)
        self.value_font = self.random.choice((self.caption_font, *VALUE_FONTS))
        self.value_size = self.random.randint(20, 28)
        share = self.random.choice((0.55, 0.65, 0.75, 0.85, 1.0, 1.0))
        self.caption_size = max(LEAST_SIZE + 2, round(share * self.value_size))
        # Official forms leave hardly any space between rows, letters a lot.
        self.looseness = self.random.choice((0.0, 0.1, 0.2, 0.4, 0.7, 1.0))
        self.known_share = self.random.choice((1.0, 0.85, 0.6, 0.4))

    def caption(self, x: float, y: float, text: str, scale: float = 1.0) -> Rect:
        """Write a caption with its upper left corner at a point."""
        size = max(SMALL_PRINT, round(scale * self.caption_size))
        return self.write(x, y, text, self.caption_font, size)

    def row(self, lines: float, captions: float = 0.0) -> float:
        """Return the height of a row with some lines of values and captions, loose or tight."""
        text = 1.35 * (lines * self.value_size + captions * self.caption_size)
        return text + self.looseness * 1.8 * self.value_size

    def value(self, x: float, y: float, text: str, end: float = WIDTH - 20) -> Rect:
        """Write one line of a value, in smaller letters if it would reach beyond `end`."""
        size = self.value_size
        while size > LEAST_SIZE and x + font(self.value_font, size).getlength(text) > end:
            size -= 1
        amount = _WITH_CENTS.fullmatch(text) if self.cents else None
        if amount is None:
            return self.write(x, y, text, self.value_font, size)
        dollars, cents = amount.groups()
        if self.cents == "space":
            return self.write(x, y, f"{dollars} {cents}", self.value_font, size)
        box = self.write(x, y, dollars, self.value_font, size)
        if self.cents == "rule":
            middle = box.max_x + 0.3 * size
            self.rule(middle, y - 0.5 * size, middle, y + 1.7 * size)
        return self.write(box.max_x + 0.6 * size, y, cents, self.value_font, size)

    def aligned(self, x: float, y: float, text: str, end: float = WIDTH - 20) -> Rect:
        """Write one line of a value on the baseline of a caption whose corner is at height `y`."""
        caption = font(self.caption_font, self.caption_size).getmetrics()[0]
        return self.value(
            x, y + caption - font(self.value_font, self.value_size).getmetrics()[0], text, end
        )

    def caption_width(self, text: str, scale: float = 1.0) -> float:
        """Return the width of a caption in pixels."""
        size = max(SMALL_PRINT, round(scale * self.caption_size))
        return font(self.caption_font, size).getlength(text)

    def fitting(self, entry: Entry, width: float, scale: float = 1.0) -> Entry:
        """Return an entry with its caption cut to the words that fit, also in the template."""
        words = entry.captions[0].split()
        while len(words) > 1 and self.caption_width(" ".join(words), scale) > width:
            words.pop()
        captions = (" ".join(words), *entry.captions[1:])
        fitting = replace(entry, captions=captions)
        self.entries[self.entries.index(entry)] = fitting
        return fitting

    def value_width(self, text: str) -> float:
        """Return the width of a value's line in pixels."""
        return font(self.value_font, self.value_size).getlength(text)

    def write(self, x: float, y: float, text: str, name: str, size: int) -> Rect:
        """Write a line of text in any font."""
        pen, face = ImageDraw.Draw(self.image), font(name, size)
        pen.text((x, y), text, fill=0, font=face)
        left, top, right, bottom = pen.textbbox((x, y), text, font=face)
        box = Rect(left, top, right, bottom)
        if text.strip():
            # A text layer gives boxes by the size of the font, not by the ink.
            base = y + face.getmetrics()[0]
            line = Rect(left, base - ASCENT * size, right, base + DESCENT * size)
            self.lines.append(TextLine(text, 1.0, line, None, _middles(text, name, size)))
        return box

    def rule(self, x: float, y: float, end_x: float, end_y: float) -> None:
        """Draw a straight line."""
        ImageDraw.Draw(self.image).line((x, y, end_x, end_y), fill=0, width=2)
        self.rules.append(Rect(min(x, end_x), min(y, end_y), max(x, end_x) + 1, max(y, end_y) + 1))

    def frame(self, x: float, y: float, end_x: float, end_y: float) -> None:
        """Draw four lines around a rectangle."""
        for start, end in (((x, y), (end_x, y)), ((x, end_y), (end_x, end_y))):
            self.rule(*start, *end)
        for start, end in (((x, y), (x, end_y)), ((end_x, y), (end_x, end_y))):
            self.rule(*start, *end)

    def prose(self, y: float, text: str, size: int = 18) -> float:
        """Write a paragraph over the width of the page; return where it ends."""
        face = font(self.caption_font, size)
        for line in wrapped(text, face, WIDTH - 2 * MARGIN):
            self.write(MARGIN, y, line, self.caption_font, size)
            y += 1.35 * size
        return y

    def template(self) -> FormTemplate:
        """Return a template of the entries, or of most of them, with types on some pages."""
        if self.issued is not None:
            return self.issued
        is_typed = self.random.random() < TYPED_SHARE
        is_varied = self.random.random() < VARIED_SHARE
        known = [e for e in self.entries if self.random.random() < self.known_share]
        known = known or self.entries[:1]
        return FormTemplate(
            tuple(
                TemplateKey(
                    each.entity,
                    each.captions if is_varied else each.captions[:1],
                    (each.type,) if is_typed and each.type else (),
                )
                for each in known
            )
        )

    def layer(self) -> ReadPage:
        """Return the page as a PDF's text layer gives it."""
        pixels = np.asarray(self.image.convert("RGB"))
        page = Page(1, *self.image.size, 1.0)
        lines = _joined(self.lines) if self.is_joined else self.lines
        return ReadPage(page, 0, pixels, tuple(lines), True, tuple(self.rules))

    def png(self) -> bytes:
        """Return the page as a PNG file."""
        stream = io.BytesIO()
        self.image.save(stream, "PNG")
        return stream.getvalue()


def _middles(text: str, name: str, size: int) -> tuple[float, ...]:
    """Return the middle of each character along its line, 0 to 1."""
    face = font(name, size)
    ends = [face.getlength(text[:count]) for count in range(len(text) + 1)]
    return tuple((ends[at] + ends[at + 1]) / 2 / ends[-1] for at in range(len(text)))


def _joined(lines: Sequence[TextLine]) -> list[TextLine]:
    """Join texts of the same size on one base line whose gap is narrower than their height."""
    joined: list[TextLine] = []
    for line in sorted(lines, key=lambda each: (each.box.max_y, each.box.min_x)):
        last = joined[-1] if joined else line
        gap = line.box.min_x - last.box.max_x
        is_level = last.box.min_y == line.box.min_y and last.box.max_y == line.box.max_y
        if line is not last and is_level and 0 <= gap < line.box.height:
            joined[-1] = _next_to(last, line)
        else:
            joined.append(line)
    return joined


def _next_to(left: TextLine, right: TextLine) -> TextLine:
    """Join two lines to one, with a space between them."""
    box = Rect(left.box.min_x, left.box.min_y, right.box.max_x, right.box.max_y)
    middles = [
        (line.box.min_x + place * line.box.width - box.min_x) / box.width
        for line in (left, right)
        for place in line.places
    ]
    at = len(left.text)
    between = (left.box.max_x + right.box.min_x) / 2 - box.min_x
    middles.insert(at, between / box.width)
    return TextLine(f"{left.text} {right.text}", 1.0, box, None, tuple(middles))
