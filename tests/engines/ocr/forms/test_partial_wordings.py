"""Tests of chalicelib/engines/ocr/forms/keys/partial_wordings.py."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm


def _fields(wanted: Sequence[str], *printed: str) -> tuple[FormField, ...]:
    """Return the fields with the captions `wanted` of a form with the lines `printed`."""
    form = DrawnForm()
    for place, text in enumerate(printed):
        form.write(60, 100 + 100 * place, text)
    keys = tuple(TemplateKey(text, (text,)) for text in wanted)
    return find_fields(form.read(), FormTemplate(keys))


@pytest.mark.parametrize(
    ("wanted", "printed", "value"),
    [
        ("Arrival date", "Arrival: 12 March 2026", "12 March 2026"),
        ("Arrival date", "Arrival 12 March 2026", "12 March 2026"),
        ("Arrival date", "Arrival (local time): 12 March 2026", "12 March 2026"),
        ("Ausstellungsdatum", "Ausstellung: 12.03.2026", "12.03.2026"),
        ("Vessel name", "Vessel: Gulf Sextant", "Gulf Sextant"),
        ("Nombre del solicitante", "Solicitante: Ana Torres", "Ana Torres"),
    ],
)
def test_caption_without_the_word_date_or_name_is_found(
    wanted: str, printed: str, value: str
) -> None:
    """Users write more words than the form prints. Such a value is never sure."""
    (field,) = _fields([wanted], printed)

    assert field.value_text == value
    assert 0.5 < field.probability < 0.9


@pytest.mark.parametrize(
    ("wanted", "printed"),
    [
        ("Invoice date", ["Invoice: INV-2231", "Date: 12 March 2026"]),
        ("Invoice date", ["Invoice: 4471 of 12 March 2026"]),
        ("Customer name", ["Customer: 5531"]),
        ("Account name", ["Account: closed"]),
        ("Delivery date", ["Date: 12 March 2026"]),
        ("Arrival time", ["Arrival: 12 March 2026"]),
        ("Payment date", ["Payment 4471 due 12 March 2026"]),
        ("Customer account name", ["Customer: Ana Torres", "Account: Ben Ruiz"]),
        ("Ship date", ["Ship to: 12 March 2026"]),
    ],
)
def test_caption_that_may_be_of_another_field_is_not_found(
    wanted: str, printed: Sequence[str]
) -> None:
    """A caption that lacks another word, or whose value has another type, is not the key's."""
    assert _fields([wanted], *printed) == ()


def test_caption_that_lacks_a_word_of_two_keys_belongs_to_neither() -> None:
    """`Arrival` can be the date or the name of the arrival."""
    keys = ["Arrival date", "Arrival name"]

    assert _fields(keys, "Arrival: 12 March 2026") == ()
    assert _fields(keys[:1], "Arrival: 12 March 2026")[0].value_text == "12 March 2026"


@pytest.mark.parametrize("value", ["Manager", "Payment 01/02/2024, thank you"])
def test_value_of_another_key_is_no_caption(value: str) -> None:
    """A value that could be a caption without the word date or name stays a value."""
    form = DrawnForm()
    for y, (caption, text) in enumerate((("Position:", value), ("Salary:", "Ana Torres"))):
        form.write(60, 60 + 60 * y, caption)
        form.write(220, 60 + 60 * y, text)
    captions = ("Position", "Manager name", "Payment date", "Salary")
    keys = tuple(TemplateKey(text, (text,)) for text in captions)

    fields = find_fields(form.read(), FormTemplate(keys))

    assert {field.entity: field.value_text for field in fields} == {
        "Position": value,
        "Salary": "Ana Torres",
    }


def test_caption_that_lacks_a_word_is_no_evidence_for_second_captions() -> None:
    """Four captions with texts below may be in two languages, but not if one is doubtful."""
    form = DrawnForm()
    rows = (
        ("Shipper", "Coromandel Spice Exports", "41 Willingdon Island"),
        ("Consignee", "Harborside Foods Import", "300 Terminal Road"),
        ("Place of receipt", "Cochin", "Terminal 2"),
        ("Vessel", "Gulf Sextant", ""),
        ("Voyage", "Sea 18", ""),
    )
    for place, lines in enumerate(rows):
        for at, text in enumerate(lines):
            form.write(60, 60 + 160 * place + 26 * at, text)
    captions = ("Shipper", "Consignee", "Place of receipt", "Vessel name", "Voyage")
    keys = tuple(TemplateKey(text, (text,)) for text in captions)

    fields = find_fields(form.read(), FormTemplate(keys))

    assert [field.value_text.split()[0] for field in fields] == [
        "Coromandel", "Harborside", "Cochin", "Gulf", "Sea",
    ]  # fmt: skip
