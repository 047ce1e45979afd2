"""Reads generated forms of layouts that were read wrongly once."""

from __future__ import annotations

import pytest

from bench.form_pages.families import draw_form
from chalicelib.engines.ocr.forms.finder import find_fields


@pytest.mark.parametrize(
    "family",
    [
        "bill, total columns",  # heads of columns are captions of sums
        "coded statement",  # totals belong to the titles of tables
        "indented licence",  # keys are single digits
        "stacked languages",  # second captions are below keys that occur at several places
        "wage slip, letters",  # a short rule is between code and amount
    ],
)
def test_values_of_a_layout_are_read(family: str) -> None:
    """Nearly all values of the text layer are right, and hardly any wrong one is sure."""
    right = wrong = sure = 0
    for seed in range(4):
        sheet = draw_form(family, seed)
        values = {entry.entity: entry.value for entry in sheet.entries}
        for field in find_fields(sheet.layer(), sheet.template()):
            if field.value_text and field.entity not in sheet.doubtful:
                is_right = field.value_text.split() == values.get(field.entity, "").split()
                right += is_right
                wrong += not is_right
                sure += not is_right and field.probability >= 0.95
    assert right >= 9 * wrong
    assert sure <= 1
