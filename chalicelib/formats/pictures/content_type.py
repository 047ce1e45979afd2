"""Recognises the type of a file by its first bytes, never by its name or by HTTP headers."""

from __future__ import annotations

# Enough bytes to recognise every supported type.
HEAD_BYTES = 512

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_CONTENT_TYPES = {"png": "image/png", "jpeg": "image/jpeg"}

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (_PNG, "a PNG image"),
    (_JPEG, "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"II+\0", "a TIFF image"),
    (b"MM\0+", "a TIFF image"),
    (b"%PDF-", "a PDF document"),
    (b"\0\0\1\0", "an icon (ICO)"),
    (b"\0\0\2\0", "a cursor (CUR)"),
    (b"8BPS", "a Photoshop document"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "a JPEG 2000 image"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 image"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "a JPEG XL image"),
    (b"\xff\x0a", "a JPEG XL image"),
    (b"PK\3\4", "a zip archive"),
    (b"PK\5\6", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x8aMNG\r\n\x1a\n", "an MNG animation"),
    (b"\x1aE\xdf\xa3", "a video"),
)
_BRANDS: tuple[tuple[bytes, str], ...] = (
    (b"avif", "an AVIF image"),
    (b"avis", "an AVIF image"),
    (b"heic", "a HEIC image"),
    (b"heix", "a HEIC image"),
    (b"hevc", "a HEIC image"),
    (b"heim", "a HEIC image"),
    (b"heis", "a HEIC image"),
    (b"mif1", "a HEIC image"),
    (b"msf1", "a HEIC image"),
)
_TEXT_CONTROLS = frozenset(range(32)) - {9, 10, 12, 13}


def sniff(head: bytes) -> str | None:
    """Return "png" or "jpeg" by the first bytes of a file; None for any other file."""
    if head.startswith(_PNG):
        return "png"
    if head.startswith(_JPEG):
        return "jpeg"
    return None


def content_type(head: bytes) -> str:
    """Return the media type of an image, such as `image/png`, given its first bytes.

    Raises:
        ValueError: the bytes are not PNG or JPEG. Callers must check that first.
    """
    kind = sniff(head)
    if kind is None:
        raise ValueError(f"not an image: the file is {explain_foreign(head)}")
    return _CONTENT_TYPES[kind]


def explain_foreign(head: bytes) -> str:
    """Describe a file by its first bytes, in a phrase such as "a GIF image" or "empty"."""
    if not head:
        return "empty"
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            return name
    return _explain_container(head) or _explain_text(head[:HEAD_BYTES]) or "of an unknown type"


def _explain_container(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "a WebP image"
    if head[4:8] == b"ftyp":
        brand = head[8:12].lower()
        return next((name for known, name in _BRANDS if brand == known), "a video")
    # Two letters alone would take a text that begins with them for a bitmap.
    if head[:2] == b"BM" and len(head) >= 18 and head[6:10] == bytes(4) and head[15:18] == bytes(3):
        return "a BMP image"
    return None


def _explain_text(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "a text file"
    if _TEXT_CONTROLS.intersection(head):
        return None
    lower = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if lower.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<script")):
        return "an HTML page"
    if b"<svg" in lower and lower.startswith(b"<"):
        return "an SVG image"
    if lower.startswith(b"<?xml"):
        return "an XML document"
    try:
        # The head may end inside a character; that does not make the file binary.
        head.decode("utf-8", "strict" if len(head) < HEAD_BYTES else "ignore")
    except UnicodeDecodeError:
        return None
    return "a text file"
