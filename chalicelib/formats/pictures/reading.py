"""Pictures that callers send: PNG and JPEG, checked by their header and decoded in bounds.

Files are hostile until read: bytes are counted before anything is opened, pixels before anything is
decoded, and no picture takes more than 300 MB. Boxes of a detection refer to the picture as
displayed, so pictures are turned as EXIF asks.

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
    """Tell kind and displayed size of a picture by its header; its pixels may still be broken.

    Raises:
        TooLarge: more than `max_bytes` bytes.
        UnsupportedType: neither PNG nor JPEG, by its content.
        BadRequest: empty, broken, over 50,000,000 pixels or 100 times as long as wide.
    """
    file = _open(data, max_bytes)
    return PictureFacts("png" if isinstance(file, PngFile) else "jpeg", *_displayed_size(file))


def check_picture(data: bytes, max_bytes: int) -> PictureFacts:
    """Tell kind and displayed size of a picture that is known to be whole afterwards.

    Raises:
        TooLarge: more than `max_bytes` bytes.
        UnsupportedType: neither PNG nor JPEG, by its content.
        BadRequest: empty, broken, truncated, over 50,000,000 pixels or 100 times as long as wide.
    """
    file = _open(data, max_bytes)
    if isinstance(file, PngFile):
        from chalicelib.formats.pictures.png_pixels import verify_png

        verify_png(file)
        return PictureFacts("png", *_displayed_size(file))
    from chalicelib.formats.pictures.jpeg_pixels import verify_jpeg

    verify_jpeg(file)
    return PictureFacts("jpeg", *_displayed_size(file))


def read_picture(data: bytes, max_bytes: int, least_side: int | None = None) -> Picture:
    """Decode a picture to RGB as displayed, transparent parts on white.

    Args:
        data: The file.
        max_bytes: Most bytes it may have.
        least_side: Pixels that the shorter side needs at least, unless the picture has fewer:
            with it the result may be reduced, which saves time and memory. None asks for all
            pixels; a JPEG of more than about 41,000,000 is halved all the same.

    Raises:
        TooLarge: more than `max_bytes` bytes.
        UnsupportedType: neither PNG nor JPEG, by its content.
        BadRequest: empty, broken, truncated, over 50,000,000 pixels or 100 times as long as wide.
    """
    return _decode(_open(data, max_bytes), least_side)


def _decode(file: PngFile | JpegFile, least_side: int | None) -> Picture:
    if isinstance(file, PngFile):
        from chalicelib.formats.pictures.png_pixels import decode_png

        return Picture(decode_png(file, least_side), *_displayed_size(file))
    from chalicelib.formats.pictures.jpeg_pixels import decode_jpeg

    return Picture(decode_jpeg(file, least_side), *_displayed_size(file))


def measure_large_picture(data: bytes, max_bytes: int) -> PictureFacts:
    """Tell kind and displayed size as `picture_facts`, of up to 200,000,000 pixels."""
    file = _open(data, max_bytes, MAX_LARGE_PIXELS)
    return PictureFacts("png" if isinstance(file, PngFile) else "jpeg", *_displayed_size(file))


def read_large_picture(data: bytes, max_bytes: int, least_side: int) -> Picture:
    """Decode a picture as `read_picture`, of up to 200,000,000 pixels."""
    return _decode(_open(data, max_bytes, MAX_LARGE_PIXELS), least_side)


def _open(data: bytes, max_bytes: int, max_pixels: int = MAX_PIXELS) -> PngFile | JpegFile:
    read = read_png if require_kind(data, max_bytes) == "png" else read_jpeg
    return read(data, max_pixels)


def _displayed_size(file: PngFile | JpegFile) -> tuple[int, int]:
    return displayed_size(file.width, file.height, file.orientation)
