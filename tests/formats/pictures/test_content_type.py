"""The type of a file, detected from its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, features

from chalicelib.formats.pictures.content_type import content_type, explain_foreign, sniff
from tests.formats.drawn import encoded, scene

_SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.mark.parametrize(("kind", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_sniff_when_supported(kind: str, media: str) -> None:
    """PNG and JPEG are recognised by their first bytes and served with their media type."""
    head = encoded(scene(), kind)[:16]

    assert sniff(head) == kind.lower()
    assert content_type(head) == media


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("GIF", "a GIF image"),
        ("WEBP", "a WebP image"),
        ("AVIF", "an AVIF image"),
        ("BMP", "a BMP image"),
        ("TIFF", "a TIFF image"),
        ("ICO", "an icon (ICO)"),
        ("PDF", "a PDF document"),
        ("JPEG2000", "a JPEG 2000 image"),
    ],
)
def test_explain_when_another_image(kind: str, name: str) -> None:
    """Files of other programs are named by what they are."""
    if kind == "AVIF":
        assert features.check("avif")
    head = encoded(scene(), kind)[:512]

    assert sniff(head) is None
    assert explain_foreign(head) == name


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"", "empty"),
        (_SVG, "an SVG image"),
        (b"\xef\xbb\xbf  <svg width='1'>", "an SVG image"),
        (b"<!DOCTYPE html><html><body><svg>", "an HTML page"),
        (b"  <html lang='en'>", "an HTML page"),
        (b"<?xml version='1.0'?><feed/>", "an XML document"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "a HEIC image"),
        (b"\0\0\0\x18ftypisom", "a video"),
        (b"PK\3\4rest", "a zip archive"),
        (b"text,label\r\nhello,greeting\r\n", "a text file"),
        ("Grüße".encode(), "a text file"),
        ("é".encode() * 256 + b"x", "a text file"),
        (b"BMW is a car", "a text file"),
        (b"\xff\xfeh\0i\0", "a text file"),
        (b"\xe9\xe8\xe7 latin", "of an unknown type"),
        (b"\x00\x01\x02\x03", "of an unknown type"),
    ],
)
def test_explain_when_no_image(head: bytes, name: str) -> None:
    """Texts, pages and containers are named, the rest is of an unknown type."""
    assert sniff(head) is None
    assert explain_foreign(head) == name


def test_content_type_when_foreign() -> None:
    """Bytes of another type have no media type."""
    with pytest.raises(ValueError, match="a GIF image"):
        content_type(encoded(Image.new("P", (1, 1)), "GIF"))


@given(st.binary(max_size=600))
def test_explain_when_random(head: bytes) -> None:
    """Any bytes get a type name."""
    assert explain_foreign(head)
