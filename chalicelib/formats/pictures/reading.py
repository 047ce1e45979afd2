"""Reads uploaded PNG and JPEG images: checks their headers, and decodes them within limits.

Files can be hostile. So the number of bytes is checked before a file is opened, and the number of
pixels before decoding. No image takes more than 300 MB of memory. Detection boxes refer to the
image as displayed, so images are rotated by their EXIF orientation.

read_picture(data, 5 * 1024**2, least_side=320) -> Picture(pixels, width, height)
"""

from __future__ import annotations

from chalicelib.domain.documents.picture import Picture
from chalicelib.formats.pictures.jpeg_file import JpegFile, read_jpeg
from chalicelib.formats.pictures.orientation import displayed_size
from chalicelib.formats.pictures.png_file import PngFile, read_png
from chalicelib.formats.pictures.rules import (
    MAX_LARGE_PIXELS,
    MAX_PIXELS,
    PictureFacts,
    require_kind,
)


def picture_facts(data: bytes, max_bytes: int) -> PictureFacts:
    """Return the type and the displayed size of an image from its header; ignore its pixels.

    Raises:
        TooLarge: the file has more than `max_bytes` bytes.
        UnsupportedType: the content is not PNG or JPEG.
        BadRequest: the image is empty or damaged, has over 50,000,000 pixels, or is over 100 times
            as long as wide.
    """
    return _facts(_open(data, max_bytes))


def check_picture(data: bytes, max_bytes: int) -> PictureFacts:
    """Check that an image is complete, and return its type and displayed size.

    Raises:
        TooLarge: the file has more than `max_bytes` bytes.
        UnsupportedType: the content is not PNG or JPEG.
        BadRequest: the image is empty, damaged or truncated, has over 50,000,000 pixels, or is
            over 100 times as long as wide.
    """
    file = _open(data, max_bytes)
    if isinstance(file, PngFile):
        from chalicelib.formats.pictures.png_pixels import verify_png

        verify_png(file)
        return _facts(file)
    from chalicelib.formats.pictures.jpeg_pixels import verify_jpeg

    verify_jpeg(file)
    return _facts(file)


def read_picture(
    data: bytes, max_bytes: int, least_side: int | None = None, *, contrasts: bool = False
) -> Picture:
    """Decode an image to RGB as displayed, with transparent parts on white.

    Args:
        data: Content of the file.
        max_bytes: Maximum size of the file in bytes.
        least_side: Length in pixels to which the shorter side may be reduced, to save time and
            memory. None for full size. Even then, a JPEG of more than about 41,000,000 pixels is
            decoded at half its width and height.
        contrasts: Whether to put transparent parts on black if the visible content is light.

    Raises:
        TooLarge: the file has more than `max_bytes` bytes.
        UnsupportedType: the content is not PNG or JPEG.
        BadRequest: the image is empty, damaged or truncated, has over 50,000,000 pixels, or is
            over 100 times as long as wide.
    """
    file = _open(data, max_bytes)
    if contrasts and isinstance(file, PngFile) and file.is_transparent:
        from chalicelib.formats.pictures.png_pixels import contrasting_ground

        file.ground = contrasting_ground(file)
    return _decode(file, least_side)


def _decode(file: PngFile | JpegFile, least_side: int | None) -> Picture:
    if isinstance(file, PngFile):
        from chalicelib.formats.pictures.png_pixels import decode_png

        return Picture(decode_png(file, least_side), *_displayed_size(file))
    from chalicelib.formats.pictures.jpeg_pixels import decode_jpeg

    return Picture(decode_jpeg(file, least_side), *_displayed_size(file))


def measure_large_picture(data: bytes, max_bytes: int) -> PictureFacts:
    """Read type and displayed size like `picture_facts`, but allow 200,000,000 pixels."""
    return _facts(_open(data, max_bytes, MAX_LARGE_PIXELS))


def read_large_picture(data: bytes, max_bytes: int, least_side: int) -> Picture:
    """Decode an image like `read_picture`, but allow 200,000,000 pixels."""
    return _decode(_open(data, max_bytes, MAX_LARGE_PIXELS), least_side)


def _open(data: bytes, max_bytes: int, max_pixels: int = MAX_PIXELS) -> PngFile | JpegFile:
    read = read_png if require_kind(data, max_bytes) == "png" else read_jpeg
    return read(data, max_pixels)


def _facts(file: PngFile | JpegFile) -> PictureFacts:
    kind = "png" if isinstance(file, PngFile) else "jpeg"
    return PictureFacts(kind, *_displayed_size(file), file.orientation)


def _displayed_size(file: PngFile | JpegFile) -> tuple[int, int]:
    return displayed_size(file.width, file.height, file.orientation)
