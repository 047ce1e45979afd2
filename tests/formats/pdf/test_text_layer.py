"""When a PDF's text layer is trusted."""

from __future__ import annotations

import pytest

from chalicelib.formats.pdf.glyphs import Glyph, Letters
from chalicelib.formats.pdf.text_layer import MAX_PATHS, is_readable
from tests.formats.opened import first_page, texts
from tests.pdfs import Sheet, Writer, add_sheets, flat_image, image_sheet, pdf, words

TEXT = "A line of text that is long enough"


def letters(text, hidden=0, known=True):
    """Make characters."""
    one = Glyph("", (0, 0), (0, 0, 1, 1), 0, 10, 0, False, known)
    return Letters([one._replace(text=letter) for letter in text], hidden)


def test_few_characters_are_enough_for_a_page_of_text():
    """A short page is read from its layer, except below outlined text or a large image."""
    number, outlines = words("Page 3", 72, 50), b"100 100 m 140 180 160 90 200 160 c f\n"

    assert texts(first_page(pdf([Sheet(number)]))) == ["Page 3"]
    assert first_page(pdf([Sheet(number + MAX_PATHS * outlines)])) is not None
    assert first_page(pdf([Sheet(number + (MAX_PATHS + 1) * outlines)])).layer is None
    assert first_page(with_image(100, 100, number)).layer is None
    assert first_page(pdf([Sheet()])).layer is None


@pytest.mark.parametrize("bad", ["\x01", "\ue000", "\x7f"])
def test_unprintable_characters(bad):
    """Unprintable codes from a font without a character map are not trusted."""
    assert is_readable(letters("a" * 95 + bad * 5))
    assert not is_readable(letters("a" * 94 + bad * 6))
    assert not is_readable(letters("a" * 50, known=False))


def test_replacement_characters():
    """Replacement characters are dropped; many of them make the layer untrusted."""
    unknown = Glyph("\ufffd", (0, 0), (0, 0, 1, 1), 0, 10, 0, False, False)
    most = letters("a" * 95).glyphs

    assert is_readable(Letters([*most, *[unknown] * 5], 0))
    assert not is_readable(Letters([*most, *[unknown] * 6], 0))


AMOUNT = words("The price is 97050 euros today", 72, 600)
WHITE = b"1 g 60 590 300 25 re f 0 g\n"


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (AMOUNT + WHITE + words("The price is 750 euros", 72, 600), ["The price is 750 euros"]),
        (WHITE + AMOUNT, ["The price is 97050 euros today"]),
        (AMOUNT + b"q 60 100 50 25 re W n " + WHITE + b"Q ", ["The price is 97050 euros today"]),
        (AMOUNT + b"q 0 0 595 842 re W n " + WHITE + b"Q ", []),
        (AMOUNT + b"0 0 m 300 700 l 600 100 l f ", ["The price is 97050 euros today"]),
    ],
    ids=["covered", "background", "clipped away", "clipped by the page", "not a rectangle"],
)
def test_covered_text_is_not_returned(content, shown):
    """Text under an opaque box is not returned."""
    page = first_page(pdf([Sheet(words("An offer for the fence", 72, 700) + content)]))

    assert texts(page) == ["An offer for the fence", *shown]


@pytest.mark.parametrize(
    ("ground", "is_seen"),
    [
        (b"", False),
        (b"1 g 60 590 400 40 re f ", False),
        (b"0.2 0.4 0.6 rg 60 590 400 40 re f ", True),
        (b"0.2 0.4 0.6 RG 40 w 60 610 m 460 610 l S ", True),
    ],
)
def test_white_text_is_returned_if_its_ground_is_coloured(ground, is_seen):
    """White text on a white page or area is not returned; on a coloured area or line it is."""
    white = ground + b"1 g " + words("Account 17 is closed", 72, 605) + b"0 g "
    page = first_page(pdf([Sheet(white + words("An offer for the fence", 72, 700))]))

    assert texts(page) == ["An offer for the fence", "Account 17 is closed"][: 1 + is_seen]
    assert ("hiddenText" in page.notes) is not is_seen


def test_page_of_hidden_text_has_a_note():
    """A page whose text is all white on white is drawn, and a note says what was left out."""
    page = first_page(pdf([Sheet(b"1 g " + words("Account 17 is closed", 72, 605))]))

    assert page.layer is None
    assert page.pixels is not None
    assert page.notes == ("hiddenText",)


