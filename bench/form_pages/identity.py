"""Layout families of licences, passports and cards with the templates that ship."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from bench.form_pages.contents import Entry
from bench.form_pages.issued import Issuer
from bench.form_pages.sheet import MARGIN, WIDTH, Sheet

LICENCE_ROWS = (
    ("license_number", "expiration_date"), ("last_name",), ("first_name",), ("address",),
    ("date_of_birth", "issue_date"), ("class", "endorsements", "restrictions"),
    ("sex", "height", "eyes"), ("weight", "hair"), ("document_discriminator", "audit_number"),
)  # fmt: skip
AUTHORITY = ("United States", "Department of State")
PASSPORT_ROWS = (
    ("type", "country_code", "passport_number"), ("surname",), ("given_names",),
    ("nationality",), ("date_of_birth",), ("place_of_birth", "sex"),
    ("date_of_issue", "authority"), ("date_of_expiration",), ("endorsements",),
)  # fmt: skip


def _row(
    sheet: Sheet, row: list[Entry], y: float, above: bool, indent: float = 0.0, gap: float = 8
) -> float:
    """Draw the fields of one row, with `gap` pixels before a value; return where it ends."""
    left = MARGIN + 350
    step = (WIDTH - MARGIN - left) / max(2, len(row))
    bottom = y
    for at, entry in enumerate(row):
        x = left + at * step
        end = sheet.caption(x, y if above else y + 4, entry.captions[0])
        below = y + (1.35 * sheet.caption_size if indent else 1.25 * end.height)
        start, top = (x + indent, below) if above else (end.max_x + gap, y)
        limit = WIDTH - MARGIN if at == len(row) - 1 else x + step - 8
        for line in entry.lines:
            is_centred = entry.lines == AUTHORITY
            off = (end.width - sheet.value_width(line)) / 2 if is_centred else 0
            sheet.value(start + off, top, line, limit)
            top += 1.2 * sheet.value_size
        bottom = max(bottom, top)
    return bottom + sheet.random.choice((2, 6, 12))


def issued_licence(
    sheet: Sheet, above: bool, codes: bool, gap: float = 8, bare: Container[str] = ()
) -> None:
    """Draw a driver's licence: tiny captions before or above values, an image, no rules.

    Captions are `gap` pixels before values. The entities in `bare` have none.
    """
    sheet.caption_size = sheet.random.choice((15, 17, 19))
    sheet.value_size = sheet.random.choice((22, 26, 30))
    issuer = Issuer(sheet, "dl", dates=(0, 0, 1))
    issuer.is_upper = True
    sheet.write(MARGIN + 20, 100, "DRIVER LICENSE", "DejaVuSans-Bold.ttf", 40)
    sheet.write(MARGIN + 620, 110, "U.S.A.   State of Fairview", sheet.caption_font, 24)
    sheet.image.paste(160, (MARGIN + 20, 190, MARGIN + 320, 580))
    sheet.image.paste(190, (WIDTH - MARGIN - 160, 520, WIDTH - MARGIN - 20, 700))
    y = 180.0
    for names in LICENCE_ROWS:
        row = [issuer.entry(name) for name in names if sheet.random.random() < 0.9]
        if names[0] in bare:
            y = _block(sheet, row, y)
            continue
        row = [_captioned(sheet, entry, codes) for entry in row]
        sheet.entries += row
        y = _row(sheet, row, y, above, gap=gap)
    sheet.write(MARGIN + 30, 620, "Amelia Rivers", "STIXGeneralItalic.ttf", 40)


def _block(sheet: Sheet, entries: list[Entry], y: float) -> float:
    """Write values without captions below each other; return where they end."""
    sheet.entries += entries
    for line in (line for entry in entries for line in entry.lines):
        sheet.value(MARGIN + 350, y, line)
        y += 1.3 * sheet.value_size
    return y


def indented_licence(sheet: Sheet) -> None:
    """Draw a licence: names behind numbers, other values indented below captions in columns."""
    sheet.caption_size = sheet.random.choice((16, 18, 20))
    sheet.value_size = sheet.caption_size + sheet.random.choice((0, 2, 4))
    issuer = Issuer(sheet, "dl", dates=(0, 0, 1))
    issuer.is_upper = True
    sheet.write(MARGIN + 350, 110, "DRIVER LICENSE", "DejaVuSans-Bold.ttf", 34)
    y = 180.0
    for entry in issuer.entries(("last_name", "first_name", "address")):
        number = {"last_name": "1", "first_name": "2", "address": "8"}[entry.entity]
        sheet.entries[sheet.entries.index(entry)] = replace(entry, captions=(number,))
        sheet.caption(MARGIN + 350, y + 4, number)
        for line in entry.lines:
            sheet.value(MARGIN + 390, y, line)
            y += 1.35 * sheet.value_size
    y += 16
    names = [name for row in LICENCE_ROWS[4:] for name in row] + ["license_number"]
    sheet.random.shuffle(names)
    indent, codes = sheet.random.choice((0, 10, 26)), sheet.random.random() < 0.7
    while names:
        count = sheet.random.randint(2, 3)
        row = [_captioned(sheet, entry, codes) for entry in map(issuer.entry, names[:count])]
        row = [replace(entry, value="", lines=()) if sheet.random.random() < 0.15 else entry
               for entry in row]  # fmt: skip
        sheet.entries += row
        y, names = _row(sheet, row, y, True, indent) + 8, names[count:]


def _captioned(sheet: Sheet, entry: Entry, codes: bool) -> Entry:
    """Return an entry under a caption with a code, or without one."""
    fit = [text for text in entry.captions if text[0].isdecimal() == codes and len(text) > 1]
    captions = (sheet.random.choice(fit), *entry.captions) if fit else entry.captions
    return Entry(entry.entity, captions, entry.value, entry.lines, entry.type)


def issued_passport(sheet: Sheet, languages: bool, centred: bool = False) -> None:
    """Draw the data page of a passport: small captions over values, and a zone.

    With `centred`, the authority has two lines, with the same middle as its caption.
    """
    sheet.caption_size = sheet.random.choice((14, 15, 17))
    sheet.value_size = sheet.random.choice((20, 24, 28))
    issuer = Issuer(sheet, "passport", dates=(4, 5))
    sheet.image.paste(170, (MARGIN, 220, MARGIN + 310, 640))
    sheet.write(MARGIN + 350, 120, "PASSPORT", "DejaVuSans-Bold.ttf", 34)
    y = 190.0
    for names in PASSPORT_ROWS:
        row = []
        # Captions in three languages are long.
        for entry in issuer.entries(names[:1] if languages else names):
            fit = [text for text in entry.captions if ("/" in text) == languages]
            captions = (*fit, *entry.captions)
            row.append(Entry(entry.entity, captions, entry.value, entry.lines, entry.type))
        if centred and names[-1] == "authority":
            row[-1] = replace(row[-1], value=" ".join(AUTHORITY), lines=AUTHORITY)
        sheet.entries[-len(row) :] = row
        y = _row(sheet, row, y, True)
    names = [entry.value.upper() for entry in sheet.entries if "name" in entry.entity]
    for offset, line in enumerate((f"P<USA{'<<'.join(names)}", "8401236<X5USA6208042F2907187")):
        text = line.replace(" ", "<").ljust(44, "<")[:44]
        sheet.write(MARGIN, y + 60 + 46 * offset, text, "DejaVuSansMono.ttf", 36)


def resident_card(sheet: Sheet, above: bool) -> None:
    """Draw a card of a permanent resident: captions over values, and an image."""
    sheet.caption_size = sheet.random.choice((15, 18, 20))
    sheet.value_size = sheet.random.choice((22, 26, 30))
    issuer = Issuer(sheet, "permanentResident", dates=(0, 4))
    sheet.write(MARGIN + 300, 110, "PERMANENT RESIDENT CARD", "DejaVuSans-Bold.ttf", 34)
    sheet.image.paste(170, (MARGIN, 200, MARGIN + 310, 620))
    y = 190.0
    rows = (("surname",), ("given_name",), ("uscis_number", "category"), ("country_of_birth",),
            ("date_of_birth", "sex"), ("card_expires",), ("resident_since",))  # fmt: skip
    for names in rows:
        y = _row(sheet, issuer.entries(names), y, above)
