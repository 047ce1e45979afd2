"""Templates of tax forms, invoices, receipts and statements, on pages of several layouts."""

from __future__ import annotations

import pytest

from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.formats.templates.form_template import standard_template
from tests.engines.ocr.forms.shipped import LAYOUTS, draw

FORMS = (
    "1099int", "1099div", "1099nec", "1099misc", "1099g", "invoice", "receipt", "bankStatement",
)  # fmt: skip


@pytest.mark.parametrize("spelling", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form_type", FORMS)
def test_shipped_template_reads_its_captions(form_type: str, layout: str, spelling: int) -> None:
    """A shipped template's captions are found with their values in several layouts."""
    template = standard_template(form_type)
    form = draw(template.keys, layout, spelling)
    found = {field.entity: field.value_text for field in find_fields(form.read(), template)}

    wrong = {
        entity: (value, found.get(entity))
        for entity, value in form.values.items()
        if found.get(entity) != value
    }
    assert len(wrong) <= 0.1 * len(form.values), wrong
