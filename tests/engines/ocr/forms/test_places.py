"""Positions of values as they occur in real filled forms."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm


def _read(form: DrawnForm, *keys: TemplateKey) -> dict[str, str]:
    """Return the values of keys."""
    return {each.entity: each.value_text for each in find_fields(form.read(), FormTemplate(keys))}


def test_hidden_digits_belong_to_a_number() -> None:
    """Masking characters are kept as part of a number."""
    form = DrawnForm()
    form.write(60, 100, "SSN: ***-**-1855")
    form.write(60, 160, "Card ************6582")

    fields = _read(form, TemplateKey("ssn", ("SSN",)), TemplateKey("card", ("Card",)))

    assert fields == {"ssn": "***-**-1855", "card": "************6582"}


def test_value_at_the_bottom_of_a_tall_box_is_found() -> None:
    """In a closed box with one caption the value may be far below it."""
    form = DrawnForm()
    form.box(60, 100, 500, 360)
    form.write(66, 104, "Address", 14)
    form.write(80, 330, "14 Mill Lane", 20)

    assert _read(form, TemplateKey("address", ("Address",))) == {"address": "14 Mill Lane"}


def test_sum_below_a_statement_is_next_to_its_label() -> None:
    """A number next to its caption is its value, even below a column of other values."""
    form = DrawnForm()
    for x, text in ((300, "Rate"), (500, "Hours"), (700, "Current"), (900, "YTD")):
        form.write(x, 100, text)
    for x, text in ((60, "Regular"), (300, "17.50"), (500, "80.00"), (700, "1,400.00")):
        form.write(x, 140, text)
    form.write(60, 260, "Net Pay")
    form.write(300, 260, "1,120.00")

    assert _read(form, TemplateKey("net", ("Net Pay",), ("CURRENCY",))) == {"net": "1,120.00"}


def test_label_without_a_type_has_the_amount_of_the_period() -> None:
    """The period's column of a statement is used for untyped keys, too."""
    form = DrawnForm()
    for x, text in ((300, "Hours"), (500, "Current"), (700, "YTD")):
        form.write(x, 100, text)
    for x, text in ((60, "Overtime"), (300, "8.00"), (500, "210.00"), (700, "2,940.00")):
        form.write(x, 140, text)

    assert _read(form, TemplateKey("overtime", ("Overtime",))) == {"overtime": "210.00"}


def test_empty_cell_behind_a_line_number_has_no_value() -> None:
    """A numbered line with an empty cell does not take the amount of the next column."""
    form = DrawnForm()
    keys = []
    for place, caption in enumerate(("Wages", "Interest", "Dividends", "Pensions"), start=1):
        y = 100 + 60 * place
        form.write(60, y, f"{place} {caption}")
        form.write(500, y, str(place))
        form.box(540, y - 10, 700, y + 36)
        if place != 2:
            form.write(580, y, f"{place}00.00")
        form.write(800, y, f"9{place}5.00")
        keys.append(TemplateKey(caption, (caption,), ("CURRENCY",)))

    values = _read(form, *keys)

    assert values["Interest"] == ""
    assert values["Wages"] == "100.00"


def test_text_in_another_font_size_does_not_continue_a_value() -> None:
    """In a text layer, text of another size below a value does not continue it."""
    form = DrawnForm()
    form.write(60, 100, "Occupation", 14)
    form.write(60, 122, "Cook and", 20)
    form.write(60, 150, "Remarks", 14)
    page = form.read()
    exact = replace(page, lines=tuple(replace(line, probability=1.0) for line in page.lines))

    (field,) = find_fields(exact, FormTemplate((TemplateKey("job", ("Occupation",)),)))

    assert field.value_text == "Cook and"
