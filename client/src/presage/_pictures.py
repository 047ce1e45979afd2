"""Converts images that the service does not accept to JPEG or PDF before they are sent.

The conversion needs the extra `pictures`. Without it, images are sent unchanged, and the error of
the service names the accepted formats.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from typing import Any

from presage._pixels import flatten, read_pages
from presage._sources import CONVERTIBLE, PICTURES, Source
from presage.errors import FileError

# The service's limits: bytes of an image to predict, of a document and of an example, and pixels.
MAX_BYTES = 5_000_000
MAX_DOCUMENT_BYTES = 10_000_000
MAX_EXAMPLE_BYTES = 1_000_000
MAX_PIXELS = 50_000_000
# Longest sides in pixels, tried in this order until an image is within its limit.
SIDES = (3000, 2000, 1400, 1000)
# The service returns boxes on a PDF page in pixels at this resolution. Pages are written so that
# one of these is one pixel of the image.
PDF_DPI = 200
# The service reads at most this many pages of a PDF.
MAX_PAGES = 8

# First bytes of each format, for images without a file name.
_SIGNATURES = {
    ".png": rb"\x89PNG",
    ".jpg": rb"\xff\xd8\xff",
    ".heic": rb".{4}ftyp(hei|hev|mif1|msf1)",
    ".webp": rb"RIFF.{4}WEBP",
    ".tif": rb"II\*\0|MM\0\*",
    ".gif": rb"GIF8",
    ".bmp": rb"BM",
}


def convert(source: Source, most_bytes: int = MAX_BYTES, takes_pdf: bool = False) -> Source:
    """Return an image in a format that the service accepts: unchanged, as JPEG or as PDF.

    Args:
        source: the image.
        most_bytes: maximum size of the result in bytes.
        takes_pdf: whether an image of several pages may become a PDF, which only `ocr` accepts.

    Raises:
        FileError: the image has more pages than can be sent.
    """
    ending = _ending(source)
    is_fine = ending not in CONVERTIBLE and source.size <= most_bytes
    if is_fine or (ending not in CONVERTIBLE and ending not in PICTURES):
        return source
    pillow = _pillow()
    if pillow is None:
        return source
    return _converted(pillow, source, most_bytes, takes_pdf)


def _ending(source: Source) -> str:
    """Return the extension of the image's name; if it has none, the extension of its format."""
    if "." in source.name:
        return "." + source.name.rpartition(".")[2].lower()
    source.stream.seek(0)
    head = source.stream.read(12)
    return next(
        (ending for ending, sign in _SIGNATURES.items() if re.match(sign, head, re.DOTALL)), ""
    )


def can_convert() -> bool:
    """Return whether the extra `pictures` is installed."""
    return _pillow() is not None


def _pillow() -> Any:
    """Return Pillow's Image module; None if missing. Register HEIC if pi_heif is installed."""
    try:
        image = importlib.import_module("PIL.Image")
    except ImportError:
        return None
    with contextlib.suppress(ImportError):  # the service then refuses HEIC only
        importlib.import_module("pi_heif").register_heif_opener()
    return image


def _converted(pillow: Any, source: Source, most_bytes: int, takes_pdf: bool) -> Source:
    source.stream.seek(0)
    try:
        with pillow.open(source.stream) as opened:
            pages = read_pages(opened)
            if len(pages) == 1:
                upright = flatten(opened)
            elif takes_pdf and len(pages) <= MAX_PAGES:
                return _as_pdf(source, [flatten(opened, page) for page in pages], most_bytes)
    except (OSError, ValueError, pillow.DecompressionBombError):  # the service reports the fault
        return source
    if len(pages) > 1:
        source.close()
        raise _too_many_pages(source.name, len(pages), takes_pdf)
    return _as_jpeg(source, upright, most_bytes)


def _too_many_pages(name: str, pages: int, takes_pdf: bool) -> FileError:
    if takes_pdf:
        return FileError(
            f"{name} has {pages} pages, and at most {MAX_PAGES} are read. Split the file."
        )
    return FileError(
        f"{name} has {pages} pages, and one image is needed. Save each page as a file. To read "
        "text, use `ocr`: it takes all pages."
    )


def _as_jpeg(source: Source, upright: Any, most_bytes: int) -> Source:
    width = upright.width
    if source.size > most_bytes or upright.width * upright.height > MAX_PIXELS:
        upright.thumbnail((SIDES[0], SIDES[0]))
    stream = _jpeg(upright)
    # If the image is still too large, it is scaled to the next smaller side.
    for side in SIDES[1:]:
        if stream.tell() <= most_bytes:
            break
        upright.thumbnail((side, side))
        stream = _jpeg(upright)
    return _replaced(source, stream, ".jpg", width / upright.width)


def _as_pdf(source: Source, pages: list[Any], most_bytes: int) -> Source:
    """Return the pages as a PDF, at the highest resolution with at most `most_bytes` bytes."""
    longest = max(max(page.size) for page in pages)
    stream = _pdf(pages, PDF_DPI)
    for side in SIDES:
        if stream.tell() <= most_bytes:
            break
        share = min(1.0, side / longest)
        stream = _pdf([_resized(page, share) for page in pages], PDF_DPI * share)
    return _replaced(source, stream, ".pdf")


def _resized(page: Any, share: float) -> Any:
    return page.resize([max(1, round(side * share)) for side in page.size])


def _replaced(source: Source, stream: io.BytesIO, ending: str, scale: float = 1.0) -> Source:
    source.close()
    name = f"{source.name.rpartition('.')[0] or source.name}{ending}"
    return Source(stream, name, stream.tell(), scale)


def scale_boxes(answer: Any, scale: float) -> Any:
    """Return a response in which the boxes are scaled to the pixels of the original image."""
    if isinstance(answer, list):
        return [scale_boxes(item, scale) for item in answer]
    if not isinstance(answer, dict):
        return answer
    return {
        name: _scale_box(item, scale) if name == "boundingBox" else scale_boxes(item, scale)
        for name, item in answer.items()
    }


def _scale_box(box: dict[str, int], scale: float) -> dict[str, int]:
    if set(box.values()) == {1}:  # the API's value for an item that is not on the page
        return box
    return {name: round(place * scale) for name, place in box.items()}


def _jpeg(picture: Any) -> io.BytesIO:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=92)
    return stream


def _pdf(pages: list[Any], dpi: float) -> io.BytesIO:
    stream = io.BytesIO()
    pages[0].save(stream, "PDF", save_all=True, append_images=pages[1:], resolution=dpi, quality=92)
    return stream
