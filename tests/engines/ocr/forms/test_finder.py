"""Tests of chalicelib/engines/ocr/forms/finder.py."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import cache

import pytest

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.formats.templates.form_template import standard_template
from tests.engines.ocr.forms.drawn import DrawnForm
from tests.engines.ocr.forms.layouts import LAYOUTS
from tests.engines.ocr.forms.official import DRAWN


@cache
def _drawn(layout: Callable[[int], DrawnForm], seed: int) -> DrawnForm:
    """Return a filled form; drawn once for all tests that only read it."""
    return layout(seed)


def _values(form: DrawnForm, page: ReadPage) -> dict[str, str]:
    """Return what is found, by entity."""
    return {field.entity: field.value_text for field in find_fields(page, form.template)}


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_values_are_found_in_every_layout(layout: Callable[[int], DrawnForm]) -> None:
    """All fields are exact in every layout, level or tilted."""
    for seed, degrees in enumerate((2.5, -2.0, 2.5, -2.0)):
        form = _drawn(layout, seed)

        assert form.values == _values(form, form.read())
        assert form.values == _values(form, form.read(degrees=degrees))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_values_are_found_without_pixels(layout: Callable[[int], DrawnForm]) -> None:
    """With only a text layer at most one value in ten is lost."""
    wanted = right = 0
    for seed in range(4):
        form = _drawn(layout, seed)
        found = _values(form, form.read(has_pixels=False))
        wanted += len(form.values)
        right += sum(found.get(entity) == value for entity, value in form.values.items())

    assert right >= 0.9 * wanted


@pytest.mark.parametrize("form_type", sorted(DRAWN))
def test_standard_forms_are_read(form_type: str) -> None:
    """Each shipped template finds the values of a drawn form of its kind."""
    form, values = DRAWN[form_type]()

    fields = find_fields(form.read(), standard_template(form_type))

    found = {field.entity: field.value_text for field in fields}
    assert values == {entity: found.get(entity) for entity in values}


def test_boxes_hold_key_and_value() -> None:
    """Boxes are those of the words, also within one line."""
    form = DrawnForm()
    line = form.write(100, 100, "Full Name: Ana Torres")
    form.expect("name", "Ana Torres", "Full Name", "Name of Applicant", types=("NAME",))

    (found,) = find_fields(form.read(), form.template)

    assert found.key_text == "Full Name"
    assert found.key_box is not None
    assert found.value_box is not None
    assert line.min_x <= found.key_box.min_x < found.key_box.max_x <= found.value_box.min_x
    assert abs(found.value_box.max_x - line.max_x) < 3
    assert abs(found.key_box.width - form.width("Full Name")) < 12
    assert 0.75 < found.probability <= 1.0


def test_empty_value_has_no_box() -> None:
    """A key without text is returned with an empty value; a missing key is omitted."""
    form = DrawnForm()
    form.write(100, 100, "Full Name:")
    form.expect("name", "", "Full Name")
    form.expect("other", "", "Account Number")

    (found,) = find_fields(form.read(), form.template)

    assert (found.entity, found.value_text, found.value_box) == ("name", "", None)
    assert 0.0 < found.probability < 1.0


def test_empty_value_is_as_sure_as_its_place() -> None:
    """An empty value is less probable if unclaimed text is near."""
    form = DrawnForm()
    form.write(100, 100, "Account Number")
    form.write(100, 400, "Full Name:")
    form.write(100, 700, "Date of Birth")
    form.write(500, 700, "see the other side of this page")
    form.expect("account", "", "Account Number")
    form.expect("name", "", "Full Name")
    form.expect("born", "", "Date of Birth", types=("DATE",))

    found = {field.entity: field for field in find_fields(form.read(), form.template)}

    assert not any(field.value_text for field in found.values())
    assert found["born"].probability < found["account"].probability
    assert found["born"].probability < found["name"].probability


def test_order_of_the_template_does_not_matter() -> None:
    """A longer key keeps its place even if a shorter key inside it comes first in the template."""
    form = DrawnForm()
    form.write(100, 100, "E-mail Address: ana@example.org")
    form.write(100, 150, "Address: 12 Elm Street")
    for keys in (("Address", "E-mail Address"), ("E-mail Address", "Address")):
        template = FormTemplate(tuple(TemplateKey(text, (text,)) for text in keys))

        found = {field.entity: field.value_text for field in find_fields(form.read(), template)}

        assert found == {"Address": "12 Elm Street", "E-mail Address": "ana@example.org"}


def test_equal_keys_get_their_places_in_order() -> None:
    """Two keys with the same text get the first and second place on the page."""
    form = DrawnForm()
    form.write(100, 100, "Date: 1 May 2020")
    form.write(100, 150, "Date: 2 June 2021")
    form.expect("first", "1 May 2020", "Date")
    form.expect("second", "2 June 2021", "Date")

    assert form.values == _values(form, form.read())


@pytest.mark.parametrize(
    ("kind", "line", "value"),
    [
        ("DATE", "Paid on 03/04/2021 in cash", "03/04/2021"),
        ("CURRENCY", "Paid $1,200.50 cash", "$1,200.50"),
        ("EMAIL", "Paid by ana@example.org (private)", "ana@example.org"),
        ("TEXT", "Paid on 03/04/2021 in cash", "on 03/04/2021 in cash"),
        ("COLOUR", "Paid on 03/04/2021 in cash", "on 03/04/2021 in cash"),
    ],
)
def test_type_cuts_the_value(kind: str, line: str, value: str) -> None:
    """A typed value is cut to the text of its type; an untyped one is kept whole."""
    form = DrawnForm()
    form.write(100, 100, line)
    form.expect("paid", value, "Paid", types=(kind,))

    assert form.values == _values(form, form.read())


def test_type_steers_which_text_is_taken() -> None:
    """Of two candidate texts the one of the key's type is used."""
    form = DrawnForm()
    form.write(100, 100, "Issued")
    form.write(300, 100, "Salem office")
    form.write(100, 130, "03/04/2021")
    form.expect("issued", "03/04/2021", "Issued", types=("DATE",))

    assert form.values == _values(form, form.read())


