"""Rows and columns of statements: see chalicelib/engines/ocr/forms/values/statements.py."""

from __future__ import annotations

from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.formats.templates.form_template import standard_template
from tests.engines.ocr.forms.drawn import DrawnForm

_COLUMNS = (("Hours", 260), ("Rate", 400), ("Current", 540), ("YTD", 700))
_ROWS = (
    ("Regular", "80.00", "31.25", "2,500.00", "32,500.00"),
    ("Overtime", "4.50", "46.88", "210.96", "1,054.80"),
    ("Bonus", "", "", "", "400.00"),
    ("Gross Pay", "", "", "2,710.96", "33,954.80"),
)


def _read() -> dict[str, str]:
    """Draw a statement that lists hours first; return the values of the shipped template."""
    form = DrawnForm()
    for text, x in _COLUMNS:
        form.write(x, 100, text)
    for place, (label, *numbers) in enumerate(_ROWS):
        y = 140 + 40 * place
        form.write(60, y, label)
        for number, (_, x) in zip(numbers, _COLUMNS, strict=True):
            if number:
                form.write(x, y, number)
    fields = find_fields(form.read(), standard_template("paystub"))
    return {each.entity: each.value_text for each in fields}


def test_own_amount_of_a_row_stands_in_the_column_of_the_period() -> None:
    """A row's amount is taken from the period's column, not from hours or rate."""
    found = _read()

    assert found["regular_pay"] == "2,500.00"
    assert found["overtime_pay"] == "210.96"
    assert found["gross_pay"] == "2,710.96"


def test_row_without_an_amount_of_the_period_has_no_value() -> None:
    """A row with only a year-to-date amount has no value for the period."""
    assert _read()["bonus"] == ""


def test_row_and_column_name_a_number_together() -> None:
    """A row and a column name combine: `Overtime Hours` and `YTD Gross Pay`."""
    found = _read()

    assert found["overtime_hours"] == "4.50"
    assert found["ytd_gross"] == "33,954.80"
    assert found["hours"] == "80.00"
    assert found["pay_rate"] == "31.25"


def test_columns_have_headers_of_two_lines_and_hardly_any_space() -> None:
    """A header may be in two lines, and amounts of neighbouring columns may touch."""
    form = DrawnForm()
    for text, x, y in (("this", 500, 80), ("period", 480, 110), ("year to", 620, 80)):
        form.write(x, y, text)
    form.write(650, 110, "date")
    form.write(60, 150, "Gross Pay")
    form.write(400, 150, "80.00")
    form.write(480, 150, "$2,198.8833,565.00")
    fields = find_fields(form.read(), standard_template("paystub"))
    found = {each.entity: each.value_text for each in fields}

    assert (found["gross_pay"], found["ytd_gross"]) == ("$2,198.88", "33,565.00")


def test_word_of_a_longer_row_label_yields_to_the_row_that_is_meant() -> None:
    """`FICA` in a longer row label yields to the row that has it alone."""
    form = DrawnForm()
    for text, x in (("CURRENT", 400), ("YTD", 560)):
        form.write(x, 100, text)
    for place, (label, *numbers) in enumerate(
        (("FICA MED TAX", "26.10", "261.00"), ("FICA SS TAX", "111.60", "1,116.00"))
    ):
        form.write(60, 140 + 40 * place, label)
        for number, x in zip(numbers, (400, 560), strict=True):
            form.write(x, 140 + 40 * place, number)

    fields = find_fields(form.read(), standard_template("paystub"))
    found = {each.entity: each.value_text for each in fields}

    assert found["social_security_tax"] == "111.60"
    assert found["medicare_tax"] == "26.10"


def test_total_of_a_table_and_a_lone_sum_below_it_are_values_of_the_period() -> None:
    """A row `Total` belongs to the title of its table; a lone amount far below is not of the year.

    The year's column is right of the period's, and the net pay is written under it.
    """
    form = DrawnForm()
    rows = (
        ("Earnings", "Current", "YTD"), ("Regular", "480.00", "1,921.20"),
        ("Total", "501.90", "2,252.10"), ("Taxes", "Current", "YTD"), ("MED", "7.20", "32.23"),
        ("Total", "84.95", "373.74"), ("Net Pay", "", "411.27"),
    )  # fmt: skip
    y = 100
    for label, *texts in rows:
        y += 90 if label in ("Taxes", "Net Pay") else 34
        form.write(60, y, label)
        for text, x in zip(texts, (400, 560), strict=True):
            if text:
                form.write(x, y, text)

    fields = find_fields(form.read(), standard_template("paystub"))
    found = {each.entity: each.value_text for each in fields}

    assert found["gross_pay"] == "501.90"
    assert found["total_taxes"] == "84.95"
    assert found["net_pay"] == "411.27"
    assert not found.get("ytd_net")


def test_short_row_label_is_no_caption_of_a_tax() -> None:
    """Medical premiums and dues are no taxes, although their labels begin like those of taxes."""
    form = DrawnForm()
    form.write(540, 100, "Current")
    for place, text in enumerate(("MED 125", "SOC CLUB", "FICA")):
        form.write(60, 140 + 40 * place, text)
        form.write(540, 140 + 40 * place, f"5{place}.00")
    fields = find_fields(form.read(), standard_template("paystub"))
    found = {each.entity: each.value_text for each in fields}

    assert found.get("social_security_tax") == "52.00"
    assert "medicare_tax" not in found
