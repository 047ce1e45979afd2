"""Layout families of official documents: tight grids, cards, and tables of pay and of banks.

Captions are small and inside the cells or directly above the values, rows are close together, and
much is printed that is neither caption nor value.
"""

from __future__ import annotations

from bench.form_pages.contents import (
    CAPTIONS,
    LANGUAGES,
    Entry,
    amount,
    draw_entries,
    draw_entry,
    draw_sums,
)
from bench.form_pages.sheet import MARGIN, WIDTH, Sheet

TITLES = ("Wage statement", "Statement of income", "Certificate of payment", "Annual report slip")
PAY_ROWS = ("Regular", "Overtime", "Holiday", "Bonus", "Sick leave")
DEDUCTIONS = ("Income tax", "Social insurance", "Health plan", "Pension plan", "Union dues")
MOVEMENTS = ("Card purchase", "Transfer in", "Direct debit", "Cash withdrawal", "Interest paid")


def _small(sheet: Sheet) -> None:
    """Use the sizes of official forms: small captions, values a little larger."""
    sheet.caption_size = sheet.random.choice((14, 15, 16))
    sheet.value_size = sheet.random.choice((19, 21, 24))


def _upper(sheet: Sheet, entry: Entry) -> Entry:
    """Change an entry's value to capitals, in the entry and on the page."""
    lines = tuple(line.upper() for line in entry.lines)
    upper = Entry(entry.entity, entry.captions, " ".join(lines), lines, entry.type)
    sheet.entries[sheet.entries.index(entry)] = upper
    return upper


def _cell(
    sheet: Sheet,
    entry: Entry,
    caption: str,
    box: tuple[float, float, float, float],
    sign: str = "",
) -> None:
    """Draw a cell with a caption at its top left corner and the value inside."""
    x, y, end, _ = box
    sheet.frame(*box)
    sheet.caption(x + 5, y + 3, caption)
    y += 1.4 * sheet.caption_size + 2
    if sign:
        sheet.caption(x + 6, y + 2, sign)
    indent = sheet.random.choice((10, 24, 40)) + (14 if sign else 0)
    for line in entry.lines:
        if entry.type == "CURRENCY" and sheet.random.random() < 0.5:
            indent = max(indent, int(end - x - sheet.value_width(line) - 16))
        sheet.value(x + indent, y, line, end - 4)
        y += 1.2 * sheet.value_size


def tight_grid(sheet: Sheet, numbered: bool, signs: bool) -> None:
    """Draw blocks of names and addresses at the left and a grid of amounts at the right."""
    _small(sheet)
    sheet.looseness = 0.0
    persons = [
        draw_entry(sheet.random, entity, "en", 0.05)
        for entity in sheet.random.sample(("name", "address", "firm", "number", "customer"), 4)
    ]
    sums = draw_sums(sheet.random, 10, 0.35)
    sheet.entries = [*persons, *sums]
    sheet.write(MARGIN, 60, sheet.random.choice(TITLES), sheet.caption_font, 30)
    row = 1.4 * sheet.caption_size + 1.25 * sheet.value_size + sheet.random.choice((4, 10))
    middle, y = WIDTH / 2 - sheet.random.choice((0, 60)), 130.0
    for place, entry in enumerate(persons):
        height = 2 * row if len(entry.lines) > 1 else row
        caption = sheet.fitting(entry, middle - MARGIN - 50).captions[0]
        caption = f"{'abcdef'[place]} {caption}" if numbered else caption
        _cell(sheet, entry, caption, (MARGIN, y, middle, y + height))
        y += height
    width = (WIDTH - MARGIN - middle) / 2
    for place, entry in enumerate(sums):
        x, top = middle + place % 2 * width, 130 + place // 2 * row
        entry = sheet.fitting(entry, width - 50)
        caption = f"{place + 1} {entry.captions[0]}" if numbered else entry.captions[0]
        _cell(sheet, entry, caption, (x, top, x + width, top + row), "$" if signs else "")
    sheet.prose(max(y, 130 + 5 * row) + 12, "This information is furnished to the tax office.", 15)


