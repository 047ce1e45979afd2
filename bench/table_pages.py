"""Draws pages with tables whose cells are known, to fit and measure how tables are recognised.

A family is one way to rule and to fill a table. Fits leave out whole families. All names and
numbers are invented.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from random import Random

import numpy as np
from PIL import Image

from bench import table_words as words
from bench.drawn_pages import SENTENCES, font, wrapped
from bench.form_pages.sheet import HEIGHT, WIDTH, Sheet
from bench.ocr_table_metrics import GridText
from bench.plain_pages import PLAIN, draw_plain
from bench.table_families import (
    CODES,
    CUT_FAMILIES,
    DATES,
    FAMILIES,
    NUMBERS,
    PAIRS,
    RIGHT,
    TEXTS,
    WORDS,
    Family,
)  # fmt: skip
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine

EVERY = (*FAMILIES, *PLAIN)
"""Families of pages with one table, then of those without."""
# Seeds of the pages on which weights are fitted, and of those on which they are measured.
FITTED, MEASURED = range(6), range(100, 104)
_VALUES: Mapping[str, Callable[[Random], str]] = {
    TEXTS: lambda random: random.choice(SENTENCES["en"]),
    PAIRS: lambda random: f"{random.uniform(0, 60):.1f}\n({random.uniform(0, 9):.2f})",
    CODES: lambda random: f"{random.choice('ABKRT')}{random.randint(10, 999)}",
    DATES: lambda random: (
        f"{random.randint(1, 28):02}/{random.randint(1, 12):02}/20{random.randint(10, 26)}"
    ),
}


@dataclass
class TablePage:
    """A page with one table, with two, or without any."""

    sheet: Sheet
    tables: tuple[dict[tuple[int, ...], GridText], ...]
    """The true cells with text of each table, from row 0, by the numbers of their lines on the
    page."""
    cut: Rect
    """The visible part of the page: all of it, or little more than the table."""
    scale: float
    """Size of the image relative to the page."""

    def layer(self) -> ReadPage:
        """Return the page as its PDF's text layer would give it."""
        left, top = self.cut.min_x, self.cut.min_y
        lines = tuple(
            replace(line, box=Rect(x - left, y - top, end_x - left, end_y - top))
            for line in self.sheet.lines
            for x, y, end_x, end_y in (sides(line.box),)
            if y >= top and end_y <= self.cut.max_y
        )
        pixels = np.asarray(self._image().convert("RGB"))
        page = Page(1, pixels.shape[1], pixels.shape[0], 1.0)
        return ReadPage(page, 0, pixels, lines, True)

    def png(self) -> bytes:
        """Return the page as a PNG file."""
        stream, image = io.BytesIO(), self._image()
        size = (round(self.scale * image.width), round(self.scale * image.height))
        image.resize(size, Image.Resampling.BICUBIC).save(stream, "PNG")
        return stream.getvalue()

    def _image(self) -> Image.Image:
        return self.sheet.image.crop(tuple(map(int, sides(self.cut))))


def sides(box: Rect) -> tuple[float, float, float, float]:
    """Return the sides of a rectangle: left, top, right, bottom."""
    return box.min_x, box.min_y, box.max_x, box.max_y


@dataclass
class _Row:
    """A row of a table that is being drawn."""

    texts: list[str]
    spans: list[int]
    """Number of columns that each text covers."""
    is_header: bool = False
    lines: list[list[str]] = field(default_factory=list)


def draw_table(name: str, seed: int) -> TablePage:
    """Draw a page of a family, with a table or without any."""
    if family := FAMILIES.get(name) or CUT_FAMILIES.get(name):
        return _Drawing(family, Random(f"{name} {seed}")).draw()
    return TablePage(draw_plain(name, seed), (), Rect(0, 0, WIDTH, HEIGHT), 0.7)


def draw_tables(families: Iterable[str], seeds: range) -> Iterator[tuple[str, TablePage]]:
    """Draw a page of every family of tables for each seed."""
    for seed in seeds:
        for name in families:
            yield name, draw_table(name, seed)


