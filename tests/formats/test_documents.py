"""Opening documents for OCR: what is accepted, and what is refused and why."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from chalicelib.domain.common.limits import MAX_OCR_BYTES
from chalicelib.errors import TooLarge, UnsupportedType
from chalicelib.formats.documents import open_document
from chalicelib.formats.pdf.geometry import MAX_RASTER_PIXELS
from tests.formats.drawn import encoded, turned
from tests.formats.opened import LINES, first_page, refusal, texts
from tests.pdfs import (
    Lock,
    Sheet,
    Writer,
    add_sheets,
    image_pdf,
    pdf,
    text_pdf,
    text_sheet,
)

A4_PIXELS = (1653, 2339)


def drawn_text(width=800, height=300):
    """Draw a picture of a text."""
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).text((40, 100), "A scan", "black", ImageFont.load_default(size=60))
    return image


class TestKinds:
    def test_text_of_a_born_digital_pdf_is_exact(self):
        """The text of a digital PDF is read word for word without drawing the page."""
        page = first_page(text_pdf(LINES))
        assert texts(page) == LINES
        assert page.pixels is None
        assert (page.width, page.height, page.scale) == (*A4_PIXELS, 1.0)
        assert {line.probability for line in page.layer} == {1.0}

    def test_pixels_come_with_the_text_when_they_are_needed(self):
        """If pixels are requested with the text, both have the same coordinates."""
        page = first_page(text_pdf(LINES), needs_pixels=True)
        assert texts(page) == LINES
        assert page.pixels.shape == (2339, 1653, 3)
        ink = np.argwhere(page.pixels.min(2) < 128)
        boxes = [line.box for line in page.layer]
        assert abs(ink[:, 1].min() - min(box.min_x for box in boxes)) < 3
        assert abs(ink[:, 1].max() - max(box.max_x for box in boxes)) < 3
        assert ink[:, 0].min() > min(box.min_y for box in boxes) - 3
        assert ink[:, 0].max() < max(box.max_y for box in boxes) + 3

    @pytest.mark.parametrize("junk", [b"\r\n", b"x" * 500, b"HTTP/1.1 200 OK\r\n\r\n"])
    def test_bytes_before_the_signature_are_skipped(self, junk):
        """Lines before a PDF's signature, as added by mail and web servers, are skipped."""
        assert texts(first_page(junk + text_pdf(LINES))) == LINES

    def test_a_signature_beyond_the_first_kilobyte_is_none(self):
        """A PDF signature after the first kilobyte is not accepted."""
        error = refusal(b"\0" * 1024 + text_pdf(LINES))
        assert isinstance(error, UnsupportedType)

    def test_scan_is_drawn(self):
        """A page without text is drawn as RGB at 200 dpi."""
        page = first_page(image_pdf([drawn_text()], dpi=100))
        assert page.layer is None
        assert page.pixels.shape == (600, 1600, 3)
        assert page.pixels.dtype == np.uint8
        assert (page.pixels < 100).any()
        assert (page.pixels > 250).mean() > 0.8

    def test_colours_keep_their_order(self):
        """The raster is in RGB order."""
        page = first_page(image_pdf([Image.new("RGB", (300, 200), (250, 20, 60))]))
        assert np.abs(page.pixels.mean((0, 1)) - (250, 20, 60)).max() < 4

    def test_a_blank_page_is_white(self):
        """A blank page is drawn white."""
        page = first_page(pdf([Sheet()]))
        assert page.layer is None
        assert page.pixels.min() == 255

    @pytest.mark.parametrize("kind", ["PNG", "JPEG"])
    def test_picture_is_one_page(self, kind):
        """PNG and JPEG are documents of one page in their own pixels."""
        with open_document(encoded(drawn_text(), kind), 8) as document:
            page = document.page(1, False)
            assert (document.page_count, document.is_picture) == (1, True)
            assert (page.number, page.width, page.height, page.scale) == (1, 800, 300, 1.0)
            assert page.pixels.shape == (300, 800, 3)
            assert page.layer is None
            with pytest.raises(IndexError):
                document.page(2, False)

    def test_picture_is_turned_as_its_exif_says(self):
        """EXIF rotation is applied, and answers refer to the displayed image."""
        page = first_page(turned(drawn_text(), "JPEG", 6))
        assert (page.width, page.height) == (300, 800)

    def test_transparency_is_white(self):
        """Transparent parts are drawn white."""
        assert first_page(encoded(Image.new("RGBA", (90, 80)), "PNG")).pixels.min() == 255

    def test_large_picture_is_reduced_and_says_so(self):
        """A large image is reduced to 12 megapixels; boxes stay in pixels of the original."""
        page = first_page(encoded(Image.new("L", (4500, 3000), 200), "PNG"))
        assert page.width * page.height <= MAX_RASTER_PIXELS
        assert page.pixels.shape == (page.height, page.width, 3)
        assert page.width * page.scale == pytest.approx(4500, abs=1)
        assert page.height * page.scale == pytest.approx(3000, abs=2)


