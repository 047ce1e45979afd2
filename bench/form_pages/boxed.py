"""Layout families of boxes, cells and cards, with captions in one language or two."""

from __future__ import annotations

from bench.form_pages.contents import CAPTIONS, LANGUAGES, Entry, draw_sums
from bench.form_pages.parts import (
    choose_entries,
    closing,
    in_columns,
    opening,
    tallest,
    write_value,
)
from bench.form_pages.sheet import MARGIN, WIDTH, Sheet


def boxes(sheet: Sheet, columns: int, numbered: bool = False, centred: bool = False) -> None:
    """Draw a box for each field with a small caption at the top and the value below it."""
    entries = choose_entries(sheet, 4 * columns)
    top = opening(sheet)
    height = sheet.row(tallest(entries), 1) + 8
    for place, (entry, x, y, width) in enumerate(in_columns(entries, columns, top, height)):
        sheet.frame(x, y, x + width, y + height)
        caption = f"{place + 1} {entry.captions[0]}" if numbered else entry.captions[0]
        start = (width - sheet.caption_width(caption, 0.7)) / 2 if centred else 8
        sheet.caption(x + start, y + 6, caption, 0.7)
        write_value(
            sheet,
            entry,
            x + sheet.random.choice((12, 30)),
            y + 1.35 * sheet.caption_size + 4,
            x + width - 8,
        )
    closing(sheet, top + 4 * height)


def cells(sheet: Sheet, pairs: int, shaded: bool = False) -> None:
    """Draw a table of rows with caption cells and value cells side by side."""
    entries = choose_entries(sheet, 8 * pairs)
    top = opening(sheet)
    height = sheet.row(tallest(entries)) + 12
    for entry, x, y, width in in_columns(entries, pairs, top, height):
        middle = x + 0.45 * width
        if shaded:
            sheet.image.paste(225, (int(x), int(y), int(middle), int(y + height)))
        sheet.frame(x, y, middle, y + height)
        sheet.frame(middle, y, x + width, y + height)
        sheet.caption(x + 10, y + 12, entry.captions[0], 0.85)
        write_value(sheet, entry, middle + 12, y + 10, x + width - 8)
    closing(sheet, top + 8 * height)


def coded_cells(sheet: Sheet, pairs: int) -> None:
    """Draw rows of cells: number, caption, value."""
    entries = choose_entries(sheet, 7 * pairs)
    top = opening(sheet)
    height = sheet.row(tallest(entries)) + 12
    for place, (entry, x, y, width) in enumerate(in_columns(entries, pairs, top, height)):
        for start, end in ((0, 0.1), (0.1, 0.5), (0.5, 1.0)):
            sheet.frame(x + start * width, y, x + end * width, y + height)
        sheet.caption(x + 8, y + 10, str(place + 1), 0.8)
        sheet.caption(x + 0.1 * width + 8, y + 10, entry.captions[0], 0.8)
        write_value(sheet, entry, x + 0.5 * width + 8, y + 8, x + width - 8)
    closing(sheet, top + 7 * height)


def stacked_languages(sheet: Sheet, columns: int, boxed: bool, in_lines: bool) -> None:
    """Write captions in two languages, one below the other, with values below or to the right."""
    entries = choose_entries(sheet, 5 * columns, blank=0.15)
    other = sheet.random.choice([each for each in LANGUAGES if each != sheet.language])
    top = opening(sheet)
    height = sheet.row(tallest(entries), 2) + 8
    for entry, x, y, width in in_columns(entries, columns, top, height):
        if boxed:
            sheet.frame(x, y, x + width, y + height)
        sheet.caption(x + 8, y + 4, entry.captions[0], 0.8)
        second = CAPTIONS[entry.entity][other][0]
        small = round(0.7 * sheet.caption_size)
        sheet.write(x + 8, y + 4 + sheet.caption_size, second, "DejaVuSans-Oblique.ttf", small)
        below = y + 2.1 * sheet.caption_size
        left, down = (x + 0.5 * width, y + 8) if in_lines else (x + 16, below)
        write_value(sheet, entry, left, down, x + width - 8)
    closing(sheet, top + 5 * height)


