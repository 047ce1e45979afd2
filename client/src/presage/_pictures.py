"""Pictures that the service does not take are turned into JPEG before they are sent.

Needs the extra `pictures`; without it a picture goes as it is, and the service says what it takes.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from typing import Any

from presage._files import CONVERTIBLE, PICTURES, Source

MOST_BYTES = 5_000_000
"""Bytes of a picture that a prediction takes."""
MOST_PIXELS = 50_000_000
LONGEST_SIDE = 3000
"""Longest side, in pixels, to which a picture over a limit is scaled down."""


def converted(source: Source) -> Source:
    """Return a picture that the service takes, the same one where it is that already."""
    ending = "." + source.name.rpartition(".")[2].lower()
    is_fine = ending not in CONVERTIBLE and source.size <= MOST_BYTES
    if is_fine or (ending not in CONVERTIBLE and ending not in PICTURES):
        return source
    pillow = _pillow()
    if pillow is None:
        return source
    return _as_jpeg(pillow, source)


def _pillow() -> Any:
    """Return Pillow's Image module, able to read HEIC where that is installed; None without it."""
    try:
        image = importlib.import_module("PIL.Image")
    except ImportError:
        return None
    with contextlib.suppress(ImportError):  # HEIC alone is then refused by the service
        importlib.import_module("pillow_heif").register_heif_opener()
    return image


def _as_jpeg(pillow: Any, source: Source) -> Source:
    """Draw a picture anew, upright, no side longer than `LONGEST_SIDE`."""
    turn = importlib.import_module("PIL.ImageOps").exif_transpose
    source.stream.seek(0)
    try:
        with pillow.open(source.stream) as picture:
            upright = turn(picture).convert("RGB")
    except OSError:  # no picture that Pillow knows: the service says so
        return source
    if source.size > MOST_BYTES or upright.width * upright.height > MOST_PIXELS:
        upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    stream = io.BytesIO()
    upright.save(stream, "JPEG", quality=92)
    source.close()
    return Source(stream, source.name.rpartition(".")[0] + ".jpg", stream.tell())
