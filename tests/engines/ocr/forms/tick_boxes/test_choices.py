"""Lists of tick boxes and boxes of keys: chalicelib/engines/ocr/forms/tick_boxes/choices.py."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chalicelib.domain.documents.findings import FormField
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm

SIDE, SPACE = 20, 28


def _box(form: DrawnForm, x: float, y: float, *, is_ticked: bool) -> None:
    form.box(x, y, x + SIDE, y + SIDE)
    if is_ticked:
        form.rule(x + 4, y + 4, x + SIDE - 4, y + SIDE - 4)
        form.rule(x + 4, y + SIDE - 4, x + SIDE - 4, y + 4)


def _row(
    form: DrawnForm, x: float, y: float, options: Sequence[str], ticked: Sequence[str]
) -> None:
    for option in options:
        _box(form, x, y, is_ticked=option in ticked)
        form.write(x + SPACE, y, option)
        x += SPACE + form.width(option) + 40


def _column(
    form: DrawnForm, x: float, y: float, options: Sequence[str], ticked: Sequence[str]
) -> None:
    for at, option in enumerate(options):
        _row(form, x, y + 36 * at, [option], ticked)


def _fields(form: DrawnForm) -> dict[str, FormField]:
    return {each.entity: each for each in find_fields(form.read(), form.template)}


def _values(form: DrawnForm) -> dict[str, str]:
    return {entity: field.value_text for entity, field in _fields(form).items()}


@pytest.mark.parametrize("ticked", ["Single", "Divorced", "Widowed"])
def test_ticked_option_of_a_row(ticked: str) -> None:
    """The ticked option is the value, at any place in a row with or without a caption before."""
    form = DrawnForm()
    options = ["Single", "Married", "Divorced", "Widowed"]
    form.write(100, 100, "Status:")
    _row(form, 250, 100, options, [ticked])
    form.write(100, 200, "Marital status of the partner")
    _row(form, 100, 240, options, [ticked])
    form.expect("own", ticked, "Status")
    form.expect("partner", ticked, "Marital status of the partner")

    assert _values(form) == form.values
    assert all(each.tick and each.tick.is_ticked for each in _fields(form).values())


def test_ticked_options_of_a_column() -> None:
    """Several ticked options of a column are joined by commas, and take no text of other keys."""
    form = DrawnForm()
    form.write(100, 100, "Coverage requested")
    _column(form, 100, 140, ["Medical", "Dental", "Vision", "Life"], ["Dental", "Life"])
    form.write(100, 300, "Comments")
    form.write(300, 300, "none so far")
    form.expect("coverage", "Dental, Life", "Coverage requested")
    form.expect("comments", "none so far", "Comments")

    assert _values(form) == form.values


def test_list_without_tick_has_no_value() -> None:
    """A list in which nothing is ticked gives an empty value that is not certain."""
    form = DrawnForm()
    form.write(100, 100, "Level:")
    _row(form, 250, 100, ["Bronze", "Silver", "Gold"], [])
    form.expect("level", "", "Level")

    (field,) = _fields(form).values()

    assert field.value_text == ""
    assert field.tick is not None
    assert not field.tick.is_ticked
    assert field.probability < 0.9


def test_captions_separate_lists() -> None:
    """Boxes below each other belong to different lists if each row has a caption."""
    form = DrawnForm()
    for at, (caption, answer) in enumerate(
        (("Veteran?", "No"), ("Citizen?", "Yes"), ("Adult?", "No"))
    ):
        form.write(100, 100 + 36 * at, caption)
        _row(form, 300, 100 + 36 * at, ["Yes", "No"], [answer])
        form.expect(caption, answer, caption)

    assert _values(form) == form.values


def test_options_before_their_boxes() -> None:
    """If the texts of a row are left of the boxes, they are the options."""
    form = DrawnForm()
    form.write(100, 100, "Do you smoke?")
    for x, option in ((300, "Yes"), (420, "No")):
        form.write(x, 100, option)
        _box(form, x + 50, 100, is_ticked=option == "No")
    form.expect("smoker", "No", "Do you smoke?")

    assert _values(form) == form.values


def test_option_of_two_lines() -> None:
    """The second line of an option belongs to it, ticked or not."""
    form = DrawnForm()
    form.write(100, 100, "Tax classification")
    _row(form, 100, 140, ["Company with limited liability and"], [])
    form.write(100 + SPACE, 164, "only one owner")
    _row(
        form, 100, 200, ["Partnership of several persons or"], ["Partnership of several persons or"]
    )
    form.write(100 + SPACE, 224, "companies")
    form.expect("class", "Partnership of several persons or companies", "Tax classification")

    assert _values(form) == form.values


@pytest.mark.parametrize("place", [(76, 100), (420, 100), (150, 136)])
def test_box_of_a_key(place: tuple[int, int]) -> None:
    """A box left of a key, far to its right or below it has its state, and no text is the value."""
    form = DrawnForm()
    form.write(100, 100, "Retirement plan")
    _box(form, *place, is_ticked=True)
    form.write(100, 400, "Sick pay")
    _box(form, place[0], place[1] + 300, is_ticked=False)
    form.expect("plan", "", "Retirement plan")
    form.expect("sick", "", "Sick pay")

    fields = _fields(form)

    assert _values(form) == form.values
    assert {entity: each.tick and each.tick.is_ticked for entity, each in fields.items()} == {
        "plan": True,
        "sick": False,
    }


def test_box_next_to_a_line_number_leaves_the_amount() -> None:
    """A box between a caption and its amount does not replace the amount."""
    form = DrawnForm()
    form.write(100, 100, "Capital gain. If not required, check here")
    _box(form, 520, 100, is_ticked=True)
    form.write(600, 100, "1,250.00")
    form.expect("gain", "1,250.00", "Capital gain", types=("CURRENCY",))

    assert _values(form) == form.values


def test_lists_side_by_side_have_their_own_captions() -> None:
    """Columns of options with a caption above each are separate lists."""
    form = DrawnForm()
    for x, caption, answer in ((100, "Age", "30-44"), (500, "Interests", "Music")):
        options = ["18-29", "30-44", "45-64"] if x == 100 else ["Walking", "Music", "Travel"]
        form.write(x, 100, caption)
        _column(form, x, 136, options, [answer])
        form.expect(caption, answer, caption)

    assert _values(form) == form.values


def test_rule_between_rows_separates_lists() -> None:
    """Rows of a ruled table are separate lists, although their boxes are below each other."""
    form = DrawnForm()
    for at, answers in enumerate((["Advice", "Opinion"], ["Morning"])):
        y = 100 + 40 * at
        form.write(110, y + 8, f"Question {at + 1}:")
        options = ["Advice", "Report", "Opinion"] if at == 0 else ["Morning", "Evening"]
        _row(form, 420, y + 8, options, answers)
        form.expect(f"q{at}", ", ".join(answers), f"Question {at + 1}")
    for at in range(3):
        form.rule(100, 100 + 40 * at, 900, 100 + 40 * at)
    for x in (100, 400, 900):
        form.rule(x, 100, x, 180)

    assert _values(form) == form.values


def test_heads_of_columns_are_options() -> None:
    """In a table of boxes, the value of a row is the head of the column with the ticked box."""
    form = DrawnForm()
    heads = ("Disagree", "Neutral", "Agree")
    for x, head in zip((500, 700, 900), heads, strict=True):
        form.write(x, 100, head)
    for y, caption, answer in ((150, "Prices are fair", "Agree"), (190, "Staff helps", "Neutral")):
        form.write(100, y, caption)
        for x, head in zip((530, 725, 915), heads, strict=True):
            _box(form, x, y, is_ticked=head == answer)
        form.expect(caption, answer, caption)

    assert _values(form) == form.values


def test_numbers_are_options_of_a_scale() -> None:
    """Numbers next to at least four boxes of a row are options."""
    form = DrawnForm()
    form.write(100, 100, "Clean")
    _row(form, 400, 100, ["1", "2", "3", "4", "5"], ["4"])
    form.expect("clean", "4", "Clean")

    assert _values(form) == form.values


def test_text_in_brackets_after_a_key_is_no_value() -> None:
    """A remark between caption and options says how to tick."""
    form = DrawnForm()
    form.write(100, 100, "Status: (check one)")
    _row(form, 350, 100, ["Single", "Married"], ["Married"])
    form.expect("status", "Married", "Status")

    assert _values(form) == form.values


def test_filled_boxes_are_ticked_if_others_are_empty() -> None:
    """A filled square is a ticked box next to empty ones of its size, and a bullet otherwise."""
    form = DrawnForm()
    form.write(100, 100, "Card:")
    for x, option in ((250, "Yes"), (400, "No")):
        _box(form, x, 100, is_ticked=False)
        form.write(x + SPACE, 100, option)
    for y in range(100, 100 + SIDE, 2):
        form.rule(400, y, 400 + SIDE, y)
    form.expect("card", "No", "Card")

    assert _values(form) == form.values
