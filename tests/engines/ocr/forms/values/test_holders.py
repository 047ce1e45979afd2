"""Names without captions: see chalicelib/engines/ocr/forms/values/holders.py."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.formats.templates.form_template import standard_template
from tests.engines.ocr.forms.drawn import DrawnForm

_ADDRESS = ("4410 Larch Lane", "Boise, ID 83702")


def _read(form: DrawnForm, template: str) -> dict[str, str]:
    """Return the values that a shipped template finds."""
    fields = find_fields(form.read(), standard_template(template))
    return {each.entity: each.value_text for each in fields}


def _write(form: DrawnForm, x: float, y: float, lines: Sequence[str], size: int = 20) -> None:
    for place, line in enumerate(lines):
        form.write(x, y + 1.5 * size * place, line, size)


def _card(*names: str) -> dict[str, str]:
    """Read a card without captions for names and address."""
    form = DrawnForm()
    _write(form, 400, 100, (*names, *_ADDRESS))
    for place, (caption, value) in enumerate((("DLN", "B123-456"), ("DOB", "04/09/1981"))):
        form.write(400, 300 + 40 * place, caption)
        form.write(480, 300 + 40 * place, value)
    return _read(form, "dl")


@pytest.mark.parametrize(
    ("names", "first", "last"),
    [
        (("MARA QUILL",), "MARA", "QUILL"),
        (("QUILL, MARA JO",), "MARA JO", "QUILL"),
        (("TOM QUILL JR",), "TOM", "QUILL JR"),
        (("QUILL", "MARA JO"), "MARA JO", "QUILL"),
    ],
)
def test_names_stand_above_the_address_of_a_card(
    names: tuple[str, ...], first: str, last: str
) -> None:
    """Without captions, names are above a card's address; a comma or second line sets the order."""
    found = _card(*names)

    assert (found["first_name"], found["last_name"]) == (first, last)
    assert found["address"] == "4410 Larch Lane Boise, ID 83702"
    assert found["license_number"] == "B123-456"


def test_statement_of_pay_names_firm_and_person_in_blocks() -> None:
    """The block with a company name is the employer's; the other one is the employee's."""
    form = DrawnForm()
    _write(form, 60, 100, ("MARA QUILL", *_ADDRESS))
    _write(form, 700, 100, ("Tern Harbor Supply LLC", "9 Pier Road", "Astoria, OR 97103"))
    form.write(60, 400, "Net Pay")
    form.write(260, 400, "$1,204.11")

    found = _read(form, "paystub")

    assert found["employer"] == "Tern Harbor Supply LLC"
    assert found["employer_address"] == "9 Pier Road Astoria, OR 97103"
    assert found["employee_name"] == "MARA QUILL"
    assert found["employee_address"] == "4410 Larch Lane Boise, ID 83702"


def test_caption_wins_over_a_block() -> None:
    """A captioned value is not taken from a block."""
    form = DrawnForm()
    _write(form, 60, 100, ("MARA QUILL", *_ADDRESS))
    form.write(60, 300, "Employee Name:")
    form.write(300, 300, "Jon Vale")
    form.write(60, 400, "Net Pay")
    form.write(260, 400, "$1,204.11")

    assert _read(form, "paystub")["employee_name"] == "Jon Vale"


def test_other_templates_have_no_holders() -> None:
    """Templates with captions for all names take none from blocks."""
    form = DrawnForm()
    _write(form, 60, 100, ("MARA QUILL", *_ADDRESS))

    assert _read(form, "w2") == {}