def test_short_keys_are_whole_words() -> None:
    """A key of two letters matches only a whole word outside running text."""
    form = DrawnForm()
    form.write(100, 100, "Notice to all tenants of no fixed address")
    form.write(100, 150, "To: Ana Torres")
    form.expect("to", "Ana Torres", "To")
    form.expect("no", "", "No")

    assert _values(form, form.read()) == {"to": "Ana Torres"}


def test_numbers_in_keys_are_exact() -> None:
    """A key with a number does not match one with another number."""
    form = DrawnForm()
    form.write(100, 100, "Schedule 12 total: 400")
    form.expect("other", "", "Schedule 13 total")

    assert not find_fields(form.read(), form.template)


def test_unknown_labels_are_no_values() -> None:
    """A caption missing from the template is never a value, with or without colon."""
    form = DrawnForm()
    form.write(100, 100, "Full Name:")
    form.write(500, 100, "Occupation:")
    form.write(100, 150, "Policy No.")
    form.write(500, 150, "Date of Birth")
    form.expect("name", "", "Full Name")
    form.expect("policy", "", "Policy No.")

    assert form.values == _values(form, form.read())


def test_caption_that_goes_on_is_no_value() -> None:
    """The rest of a long caption is not the value of a key in it."""
    form = DrawnForm()
    form.write(66, 44, "City, town or post office, state, and ZIP code. See instructions.", 14)
    form.write(66, 90, "Duluth, MN 55811")
    form.expect("city", "Duluth, MN 55811", "City, town or post office")
    form.expect("state", "", "State")

    assert form.values == _values(form, form.read())


def test_number_before_the_next_key_is_no_part_of_a_value() -> None:
    """A field number before the next key, as in "15 SEX M 16 HGT 5-08", is not in the value."""
    form = DrawnForm()
    form.write(60, 40, "15 SEX M 16 HGT 5-08")
    form.expect("sex", "M", "15 SEX", "SEX")
    form.expect("height", "5-08", "HGT")

    found = {each.entity: each.value_text for each in find_fields(form.read(), form.template)}

    assert found == {"sex": "M", "height": "5-08"}


def test_addresses_are_normalised() -> None:
    """A value that is a U.S. address is also returned in parts."""
    form = DrawnForm()
    form.write(100, 100, "Mailing Address: 12 Elm Street, Phoenix, AZ 85001")
    form.write(100, 150, "Occupation: Bus driver")
    form.expect("address", "", "Mailing Address")
    form.expect("job", "", "Occupation")

    address, job = find_fields(form.read(), form.template)

    assert address.normalized is not None
    assert json.loads(address.normalized)["ZipCode"] == "85001"
    assert job.normalized is None


