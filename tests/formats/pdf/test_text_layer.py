"""When a PDF's own text is trusted."""

from __future__ import annotations

import pytest

from chalicelib.formats.pdf.glyphs import Glyph, Letters
from chalicelib.formats.pdf.text_layer import is_sane
from tests.formats.opened import first_page, texts
from tests.pdfs import Sheet, Writer, add_sheets, flat_image, image_sheet, pdf, words

TEXT = "A line of text that is long enough"


def letters(text, hidden=0, known=True):
    """Make characters."""
    one = Glyph("", (0, 0), (0, 0, 1, 1), 0, 10, 0, False, known)
    return Letters([one._replace(text=letter) for letter in text], hidden)


def test_twenty_characters_are_enough():
    """A page number alone is not a text layer."""
    assert is_sane(letters("a" * 20))
    assert not is_sane(letters("a" * 19))
    assert first_page(pdf([Sheet(words("Page 3", 72, 700))])).layer is None


@pytest.mark.parametrize("bad", ["\x01", "\ue000", "\x7f"])
def test_unprintable_characters(bad):
    """A font without a table of its letters gives codes, not characters."""
    assert is_sane(letters("a" * 95 + bad * 5))
    assert not is_sane(letters("a" * 94 + bad * 6))
    assert not is_sane(letters("a" * 50, known=False))


def test_replacement_characters():
    """One character that is said to be unknown spoils the layer."""
    assert not is_sane(letters("a" * 500 + "\ufffd"))


def with_image(width, height, text, times=1):
    """Write an A4 page with an image of a size in points and a text."""
    writer = Writer()
    image = flat_image(writer, 10, 10)
    content = text + b"q %f 0 0 %f 0 0 cm /I Do Q\n" % (width, height) * (times - 1)
    return writer.finish(add_sheets(writer, [image_sheet(image, width, height, content)]))


def test_images_make_a_scan():
    """A page that is mostly image is read from its pixels, a page with a figure is not."""
    assert texts(first_page(with_image(595, 400, words(TEXT, 72, 700)))) == [TEXT]
    assert first_page(with_image(595, 440, words(TEXT, 72, 700))).layer is None
    assert first_page(with_image(-5000, 440, words(TEXT, 72, 700))).layer is not None


def test_overlapping_images_count_once():
    """An image that is drawn thrice covers no more than once."""
    assert texts(first_page(with_image(595, 300, words(TEXT, 72, 700), times=3))) == [TEXT]


@pytest.mark.parametrize("inner", [(595, 842), (1, 1), (50, 50)])
def test_images_inside_forms_count(inner):
    """A scan that is wrapped in a form is a scan, whichever of the two enlarges it."""
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
    """What another program has read under a scan is not taken for the page's text."""
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
    """The content of a form's fields is displayed, so it is read and rendered."""
    data = field(b"/F 4", appearance)
    page = first_page(data, needs_pixels=True)
    assert texts(page) == [TEXT, "John Smith"]
    box = page.layer[1].box
    assert page.pixels[int(box.min_y) : int(box.max_y), int(box.min_x) : int(box.max_x)].min() < 100


def test_hidden_fields_are_not_read():
    """A field that is not displayed says nothing."""
    assert texts(first_page(field(b"/F 2", appearance=True))) == [TEXT]
