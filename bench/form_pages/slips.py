"""Layout families of wage and information slips: small boxes with long captions that wrap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.drawn_pages import font, wrapped
from bench.form_pages.contents import Entry
from bench.form_pages.issued import Issuer
from bench.form_pages.sheet import MARGIN, WIDTH, Sheet

NOTICE = (
    "This is important tax information and is being furnished to the Internal Revenue Service. "
    "If you are required to file a return, a negligence penalty may be imposed on you."
)
TOP = 120.0
"""Where the boxes begin."""
Box = tuple[float, float, float, float]

WAGE_CODES = {
    "employee_ssn": "a", "employer_ein": "b", "employer_name_address": "c", "control_number": "d",
    "employee_name": "e", "employee_address": "f", "wages": "1", "federal_income_tax": "2",
    "social_security_wages": "3", "social_security_tax": "4", "medicare_wages": "5",
    "medicare_tax": "6", "social_security_tips": "7", "allocated_tips": "8",
    "verification_code": "9", "dependent_care_benefits": "10", "nonqualified_plans": "11",
    "box_12a": "12a", "box_12b": "12b", "box_12c": "12c", "box_12d": "12d", "other": "14",
    "state": "15", "state_wages": "16", "state_income_tax": "17", "local_wages": "18",
    "local_income_tax": "19", "locality_name": "20",
}  # fmt: skip


def labelled(sheet: Sheet, entry: Entry, box: Box, code: str = "", sign: bool = False) -> None:
    """Draw a box with a caption that wraps at its top and the value below it."""
    x, y, end, bottom = box
    sheet.frame(*box)
    caption = entry.captions[0]
    if code and not caption.lower().startswith(code.lower()):
        caption = f"{code} {caption}"
    y += 3
    for line in wrapped(caption, font(sheet.caption_font, sheet.caption_size), end - x - 12):
        sheet.caption(x + 5, y, line)
        y += 1.2 * sheet.caption_size
    if sheet.has_side_letters and entry.entity.startswith("box_12"):
        _coded(sheet, entry, (x, y, end, bottom))
        return
    left = x + (10 if len(entry.lines) > 1 else sheet.random.choice((8, 16, 40)))
    if sign:
        sheet.caption(x + 6, y + 4, "$")
        left = x + 24
    elif entry.type == "CURRENCY" and sheet.random.random() < 0.4:
        left = max(left, end - sheet.value_width(entry.value) - 14)
    y = max(y + 2, bottom - 1.3 * sheet.value_size * len(entry.lines) - 4) if entry.lines else y
    for line in entry.lines:
        sheet.value(left, y, line, end - 4)
        y += 1.25 * sheet.value_size


def _coded(sheet: Sheet, entry: Entry, box: Box) -> None:
    """Write the word Code from top to bottom, a code and an amount, with a short rule between."""
    x, y, end, bottom = box
    for place, letter in enumerate("Code"):
        sheet.write(x + 5, y + place * (bottom - y) / 4, letter, sheet.caption_font, 10)
    middle = x + sheet.random.uniform(0.25, 0.35) * (end - x)
    sheet.rule(middle, (y + bottom) / 2, middle, bottom)
    code, _, amount = entry.value.partition(" ")
    top = bottom - 1.3 * sheet.value_size
    sheet.value(x + 24, top, code)
    free = end - 8 - middle - sheet.value_width(amount)
    sheet.value(middle + max(8, sheet.random.choice((8, free))), top, amount, end - 4)


def _small(sheet: Sheet) -> None:
    sheet.caption_size = sheet.random.choice((14, 15, 16))
    sheet.value_size = sheet.random.choice((18, 20, 22, 24))


def _stack(
    sheet: Sheet, entries: Sequence[Entry], place: Box, codes: Sequence[str], columns: int
) -> float:
    """Draw rows of boxes in some columns; return where they end."""
    x, y, end, row = place
    width = (end - x) / columns
    has_signs = sheet.random.random() < 0.3
    for at, entry in enumerate(entries):
        left, top = x + at % columns * width, y + at // columns * row
        sign = has_signs and entry.type == "CURRENCY"
        labelled(sheet, entry, (left, top, left + width, top + row), codes[at], sign)
    return y + -(-len(entries) // columns) * row


def wage_slip(sheet: Sheet, arrangement: str, numbered: bool) -> None:
    """Draw a wage statement: a block of persons next to or over a grid of numbered boxes."""
    _small(sheet)
    issuer = Issuer(sheet, "w2")
    row = 1.3 * sheet.caption_size * 2 + 1.3 * sheet.value_size + sheet.random.choice((4, 10))
    middle = MARGIN + (WIDTH - 2 * MARGIN) * sheet.random.choice((0.45, 0.5, 0.55))
    codes = WAGE_CODES if numbered else {}
    persons = issuer.entries(("employer_ein", "employee_ssn", "control_number"), 0.1)
    blocks = issuer.entries(("employer_name_address", "employee_name", "employee_address"))
    wages = issuer.entries([*WAGE_CODES][6:12])
    rest = issuer.entries([*WAGE_CODES][12:22], 0.6)
    states = issuer.entries(
        ("state", "employer_state_id", "state_wages", "state_income_tax",
         "local_wages", "local_income_tax", "locality_name"), 0.3,
    )  # fmt: skip
    draw = _persons_adjacent if arrangement == "adjacent" else _persons_between
    bottom = draw(sheet, persons, blocks, [*wages, *rest], codes, (middle, row))
    bottom = max(bottom, TOP + 3 * row + 3 * _tall(sheet, row))
    place = (MARGIN, bottom, WIDTH - MARGIN, row)
    bottom = _stack(sheet, states, place, _codes(states, codes), len(states))
    year = f"202{sheet.random.randint(0, 5)}"
    title = sheet.write(MARGIN, bottom + 20, "W-2 Wage and Tax Statement", sheet.caption_font, 26)
    sheet.write(title.max_x + 60, bottom + 14, year, sheet.caption_font, 36)
    issuer.put("tax_year", year)
    sheet.caption(MARGIN, bottom + 60, "Copy B - To Be Filed With Employee's FEDERAL Tax Return.")


def _codes(entries: Sequence[Entry], codes: Mapping[str, str]) -> list[str]:
    """Return the code of each box; an empty text for boxes without a code."""
    return [codes.get(each.entity, "") for each in entries]


def _tall(sheet: Sheet, row: float) -> float:
    """Return the height of a box for an address."""
    return row + 2.6 * sheet.value_size


def _persons_adjacent(
    sheet: Sheet, persons: Sequence[Entry], blocks: Sequence[Entry], amounts: Sequence[Entry],
    codes: Mapping[str, str], sizes: tuple[float, float],
) -> float:  # fmt: skip
    """Draw persons at the left and amounts at the right; return where the amounts end."""
    middle, row = sizes
    y = TOP
    for entry in (*persons[:2], blocks[0], persons[2], *blocks[1:]):
        height = _tall(sheet, row) if len(entry.lines) > 1 else row
        labelled(sheet, entry, (MARGIN, y, middle, y + height), codes.get(entry.entity, ""))
        y += height
    return _stack(sheet, amounts, (middle, TOP, WIDTH - MARGIN, row), _codes(amounts, codes), 2)


def _persons_between(
    sheet: Sheet, persons: Sequence[Entry], blocks: Sequence[Entry], amounts: Sequence[Entry],
    codes: Mapping[str, str], sizes: tuple[float, float],
) -> float:  # fmt: skip
    """Draw the first amounts on top, then persons, then the other amounts; return the end."""
    row, end = sizes[1], WIDTH - MARGIN
    some, others = amounts[:6], amounts[6:]
    bottom = _stack(sheet, some, (MARGIN, TOP, end, row), _codes(some, codes), 3)
    for entry in blocks:
        height = _tall(sheet, row) if len(entry.lines) > 1 else row
        place = (MARGIN, bottom, end, bottom + height)
        labelled(sheet, entry, place, codes.get(entry.entity, ""))
        bottom += height
    bottom = _stack(sheet, persons, (MARGIN, bottom, end, row), _codes(persons, codes), 3)
    return _stack(sheet, others, (MARGIN, bottom, end, row), _codes(others, codes), 4)


def information_slip(sheet: Sheet, form_type: str, columns: int, numbered: bool) -> None:
    """Draw an information return: payer and recipient at the left, amounts at the right."""
    _small(sheet)
    issuer = Issuer(sheet, form_type)
    persons = ("payer", "payer_tin", "recipient_tin", "recipient_name", "recipient_address",
               "recipient_city", "account_number")  # fmt: skip
    left = {each.entity: each for each in issuer.entries(persons, 0.05)}
    assert sheet.issued is not None
    others = [key.entity for key in sheet.issued.keys if key.entity not in (*persons, "tax_year")]
    amounts = issuer.entries(others, 0.45)
    row = 1.25 * sheet.caption_size * 3 + 1.3 * sheet.value_size
    top, middle, last = 120.0, MARGIN + 500.0, WIDTH - MARGIN - 200.0
    y = top + 2.2 * row
    labelled(sheet, left["payer"], (MARGIN, top, middle, y))
    half = (MARGIN + middle) / 2
    labelled(sheet, left["payer_tin"], (MARGIN, y, half, y + row))
    labelled(sheet, left["recipient_tin"], (half, y, middle, y + row))
    for entity in persons[3:]:
        y += row
        labelled(sheet, left[entity], (MARGIN, y, middle, y + row))
    end = y + row
    codes = [str(place + 1) if numbered else "" for place in range(len(amounts))]
    bottom = _stack(sheet, amounts, (middle, top, last, row), codes, columns)
    title = {"1099int": "Interest Income", "1099div": "Dividends and Distributions"}
    y = top
    year = f"202{sheet.random.randint(0, 5)}"
    for text, size in ((form_type.upper().replace("1099", "1099-"), 22), (year, 34)):
        sheet.write(last + 16, y, text, sheet.caption_font, size)
        y += 50
    for text in (title.get(form_type, "Income"), "Copy B", "For Recipient", NOTICE):
        for line in wrapped(text, font(sheet.caption_font, 14), 180):
            sheet.caption(last + 16, y, line)
            y += 20
    sheet.caption(
        MARGIN, max(bottom, y, end) + 20, "(keep for your records)   www.irs.gov/Form1099"
    )
