"""PDF form fields, read through opened documents."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.form_widgets import MAX_FORM_WIDGETS, placed_widgets
from chalicelib.formats.documents import open_document
from tests.pdfs import FormField, form_pdf

FIELDS = (
    FormField(b"/FT /Tx /T (name) /V (Ana O'Neil)", (100, 700, 300, 720)),
    FormField(b"/FT /Tx /T (empty)", (100, 670, 300, 690)),
    FormField(b"/FT /Tx /Ff 4096 /T (notes) /V (First\\rSecond)", (100, 600, 300, 660)),
    FormField(b"/FT /Btn /T (member) /V /Yes /AS /Yes", (100, 570, 112, 582), ticks=("Yes",)),
    FormField(b"/FT /Btn /T (guest) /V /Off /AS /Off", (100, 550, 112, 562), ticks=("Yes",)),
    FormField(
        b"/FT /Ch /Ff 131072 /T (country) /Opt [(Chad) (Peru)] /V (Peru)", (100, 520, 200, 540)
    ),
    FormField(
        b"/FT /Ch /Ff 2097152 /T (days) /Opt [(Mon) (Tue) (Wed)] /V [(Mon) (Wed)] /I [0 2]",
        (100, 470, 200, 510),
    ),
    FormField(b"/FT /Sig /T (signature)", (100, 430, 200, 460)),
    FormField(b"/FT /Btn /Ff 65536 /T (send)", (100, 400, 200, 420)),
    FormField(b"/FT /Tx /T (outside) /V (far)", (-500, -500, -400, -480)),
)


def read(content: bytes, most: int = MAX_FORM_WIDGETS + 1):
    """Return the form fields of a PDF's first page as in an answer."""
    with open_document(content, 1) as document:
        return list(placed_widgets([document.page(1, False, most)]))


def test_each_kind_has_its_name_value_and_ticks():
    """Texts, tick boxes, lists and signatures are returned; push buttons have no value."""
    found = [(one.widget.name, one.widget.kind, one.widget.value, one.widget.checked)
             for one in read(form_pdf(FIELDS))]  # fmt: skip

    assert found == [
        ("name", "text", "Ana O'Neil", None),
        ("empty", "text", "", None),
        ("notes", "text", "First\nSecond", None),
        ("member", "checkbox", "Yes", True),
        ("guest", "checkbox", "", False),
        ("country", "choice", "Peru", None),
        ("days", "choice", "Mon\nWed", None),
        ("signature", "signature", "", None),
        ("outside", "text", "far", None),
    ]


def test_radio_buttons_are_one_widget_each():
    """Buttons of a group share a name; one of them is ticked."""
    group = FormField(
        b"/FT /Btn /Ff 49152 /T (size) /V /L", (100, 700, 112, 712), ticks=("S", "M", "L")
    )

    found = [(one.widget.name, one.widget.kind, one.widget.value, one.widget.checked)
             for one in read(form_pdf([group]))]  # fmt: skip

    assert found == [
        ("size", "radio", "", False),
        ("size", "radio", "", False),
        ("size", "radio", "L", True),
    ]


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_boxes_are_pixels_of_the_page_as_displayed(turns):
    """A field's box is in pixels of the page as displayed."""
    placed = read(form_pdf(FIELDS[:1], rotate=90 * turns))[0]

    scale = 200 / 72
    left, bottom, right, top = 100, 700, 300, 720
    width, height = 595, 842
    sides = (
        (left, height - top, right, height - bottom),
        (bottom, left, top, right),
        (width - right, bottom, width - left, top),
        (height - top, width - right, height - bottom, width - left),
    )[turns]
    box = placed.box
    shown = (box.min_x, box.min_y, box.max_x, box.max_y)
    assert all(abs(a - scale * b) <= 1.5 for a, b in zip(shown, sides, strict=True))


def test_field_outside_the_page_has_no_box():
    """The contract's box of what is on no page is 1, 1, 1, 1."""
    placed = read(form_pdf(FIELDS))[-1]

    assert (placed.box.min_x, placed.box.min_y, placed.box.max_x, placed.box.max_y) == (1, 1, 1, 1)


def test_fields_are_read_only_on_request():
    """Form fields are read only if they are requested."""
    assert read(form_pdf(FIELDS), most=0) == []


def test_huge_form_is_cut_at_the_limit():
    """A hostile form with a million fields is cut at the limit."""
    many = [FormField(b"/FT /Tx /T (f%d)" % number, (10, 10, 20, 20)) for number in range(50)]

    assert len(read(form_pdf(many), most=20)) == 20


def test_scripts_of_a_form_are_not_run():
    """A script that would change a value on opening is not run."""
    script = b'/OpenAction << /S /JavaScript /JS (this.getField\\("name"\\).value = "hacked") >>'

    found = read(form_pdf(FIELDS[:1], root=script))

    assert [one.widget.value for one in found] == ["Ana O'Neil"]
