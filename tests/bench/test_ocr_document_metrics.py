"""Tests of bench/ocr_document_metrics.py."""

from __future__ import annotations

import pytest

from bench.ocr_document_metrics import (
    EMPTY_W2,
    DocumentSample,
    ScoredField,
    calibration_error,
    normal,
    score,
    sure_shares,
    value_f1,
)
from chalicelib.formats.templates.form_template import standard_template


@pytest.mark.parametrize(
    ("entity", "is_amount", "one", "other"),
    [
        ("city", False, "New  York", "newyork"),
        ("height", False, "5'-08\"", "5’-08”"),
        ("wages", True, "- $ 320.00*", "320.00"),
        ("ssn", False, "123 45 6789", "123-45-6789"),
        ("line_35d_account_number", False, "69-6918", "696918"),
    ],
)
def test_what_does_not_matter_is_left_out(
    entity: str, is_amount: bool, one: str, other: str
) -> None:
    """White space, case, quote styles, currency signs and box separators are ignored."""
    assert normal(one, entity, is_amount) == normal(other, entity, is_amount)


def test_other_marks_count() -> None:
    """A sign in a text that is not an amount is compared."""
    assert normal("5-08", "height", False) != normal("508", "height", False)
    assert normal("$5", "city", False) != normal("5", "city", False)


def test_an_invented_value_is_wrong_and_an_empty_answer_is_none() -> None:
    """Right, wrong, missed and invented fields count; rightly empty ones do not."""
    values = {
        "wages": "1.00",
        "medicare_wages": "2.00",
        "employee_name": "Al",
        "other": "",
        "box_12a": "",
    }
    sample = DocumentSample("w2", b"", standard_template("w2"), values)
    answers = {"wages": ("$1.00", 0.9), "medicare_wages": ("3", 0.9), "other": ("x", 0.2)}

    fields = score(sample, answers)

    assert [field.is_right for field in fields] == [True, False, False, False, True]
    assert value_f1(fields) == pytest.approx(2 * 1 / (3 + 3))


def test_one_of_several_accepted_values_is_right() -> None:
    """A truth may name several values, and an empty one means that no answer is right too."""
    values = {"wages": "1 50|1.50", "employee_name": "Al|", "other": "x|"}
    sample = DocumentSample("w2", b"", standard_template("w2"), values)

    fields = score(sample, {"wages": ("1.50", 0.9), "other": ("y", 0.9)})

    assert [field.is_right for field in fields] == [True, True, False]
    assert [bool(field.wanted) for field in fields] == [True, False, True]


def test_boxes_without_a_value_are_those_of_the_right_columns() -> None:
    """Boxes 7 to 20 are scored as empty, boxes 1 to 6 are not."""
    assert EMPTY_W2.fullmatch("state_income_tax")
    assert EMPTY_W2.fullmatch("box_12b")
    assert not EMPTY_W2.fullmatch("social_security_wages")
    assert not EMPTY_W2.fullmatch("medicare_tax")


def _field(probability: float, is_right: bool, read: str = "x") -> ScoredField:
    """Return a field with an answer."""
    return ScoredField("e", "x", read, probability, is_right)


def test_sure_values_and_calibration_leave_empty_answers_out() -> None:
    """Shares are of answers with a value; bins are weighted by what is in them."""
    fields = [_field(0.95, True), _field(0.99, False), _field(0.55, True), _field(1.0, True, "")]

    assert sure_shares(fields) == (1 / 2, 1 / 2)
    assert calibration_error(fields) == pytest.approx((0.94 + 0.45) / 3)
