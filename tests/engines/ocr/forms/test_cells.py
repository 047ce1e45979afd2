"""Layouts in which cells, line codes, remarks or a second language decide the value."""

from __future__ import annotations

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm

STAFF = {"Depot": "Lund", "Grade": "Senior", "Team": "7 B", "Hired": "2019-04-03"}


def _draw_boxes_with_values(form: DrawnForm) -> None:
    """Draw a row of boxes that contain both a caption and its value."""
    for place, (caption, value) in enumerate(STAFF.items()):
        form.box(60 + 270 * place, 60, 330 + 270 * place, 130)
        form.write(70 + 270 * place, 64, caption, 14)
        form.write(70 + 270 * place, 96, value)
        form.expect(caption.lower(), value, caption)


def _check(form: DrawnForm) -> None:
    """Compare the values that are found with the expected ones."""
    found = {each.entity: each.value_text for each in find_fields(form.read(), form.template)}

    assert found == form.values


def test_value_is_in_the_cell_next_to_its_caption() -> None:
    """The value of a caption cell is in the cell to the right, even if there is room below."""
    form = DrawnForm()
    for place, (caption, value) in enumerate(STAFF.items()):
        top = 100 + 90 * place
        form.box(60, top, 500, top + 90)
        form.box(500, top, 1000, top + 90)
        form.write(70, top + 10, caption, 16)
        form.write(512, top + 10, value)
        form.expect(caption.lower(), value, caption)

    _check(form)


