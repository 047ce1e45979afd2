"""PNG decoding in strips and passes."""

from __future__ import annotations

import io
import zlib

import numpy as np
import pytest
from PIL import Image

from chalicelib.errors import BadRequest
from chalicelib.formats.pictures import png_pixels
from chalicelib.formats.pictures.png_file import read_png
from chalicelib.formats.pictures.png_pixels import decode_png, verify_png
from tests.formats.drawn import encoded, filtered_rows, noise, png, scene

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def _interlaced(size: tuple[int, int], depth: int, colour: int, seed: int = 0) -> bytes:
    """Make an interlaced PNG of random values."""
    generator = np.random.default_rng(seed)
    bits = _CHANNELS[colour] * depth
    stream = b""
    for left, top, across, down in png_pixels._ADAM7:
        width, height = -(-(size[0] - left) // across), -(-(size[1] - top) // down)
        if width > 0 and height > 0:
            rows = generator.integers(0, 256, (height, (width * bits + 7) // 8), dtype=np.uint8)
            stream += filtered_rows(rows, max(1, bits // 8))
    return png(size, depth, colour, zlib.compress(stream), interlace=1)


@pytest.mark.parametrize(("depth", "colour"), [(1, 0), (4, 0), (8, 0), (8, 2), (16, 2)])
@pytest.mark.parametrize("size", [(1, 1), (3, 5), (17, 23), (5, 1)])
def test_decode_when_interlaced(depth: int, colour: int, size: tuple[int, int]) -> None:
    """The seven passes are put to their places, also where some of them are empty."""
    data = _interlaced(size, depth, colour)
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)

    verify_png(read_png(data))
    pixels = decode_png(read_png(data), None)

    assert np.abs(pixels - expected).max() <= 1


@pytest.mark.parametrize("kind", ["plain", "interlaced"])
def test_decode_when_reduced(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reduction averages squares of pixels, alike in one strip and in many."""
    data = _interlaced((45, 33), 8, 2) if kind == "interlaced" else encoded(noise(45, 33), "PNG")
    whole = Image.fromarray(decode_png(read_png(data), None))
    expected = np.asarray(whole.reduce(3)).tolist()

    assert decode_png(read_png(data), 11).tolist() == expected
    monkeypatch.setattr(png_pixels, "_STRIP_PIXELS", 100)
    assert decode_png(read_png(data), 11).tolist() == expected
    assert decode_png(read_png(data), None).tolist() == np.asarray(whole).tolist()


@pytest.mark.parametrize("least", [1, 5, 16, 17, 33, 40])
def test_decode_when_a_side_is_needed(least: int) -> None:
    """The shorter side keeps what is needed, or all it has."""
    pixels = decode_png(read_png(encoded(scene(45, 33), "PNG")), least)

    assert min(pixels.shape[:2]) >= min(least, 33)


@pytest.mark.parametrize("interlace", [0, 1])
def test_decode_when_rows_are_missing(interlace: int) -> None:
    """A stream that ends before the last row is found by checking and by decoding."""
    data = png((10, 10), 8, 0, zlib.compress(bytes(100)), interlace=interlace)

    with pytest.raises(BadRequest, match="less data than its header says"):
        verify_png(read_png(data))
    with pytest.raises(BadRequest, match="less data than its header says"):
        decode_png(read_png(data), 1)
