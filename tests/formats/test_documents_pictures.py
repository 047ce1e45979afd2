"""Images as documents: reduced in strips without seams."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from chalicelib.formats import documents as picture_document
from chalicelib.formats.documents import open_document
from chalicelib.formats.pdf.geometry import MAX_RASTER_PIXELS
from chalicelib.formats.pictures.reading import read_picture
from tests.formats.drawn import encoded


def gradient(width, height):
    """Draw a picture that changes from pixel to pixel."""
    across, down = np.arange(width), np.arange(height)[:, None]
    channels = [(across + down) % 256, (3 * across - down) % 256, (across // 7 + down // 5) % 256]
    return np.stack(np.broadcast_arrays(*channels), 2).astype(np.uint8)


@pytest.mark.parametrize("size", [(1300, 1100), (3000, 400), (300, 5000), (811, 813)])
def test_reduced_as_in_one_piece(size, monkeypatch):
    """Reducing in strips gives the pixels of reducing the whole image."""
    monkeypatch.setattr(picture_document, "MAX_RASTER_PIXELS", 600_000)
    data = encoded(Image.fromarray(gradient(*size)), "PNG")
    with open_document(data, 1) as document:
        page = document.page(1, True)
    assert page.width * page.height <= 600_000
    stored = Image.fromarray(read_picture(data, len(data)).pixels)
    whole = stored.resize((page.width, page.height), Image.Resampling.HAMMING)
    assert np.abs(page.pixels.astype(int) - np.asarray(whole)).max() <= 2
    assert page.scale == pytest.approx(size[0] / page.width)


def test_twelve_megapixels_stay_as_they_are():
    """An image of 12 megapixels is not reduced."""
    data = encoded(Image.new("L", (4000, 3000), 120), "JPEG")
    with open_document(data, 1) as document:
        page = document.page(1, True)
    assert page.scale == 1
    assert np.array_equal(page.pixels, read_picture(data, len(data)).pixels)


def test_huge_jpeg_is_reduced_by_its_decoder():
    """A JPEG of 49 megapixels is reduced in decoding, with an exact scale."""
    image = Image.new("L", (7000, 7000), 120)
    with open_document(encoded(image, "JPEG"), 1) as document:
        page = document.page(1, True)
    assert page.width * page.height <= MAX_RASTER_PIXELS
    assert page.width * page.scale == pytest.approx(7000)


def test_closed_documents_have_no_page():
    """A closed document has released its pixels."""
    document = open_document(encoded(Image.new("L", (30, 30)), "PNG"), 1)
    document.close()
    with pytest.raises(IndexError):
        document.page(1, True)