def test_blank_grid_has_no_values() -> None:
    """In a blank form, captions missing from the template are not values."""
    form = DrawnForm()
    for place, caption in enumerate((*STAFF, "Shift", "Locker", "Badge", "Route")):
        x, y = 60 + 360 * (place % 3), 100 + 80 * (place // 3)
        form.box(x, y, x + 360, y + 80)
        form.write(x + 6, y + 4, caption, 16)
        if place % 3 != 1:
            form.expect(caption.lower(), "", caption)

    _check(form)


def test_words_are_values_below_low_header_cells() -> None:
    """Captions above a row of taller cells are a header, also if no value has a digit."""
    form = DrawnForm()
    for place, (caption, value) in enumerate(
        (("Depot", "Lund"), ("Grade", "Senior"), ("Team", "Blue"))
    ):
        x = 60 + 360 * place
        form.box(x, 100, x + 360, 132)
        form.box(x, 132, x + 360, 200)
        form.write(x + 8, 106, caption, 16)
        form.write(x + 8, 150, value)
        form.expect(caption.lower(), value, caption)

    _check(form)


def test_all_lines_of_a_cell_are_its_value() -> None:
    """All lines in a closed box with one caption are its value, whatever their lengths."""
    form = DrawnForm()
    form.box(60, 100, 560, 240)
    form.write(66, 104, "Delivery", 14)
    for place, line in enumerate(("North gate", "Ask for Ms Weiss", "Ring twice")):
        form.write(80, 132 + 28 * place, line)
    form.expect("delivery", "North gate Ask for Ms Weiss Ring twice", "Delivery")

    _check(form)


def test_remark_in_brackets_is_part_of_the_caption() -> None:
    """A remark after or below a caption is neither its value nor hides it."""
    form = DrawnForm()
    for place, (caption, value) in enumerate(STAFF.items()):
        top = 100 + 80 * place
        end = form.write(60, top, caption).max_x
        if place % 2:
            form.write(end + 8, top, "(if any)", 18)
        else:
            form.write(60, top + 28, "(as agreed)", 16)
        form.write(560, top, value)
        form.expect(caption.lower(), value, caption)

    _check(form)


def test_leaders_end_captions() -> None:
    """A line with dot leaders is another caption, even if the template lacks it."""
    form = DrawnForm()
    form.write(60, 100, "Grade ................")
    form.write(60, 132, "Locker ...............")
    form.write(400, 132, "B 14")
    form.expect("grade", "", "Grade")

    _check(form)


def test_codes_between_captions_and_amounts_are_not_values() -> None:
    """Line codes in a column before the amounts are not values."""
    form = DrawnForm()
    for place, caption in enumerate(("Rents", "Royalties", "Premiums", "Refunds", "Grants")):
        top = 100 + 50 * place
        value = "" if place == 2 else f"{310 + place}.40"
        form.write(60, top, caption)
        form.write(600, top, str(20 + 3 * place))
        if value:
            form.write(700, top, value)
        form.expect(caption.lower(), value, caption)

    _check(form)


def test_numbers_of_captions_in_a_second_column_are_not_codes() -> None:
    """A number before a second column's caption is not a line code; the first value stays."""
    form = DrawnForm()
    others = ("Shift", "Locker", "Badge", "Route")
    for place, ((caption, value), other) in enumerate(zip(STAFF.items(), others, strict=True)):
        top = 100 + 60 * place
        form.write(60, top, caption)
        form.write(240, top, value)
        form.write(560, top, str(place + 5))
        form.write(600, top, other)
        form.write(760, top, f"{place}7 C")
        form.expect(caption.lower(), value, caption)
        form.expect(other.lower(), f"{place}7 C", other)

    _check(form)


def test_second_language_is_not_the_value() -> None:
    """A translation below a caption is not the value, which comes below it."""
    form = DrawnForm()
    translations = ("Lager", "Stufe", "Gruppe", "Eingestellt")
    values = ("L 40", "7", "", "2019-04-03")
    for place, (caption, second, value) in enumerate(zip(STAFF, translations, values, strict=True)):
        x, top = 60 + 500 * (place % 2), 100 + 160 * (place // 2)
        form.write(x, top, caption, 18)
        form.write(x, top + 24, second, 16)
        if value:
            form.write(x, top + 50, value, 24)
        form.expect(caption.lower(), value, caption)

    _check(form)


def test_next_amount_of_a_row_is_in_another_column() -> None:
    """The year-to-date amount next to an amount does not continue it."""
    form = DrawnForm()
    form.write(60, 100, "Overtime")
    form.write(700, 100, "1,240.50")
    form.write(860, 100, "9,310.00")
    form.expect("overtime", "1,240.50", "Overtime")

    _check(form)


def test_value_may_begin_below_the_number_of_its_caption() -> None:
    """A short value may be aligned with the number before the caption."""
    form = DrawnForm()
    form.keys.append(TemplateKey("sex", ("Sex",)))
    form.values["sex"] = "F"
    form.write(60, 100, "15 Sex", 16)
    form.write(60, 124, "F", 22)

    _check(form)


def test_a_tall_value_may_begin_above_the_middle_of_its_caption() -> None:
    """A tall handwritten value may start above the caption's middle."""
    form = DrawnForm()
    for place, (caption, value) in enumerate((("Apartment", "25"), ("Campaign", "No"))):
        left = 100 + 300 * place
        form.box(left, 100, left + 300, 170)
        form.write(left + 6, 104, caption, 14)
        form.write(left + 60, 100, value, 60)
        form.expect(caption.lower(), value, caption)

    _check(form)


def test_values_are_below_header_cells_without_rules_between_them() -> None:
    """A row of values needs no rules between its columns, if cells with captions are above it."""
    form = DrawnForm()
    _draw_boxes_with_values(form)
    form.box(60, 200, 1140, 270)
    for place, caption in enumerate(("Gross", "Pension", "Health", "Church")):
        form.box(60 + 270 * place, 200, 330 + 270 * place, 235)
        form.write(70 + 270 * place, 208, caption, 16)
        form.write(70 + 270 * place, 243, f"{place + 3},51{place}.25")
    form.expect("pension", "4,511.25", "Pension")
    form.expect("church", "6,513.25", "Church")

    _check(form)


def test_column_of_captions_is_next_to_values_on_a_page_of_boxes() -> None:
    """A column of caption cells has its values on its right, even if other boxes contain theirs."""
    form = DrawnForm()
    _draw_boxes_with_values(form)
    for place, (caption, value) in enumerate(
        (("Docket", "L-25/04418"), ("Ordered", "06.08.2025"), ("Client", "D 3307"))
    ):
        form.box(400, 200 + 50 * place, 700, 250 + 50 * place)
        form.box(700, 200 + 50 * place, 1000, 250 + 50 * place)
        form.write(410, 214 + 50 * place, caption)
        form.write(712, 214 + 50 * place, value)
        form.expect(caption.lower(), value, caption)

    _check(form)