def test_images_are_handed_on_unless_text_lies_on_them():
    """An image in a text page is read by OCR unless text lies on it."""
    pasted = first_page(with_image(300, 200, words(TEXT, 72, 700)))
    behind = first_page(with_image(300, 200, words(TEXT, 72, 100)))

    assert [round(side) for side in vars_of(pasted.pictures[0])] == [0, 1783, 833, 2339]
    assert pasted.pixels is not None
    assert behind.pictures == ()
    assert behind.pixels is None


def vars_of(rect):
    """Return the sides of a rectangle."""
    return rect.min_x, rect.min_y, rect.max_x, rect.max_y


def with_image(width, height, text, times=1):
    """Write an A4 page with an image of a size in points and a text."""
    writer = Writer()
    image = flat_image(writer, 10, 10)
    content = text + b"q %f 0 0 %f 0 0 cm /I Do Q\n" % (width, height) * (times - 1)
    return writer.finish(add_sheets(writer, [image_sheet(image, width, height, content)]))


def test_images_make_a_scan():
    """A page that is mostly image is read from its pixels; one with a figure is not."""
    assert texts(first_page(with_image(595, 400, words(TEXT, 72, 700)))) == [TEXT]
    assert first_page(with_image(595, 440, words(TEXT, 72, 700))).layer is None
    assert first_page(with_image(-5000, 440, words(TEXT, 72, 700))).layer is not None


def test_overlapping_images_count_once():
    """Overlapping images are counted once for the covered area."""
    assert texts(first_page(with_image(595, 300, words(TEXT, 72, 700), times=3))) == [TEXT]


@pytest.mark.parametrize("inner", [(595, 842), (1, 1), (50, 50)])
def test_images_inside_forms_count(inner):
    """An image inside a form counts at its displayed size."""
    width, height = inner
    writer = Writer()
    image = flat_image(writer, 10, 10)
    form = writer.add(
        b"/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Matrix [%d 0 0 %d 0 0] "
        b"/Resources << /XObject << /I %d 0 R >> >>" % (width, height, image),
        b"/I Do",
    )
    sheet = image_sheet(form, 595 / width, 842 / height, words(TEXT, 72, 700))
    assert first_page(writer.finish(add_sheets(writer, [sheet]))).layer is None


def test_hidden_text_is_not_trusted():
    """Invisible text under a scan is not trusted."""
    hidden = b"3 Tr " + words(TEXT, 72, 700)
    assert first_page(pdf([Sheet(hidden)])).layer is None
    stamped = b"".join(words(TEXT, 72, 600 - 20 * number) for number in range(3))
    assert first_page(pdf([Sheet(stamped + hidden)])).layer is None
    # A little of it among drawn text is left out.
    mixed = b"".join(words(TEXT, 72, 700 - 20 * n) for n in range(10)) + b"3 Tr "
    page = first_page(pdf([Sheet(mixed + words("hidden", 72, 100))]))
    assert texts(page) == [TEXT] * 10


def field(entries, appearance):
    """Write a page with one filled text field."""
    writer = Writer()
    if appearance:
        font = b"<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
        body = b"/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font %s >>" % font
        entries += b" /AP << /N %d 0 R >>" % writer.add(body, words("John Smith", 2, 5))
    widget = writer.add(
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (John Smith) "
        b"/DA (/Helv 12 Tf 0 g) /Rect [100 600 300 620] %s >>" % entries
    )
    sheet = Sheet(words(TEXT, 100, 640), extra=b"/Annots [%d 0 R]" % widget)
    root = b"/AcroForm << /NeedAppearances true /DA (/Helv 12 Tf 0 g) /Fields [%d 0 R] /DR << >> >>"
    return writer.finish(add_sheets(writer, [sheet], root % widget))


@pytest.mark.parametrize("appearance", [True, False])
def test_filled_fields_are_read(appearance):
    """Displayed form fields are read and drawn."""
    data = field(b"/F 4", appearance)
    page = first_page(data, needs_pixels=True)
    assert texts(page) == [TEXT, "John Smith"]
    box = page.layer[1].box
    assert page.pixels[int(box.min_y) : int(box.max_y), int(box.min_x) : int(box.max_x)].min() < 100


def test_hidden_fields_are_not_read():
    """Hidden form fields are not read."""
    assert texts(first_page(field(b"/F 2", appearance=True))) == [TEXT]
