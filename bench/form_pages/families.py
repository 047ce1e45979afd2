"""Layout families of generated forms: a way to arrange captions and values, and its settings.

A family is left out as a whole when a model is judged, so families differ in structure: where
values are relative to captions, what is ruled, how many columns there are, and other text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from textwrap import wrap

from bench.drawn_pages import SENTENCES
from bench.form_pages.contents import (
    CAPTIONS,
    LANGUAGES,
    Entry,
    amount,
    draw_entries,
    draw_sums,
)
from bench.form_pages.official import bank_table, licence, passport, pay_table, tight_grid
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
Draw = Callable[[Sheet], None]


def _chance_language(random: Random) -> str:
    """Return English for half of the pages, otherwise any of the languages."""
    return "en" if random.random() < 0.5 else random.choice(LANGUAGES)


def _opening(sheet: Sheet) -> float:
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


def _closing(sheet: Sheet, y: float) -> None:
    """Write what follows the fields."""
    if sheet.random.random() < 0.5 and y < HEIGHT - 300:
        sheet.prose(y + 60, " ".join(sheet.random.sample(SENTENCES["en"], 2)))
    if sheet.random.random() < 0.6:
        sheet.caption(MARGIN, HEIGHT - 70, sheet.random.choice(FOOTERS), 0.8)


def _entries(sheet: Sheet, count: int, blank: float = 0.2) -> list[Entry]:
    """Choose the language and the fields of a page."""
    sheet.language = _chance_language(sheet.random)
    sheet.entries = draw_entries(sheet.random, count, sheet.language, blank)
    return sheet.entries


def _tallest(entries: Sequence[Entry]) -> int:
    """Return the most lines of a value."""
    return max(1, *(len(entry.lines) for entry in entries))


def _in_columns(
    entries: Sequence[Entry], columns: int, top: float, height: float
) -> Iterator[tuple[Entry, float, float, float]]:
    """Yield entries with the left end, top and width of the cell of each, row by row."""
    width = (WIDTH - 2 * MARGIN) / columns
    for place, entry in enumerate(entries):
        yield entry, MARGIN + place % columns * width, top + place // columns * height, width


def _write_value(sheet: Sheet, entry: Entry, x: float, y: float, end: float = WIDTH - 20) -> float:
    """Write the lines of a value, none of them beyond `end`; return the top of the next line."""
    for line in entry.lines:
        sheet.value(x, y, line, end)
        y += 1.35 * sheet.value_size
    return y


def lines(sheet: Sheet, mark: str, columns: int, right: bool = False, ruled: bool = False) -> None:
    """Write captions with the value behind each, separated by `mark`."""
    entries = _entries(sheet, 8 * columns)
    top = _opening(sheet)
    longest = max(sheet.caption_width(entry.captions[0] + mark) for entry in entries)
    height = sheet.row(_tallest(entries))
    for entry, x, y, width in _in_columns(entries, columns, top, height):
        caption = entry.captions[0] + mark
        start = longest - sheet.caption_width(caption) if right else 0
        sheet.caption(x + start, y, caption)
        value = x + longest + sheet.random.choice((14, 40, 90 if columns == 1 else 20))
        _write_value(sheet, entry, value, y, x + width - 24)
        if ruled:
            bottom = y + 1.35 * sheet.value_size
            sheet.rule(x + longest + 8, bottom, x + width - 20, bottom)
    _closing(sheet, top + height * -(-len(entries) // columns))


def leaders(sheet: Sheet, columns: int) -> None:
    """Write captions with dots up to values at the right end."""
    entries = _entries(sheet, 8 * columns)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries))
    for entry, x, y, width in _in_columns(entries, columns, top, height):
        reserved = max([sheet.value_width(line) for line in entry.lines], default=0)
        end = x + width - 30 - reserved
        caption = sheet.fitting(entry, end - x - 80).captions[0]
        dots = int((end - x - sheet.caption_width(caption) - 30) / sheet.caption_width("."))
        sheet.caption(x, y, f"{caption} {'.' * max(3, dots)}")
        _write_value(sheet, entry, end, y)
    _closing(sheet, top + height * 9)


def boxes(sheet: Sheet, columns: int, numbered: bool = False, centred: bool = False) -> None:
    """Draw a box for each field with a small caption at the top and the value below it."""
    entries = _entries(sheet, 4 * columns)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries), 1) + 8
    for place, (entry, x, y, width) in enumerate(_in_columns(entries, columns, top, height)):
        sheet.frame(x, y, x + width, y + height)
        caption = f"{place + 1} {entry.captions[0]}" if numbered else entry.captions[0]
        start = (width - sheet.caption_width(caption, 0.7)) / 2 if centred else 8
        sheet.caption(x + start, y + 6, caption, 0.7)
        _write_value(
            sheet,
            entry,
            x + sheet.random.choice((12, 30)),
            y + 1.35 * sheet.caption_size + 4,
            x + width - 8,
        )
    _closing(sheet, top + 4 * height)


def below_rules(sheet: Sheet, columns: int, small: float) -> None:
    """Draw a rule for each value, with the caption in small print below the rule."""
    entries = _entries(sheet, 5 * columns)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries), 1) + 14
    for entry, x, y, width in _in_columns(entries, columns, top, height):
        base = y + height - 1.4 * sheet.caption_size - 8
        _write_value(
            sheet,
            entry,
            x + 10,
            base - 1.35 * sheet.value_size * max(1, len(entry.lines)),
            x + width - 30,
        )
        sheet.rule(x, base, x + width - 30, base)
        sheet.caption(x, base + 6, entry.captions[0], small)
    _closing(sheet, top + 5 * height)


def above(sheet: Sheet, columns: int, ruled: bool = False) -> None:
    """Write the caption above the value, without boxes."""
    entries = _entries(sheet, 5 * columns)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries), 1) + 4
    for entry, x, y, width in _in_columns(entries, columns, top, height):
        sheet.caption(x, y, entry.captions[0], 0.85)
        end = _write_value(sheet, entry, x, y + 1.3 * sheet.caption_size, x + width - 24)
        if ruled:
            sheet.rule(x, end + 4, x + width - 40, end + 4)
    _closing(sheet, top + 5 * height)


def cells(sheet: Sheet, pairs: int, shaded: bool = False) -> None:
    """Draw a table of rows with caption cells and value cells side by side."""
    entries = _entries(sheet, 8 * pairs)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries)) + 12
    for entry, x, y, width in _in_columns(entries, pairs, top, height):
        middle = x + 0.45 * width
        if shaded:
            sheet.image.paste(225, (int(x), int(y), int(middle), int(y + height)))
        sheet.frame(x, y, middle, y + height)
        sheet.frame(middle, y, x + width, y + height)
        sheet.caption(x + 10, y + 12, entry.captions[0], 0.85)
        _write_value(sheet, entry, middle + 12, y + 10, x + width - 8)
    _closing(sheet, top + 8 * height)


def header_rows(sheet: Sheet, columns: int, ruled: bool) -> None:
    """Write rows of captions with a row of values below each."""
    entries = _entries(sheet, 3 * columns, blank=0.15)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries), 1.5) + 12
    for entry, x, y, width in _in_columns(entries, columns, top, height):
        line = y + 1.7 * sheet.caption_size
        if ruled:
            sheet.frame(x, y, x + width, line)
            sheet.frame(x, line, x + width, y + height)
        sheet.caption(x + 8, y + 4, entry.captions[0], 0.8)
        _write_value(sheet, entry, x + 8, line + 8, x + width - 8)
    _closing(sheet, top + 3 * height)


def numbered_lines(sheet: Sheet, columns: int, boxed: bool) -> None:
    """Write numbered lines with amounts at the right, one column of them, or current and total."""
    sheet.entries = draw_sums(sheet.random, 12, 0.3)
    top = _opening(sheet)
    height = sheet.row(1) + 10
    right = WIDTH - MARGIN
    for place, entry in enumerate(sheet.entries):
        y = top + place * height
        number = str(place + 1)
        sheet.caption(MARGIN, y, number)
        sheet.caption(MARGIN + 60, y, entry.captions[0])
        box = right - 260 * columns
        if boxed:
            sheet.caption(box - 46, y, number, 0.9)
            sheet.frame(box, y - 6, box + 250, y + height - 10)
        if entry.value:
            sheet.value(box + 240 - sheet.value_width(entry.value), y, entry.value)
        if columns == 2:
            other = amount(sheet.random, "en")
            sheet.value(right - 10 - sheet.value_width(other), y, other)
    _closing(sheet, top + 12 * height)


def coded_lines(sheet: Sheet, codes: str, ruled: bool) -> None:
    """Write captions, then the code of each line (a number or a letter), then amounts."""
    sheet.entries = draw_sums(sheet.random, 10, 0.3)
    top = _opening(sheet)
    height = sheet.row(1) + 10
    middle = MARGIN + 640
    first, step = sheet.random.choice((1, 10, 40)), sheet.random.randint(1, 3)
    for place, entry in enumerate(sheet.entries):
        y = top + place * height
        code = codes[place] if codes else str(first + place * step)
        sheet.caption(MARGIN, y, entry.captions[0])
        sheet.caption(middle, y, code, 0.9)
        if ruled:
            sheet.rule(MARGIN, y + height - 10, WIDTH - MARGIN, y + height - 10)
        if entry.value:
            sheet.value(middle + 80, y, entry.value)
    _closing(sheet, top + 10 * height)


def coded_cells(sheet: Sheet, pairs: int) -> None:
    """Draw rows of cells: number, caption, value."""
    entries = _entries(sheet, 7 * pairs)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries)) + 12
    for place, (entry, x, y, width) in enumerate(_in_columns(entries, pairs, top, height)):
        for start, end in ((0, 0.1), (0.1, 0.5), (0.5, 1.0)):
            sheet.frame(x + start * width, y, x + end * width, y + height)
        sheet.caption(x + 8, y + 10, str(place + 1), 0.8)
        sheet.caption(x + 0.1 * width + 8, y + 10, entry.captions[0], 0.8)
        _write_value(sheet, entry, x + 0.5 * width + 8, y + 8, x + width - 8)
    _closing(sheet, top + 7 * height)


def hints(sheet: Sheet, below: bool, ruled: bool) -> None:
    """Write captions with a hint behind or below each, and values to the right."""
    entries = _entries(sheet, 8)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries), 0.6)
    for entry, x, y, _ in _in_columns(entries, 1, top, height):
        end = sheet.caption(x, y, entry.captions[0])
        hint = sheet.random.choice(("(as on your card)", "(if any)", "(required)", "see page 2"))
        if below:
            sheet.caption(x, y + 1.3 * sheet.caption_size, hint, 0.65)
        else:
            sheet.caption(end.max_x + 10, y, hint, 0.8)
        value = x + 560
        _write_value(sheet, entry, value, y)
        if ruled:
            sheet.rule(
                value - 10, y + 1.35 * sheet.value_size, WIDTH - MARGIN, y + 1.35 * sheet.value_size
            )
    _closing(sheet, top + 8 * height)


def stacked_languages(sheet: Sheet, columns: int, boxed: bool, in_lines: bool) -> None:
    """Write captions in two languages, one below the other, with values below or to the right."""
    entries = _entries(sheet, 5 * columns, blank=0.15)
    other = sheet.random.choice([each for each in LANGUAGES if each != sheet.language])
    top = _opening(sheet)
    height = sheet.row(_tallest(entries), 2) + 8
    for entry, x, y, width in _in_columns(entries, columns, top, height):
        if boxed:
            sheet.frame(x, y, x + width, y + height)
        sheet.caption(x + 8, y + 4, entry.captions[0], 0.8)
        second = CAPTIONS[entry.entity][other][0]
        small = round(0.7 * sheet.caption_size)
        sheet.write(x + 8, y + 4 + sheet.caption_size, second, "DejaVuSans-Oblique.ttf", small)
        below = y + 2.1 * sheet.caption_size
        left, down = (x + 0.5 * width, y + 8) if in_lines else (x + 16, below)
        _write_value(sheet, entry, left, down, x + width - 8)
    _closing(sheet, top + 5 * height)


def irregular_boxes(sheet: Sheet, numbered: bool, amounts: bool) -> None:
    """Draw rows of boxes of unequal widths and heights, as official forms have them."""
    entries = _entries(sheet, 20, blank=0.3)
    if amounts:
        sums = draw_sums(sheet.random, 8, 0.4)
        entries[:] = [*entries[:10], *sums]
        sheet.random.shuffle(entries)
    y, place = _opening(sheet), 0
    while place < len(entries):
        row = entries[place : place + sheet.random.randint(1, 4)]
        shares = [sheet.random.uniform(0.6, 1.6) for _ in row]
        height = sheet.row(_tallest(row), 1) + 8
        x = float(MARGIN)
        for number, (entry, share) in enumerate(zip(row, shares, strict=True), start=place + 1):
            end = x + share / sum(shares) * (WIDTH - 2 * MARGIN)
            sheet.frame(x, y, end, y + height)
            entry = sheet.fitting(entry, end - x - 40, 0.8)
            caption = f"{number} {entry.captions[0]}" if numbered else entry.captions[0]
            sheet.caption(x + 6, y + 3, caption, 0.8)
            indent = sheet.random.choice((8, 20, 60))
            _write_value(sheet, entry, x + indent, y + 1.35 * sheet.caption_size + 4, end - 6)
            x = end
        y, place = y + height, place + len(row)
    _closing(sheet, y)


def dense_card(sheet: Sheet, above_values: bool) -> None:
    """Draw a small card without rules: many short fields close together, some in one row."""
    sheet.looseness = 0.0
    entries = _entries(sheet, 12, blank=0.05)
    sheet.image.paste(170, (MARGIN, 260, MARGIN + 260, 620))
    sheet.write(MARGIN, 150, "DRIVING LICENCE", "DejaVuSans-Bold.ttf", 40)
    y, place = 240.0, 0
    while place < len(entries):
        row = entries[place : place + sheet.random.randint(1, 3)]
        step = 800 / len(row)
        for at, entry in enumerate(row):
            x = MARGIN + 300 + at * step
            if above_values:
                sheet.caption(x, y, entry.captions[0], 0.8)
                _write_value(sheet, entry, x, y + 1.2 * sheet.caption_size, x + step - 12)
            else:
                end = sheet.caption(x, y, entry.captions[0], 0.8).max_x
                _write_value(sheet, entry, end + 10, y - 2, x + step - 12)
        y += sheet.row(_tallest(row), 1 if above_values else 0)
        place += len(row)


def inside_boxes(sheet: Sheet, columns: int, mark: str) -> None:
    """Draw boxes with caption and value in one line of each box."""
    entries = _entries(sheet, 6 * columns)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries)) + 12
    for entry, x, y, width in _in_columns(entries, columns, top, height):
        sheet.frame(x, y, x + width, y + height)
        end = sheet.caption(x + 10, y + 10, entry.captions[0] + mark, 0.8).max_x
        _write_value(sheet, entry, end + sheet.random.choice((14, 40)), y + 8, x + width - 8)
    _closing(sheet, top + 6 * height)


def bottom_captions(sheet: Sheet, columns: int) -> None:
    """Draw boxes with the value above and a small caption at the bottom."""
    entries = _entries(sheet, 4 * columns)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries), 1) + 8
    for entry, x, y, width in _in_columns(entries, columns, top, height):
        sheet.frame(x, y, x + width, y + height)
        _write_value(sheet, entry, x + 20, y + 8, x + width - 8)
        sheet.caption(x + 8, y + height - sheet.caption_size - 4, entry.captions[0], 0.65)
    _closing(sheet, top + 4 * height)


def prose_column(sheet: Sheet, mark: str) -> None:
    """Write fields in the left half and running text in the right half."""
    entries = _entries(sheet, 9)
    top = _opening(sheet)
    height = sheet.row(_tallest(entries))
    middle = WIDTH / 2 + 40
    longest = max(sheet.caption_width(entry.captions[0] + mark, 0.9) for entry in entries)
    for entry, x, y, _ in _in_columns(entries, 1, top, height):
        sheet.caption(x, y, entry.captions[0] + mark, 0.9)
        _write_value(sheet, entry, x + longest + 16, y, middle - 30)
    y = top
    for sentence in sheet.random.sample(SENTENCES["en"], 5):
        for line in wrap(sentence, 40):
            sheet.caption(middle, y, line, 0.8)
            y += 1.3 * sheet.caption_size


def inline(sheet: Sheet, count: int) -> None:
    """Write several captions with their values in one line, each with a colon."""
    entries = [entry for entry in _entries(sheet, 10, blank=0.1) if len(entry.lines) < 2]
    sheet.entries = entries
    y = _opening(sheet)
    for place in range(0, len(entries), count):
        x = float(MARGIN)
        for entry in entries[place : place + count]:
            x = sheet.caption(x, y, entry.captions[0] + ":").max_x + 14
            x = (sheet.value(x, y, entry.value).max_x if entry.value else x + 150) + 50
        y += sheet.row(1)
    _closing(sheet, y)


def two_languages(sheet: Sheet, draw_box: bool, mark: str) -> None:
    """Write captions in two languages, the second unknown to the template."""
    entries = _entries(sheet, 10, blank=0.15)
    other = sheet.random.choice([each for each in LANGUAGES if each != sheet.language])
    top = _opening(sheet)
    height = sheet.row(_tallest(entries), 1) + 8
    for entry, x, y, width in _in_columns(entries, 2, top, height):
        if draw_box:
            sheet.frame(x, y, x + width, y + height)
        second = CAPTIONS[entry.entity][other][0]
        sheet.caption(
            x + 8, y + 6, f"{entry.captions[0]}{mark}{second}{')' if '(' in mark else ''}", 0.75
        )
        _write_value(sheet, entry, x + 16, y + 1.5 * sheet.caption_size, x + width - 8)
    _closing(sheet, top + 5 * height)


def receipt(sheet: Sheet, mark: str) -> None:
    """Write a narrow slip: firm, items with prices, sums at the right, and details in lines."""
    sheet.value_font = sheet.caption_font = "DejaVuSansMono.ttf"
    sheet.caption_size = sheet.value_size = 22
    entries = draw_entries(sheet.random, 9, "en", 0.1)
    sheet.entries = [entry for entry in entries if len(entry.lines) < 2]
    left, right, y = 330, 900, 80.0
    sheet.caption(left + 60, y, "CORNER STORE", 1.3)
    for item in sheet.random.sample(("Bread", "Oat milk", "Soap", "Batteries AA", "Tea"), 3):
        y += 44
        price = amount(sheet.random, "en").lstrip("$")
        sheet.caption(left, y, item)
        sheet.value(right - sheet.value_width(price), y, price)
    y += 30
    for entry in list(sheet.entries):
        y += 44
        room = right - left - sheet.value_width(entry.value) - 40
        sheet.caption(left, y, sheet.fitting(entry, room).captions[0] + mark)
        if entry.value:
            sheet.value(right - sheet.value_width(entry.value), y, entry.value)
    sheet.caption(left + 90, y + 90, "Thank you for your visit")


def letter(sheet: Sheet, above_values: bool) -> None:
    """Write a letter with a line of references over its text."""
    sheet.entries = [
        each for each in draw_entries(sheet.random, 7, "en", 0.1) if len(each.lines) < 2
    ][:4]
    sheet.write(MARGIN, 70, "Blue Heron Foods", sheet.caption_font, 34)
    sheet.write(MARGIN, 120, "88 Harbour Road, 40112 Marlow", sheet.caption_font, 20)
    step = (WIDTH - 2 * MARGIN) / 4
    for place, entry in enumerate(sheet.entries):
        x = MARGIN + place * step
        if above_values:
            sheet.caption(x, 320, entry.captions[0], 0.8)
            _write_value(sheet, entry, x, 350, x + step - 16)
        else:
            y = 260 + 40 * place
            end = sheet.caption(WIDTH / 2, y, entry.captions[0] + ":").max_x
            _write_value(sheet, entry, max(end + 20, WIDTH / 2 + 260), y)
    y = 470.0
    for _ in range(3):
        y = sheet.prose(y, " ".join(sheet.random.sample(SENTENCES["en"], 3)), 22) + 20


def card(sheet: Sheet, in_lines: bool, numbered: bool) -> None:
    """Draw an identity card: tiny captions above or before values in capitals, and an image."""
    sheet.caption_size, sheet.value_size = 20, 30
    entries = _entries(sheet, 8, blank=0.05)
    sheet.frame(MARGIN, 120, WIDTH - MARGIN, 900)
    sheet.write(MARGIN + 40, 140, "IDENTITY CARD", "DejaVuSans-Bold.ttf", 36)
    sheet.image.paste(150, (MARGIN + 40, 240, MARGIN + 320, 600))
    for place, entry in enumerate(entries):
        x = MARGIN + 370 + 370 * (place % 2)
        y = 230.0 + 150 * (place // 2)
        caption = f"{place + 1}. {entry.captions[0]}" if numbered else entry.captions[0]
        end = sheet.caption(x, y, caption, 0.8)
        upper = tuple(line.upper() for line in entry.lines)
        x, y = (end.max_x + 12, y - 6) if in_lines else (x, y + 24)
        sheet.entries[place] = Entry(
            entry.entity, entry.captions, " ".join(upper), upper, entry.type
        )
        _write_value(sheet, sheet.entries[place], x, y, x + 350)


FAMILIES: Mapping[str, Draw] = {
    "colon, one column": lambda sheet: lines(sheet, ":", 1),
    "colon, two columns": lambda sheet: lines(sheet, ":", 2),
    "colon, captions to the right": lambda sheet: lines(sheet, ":", 1, right=True),
    "colon, on rules": lambda sheet: lines(sheet, ":", 1, ruled=True),
    "no mark, one column": lambda sheet: lines(sheet, "", 1),
    "no mark, two columns": lambda sheet: lines(sheet, "", 2),
    "no mark, captions to the right": lambda sheet: lines(sheet, "", 1, right=True),
    "no mark, on rules, two columns": lambda sheet: lines(sheet, "", 2, ruled=True),
    "dash between": lambda sheet: lines(sheet, " -", 1),
    "leaders": lambda sheet: leaders(sheet, 1),
    "leaders, two columns": lambda sheet: leaders(sheet, 2),
    "boxes, two columns": lambda sheet: boxes(sheet, 2),
    "boxes, three columns": lambda sheet: boxes(sheet, 3),
    "boxes, numbered": lambda sheet: boxes(sheet, 2, numbered=True),
    "boxes, centred captions": lambda sheet: boxes(sheet, 3, centred=True),
    "below rules": lambda sheet: below_rules(sheet, 2, 0.75),
    "below rules, full size": lambda sheet: below_rules(sheet, 1, 1.0),
    "above": lambda sheet: above(sheet, 2),
    "above, three columns": lambda sheet: above(sheet, 3),
    "above, over rules": lambda sheet: above(sheet, 2, ruled=True),
    "cells": lambda sheet: cells(sheet, 1),
    "cells, two pairs": lambda sheet: cells(sheet, 2),
    "cells, shaded": lambda sheet: cells(sheet, 1, shaded=True),
    "header rows, ruled": lambda sheet: header_rows(sheet, 4, ruled=True),
    "header rows": lambda sheet: header_rows(sheet, 3, ruled=False),
    "numbered lines": lambda sheet: numbered_lines(sheet, 1, boxed=False),
    "numbered lines in boxes": lambda sheet: numbered_lines(sheet, 1, boxed=True),
    "numbered lines, two amounts": lambda sheet: numbered_lines(sheet, 2, boxed=False),
    "numbered lines in boxes, two amounts": lambda sheet: numbered_lines(sheet, 2, boxed=True),
    "coded lines": lambda sheet: coded_lines(sheet, "", ruled=False),
    "coded lines, ruled": lambda sheet: coded_lines(sheet, "", ruled=True),
    "lettered lines": lambda sheet: coded_lines(sheet, "ABCDEFGHIJ", ruled=False),
    "coded cells": lambda sheet: coded_cells(sheet, 1),
    "coded cells, two": lambda sheet: coded_cells(sheet, 2),
    "hints behind": lambda sheet: hints(sheet, below=False, ruled=False),
    "hints behind, on rules": lambda sheet: hints(sheet, below=False, ruled=True),
    "hints below": lambda sheet: hints(sheet, below=True, ruled=False),
    "stacked languages": lambda sheet: stacked_languages(sheet, 2, False, False),
    "stacked languages, boxes": lambda sheet: stacked_languages(sheet, 2, True, False),
    "stacked languages, three boxes": lambda sheet: stacked_languages(sheet, 3, True, False),
    "stacked languages, in lines": lambda sheet: stacked_languages(sheet, 1, False, True),
    "irregular boxes": lambda sheet: irregular_boxes(sheet, False, False),
    "irregular boxes, numbered": lambda sheet: irregular_boxes(sheet, True, False),
    "irregular boxes, amounts": lambda sheet: irregular_boxes(sheet, True, True),
    "dense card": lambda sheet: dense_card(sheet, True),
    "dense card, in lines": lambda sheet: dense_card(sheet, False),
    "inside boxes": lambda sheet: inside_boxes(sheet, 2, ""),
    "inside boxes, colon": lambda sheet: inside_boxes(sheet, 2, ":"),
    "captions at the bottom": lambda sheet: bottom_captions(sheet, 2),
    "captions at the bottom, three": lambda sheet: bottom_captions(sheet, 3),
    "next to prose": lambda sheet: prose_column(sheet, ""),
    "next to prose, colon": lambda sheet: prose_column(sheet, ":"),
    "leaders, narrow": lambda sheet: leaders(sheet, 3),
    "two fields a line": lambda sheet: inline(sheet, 2),
    "three fields a line": lambda sheet: inline(sheet, 3),
    "two languages, boxes": lambda sheet: two_languages(sheet, True, " / "),
    "two languages": lambda sheet: two_languages(sheet, False, "   "),
    "two languages, brackets": lambda sheet: two_languages(sheet, False, " ("),
    "two languages, boxes, blank": lambda sheet: two_languages(sheet, True, "    "),
    "receipt": lambda sheet: receipt(sheet, ""),
    "receipt, colons": lambda sheet: receipt(sheet, ":"),
    "letter, references below": lambda sheet: letter(sheet, above_values=True),
    "letter, references in lines": lambda sheet: letter(sheet, above_values=False),
    "card": lambda sheet: card(sheet, in_lines=False, numbered=False),
    "card, numbered, in lines": lambda sheet: card(sheet, in_lines=True, numbered=True),
    "tight grid": lambda sheet: tight_grid(sheet, numbered=False, signs=False),
    "tight grid, numbered": lambda sheet: tight_grid(sheet, numbered=True, signs=False),
    "tight grid, signs": lambda sheet: tight_grid(sheet, numbered=True, signs=True),
    "passport": lambda sheet: passport(sheet, " / "),
    "passport, gap": lambda sheet: passport(sheet, "    "),
    "licence": lambda sheet: licence(sheet, in_lines=False),
    "licence, in lines": lambda sheet: licence(sheet, in_lines=True),
    "pay table": lambda sheet: pay_table(sheet, ruled=False),
    "pay table, ruled": lambda sheet: pay_table(sheet, ruled=True),
    "bank table": lambda sheet: bank_table(sheet, ruled=False),
    "bank table, ruled": lambda sheet: bank_table(sheet, ruled=True),
}


def draw_form(family: str, seed: int) -> Sheet:
    """Draw a form of a family; the same seed gives the same form."""
    sheet = Sheet(Random(f"{family} {seed}"))
    FAMILIES[family](sheet)
    return sheet
