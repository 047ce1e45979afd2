"""Tests of chalicelib/engines/ocr/forms/caption_words.py."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms.caption_words import is_another_caption
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.forms.spelling import tokens
from tests.engines.ocr.forms.drawn import DrawnForm


def _words(text: str) -> list[str]:
    return [token.folded for token in tokens(text)]


@pytest.mark.parametrize(
    ("wanted", "read", "is_another"),
    [
        ("Firm's name", "First name", True),
        ("Employer name", "Employee name", True),
        ("Firm's name", "Firrn's name", False),
        ("Dates of service", "Date of service", False),
        ("Name of patient", "Name of patient visit", False),
    ],
)
def test_other_words_of_forms_are_no_misreading(wanted: str, read: str, is_another: bool) -> None:
    """A different word that is common in forms is another caption, not a misreading."""
    assert is_another_caption(_words(wanted), _words(read)) is is_another


def test_caption_that_is_spelled_much_like_a_key_is_none() -> None:
    """A caption that differs by more than two letters in nine is not a misread key."""
    form = DrawnForm()
    form.write(60, 100, "First name: Ada")
    form.write(60, 200, "Firn's trade: Bakery")
    keys = (TemplateKey("firm", ("Firm's name",)), TemplateKey("trade", ("Firm's trade",)))

    found = {each.entity: each.value_text for each in find_fields(form.read(), FormTemplate(keys))}

    assert found == {"trade": "Bakery"}