class TestRefusals:
    @pytest.mark.parametrize(
        ("data", "words_of_it"),
        [
            (b"<html><body>404</body></html>", "an HTML page"),
            (b"GIF89a" + bytes(20), "a GIF image"),
            (b"PK\3\4" + bytes(30), "a zip archive"),
            (b"plain text", "a text file"),
            (b"II*\0" + bytes(30), "a TIFF image"),
            (bytes(50), "of an unknown type"),
        ],
    )
    def test_other_kinds_are_named(self, data, words_of_it):
        """Other types are a 415 with the type found and those accepted."""
        error = refusal(data)
        assert (error.status, error.code) == (415, "unsupported_document_type")
        assert error.message == f"The file is {words_of_it}; PNG, JPEG and PDF are supported."

    def test_empty_file(self):
        """No bytes are a 400."""
        assert (refusal(b"").status, refusal(b"").code) == (400, "empty_document")

    def test_too_many_bytes(self):
        """More than 10 MB are refused before they are read."""
        error = refusal(b"%PDF-" + bytes(MAX_OCR_BYTES))
        assert isinstance(error, TooLarge)
        assert error.message == (
            "The document has 10485765 bytes; at most 10485760 (10 MB) are allowed. "
            "Send a smaller document."
        )

    def test_broken_picture_says_why(self):
        """A truncated PNG has a specific 400 error."""
        assert refusal(encoded(drawn_text(), "PNG")[:600]).code == "broken_image"

    def test_too_many_pages(self):
        """Too many pages are refused with limit, count and remedy before drawing."""
        error = refusal(pdf([Sheet()] * 9))
        assert (error.status, error.code) == (400, "too_many_pages")
        assert error.message == (
            "The PDF has 9 pages; at most 8 are allowed for this task. Split it and send the parts."
        )
        assert "1000 pages" in refusal(pdf([Sheet()] * 1000), max_pages=5).message
        assert first_page(pdf([text_sheet(LINES)] * 8)).layer is not None

    def test_no_pages(self):
        """A PDF without pages is a 400."""
        assert "it has no pages" in refusal(pdf([])).message

    def test_password(self):
        """A PDF that needs a password to open is a 400."""
        error = refusal(text_pdf(LINES, lock=Lock(user=b"secret")))
        assert (error.status, error.code) == (400, "document_password")

    def test_owner_password_alone_does_not_hinder(self):
        """An owner password, which only protects against changes, is ignored."""
        assert texts(first_page(text_pdf(LINES, lock=Lock()))) == LINES

    def test_truncated(self):
        """A truncated PDF is a 400."""
        whole = text_pdf(LINES)
        assert refusal(whole[: len(whole) // 2]).code == "broken_document"

    def test_broken_cross_references_are_repaired(self):
        """A wrong cross-reference table is rebuilt from the objects."""
        whole = text_pdf(LINES)
        assert texts(first_page(whole.replace(b"0000000", b"0000999"))) == LINES
        assert texts(first_page(whole.replace(b"startxref", b"startless"))) == LINES


def test_compressed_text_is_read():
    """Streams are usually packed: the text in them is the same."""
    sheet = text_sheet(LINES)
    writer = Writer()
    root = add_sheets(writer, [sheet])
    writer.put(
        2,
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream"
        % (len(zlib.compress(sheet.content)), zlib.compress(sheet.content)),
    )
    assert texts(first_page(writer.finish(root))) == LINES
