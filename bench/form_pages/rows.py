"""Layout families without boxes: captions before, above and below values, letters, receipts."""

from __future__ import annotations

from textwrap import wrap

from bench.drawn_pages import SENTENCES
from bench.form_pages.contents import CAPTIONS, amount, draw_entries, draw_entry, draw_sums
from bench.form_pages.parts import (
    chance_language,
    choose_entries,
    closing,
    in_columns,
    opening,
    tallest,
    write_value,
)
from bench.form_pages.sheet import MARGIN, WIDTH, Sheet


def lines(sheet: Sheet, mark: str, columns: int, right: bool = False, ruled: bool = False) -> None:
    """Write captions with the value behind each, separated by `mark`."""
    entries = choose_entries(sheet, 8 * columns)
    top = opening(sheet)
    longest = max(sheet.caption_width(entry.captions[0] + mark) for entry in entries)
    height = sheet.row(tallest(entries))
    for entry, x, y, width in in_columns(entries, columns, top, height):
        caption = entry.captions[0] + mark
        start = longest - sheet.caption_width(caption) if right else 0
        sheet.caption(x + start, y, caption)
        value = x + longest + sheet.random.choice((14, 40, 90 if columns == 1 else 20))
        write_value(sheet, entry, value, y, x + width - 24)
        if ruled:
            bottom = y + 1.35 * sheet.value_size
            sheet.rule(x + longest + 8, bottom, x + width - 20, bottom)
    closing(sheet, top + height * -(-len(entries) // columns))


def leaders(sheet: Sheet, columns: int) -> None:
    """Write captions, followed by dots up to the values at the right end."""
    entries = choose_entries(sheet, 8 * columns)
    top = opening(sheet)
    height = sheet.row(tallest(entries))
    for entry, x, y, width in in_columns(entries, columns, top, height):
        reserved = max([sheet.value_width(line) for line in entry.lines], default=0)
        end = x + width - 30 - reserved
        caption = sheet.fitting(entry, end - x - 80).captions[0]
        dots = int((end - x - sheet.caption_width(caption) - 30) / sheet.caption_width("."))
        sheet.caption(x, y, f"{caption} {'.' * max(3, dots)}")
        write_value(sheet, entry, end, y)
    closing(sheet, top + height * 9)


def numbered_lines(sheet: Sheet, columns: int, boxed: bool) -> None:
    """Write numbered lines with amounts at the right: one column, or current and total amounts."""
    sheet.entries = draw_sums(sheet.random, 12, 0.3)
    top = opening(sheet)
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
    closing(sheet, top + 12 * height)


def coded_lines(sheet: Sheet, codes: str, ruled: bool) -> None:
    """Write captions, then the code of each line (a number or a letter), then amounts."""
    sheet.entries = draw_sums(sheet.random, 10, 0.3)
    top = opening(sheet)
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
    closing(sheet, top + 10 * height)


def hints(sheet: Sheet, below: bool, ruled: bool) -> None:
    """Write captions with a hint behind or below each, and values to the right."""
    entries = choose_entries(sheet, 8)
    top = opening(sheet)
    height = sheet.row(tallest(entries), 0.6)
    for entry, x, y, _ in in_columns(entries, 1, top, height):
        end = sheet.caption(x, y, entry.captions[0])
        hint = sheet.random.choice(("(as on your card)", "(if any)", "(required)", "see page 2"))
        if below:
            sheet.caption(x, y + 1.3 * sheet.caption_size, hint, 0.65)
        else:
            sheet.caption(end.max_x + 10, y, hint, 0.8)
        value = x + 560
        write_value(sheet, entry, value, y)
        if ruled:
            sheet.rule(
                value - 10, y + 1.35 * sheet.value_size, WIDTH - MARGIN, y + 1.35 * sheet.value_size
            )
    closing(sheet, top + 8 * height)


def prose_column(sheet: Sheet, mark: str) -> None:
    """Write fields in the left half and running text in the right half."""
    entries = choose_entries(sheet, 9)
    top = opening(sheet)
    height = sheet.row(tallest(entries))
    middle = WIDTH / 2 + 40
    longest = max(sheet.caption_width(entry.captions[0] + mark, 0.9) for entry in entries)
    for entry, x, y, _ in in_columns(entries, 1, top, height):
        sheet.caption(x, y, entry.captions[0] + mark, 0.9)
        write_value(sheet, entry, x + longest + 16, y, middle - 30)
    y = top
    for sentence in sheet.random.sample(SENTENCES["en"], 5):
        for line in wrap(sentence, 40):
            sheet.caption(middle, y, line, 0.8)
            y += 1.3 * sheet.caption_size


def inline(sheet: Sheet, count: int) -> None:
    """Write several captions with their values in one line, each with a colon."""
    entries = [entry for entry in choose_entries(sheet, 10, blank=0.1) if len(entry.lines) < 2]
    sheet.entries = entries
    y = opening(sheet)
    for place in range(0, len(entries), count):
        x = float(MARGIN)
        for entry in entries[place : place + count]:
            x = sheet.caption(x, y, entry.captions[0] + ":").max_x + 14
            x = (sheet.value(x, y, entry.value).max_x if entry.value else x + 150) + 50
        y += sheet.row(1)
    closing(sheet, y)


def above(sheet: Sheet, columns: int, ruled: bool = False) -> None:
    """Write each caption above its value, without boxes."""
    entries = choose_entries(sheet, 5 * columns)
    top = opening(sheet)
    height = sheet.row(tallest(entries), 1) + 4
    for entry, x, y, width in in_columns(entries, columns, top, height):
        sheet.caption(x, y, entry.captions[0], 0.85)
        end = write_value(sheet, entry, x, y + 1.3 * sheet.caption_size, x + width - 24)
        if ruled:
            sheet.rule(x, end + 4, x + width - 40, end + 4)
    closing(sheet, top + 5 * height)


def below_rules(sheet: Sheet, columns: int, small: float) -> None:
    """Draw a rule for each value, with the caption in small print below the rule."""
    entries = choose_entries(sheet, 5 * columns)
    top = opening(sheet)
    height = sheet.row(tallest(entries), 1) + 14
    for entry, x, y, width in in_columns(entries, columns, top, height):
        base = y + height - 1.4 * sheet.caption_size - 8
        write_value(
            sheet,
            entry,
            x + 10,
            base - 1.35 * sheet.value_size * max(1, len(entry.lines)),
            x + width - 30,
        )
        sheet.rule(x, base, x + width - 30, base)
        sheet.caption(x, base + 6, entry.captions[0], small)
    closing(sheet, top + 5 * height)


def header_rows(sheet: Sheet, columns: int, ruled: bool) -> None:
    """Write rows of captions with a row of values below each."""
    entries = choose_entries(sheet, 3 * columns, blank=0.15)
    top = opening(sheet)
    height = sheet.row(tallest(entries), 1.5) + 12
    for entry, x, y, width in in_columns(entries, columns, top, height):
        line = y + 1.7 * sheet.caption_size
        if ruled:
            sheet.frame(x, y, x + width, line)
            sheet.frame(x, line, x + width, y + height)
        sheet.caption(x + 8, y + 4, entry.captions[0], 0.8)
        write_value(sheet, entry, x + 8, line + 8, x + width - 8)
    closing(sheet, top + 3 * height)


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


def item_table(sheet: Sheet, ruled: bool) -> None:
    """Write details, a table whose columns have heads like the sums, and these sums below it."""
    sheet.language = chance_language(sheet.random)
    some = draw_entries(sheet.random, 12, sheet.language, 0.1)
    first = [each for each in some if each.type != "CURRENCY" and len(each.lines) < 2][:4]
    sums = [draw_entry(sheet.random, each, sheet.language, 0.0) for each in ("net", "tax", "total")]
    sheet.entries = [*first, *sums]
    y = opening(sheet)
    for entry in first:
        end = sheet.caption(MARGIN, y, entry.captions[0] + ":").max_x
        sheet.value(max(end + 14, MARGIN + 320), y, entry.value)
        y += 1.6 * sheet.value_size
    names = ["quantity", *sheet.random.sample(("net", "tax"), sheet.random.randint(0, 2)), "total"]
    heads = [sheet.random.choice(CAPTIONS[name][sheet.language]) for name in names]
    ends = [WIDTH - MARGIN - 190 * left for left in reversed(range(len(heads)))]
    rows = [[amount(sheet.random, sheet.language) for _ in heads[1:]] for _ in range(4)]
    y += 20
    for end, head in zip(ends, heads, strict=True):
        sheet.caption(end - sheet.caption_width(head, 0.7), y, head, 0.7)
    for cells in rows[: sheet.random.randint(1, 4)]:
        y += 1.7 * sheet.value_size
        sheet.value(MARGIN, y, sheet.random.choice(("Bread", "Oat milk", "Soap", "Tea")))
        cells = [str(sheet.random.randint(1, 30)), *cells]
        for end, text in zip(ends, cells, strict=True):
            sheet.value(end - sheet.value_width(text), y, text)
        if ruled:
            bottom = y + 1.5 * sheet.value_size
            sheet.rule(MARGIN, bottom, WIDTH - MARGIN, bottom)
    y += 20
    for entry in sums:
        y += 1.7 * sheet.value_size
        left = WIDTH - MARGIN - 420.0
        caption = sheet.fitting(entry, 420 - sheet.value_width(entry.value) - 20).captions[0]
        sheet.caption(left, y, caption)
        sheet.value(WIDTH - MARGIN - sheet.value_width(entry.value), y, entry.value)
    closing(sheet, y)


def value_row(sheet: Sheet, stacked: bool) -> None:
    """Write captions over values that other texts follow: rows of items, or a text of another kind.

    Args:
        sheet: page that is drawn.
        stacked: whether the captions are below each other.
    """
    sheet.language = chance_language(sheet.random)
    names = sheet.random.sample(("customer", "date", "expiry", "quantity", "total", "number"), 4)
    sheet.entries = [draw_entry(sheet.random, name, sheet.language, 0.0) for name in names]
    y, step = opening(sheet), 1.6 * max(sheet.value_size, sheet.caption_size)
    away, width = sheet.random.uniform(1.4, 1.9) * step, (WIDTH - 2 * MARGIN) / 4
    items = 1 if stacked else sheet.random.randint(1, 6)
    for place, entry in enumerate(list(sheet.entries)):
        x, top = (MARGIN, y + 5 * step * place) if stacked else (MARGIN + width * place, y)
        sheet.caption(x, top, sheet.fitting(entry, width - 20).captions[0], 0.8)
        write_value(sheet, entry, x, top + step, x + width - 10)
        for row in range(items):
            name = "phone" if stacked else entry.entity
            other = draw_entry(sheet.random, name, sheet.language, 0.0)
            sheet.value(x, top + step + away + step * row, other.value, x + width - 10)
    closing(sheet, y + 10 * step)


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
            write_value(sheet, entry, x, 350, x + step - 16)
        else:
            y = 260 + 40 * place
            end = sheet.caption(WIDTH / 2, y, entry.captions[0] + ":").max_x
            write_value(sheet, entry, max(end + 20, WIDTH / 2 + 260), y)
    y = 470.0
    for _ in range(3):
        y = sheet.prose(y, " ".join(sheet.random.sample(SENTENCES["en"], 3)), 22) + 20