def generator_digest() -> str:
    """Return one sha256 of the texts and boxes of a page of each family."""
    digest = hashlib.sha256()
    for name in (*EVERY, *CUT_FAMILIES):
        page = draw_table(name, FITTED[0])
        cells = [
            (each.row, each.column, each.text) for table in page.tables for each in table.values()
        ]
        lines = [
            (line.text, round(line.box.min_x), round(line.box.min_y)) for line in page.sheet.lines
        ]
        digest.update(json.dumps([name, cells, lines]).encode())
    return digest.hexdigest()


class _Drawing:
    """A page that is being drawn; coordinates are pixels."""

    def __init__(self, family: Family, random: Random) -> None:
        self.family, self.random = family, random
        self.sheet = Sheet(random)
        self.font = random.choice(("DejaVuSans.ttf", "DejaVuSerif.ttf", "STIXGeneral.ttf"))
        self.size = random.randint(16, 24)
        if family.second == RIGHT:
            self.size = round(0.75 * self.size)
        self.pitch = round(random.uniform(1.1, 1.35) * self.size)
        most = min(family.most_columns, 5 if {WORDS, TEXTS} & {*family.body} else 8)
        self.count = random.randint(min(3, most), most)
        # Rows with several lines need white space between them; otherwise their ends could not be
        # seen.
        wraps = family.wraps or family.more_wraps or PAIRS in family.body
        is_open = wraps and family.rules not in ("grid", "rows", "stub")
        self.room = round(random.uniform(0.35 if is_open else 0.05, 0.9) * self.size)
        self.gap = round(random.uniform(0.9, 2.5) * self.size)
        self.kinds = [family.first, *(random.choice(family.body) for _ in range(self.count - 1))]
        self.shares = [0.0, *(random.choice((0.0, 0.5, 1.0, 1.0)) for _ in self.kinds[1:])]
        if random.random() < 0.5:
            self.shares[1:] = [self.shares[1]] * (self.count - 1)
        self.has_sections = family.has_sections or random.random() < 0.08
        self.cells: dict[tuple[int, ...], GridText] = {}
        self.merged: set[int] = set()
        self.values_at = random.choice((0.0, 0.0, 0.5, 1.0))
        self.heads_at = random.choice((0.0, 0.5, 1.0, 1.0))

    def draw(self) -> TablePage:
        """Draw text, then the table, then more text."""
        random, family = self.random, self.family
        y = self._intro()
        rows = [*self._header(), *self._body()]
        widths = self._widths(rows)
        if family.has_sums:
            y = self._sums(y, 700.0) + random.uniform(1.5, 3) * self.pitch
        free = 0.0 if family.second else WIDTH - 160 - sum(widths)
        if family.has_wide_gutter:
            widths[random.randrange(len(widths) - 1)] += max(
                0.0, min(free, random.uniform(3, 9) * self.size)
            )
        elif free > 0 and random.random() < 0.5:
            widths = [width + min(free / len(widths), 60.0) for width in widths]
        most = 81 if family.second == RIGHT else max(81, WIDTH - 80 - sum(widths))
        edges = list(accumulate(widths, initial=random.uniform(80, most)))
        tables = [self.cells]
        tops = self._table(rows, edges, y)
        if family.second:
            tables.append({})
            self.cells = tables[-1]
            tops = self._second(edges, tops)
        cut = self._surroundings(edges, tops)
        return TablePage(self.sheet, tuple(tables), cut, random.choice((0.5, 0.7, 1.0)))

    def _intro(self) -> float:
        """Write what is above the table; return where it ends."""
        random = self.random
        y = float(random.randint(60, 160))
        for _ in range(random.randint(0, 2)):
            y = self._prose(y, random.choice(SENTENCES["en"]))
        if random.random() < 0.6:
            self._write(100, y, f"Table {random.randint(1, 9)}. {random.choice(words.LONG)}")
            y += self.pitch * random.uniform(1.2, 2.5)
        return y

    def _surroundings(self, edges: Sequence[float], tops: Sequence[float]) -> Rect:
        """Write what is below the table; return the visible part of the page."""
        random = self.random
        if self.family.has_sums:
            self._sums(tops[-1] + random.uniform(0.5, 2.5) * self.pitch, edges[-1] - 260)
        elif not self.family.second and random.random() < 0.3:
            margin = random.uniform(8, 30)
            return Rect(edges[0] - margin, tops[0] - margin, edges[-1] + margin, tops[-1] + margin)
        else:
            self._below(tops[-1], edges[0])
        return Rect(0, 0, WIDTH, HEIGHT)

    def _second(self, edges: Sequence[float], tops: Sequence[float]) -> list[float]:
        """Draw another table next to the first one or below it; return the tops of the lower."""
        random, family = self.random, self.family
        if family.is_other:
            self.count = random.randint(3, family.most_columns if family.second == RIGHT else 7)
            self.kinds = [family.first, *random.choices(family.body, k=self.count - 1)]
            self.shares = [0.0, *random.choices((0.0, 0.5, 1.0, 1.0), k=self.count - 1)]
        rows = [*self._header(), *self._body()]
        widths = self._widths(rows)
        if family.second == RIGHT:
            left, y = edges[-1] + random.uniform(0.5, 4) * self.size, tops[0]
            if family.is_other and random.random() < 0.5:
                y += random.uniform(0.0, 2) * self.pitch
                self.room *= random.uniform(0.6, 1.5)
        else:
            left, y = edges[0], tops[-1] + random.uniform(0.5, 2.5) * self.pitch
            if random.random() < 0.35:
                self._write(left + self.gap / 2, y, random.choice((*words.LONG, *words.LONG_HEADS)))
                y += random.uniform(1, 1.6) * self.pitch
            if not family.is_other:
                pairs = zip(widths, pairwise(edges), strict=True)
                widths = [max(own, b - a) for own, (a, b) in pairs]
        own = self._table(rows, list(accumulate(widths, initial=left)), y)
        return max([*tops], own, key=lambda each: each[-1])

    def _sums(self, y: float, x: float) -> float:
        """Write names and amounts in two columns; return where they end."""
        for name in self.random.sample(words.HEADS, self.random.randint(2, 4)):
            amount = f"{self.random.uniform(10, 9000):,.2f}"
            self._write(x, y, name)
            width = font(self.font, self.size).getlength(amount)
            self._write(x + 250 - width, y, amount)
            y += 1.3 * self.pitch
        return y

    def _below(self, y: float, left: float) -> None:
        """Write a note directly below the table, and more text below it."""
        random = self.random
        y += random.uniform(0.2, 0.6) * self.pitch
        if random.random() < 0.4:
            self._write(left + self.gap / 2, y, random.choice(words.NOTES))
        y += random.uniform(1.8, 3) * self.pitch
        for _ in range(random.randint(0, 2)):
            y = self._prose(y, random.choice(SENTENCES["en"]))

    def _prose(self, y: float, text: str) -> float:
        for line in wrapped(text, font(self.font, self.size), WIDTH - 220):
            self._write(100, y, line)
            y += self.pitch
        return y + self.pitch

    def _header(self) -> list[_Row]:
        """Invent the header, if the family has one."""
        if not self.family.header_lines:
            return []
        names = words.LONG_HEADS if self.family.header_lines > 1 else words.HEADS
        texts = self.random.sample(names, self.count)
        if self.family.header_lines > 1:
            short = self.random.sample(words.HEADS, self.count)
            texts = [self.random.choice(pair) for pair in zip(texts, short, strict=True)]
        if self.family.has_years:
            last = self.random.randint(2005, 2026)
            texts[1:] = [str(last - number) for number in range(1, self.count)]
        texts[0] = texts[0] if self.family.has_corner else ""
        rows = [_Row(texts, [1] * self.count, True)]
        if self.family.has_spans:
            spans = [1]
            while sum(spans) < self.count:
                spans.append(min(self.random.choice((2, 2, 3)), self.count - sum(spans)))
            groups = self.random.sample(words.GROUPS, len(spans) - 1)
            rows.insert(0, _Row(["", *groups], spans, True))
        return rows

    def _body(self) -> Iterator[_Row]:
        """Invent the rows below the header."""
        used = 0
        sections = self.random.sample(words.SECTIONS, len(words.SECTIONS))
        for number in range(self.random.randint(*self.family.rows)):
            if self.has_sections and number % 4 == 0 and used < len(sections):
                is_wide = self.family.rules == "grid"
                spans = [self.count] if is_wide else [1] * self.count
                texts = [""] * (len(spans) - 1)
                if self.family.has_units:
                    texts = self.random.choices(words.UNITS, k=len(texts))
                yield _Row([sections[used], *texts], spans)
                used += 1
            kinds = self.kinds
            if self.family.by_rows:
                kinds = [WORDS, *[self.random.choice(self.family.body)] * (self.count - 1)]
            yield _Row([self._text(kind, at) for at, kind in enumerate(kinds)], [1] * self.count)

    def _text(self, kind: str, column: int) -> str:
        """Invent the text of a cell."""
        random = self.random
        if column == 0 and kind == WORDS:
            short = words.LONG_HEADS if self.family.by_rows else words.NAMES
            return random.choice(words.LONG if random.random() < self.family.wraps else short)
        if column and random.random() < self.family.empty:
            return ""
        if kind == NUMBERS and self.family.has_signs:
            return f"$ {random.uniform(1, 5000):,.2f}"
        if kind == WORDS:
            is_long = random.random() < self.family.more_wraps
            return random.choice(words.LONG if is_long else (*words.SHORT, *words.NAMES))
        if kind in _VALUES:
            return _VALUES[kind](random)
        return random.choice(
            (
                f"{random.uniform(0, 100):.1f}",
                f"{random.randint(0, 9999):,}",
                f"{random.uniform(-9, 9):.2f}",
                f"{random.uniform(0, 60):.1f} ({random.randint(1, 99)})",
                f"{random.uniform(0, 60):.1f} ± {random.uniform(0, 9):.1f}",
                f"{random.uniform(0, 100):.1f}%",
                f"${random.uniform(0, 5000):,.2f}",
                "-",
            )
        )

    def _widths(self, rows: Sequence[_Row]) -> list[float]:
        """Break texts into lines; return the widths of columns, gaps included."""
        narrow = 11.0 * self.size
        for row in rows:
            most = 5.0 * self.size if row.is_header and self.family.header_lines > 1 else narrow
            row.lines = [
                self._broken(text, most if span == 1 else 30.0 * self.size)
                for text, span in zip(row.texts, row.spans, strict=True)
            ]
        widths = [0.0] * self.count
        for is_span in (False, True):
            for row in rows:
                self._widen(row, widths, is_span=is_span)
        most = (WIDTH - 160) / sum(widths)
        return [width * min(1.0, most) for width in widths]

    def _broken(self, text: str, width: float) -> list[str]:
        face = font(self.font, self.size)
        return [line for part in text.split("\n") if part for line in wrapped(part, face, width)]

    def _widen(self, row: _Row, widths: list[float], *, is_span: bool) -> None:
        """Widen columns so that the texts of a row fit, in one column or over several."""
        face, at = font(self.font, self.size), 0
        for lines, span in zip(row.lines, row.spans, strict=True):
            if (span > 1) == is_span:
                need = max(map(face.getlength, lines), default=0) + self.gap
                more = (need - sum(widths[at : at + span])) / span
                for column in range(at, at + span):
                    widths[column] += max(0.0, more)
            at += span

    def _table(self, rows: Sequence[_Row], edges: Sequence[float], y: float) -> list[float]:
        """Draw a table; return the top of each row and the bottom of the last one."""
        tops, step = [y], 4
        self.merged = set()
        if self.family.has_merges:
            self._merge(rows)
        for number, row in enumerate(rows):
            depth = max(map(len, row.lines)) * self.pitch + self.room
            if self.family.is_uneven and self.random.random() < 0.3:
                depth += self.random.uniform(0.3, 2) * self.pitch
            if self.family.has_breaks and number % step == 0 and not row.is_header:
                depth += self.random.uniform(0.7, 1.5) * self.pitch
            if tops[-1] + depth > HEIGHT - 120:
                break
            at = 0
            for text, lines, span in zip(row.texts, row.lines, row.spans, strict=True):
                first = len(self.sheet.lines)
                self._cell(row, lines, (edges[at], edges[at + span]), (tops[-1], depth), at)
                if text:
                    numbers = tuple(range(first, len(self.sheet.lines)))
                    text = " ".join(line.text for line in self.sheet.lines[first:])
                    self.cells[numbers] = GridText(number, at, text, 1, span, row.is_header)
                at += span
            tops.append(tops[-1] + depth)
        self._span_rows()
        self._rules(rows, edges, tops)
        return tops

    def _merge(self, rows: Sequence[_Row]) -> None:
        """Empty some first cells, so that the cells above also cover their rows."""
        first = sum(row.is_header for row in rows) + self.random.randint(0, 1)
        self.merged = set(range(first, len(rows) - 1, self.random.randint(2, 3)))
        for number in self.merged:
            rows[number + 1].lines[0], rows[number + 1].texts[0] = [], ""

    def _span_rows(self) -> None:
        """Record which first cells cover several rows."""
        is_ruled = self.family.has_spans and self.family.rules == "grid"
        for place, cell in self.cells.items():
            if cell.column == 0 and cell.row in self.merged:
                self.cells[place] = replace(cell, row_span=2)
            elif is_ruled and (cell.row, cell.column) == (1, 0):
                self.cells[place] = replace(cell, row=0, row_span=2)

    def _cell(
        self,
        row: _Row,
        lines: Sequence[str],
        sides: tuple[float, float],
        place: tuple[float, float],
        column: int,
    ) -> None:
        top, depth = place
        face = font(self.font, self.size)
        free = depth - self.room - len(lines) * self.pitch
        top += self.room / 2 + free * (self.heads_at if row.is_header else self.values_at)
        is_span = len(row.lines) < self.count
        share = 0.5 if is_span and column else self.shares[column]
        for number, line in enumerate(lines):
            is_last = number + 1 == len(lines)
            if not row.is_header:
                line = self._stretched(line, sides[1] - sides[0] - self.gap, is_last, column)
            spare = sides[1] - sides[0] - self.gap - face.getlength(line)
            self._write(sides[0] + self.gap / 2 + share * spare, top + number * self.pitch, line)

    def _stretched(self, line: str, width: float, is_last: bool, column: int) -> str:
        """Return a line of a cell, with wider spaces or leaders if the family of tables has any."""
        family, longer = self.family, line
        while longer and font(self.font, self.size).getlength(longer) <= width:
            line = longer
            if family.has_leaders and column == 0:
                longer += " ."
            elif (family.is_justified and not is_last) or (family.has_signs and "$ " in line):
                longer = re.sub("( +)", r"\1 ", line)
            if longer == line:
                break
        return line

    def _rules(self, rows: Sequence[_Row], edges: Sequence[float], tops: Sequence[float]) -> None:
        way, head = self.family.rules, sum(row.is_header for row in rows)
        inner = range(head + 1, len(tops) - 1)
        step = self.random.randint(2, 4)
        groups = inner[step - 1 :: step]
        across = {
            "grid": inner, "stub": inner, "rows": inner, "three": (), "columns": (), "frame": (),
            "groups": groups, "group rows": groups, "none": (), "names": (),
        }[way]  # fmt: skip
        if way not in ("none", "names"):
            for at in (0, head, *across, len(tops) - 1):
                start = edges[1] if at - 1 in self.merged else edges[0]
                self.sheet.rule(start, tops[at], edges[-1], tops[at])
        self._group_rules(rows[0], edges, tops)
        upright = {
            "grid": edges, "columns": edges, "groups": edges,
            "stub": (edges[0], edges[1], edges[-1]),
            "frame": (edges[0], edges[-1]),
        }.get(way, ())  # fmt: skip
        for x in upright:
            for row, (top, bottom) in zip(rows, pairwise(tops), strict=False):
                if x not in self._covered(row, edges):
                    self.sheet.rule(x, top, x, bottom)

    def _covered(self, row: _Row, edges: Sequence[float]) -> set[float]:
        """Return the positions of column edges that the row's spanning cells cover."""
        kept = {edges[at] for at in accumulate(row.spans, initial=0)}
        return set(edges) - kept

    def _group_rules(self, row: _Row, edges: Sequence[float], tops: Sequence[float]) -> None:
        """Draw the rules below the names of groups of columns."""
        if not self.family.has_spans or self.family.rules == "none":
            return
        inset = 0 if self.family.rules in ("grid", "groups") else self.gap / 4
        for first, last in list(pairwise(accumulate(row.spans, initial=0)))[1:]:
            self.sheet.rule(edges[first] + inset, tops[1], edges[last] - inset, tops[1])

    def _write(self, x: float, y: float, text: str) -> None:
        """Write a line of text, with a box as high as the font, as in a text layer."""
        self.sheet.write(x, y, text, self.font, self.size)
        if text.strip():
            line = self.sheet.lines.pop()
            box = Rect(line.box.min_x, y, line.box.max_x, y + 1.15 * self.size)
            self.sheet.lines.append(TextLine(text, 1.0, box, None, line.places))
