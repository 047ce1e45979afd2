"""Tests of chalicelib/formats/templates/form_template.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chalicelib.domain.documents.form_template import ENTITY_TYPES, FORM_TYPES
from chalicelib.errors import InvalidParameter
from chalicelib.formats.templates.form_template import standard_template

DOCUMENT = Path(__file__).parents[3] / "docs" / "forms.md"


@pytest.mark.parametrize("form_type", FORM_TYPES)
def test_every_form_has_a_template(form_type: str) -> None:
    """A shipped template has keys of known types, in English letters."""
    template = standard_template(form_type)

    assert len(template.keys) >= 10
    assert all(kind in ENTITY_TYPES for key in template.keys for kind in key.types)
    assert all(text.isascii() for key in template.keys for text in key.variations)
    assert template is standard_template(form_type)


@pytest.mark.parametrize("form_type", ["W2", "", "invoices", "../forms/w2", "\ud800", "x" * 1000])
def test_unknown_form_is_refused(form_type: str) -> None:
    """An unknown form is refused with the list of valid forms."""
    with pytest.raises(InvalidParameter) as refused:
        standard_template(form_type)

    assert all(name in refused.value.message for name in FORM_TYPES)
    assert len(refused.value.message.encode()) < 400


@pytest.mark.parametrize("form_type", FORM_TYPES)
def test_document_lists_every_entity(form_type: str) -> None:
    """docs/forms.md lists the entities of each form by type."""
    text = DOCUMENT.read_text("utf-8")
    [row] = re.findall(rf"^\| `{form_type}` \| ([A-Z]+: .+?) \|$", text, re.MULTILINE)
    rows = dict(kind.split(": ") for kind in row.split("<br>"))

    for key in standard_template(form_type).keys:
        assert f"`{key.entity}`" in rows[", ".join(key.types) or "TEXT"].split(", ")