def passport(sheet: Sheet, mark: str) -> None:
    """Draw a page of a passport: small captions in two languages over values in capitals."""
    _small(sheet)
    other = sheet.random.choice([each for each in LANGUAGES if each != "en"])
    sheet.entries = [
        draw_entry(sheet.random, entity, "en", 0.0)
        for entity in ("name", "citizen", "birth", "sex", "town", "date", "expiry", "number")
    ]
    sheet.image.paste(160, (MARGIN, 260, MARGIN + 300, 660))
    sheet.write(MARGIN, 150, "PASSPORT   PASSEPORT", "DejaVuSans-Bold.ttf", 30)
    sheet.caption(MARGIN + 340, 200, "UNITED ISLANDS")
    y, place = 250.0, 0
    step = 1.5 * sheet.caption_size + 1.3 * sheet.value_size + sheet.random.choice((4, 14))
    while place < len(sheet.entries):
        count = sheet.random.choice((1, 2))
        for at, entry in enumerate(sheet.entries[place : place + count]):
            x = MARGIN + 340 + at * 380
            second = CAPTIONS[entry.entity][other][0]
            sheet.caption(x, y, f"{entry.captions[0]}{mark}{second}")
            value = _upper(sheet, entry)
            sheet.value(x, y + 1.4 * sheet.caption_size, value.value, x + 370)
        y, place = y + step, place + count
    letters = "P<UNI" + sheet.entries[0].value.replace(", ", "<<").replace(" ", "<")
    for offset, line in enumerate((letters, "X8401236<5UNI6208042F2907187")):
        text = line.ljust(44, "<")[:44]
        sheet.write(MARGIN, 900 + 46 * offset, text, "DejaVuSansMono.ttf", 36)


def licence(sheet: Sheet, in_lines: bool) -> None:
    """Draw a licence: numbers and tiny captions before or above values, without rules."""
    _small(sheet)
    names = ("name", "address", "birth", "date", "expiry", "number", "sex", "height")
    sheet.entries = [draw_entry(sheet.random, entity, "en", 0.0) for entity in names]
    sheet.frame(MARGIN, 120, WIDTH - MARGIN, 900)
    sheet.write(MARGIN + 30, 135, "DRIVER LICENSE", "DejaVuSans-Bold.ttf", 38)
    sheet.image.paste(165, (MARGIN + 30, 220, MARGIN + 330, 620))
    y, place = 220.0, 0
    numbers = ("1", "8", "3", "4a", "4b", "4d", "15", "16")
    while place < len(sheet.entries):
        count = 1 if place < 2 else 2
        tallest = 1
        for at, entry in enumerate(sheet.entries[place : place + count]):
            x = MARGIN + 370 + at * 350
            value = _upper(sheet, entry)
            caption = f"{numbers[place + at]} {entry.captions[0]}"
            end = sheet.caption(x, y, caption)
            left, top = (end.max_x + 8, y - 4) if in_lines else (x, y + 1.35 * sheet.caption_size)
            for line in value.lines:
                sheet.value(left, top, line, x + 345 if count > 1 else WIDTH - MARGIN - 10)
                top += 1.25 * sheet.value_size
            tallest = max(tallest, len(value.lines))
        y += (0 if in_lines else 1.35 * sheet.caption_size) + tallest * 1.3 * sheet.value_size + 6
        place += count