@pytest.mark.parametrize(
    ("line", "below", "value"),
    [
        ("Paid: 42.50", "and more", "42.50"),
        ("Paid: 03/04/2021", "in cash", "03/04/2021"),
        ("Paid: (602) 555-0134", "or write", "(602) 555-0134"),
        ("Paid: Dana Reyes", "Sales person", "Dana Reyes"),
        ("Paid: 12 Elm Street", "Phoenix, AZ 85001", "12 Elm Street Phoenix, AZ 85001"),
        ("Paid: bread, butter,", "milk", "bread, butter, milk"),
        ("Paid: all goods that are sent to the", "main office", None),
    ],
)
@pytest.mark.parametrize("has_pixels", [True, False])
def test_value_ends_with_its_line(
    line: str, below: str, value: str | None, has_pixels: bool
) -> None:
    """A value continues on the line below only if its text is incomplete."""
    for left in (100, 100 + DrawnForm().width("Paid: ")):
        form = DrawnForm()
        form.write(100, 100, line)
        form.write(left, 126, below)
        form.expect("paid", value or f"{line[6:]} {below}", "Paid")

        assert form.values == _values(form, form.read(has_pixels=has_pixels))


def test_check_ends_the_search() -> None:
    """The search for keys and virtual keys ends when the check raises."""
    form = DrawnForm()
    form.write(100, 100, "Paid: call (602) 555-0134")
    form.expect("paid", "", "Paid")
    form.expect("call", "", "phone")
    calls = []
    find_fields(form.read(), form.template, lambda: calls.append(1))

    def check() -> None:
        calls.pop()

    assert len(calls) > 4
    calls.pop()
    with pytest.raises(IndexError):
        find_fields(form.read(), form.template, check)


def test_pile_of_lines_takes_seconds_at_most() -> None:
    """750 lines in one place, or in one row, are searched in linear time."""
    for step in (0, 9):
        lines = tuple(
            TextLine("Total 12.50", 0.9, Rect(n * step, 20, n * step + 90, 34)) for n in range(750)
        )
        template = FormTemplate((TemplateKey("a", ("Total",)), TemplateKey("b", ("address",))))
        started = time.process_time()
        find_fields(ReadPage(Page(1, 9000, 100, 1.0), 0, None, lines), template)

        assert time.process_time() - started < 1


def test_virtual_keys_find_kinds_of_text() -> None:
    """Virtual keys take different texts of one kind, and are omitted if there is none."""
    form = DrawnForm()
    form.write(100, 100, "Call (602) 555-0134 or write to ana@example.org")
    form.write(100, 150, "Evenings: (602) 555-0177")
    for entity, kind in (("a", "phone"), ("b", "phone"), ("c", "email"), ("d", "website")):
        form.expect(entity, "", kind)

    found = {field.entity: field for field in find_fields(form.read(), form.template)}

    assert {found["a"].value_text, found["b"].value_text} == {"(602) 555-0134", "(602) 555-0177"}
    assert found["c"].value_text == "ana@example.org"
    assert "d" not in found
    assert (found["a"].key_text, found["a"].key_box) == ("", None)


def test_capitalised_kind_is_a_printed_key_first() -> None:
    """A key "Phone" is searched as a printed key first, then as a virtual key."""
    form = DrawnForm()
    form.write(100, 100, "Phone: extension 77")
    form.expect("phone", "extension 77", "Phone")
    plain = DrawnForm()
    plain.write(100, 100, "Call us at (602) 555-0134")

    assert form.values == _values(form, form.read())
    (found,) = find_fields(plain.read(), form.template)
    assert (found.key_text, found.value_text) == ("", "(602) 555-0134")


def test_blank_page_and_odd_keys() -> None:
    """A blank page, and keys without a letter, give no values and no error."""
    template = FormTemplate((TemplateKey("a", ("***",)), TemplateKey("b", ("Date",))))
    form = DrawnForm()
    form.write(100, 100, "*** ---")

    assert find_fields(DrawnForm().read(), template) == ()
    assert find_fields(form.read(), template) == ()


def test_largest_template_takes_seconds_at_most() -> None:
    """500 keys with 50 variations against 400 lines are searched in seconds."""
    lines = tuple(
        TextLine("alpha beta gamma", 0.9, Rect(x * 300, y * 20, x * 300 + 250, y * 20 + 18))
        for x in range(4)
        for y in range(100)
    )
    page = ReadPage(Page(1, 1240, 2000, 1.0), 0, None, lines)
    alike = tuple(
        TemplateKey(
            str(key),
            (*(f"alpha betb gamm{'abcde'[at % 5]}{'x' * (at // 5)}" for at in range(49)), str(key)),
        )
        for key in range(500)
    )
    started = time.process_time()

    fields = find_fields(page, FormTemplate(alike))

    assert time.process_time() - started < 8.0
    assert len(fields) <= 400
