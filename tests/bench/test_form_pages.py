"""Tests of bench/form_pages."""

from __future__ import annotations

import pytest

from bench.form_pages.families import FAMILIES, draw_form
from bench.form_pages.sums import Agreement
from chalicelib.engines.ocr.forms.finder import find_fields


def test_there_are_enough_families_to_leave_some_out() -> None:
    """Weights are judged with whole layout families left out, of which there are at least 30."""
    assert len(FAMILIES) >= 30


@pytest.mark.parametrize("family", FAMILIES)
def test_captions_and_values_are_on_the_page(family: str) -> None:
    """Captions and lines of values of a form are lines of its text layer, in whole or in part."""
    sheet = draw_form(family, 3)
    text = "".join("".join(line.text.split()) for line in sheet.lines).replace("’", "'")

    assert sheet.entries
    lines = [line for entry in sheet.entries for line in entry.lines]
    dropped = "." if sheet.cents else ""  # some pages have no points before cents
    inked = text.replace(dropped, "")
    assert all("".join(line.replace(dropped, "").split()) in inked for line in lines)
    captions = [[each.split()[0].replace("’", "'") for each in e.captions] for e in sheet.entries]
    is_bare = "without captions" in family or "addresses" in family
    assert is_bare or all(any(word in text for word in words) for words in captions)


def test_one_seed_gives_one_form() -> None:
    """Otherwise the digest of the inputs would change although the generator did not."""
    first, again, other = (draw_form("irregular boxes", seed) for seed in (1, 1, 2))

    assert first.lines == again.lines
    assert first.png() == again.png()
    assert first.lines != other.lines


def test_generated_forms_can_be_read() -> None:
    """The fit would learn nothing from forms whose values are never found."""
    sheet = draw_form("colon, one column", 1)
    wanted = {entry.entity: entry.value for entry in sheet.entries}

    fields = find_fields(sheet.layer(), sheet.template())

    assert fields
    assert sum(field.value_text == wanted[field.entity] for field in fields) > len(fields) / 2


def test_amounts_of_most_generated_documents_agree() -> None:
    """Sums hold on documents with agreeing amounts, and amounts are as drawn on the others."""
    entities = ("gross_pay", "federal_income_tax", "total_deductions", "net_pay")
    agreeing, unrelated = Agreement(holds=True), Agreement(holds=False)
    for entity in entities:
        agreeing.amount(entity, 1000.5)
        unrelated.amount(entity, 1000.5)

    gross, tax, deductions, net = (agreeing.made[entity] for entity in entities)
    assert tax == deductions < gross
    assert net == pytest.approx(gross - deductions, abs=0.01)
    assert set(unrelated.made.values()) == {1000.5}
