"""Tests of chalicelib/engines/ocr/forms/agreement.py."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.domain.documents.form_template import FORM_TYPES, FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms.agreement import SUMS, PageFormats, agreeing_entities
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.formats.templates.form_template import read_template, standard_template
from tests.engines.ocr.forms.drawn import DrawnForm

SSN = TemplateKey("ssn", ("SSN",), format=r"\d{3}-\d\d-\d{4}")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"total": "114.30", "amount_paid": "-50.00", "amount_due": "$64.30"}, "all"),
        ({"total": "1.114,30 €", "amount_paid": "50,00", "amount_due": "1.064,30"}, "all"),
        ({"subtotal": "100", "tax": "8.25", "total": "108.25"}, "all"),
        ({"total": "114.30", "amount_paid": "50.00", "amount_due": "64.31"}, ""),
        ({"subtotal": "0.40", "tax": "0.03", "total": "0.43"}, ""),
        ({"subtotal": "4 items", "tax": "", "total": "4 items"}, ""),
        ({"subtotal": "100.00", "tax": "0.00", "total": "100.00"}, ""),
        ({"subtotal": "1" + 999 * ",111", "tax": "8.25", "total": "108.25"}, ""),
    ],
    ids=(
        "payment with minus",
        "decimal comma",
        "no cents",
        "a cent less",
        "tiny",
        "no amounts",
        "equal amounts",
        "long number",
    ),
)
def test_amounts_agree_if_their_sum_holds(values: dict[str, str], expected: str) -> None:
    """Sums are checked in every notation; tiny sums and equal amounts are no evidence."""
    assert agreeing_entities(values) == (values.keys() if expected else set())


def test_taxes_agree_with_wages_up_to_the_rounding_of_each_payment() -> None:
    """A tax of 26 rounded payments may differ by some cents from its share of the wages."""
    values = {"medicare_wages": "52,310.47", "medicare_tax": "758.62"}

    assert agreeing_entities(values) == values.keys()
    assert not agreeing_entities({**values, "medicare_tax": "757.00"})
    assert not agreeing_entities({"medicare_wages": "34.49", "medicare_tax": "1.00"})


def test_rare_format_is_stronger_evidence() -> None:
    """A format that no other text of the page has counts most; a wrong format is reported."""
    formats = PageFormats(["Ana Silva", "078-05-1120", "12/31/2024", "01/05/2025", "Reno"])
    day = TemplateKey("day", ("Date",), ("DATE",))
    free = TemplateKey("name", ("Name",))

    ssn, date, name = (
        formats.rarity(key, text)
        for key, text in ((SSN, "078-05-1120"), (day, "12/31/2024"), (free, "Ana Silva"))
    )

    assert ssn is not None
    assert date is not None
    assert ssn > date > 0 == name
    assert formats.rarity(SSN, "12/31/2024") is None
    assert formats.rarity(day, "Reno") is None


def _probabilities(net: str, ssn: str) -> dict[str, float]:
    """Return the probability of each value of a small pay slip, by entity."""
    form = DrawnForm()
    rows = {"SSN": ssn, "Gross pay": "2,500.00", "Deductions": "610.25", "Net pay": net}
    for place, (caption, value) in enumerate(rows.items()):
        form.write(100, 100 + 60 * place, caption)
        form.write(400, 100 + 60 * place, value)
    names = {"gross_pay": "Gross pay", "total_deductions": "Deductions", "net_pay": "Net pay"}
    keys = [TemplateKey(entity, (caption,)) for entity, caption in names.items()]
    fields = find_fields(form.read(), FormTemplate((SSN, *keys)))
    assert [field.value_text for field in fields] == list(rows.values())
    return {field.entity: field.probability for field in fields}


def test_evidence_raises_probabilities_of_values() -> None:
    """Amounts of a sum that holds are surer, and a text in the usual format of its entity is."""
    good, bad = _probabilities("1,889.75", "078-05-1120"), _probabilities("1,898.75", "B 1120 / 7")

    assert min(good[name] for name in ("gross_pay", "total_deductions", "net_pay")) >= 0.95
    assert bad["net_pay"] < good["net_pay"]
    assert bad["ssn"] < 0.7 < 0.9 < good["ssn"]


def test_sums_are_of_entities_of_shipped_templates() -> None:
    """A misspelled entity would never be checked."""
    entities = {key.entity for each in FORM_TYPES for key in standard_template(each).keys}

    for check in msgspec.json.decode(SUMS.read_bytes()):
        assert {check["sum"], *check["terms"]} <= entities, check


def test_formats_are_only_for_shipped_templates() -> None:
    """A caller's template may name another country's `state`, so that its keys have no format."""
    state = {"entity": "state", "keyVariations": ["State"], "entityTypes": [], "format": "TX"}
    own = {"version": "1.0", "tableRecognition": False, "keys": [{"key": state}]}

    assert {key.entity: key.format for key in standard_template("w2").keys}["state"]
    assert read_template(own).keys == (TemplateKey("state", ("State",)),)