def irregular_boxes(sheet: Sheet, numbered: bool, amounts: bool) -> None:
    """Draw rows of boxes of unequal widths and heights, as official forms have them."""
    entries = choose_entries(sheet, 20, blank=0.3)
    if amounts:
        sums = draw_sums(sheet.random, 8, 0.4)
        entries[:] = [*entries[:10], *sums]
        sheet.random.shuffle(entries)
    y, place = opening(sheet), 0
    while place < len(entries):
        row = entries[place : place + sheet.random.randint(1, 4)]
        shares = [sheet.random.uniform(0.6, 1.6) for _ in row]
        height = sheet.row(tallest(row), 1) + 8
        x = float(MARGIN)
        for number, (entry, share) in enumerate(zip(row, shares, strict=True), start=place + 1):
            end = x + share / sum(shares) * (WIDTH - 2 * MARGIN)
            sheet.frame(x, y, end, y + height)
            entry = sheet.fitting(entry, end - x - 40, 0.8)
            caption = f"{number} {entry.captions[0]}" if numbered else entry.captions[0]
            sheet.caption(x + 6, y + 3, caption, 0.8)
            indent = sheet.random.choice((8, 20, 60))
            write_value(sheet, entry, x + indent, y + 1.35 * sheet.caption_size + 4, end - 6)
            x = end
        y, place = y + height, place + len(row)
    closing(sheet, y)


def dense_card(sheet: Sheet, above_values: bool) -> None:
    """Draw a small card without rules: many short fields close together, some in one row."""
    sheet.looseness = 0.0
    entries = choose_entries(sheet, 12, blank=0.05)
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
                write_value(sheet, entry, x, y + 1.2 * sheet.caption_size, x + step - 12)
            else:
                end = sheet.caption(x, y, entry.captions[0], 0.8).max_x
                write_value(sheet, entry, end + 10, y - 2, x + step - 12)
        y += sheet.row(tallest(row), 1 if above_values else 0)
        place += len(row)


def inside_boxes(sheet: Sheet, columns: int, mark: str) -> None:
    """Draw boxes with caption and value in one line of each box."""
    entries = choose_entries(sheet, 6 * columns)
    top = opening(sheet)
    height = sheet.row(tallest(entries)) + 12
    for entry, x, y, width in in_columns(entries, columns, top, height):
        sheet.frame(x, y, x + width, y + height)
        end = sheet.caption(x + 10, y + 10, entry.captions[0] + mark, 0.8).max_x
        write_value(sheet, entry, end + sheet.random.choice((14, 40)), y + 8, x + width - 8)
    closing(sheet, top + 6 * height)


def bottom_captions(sheet: Sheet, columns: int) -> None:
    """Draw boxes with the value above and a small caption at the bottom."""
    entries = choose_entries(sheet, 4 * columns)
    top = opening(sheet)
    height = sheet.row(tallest(entries), 1) + 8
    for entry, x, y, width in in_columns(entries, columns, top, height):
        sheet.frame(x, y, x + width, y + height)
        write_value(sheet, entry, x + 20, y + 8, x + width - 8)
        sheet.caption(x + 8, y + height - sheet.caption_size - 4, entry.captions[0], 0.65)
    closing(sheet, top + 4 * height)


def two_languages(sheet: Sheet, draw_box: bool, mark: str) -> None:
    """Write captions in two languages, the second unknown to the template."""
    entries = choose_entries(sheet, 10, blank=0.15)
    other = sheet.random.choice([each for each in LANGUAGES if each != sheet.language])
    top = opening(sheet)
    height = sheet.row(tallest(entries), 1) + 8
    for entry, x, y, width in in_columns(entries, 2, top, height):
        if draw_box:
            sheet.frame(x, y, x + width, y + height)
        second = CAPTIONS[entry.entity][other][0]
        sheet.caption(
            x + 8, y + 6, f"{entry.captions[0]}{mark}{second}{')' if '(' in mark else ''}", 0.75
        )
        write_value(sheet, entry, x + 16, y + 1.5 * sheet.caption_size, x + width - 8)
    closing(sheet, top + 5 * height)


def card(sheet: Sheet, in_lines: bool, numbered: bool) -> None:
    """Draw an identity card: tiny captions above or before values in capitals, and an image."""
    sheet.caption_size, sheet.value_size = 20, 30
    entries = choose_entries(sheet, 8, blank=0.05)
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
        write_value(sheet, sheet.entries[place], x, y, x + 350)
