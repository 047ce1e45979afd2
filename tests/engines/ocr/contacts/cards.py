"""Reads the invented cards into lines with positions and expected entities."""

from __future__ import annotations

import math
import re

from chalicelib.domain.documents.page import Page, Quad, ReadPage, Rect, TextLine, around_points

_WIDTH, _HEIGHT = 1050, 600
_LETTER = 0.5
_LINE = re.compile(r"(?P<height>\d+) (?P<tag>\+?[A-Z_]+|=) (?P<text>.*)")

Entity = tuple[str, str]


def read_card(card: str, angle: float = 0.0) -> tuple[ReadPage, list[Entity]]:
    """Return the page of a card, rotated clockwise by degrees, and its entities."""
    lines: list[TextLine] = []
    entities: list[Entity] = []
    x = y = 0.0
    for row in _rows(card):
        if row.startswith("@"):
            x, y = (float(part) for part in row[1:].split())
            continue
        match = _LINE.fullmatch(row)
        assert match, row
        height = float(match["height"])
        text, found = _entities(match["tag"], match["text"])
        lines.append(text_line(text, x, y, height, angle))
        y += 1.5 * height
        for tag, value in found:
            if tag.startswith("+"):
                last_tag, last = entities.pop()
                entities.append((last_tag, f"{last} {value}"))
            else:
                entities.append((tag, value))
    return page_of(lines), entities


def page_of(lines: list[TextLine]) -> ReadPage:
    """Return lines as a page that was read."""
    return ReadPage(Page(1, _WIDTH, _HEIGHT, 1.0), 0, None, tuple(lines))


def text_line(text: str, x: float, y: float, height: float = 18, angle: float = 0.0) -> TextLine:
    """Return a line at a position, rotated by degrees, with letters half as wide as high."""
    width = _LETTER * height * len(text)
    upright: Quad = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    if not angle:
        return TextLine(text, 0.98, Rect(x, y, x + width, y + height))
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    quad = tuple((a * cos - b * sin, a * sin + b * cos) for a, b in upright)
    return TextLine(text, 0.98, around_points(quad), quad)


def _rows(card: str) -> list[str]:
    """Return the rows of a card, with continuation rows joined."""
    rows: list[str] = []
    for row in filter(None, map(str.strip, card.splitlines())):
        if row.startswith(("=>", ";")):
            rows[-1] += f" {row}"
        else:
            rows.append(row)
    return rows


def _entities(tag: str, text: str) -> tuple[str, list[Entity]]:
    """Return the line of a row and its entities."""
    if tag != "=":
        return text, [(tag, text)]
    line, _, rest = text.partition("=>")
    parts = [part.strip() for part in rest.split(";") if part.strip()]
    return line.strip(), [(part.partition(" ")[0], part.partition(" ")[2]) for part in parts]