def pay_table(sheet: Sheet, ruled: bool) -> None:
    """Write a pay slip: details over a table of earnings and one of deductions."""
    _small(sheet)
    details = [
        draw_entry(sheet.random, entity, "en", 0.0)
        for entity in sheet.random.sample(("name", "number", "department", "date", "firm"), 4)
    ]
    sheet.entries = list(details)
    sheet.write(MARGIN, 60, "Earnings statement", sheet.caption_font, 32)
    for place, entry in enumerate(details):
        x, y = MARGIN + place % 2 * 560, 130 + place // 2 * 40
        end = sheet.caption(x, y, entry.captions[0] + ":").max_x
        sheet.value(max(end + 12, x + 190), y - 2, entry.value, x + 550)
    y = 260.0
    has_hours = sheet.random.random() < 0.7
    columns = (MARGIN, MARGIN + 380, MARGIN + 560, MARGIN + 740, MARGIN + 1000)
    for title, names in (("Earnings", PAY_ROWS), ("Deductions", DEDUCTIONS)):
        for x, text in zip(
            columns, (title, "Rate", "Hours", "Current", "Year to date"), strict=True
        ):
            if title == "Earnings" or text not in ("Rate", "Hours"):
                sheet.caption(x, y, text, 1.1)
        sheet.rule(MARGIN, y + 30, WIDTH - MARGIN, y + 30)
        for place, name in enumerate(sheet.random.sample(names, 4)):
            y += 40
            current = f"{sheet.random.uniform(20, 4000):,.2f}"
            sheet.entries.append(Entry(f"row_{title}_{place}", (name,), current, (current,), ""))
            sheet.caption(columns[0], y, name)
            if title == "Earnings" and has_hours:
                sheet.value(columns[1], y - 2, f"{sheet.random.uniform(12, 90):.2f}")
                sheet.value(columns[2], y - 2, f"{sheet.random.randint(4, 90)}.00")
            sheet.value(columns[3], y - 2, current)
            sheet.value(columns[4], y - 2, f"{sheet.random.uniform(4000, 60_000):,.2f}")
            if ruled:
                sheet.rule(MARGIN, y + 30, WIDTH - MARGIN, y + 30)
        y += 90
    total = sheet.random.choice(("", "$")) + f"{sheet.random.uniform(900, 6000):,.2f}"
    sheet.entries.append(Entry("net", ("Net pay", "Total net pay"), total, (total,), "CURRENCY"))
    sheet.caption(columns[0], y, "Net pay", 1.2)
    sheet.value(columns[3], y, total)


def bank_table(sheet: Sheet, ruled: bool) -> None:
    """Write a bank statement: details, a summary of sums, and a list of movements."""
    _small(sheet)
    details = [
        entry
        for entry in draw_entries(sheet.random, 9, "en", 0.0)
        if entry.type != "CURRENCY" and len(entry.lines) < 2
    ][:3]
    sums = draw_sums(sheet.random, 4, 0.0)
    sheet.entries = [*details, *sums]
    sheet.write(MARGIN, 60, "First Harbour Bank", sheet.caption_font, 34)
    for place, text in enumerate(("Ingrid Sommer", "14 Mill Lane", "21014 Ashford")):
        sheet.value(MARGIN, 150 + 30 * place, text)
    for place, entry in enumerate(details):
        y = 150 + 36 * place
        sheet.caption(WIDTH / 2, y, entry.captions[0], 1.2)
        sheet.value(WIDTH / 2 + 330, y, entry.value, WIDTH - 30)
    sheet.write(MARGIN, 310, "Account summary", sheet.caption_font, 24)
    for place, entry in enumerate(sums):
        y = 350 + 36 * place
        sheet.caption(MARGIN, y, entry.captions[0], 1.2)
        sheet.value(MARGIN + 620 - sheet.value_width(entry.value), y, entry.value)
        if ruled:
            sheet.rule(MARGIN, y + 30, MARGIN + 640, y + 30)
    y = 560.0
    for x, text in ((0, "Posted"), (200, "Description"), (620, "Amount"), (860, "Balance")):
        sheet.caption(MARGIN + x, y, text, 1.1)
    for _ in range(7):
        y += 38
        sheet.value(MARGIN, y, f"0{sheet.random.randint(1, 9)}/1{sheet.random.randint(0, 9)}")
        sheet.value(MARGIN + 200, y, sheet.random.choice(MOVEMENTS))
        sheet.value(MARGIN + 620, y, amount(sheet.random, "en"))
        sheet.value(MARGIN + 860, y, amount(sheet.random, "en"))
