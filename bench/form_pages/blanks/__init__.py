"""Blank forms 1040 of the United States, a government's work, which machines fill.

The files are the published forms without their form fields and scripts. `fields.json` has for each
page the rectangles of the fields in points from the upper left, with the entity of the template
that ships (2024) or the printed caption (2012), and the kind of value.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from bench.form_pages.contents import FIRMS, JOBS, NAMES, Entry
from bench.form_pages.issued import PLACES, Issuer, digits, shaped
from bench.form_pages.sheet import Sheet
from chalicelib.domain.common.limits import MAX_OCR_PAGES
from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.ocr import FORM
from chalicelib.domain.documents.page import Page, TextLine, around
from chalicelib.formats.documents import open_document

FOLDER = Path(__file__).parent
FIELDS = FOLDER / "fields.json"
NEWEST = "f1040_2024.pdf"
"""The form for which a template ships."""
POINT = 200 / 72
"""Pixels of a point in the raster of a page with a text layer."""
GROUPS = (0.0, 0.36, 0.6)
"""Where the groups of a social security number begin in its field."""
NINE_CELLS = 400
"""Pixels of the width of a field of single boxes from which it has 17, otherwise 9."""
FILLED_SHARE = 0.6
"""Fraction of the fields that are filled in."""
TYPES = {"amount": "CURRENCY", "phone": "PHONE", "person": "NAME", "first": "NAME", "last": "NAME"}


def digest() -> str:
    """Return the sha256 of the blank forms and of the places of their fields."""
    parts = hashlib.sha256()
    for path in sorted((*FOLDER.glob("*.pdf"), FIELDS)):
        parts.update(path.read_bytes())
    return parts.hexdigest()


def fill(sheet: Sheet, file: str, number: int) -> None:
    """Fill one page of a blank form with made-up values."""
    page = _page(file, number)
    assert page.pixels is not None
    sheet.image = Image.fromarray(page.pixels).convert("L")
    sheet.lines = list(page.layer or ())
    sheet.rules = list(page.rules or ())
    sheet.value_size = sheet.random.choice((23, 25, 27, 29))
    issuer = Issuer(sheet, "1040")
    values = _Values(issuer)
    for place, (x, y, end, bottom, name, kind) in enumerate(_fields(file, number)):
        is_filled = sheet.random.random() < FILLED_SHARE
        text = values.text(kind, name if file == NEWEST else "") if is_filled else ""
        lines = (text,) if text else ()
        if name and file == NEWEST:
            made = dict(issuer.period.made)
            sheet.entries.append(replace(issuer.entry(name), value=text, lines=lines))
            issuer.period.made = made  # the entry's own amount is not printed
        elif name:
            entity = f"field_{place}"
            sheet.entries.append(Entry(entity, (name,), text, lines, TYPES.get(kind, "")))
        if text:
            _write(sheet, text, kind, (x, y, end, bottom), values.is_right)
    if file != NEWEST:
        sheet.issued = _captions_as_template(sheet)


def _captions_as_template(sheet: Sheet) -> FormTemplate:
    """Return a template whose keys are the printed captions."""
    keys = (TemplateKey(e.entity, e.captions, (e.type,) if e.type else ()) for e in sheet.entries)
    return FormTemplate(tuple(keys), layout=sheet.random.choice(((), ("numberedLines",))))


def _write(
    sheet: Sheet, text: str, kind: str, box: tuple[float, float, float, float], is_right: bool
) -> None:
    """Write a value into its field, given in points."""
    x, y, end, bottom = box
    left, right = x * POINT + 6, end * POINT - 4
    if kind == "amount" and is_right:
        left = max(left, right - sheet.value_width(text) - 4)
    top = (y + bottom) / 2 * POINT - 0.6 * sheet.value_size
    if kind == "digits":
        _write_in_cells(sheet, text, left, top, right)
    elif kind == "ssn":
        for start, part in zip(GROUPS, text.split(), strict=True):
            sheet.value(left + start * (right - left), top, part, right)
    else:
        sheet.value(left, top, text, right)


def _write_in_cells(sheet: Sheet, text: str, left: float, top: float, right: float) -> None:
    """Write digits into single boxes, which a text layer gives as one line."""
    cells = 9 if right - left < NINE_CELLS else 17
    before = len(sheet.lines)
    for place, digit in enumerate(text):
        sheet.value(left + place * (right - left) / cells, top, digit)
    boxes = [line.box for line in sheet.lines[before:]]
    sheet.lines[before:] = [TextLine(" ".join(text), 1.0, around(boxes))]


class _Values:
    """Values of the kinds that the fields have, in one notation."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer, self._random = issuer, issuer.random
        self.is_right = issuer.random.random() < 0.6
        self._has_cents = issuer.random.random() < 0.5

    def text(self, kind: str, entity: str = "") -> str:
        """Return a value of a kind, which agrees with the others if the entity is known."""
        random = self._random
        made: Mapping[str, Callable[[], str]] = {
            "amount": lambda: self._amount(entity),
            "first": lambda: f"{random.choice(NAMES)[0]}{random.choice(('', ' B', ' T.'))}",
            "last": lambda: random.choice(NAMES)[1],
            "person": self._issuer.person,
            "street": self._issuer.street,
            "town": self._issuer.town,
            "state": lambda: random.choice(PLACES)[1],
            "zip": lambda: digits(random, 5),
            "apt": lambda: str(random.randint(1, 99)),
            "country": lambda: random.choice(("Canada", "Mexico", "Ontario", "Poland")),
            "ssn": lambda: shaped(random, "### ## ####"),
            "ein": lambda: shaped(random, "##-#######"),
            "ptin": lambda: shaped(random, "P########"),
            "digits": lambda: digits(random, 9),
            "phone": lambda: shaped(random, random.choice(("(###) 555-0###", "###-555-0###"))),
            "mail": lambda: f"{shaped(random, 'AAA##').lower()}@example.com",
            "job": lambda: random.choice(JOBS),
            "firm": lambda: random.choice(FIRMS),
        }
        text = made[kind]()
        return text.upper() if self._issuer.is_upper else text

    def _amount(self, entity: str) -> str:
        text = self._issuer.amount_of(entity, whole=not self._has_cents).lstrip("$")
        return text if self._has_cents else text[:-3]


@cache
def _page(file: str, number: int) -> Page:
    """Read a page of a blank form with its text layer and its pixels."""
    with open_document((FOLDER / file).read_bytes(), MAX_OCR_PAGES[FORM]) as document:
        return document.page(number, True)


@cache
def _fields(file: str, number: int) -> list[list[Any]]:
    """Return the fields of a page."""
    pages = json.loads(FIELDS.read_text(encoding="utf-8"))
    return next(p["fields"] for p in pages if (p["file"], p["page"]) == (file, number))


def blank_pages() -> list[tuple[str, int]]:
    """Return file and number of each page."""
    return [(p["file"], p["page"]) for p in json.loads(FIELDS.read_text(encoding="utf-8"))]
