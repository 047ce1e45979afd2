"""Parts that generated forms share: opening, closing, cells of columns, values of several lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from bench.drawn_pages import SENTENCES
from bench.form_pages.contents import LANGUAGES, Entry, draw_entries
from bench.form_pages.sheet import HEIGHT, MARGIN, WIDTH, Sheet

TITLES = (
    "Application form", "Claim", "Order", "Registration", "Statement", "Delivery note", "Invoice",
    "Request for leave", "Membership", "Inspection report",
)  # fmt: skip
HEADINGS = (
    "Part 1. Applicant",
    "Section A",
    "Details",
    "Personal data",
    "Payment",
    "For office use",
)
FOOTERS = ("Page 1 of 2", "Form 27-B (rev. 03)", "Please keep a copy for your records.")


def chance_language(random: Random) -> str:
    """Return English for half of the pages, otherwise any of the languages."""
    return "en" if random.random() < 0.5 else random.choice(LANGUAGES)


def opening(sheet: Sheet) -> float:
    """Write a title, and on some pages a heading and instructions; return where they end."""
    y = float(sheet.random.randint(40, 90))
    sheet.write(MARGIN, y, sheet.random.choice(TITLES), sheet.caption_font, 40)
    y += 80
    if sheet.random.random() < 0.5:
        y = sheet.prose(y, " ".join(sheet.random.sample(SENTENCES["en"], 2))) + 24
    if sheet.random.random() < 0.4:
        sheet.write(MARGIN, y, sheet.random.choice(HEADINGS), sheet.caption_font, 26)
        y += 56
    return y


def closing(sheet: Sheet, y: float) -> None:
    """Write what follows the fields."""
    if sheet.random.random() < 0.5 and y < HEIGHT - 300:
        sheet.prose(y + 60, " ".join(sheet.random.sample(SENTENCES["en"], 2)))
    if sheet.random.random() < 0.6:
        sheet.caption(MARGIN, HEIGHT - 70, sheet.random.choice(FOOTERS), 0.8)


def choose_entries(sheet: Sheet, count: int, blank: float = 0.2) -> list[Entry]:
    """Choose the language and the fields of a page."""
    sheet.language = chance_language(sheet.random)
    sheet.entries = draw_entries(sheet.random, count, sheet.language, blank)
    return sheet.entries


def tallest(entries: Sequence[Entry]) -> int:
    """Return the number of lines of the longest value."""
    return max(1, *(len(entry.lines) for entry in entries))


def in_columns(
    entries: Sequence[Entry], columns: int, top: float, height: float
) -> Iterator[tuple[Entry, float, float, float]]:
    """Yield each entry with the left end, top and width of its cell, row by row."""
    width = (WIDTH - 2 * MARGIN) / columns
    for place, entry in enumerate(entries):
        yield entry, MARGIN + place % columns * width, top + place // columns * height, width


def write_value(sheet: Sheet, entry: Entry, x: float, y: float, end: float = WIDTH - 20) -> float:
    """Write the lines of a value, none of them beyond `end`; return the top of the next line."""
    for line in entry.lines:
        sheet.value(x, y, line, end)
        y += 1.35 * sheet.value_size
    return y
