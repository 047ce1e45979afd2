"""Tests of chalicelib/engines/ocr/forms/keys/wordings.py."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm


def _value(wanted: str, *printed: str) -> str:
    """Return the value of the key `wanted` on a form with these captions."""
    form = DrawnForm()
    for place, caption in enumerate(printed):
        form.write(60, 100 + 100 * place, f"{caption}: A {17 + place}")
    key = TemplateKey("key", (wanted,))
    fields = find_fields(form.read(), FormTemplate((key,)))
    return fields[0].value_text if fields else ""


@pytest.mark.parametrize(
    ("wanted", "printed"),
    [
        ("Kundennummer", "Kunden-Nr."),
        ("Kundnummer", "Kund nr"),
        ("Invoice number", "Inv. No."),
        ("Customer ID", "Your customer number"),
        ("Organisationsnummer", "Org.nr"),
        ("Numéro d'identification", "N° d'identification"),
        ("Numer rachunku", "Nr rachunku"),
        ("Telefon odbiorcy", "Tel. odbiorcy"),
        ("Fatura Numarası", "Fatura No"),
        ("Sayın", "SAYIN"),
        ("Invoice date", "Date of the invoice"),
        ("Phone", "Tel."),
        ("Delivery address", "Lieferanschrift"),
    ],
)
def test_caption_in_another_wording_is_found(wanted: str, printed: str) -> None:
    """Abbreviations, synonyms, compounds, articles and the order of words may differ."""
    assert _value(wanted, printed) == "A 17"


@pytest.mark.parametrize(
    ("wanted", "printed"),
    [
        ("Line no. 12", "Line number 13"),
        ("Ship to", "Bill to"),
        ("Total", "Subtotal"),
        ("Employer number", "Employee No."),
        ("Your reference", "Our ref."),
        ("Invoice date", "Date"),
        ("Invoice number", "No."),
        ("Number", "Nr."),
        ("Total tax", "Total taxable"),
        ("Employee number", "Number of employees"),
        ("Claim number", "No claims"),
        ("Nom du client", "Nombre de clients"),
        ("Order total", "Total orders"),
    ],
)
def test_caption_of_another_field_is_not_found(wanted: str, printed: str) -> None:
    """Each word of a key must correspond to a word of the caption."""
    assert _value(wanted, printed) == ""


def test_exact_caption_is_preferred() -> None:
    """A caption in another wording counts only if the key's own text is not on the page."""
    assert _value("Customer number", "Client No.", "Customer number") == "A 18"


def test_other_wording_lowers_the_probability() -> None:
    """A value is less certain if its caption is worded differently than the key."""
    form = DrawnForm()
    form.write(60, 100, "Kunden-Nr.: 4711")

    sure, less = (
        find_fields(form.read(), FormTemplate((TemplateKey("key", (text,)),)))[0].probability
        for text in ("Kunden-Nr.", "Kundennummer")
    )

    assert less < sure
