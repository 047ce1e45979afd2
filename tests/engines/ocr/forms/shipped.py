"""Drawn pages for the shipped templates, with invented values in three layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from chalicelib.domain.documents.form_template import TemplateKey
from tests.engines.ocr.forms.drawn import DrawnForm, make_facts

Texts = list[tuple[str, str]]
"""Captions with their values."""
_ORGANISATIONS = ("Harbor Tool Works", "Fern and Sons", "North Quay Ltd")


def value_of(key: TemplateKey, seed: int) -> str:
    """Return an invented value of a key's type."""
    facts, chance = make_facts(seed), Random(seed)
    if "CURRENCY" in key.types:
        return f"{chance.randint(1, 99_999):,}.{chance.randint(0, 99):02}"
    if "NUMBER" in key.types:
        return str(2024 if "year" in key.entity else chance.randint(2, 30))
    if "DATE" in key.types:
        return facts.birth.replace("/19", "/20")
    if "PHONE" in key.types:
        return facts.phone
    if "EMAIL" in key.types:
        return facts.mail
    named = {"tin": "12-3456789", "address": facts.street, "city": facts.city, "time": "14:05",
             "state": "OH", "period": "01/01/2024 - 01/31/2024", "country": "Canada",
             "terms": "Net 30", "payer": chance.choice(_ORGANISATIONS)}  # fmt: skip
    last = key.entity.rpartition("_")[2]
    if last in named:
        return named[last]
    people = ("name", "holder", "bill_to", "ship_to", "cashier", "sales_person")
    return facts.name if key.entity.endswith(people) else facts.number


def _grid(form: DrawnForm, texts: Texts) -> None:
    """Draw ruled boxes, each with a small caption above its value."""
    for number, (caption, value) in enumerate(texts):
        x, y = 30 + number % 3 * 393, 20 + number // 3 * 84
        form.box(x, y, x + 393, y + 84)
        top = y + 4
        line = ""
        for word in caption.split():
            longer = f"{line} {word}".strip()
            if line and form.width(longer, 13) > 380:
                form.write(x + 5, top, line, 13)
                line, top = word, top + 15
            else:
                line = longer
        form.write(x + 5, top, line, 13)
        form.write(x + 30, y + 56, value, 20)


def _columns(form: DrawnForm, texts: Texts) -> None:
    """Write captions on the left, and values in one column on the right."""
    for number, (caption, value) in enumerate(texts):
        y = 20 + number * 31
        form.write(40, y, caption, 16)
        form.write(1190 - form.width(value, 18), y, value, 18)


def _lines(form: DrawnForm, texts: Texts) -> None:
    """Write a colon after each caption, and its value after a gap."""
    for number, (caption, value) in enumerate(texts):
        y = 20 + number * 31
        form.write(40, y, f"{caption}:", 17)
        form.write(40 + form.width(f"{caption}:", 17) + 24, y, value, 17)


LAYOUTS: Mapping[str, Callable[[DrawnForm, Texts], None]] = {
    "grid": _grid,
    "columns": _columns,
    "lines": _lines,
}


def draw(keys: tuple[TemplateKey, ...], layout: str, spelling: int) -> DrawnForm:
    """Draw a page with every key of a template.

    Args:
        keys: the keys.
        layout: one of LAYOUTS.
        spelling: which of a key's variations is drawn, counted from 0 and around.
    """
    form, texts = DrawnForm(), []
    for number, key in enumerate(keys):
        value = value_of(key, 100 * spelling + number)
        form.values[key.entity] = value
        texts.append((key.variations[spelling % len(key.variations)], value))
    LAYOUTS[layout](form, texts)
    return form
