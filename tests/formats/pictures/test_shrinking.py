"""Images over the limits are scaled down to them."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from PIL import Image

from chalicelib.errors import ServiceError
from chalicelib.formats.pictures import shrinking
from chalicelib.formats.pictures.reading import check_picture
from chalicelib.formats.pictures.rules import PictureFacts
from chalicelib.formats.pictures.shrinking import shrink_picture
from tests.full_size import size
from tests.pictures import draw, encoded

LIMIT = 100_000


def noise(width: int, height: int, kind: str = "PNG", **options: object) -> bytes:
    """Return an image that hardly compresses."""
    pixels = np.random.default_rng(3).integers(0, 256, (height, width, 3), np.uint8)
    return encoded(Image.fromarray(pixels), kind, **options)


def test_picture_within_the_limits_stays_as_it_is() -> None:
    """An image within the limits is stored unchanged."""
    assert shrink_picture(draw(), LIMIT) == (draw(), None)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("size", [(600, 300), (100, 900)])
def test_picture_over_the_limit_is_scaled_down(kind: str, size: tuple[int, int]) -> None:
    """An image over the limit keeps its aspect ratio and uses most of the limit."""
    content = noise(*size, kind, quality=100)
    small, sent = shrink_picture(content, LIMIT)

    facts = check_picture(small, LIMIT)
    assert len(content) > LIMIT >= len(small) > LIMIT // 3
    assert sent == PictureFacts(kind.lower(), *size)
    assert facts.kind == "jpeg"
    assert facts.width / facts.height == pytest.approx(size[0] / size[1], rel=0.02)
    assert facts.width <= size[0]
    assert shrink_picture(content, LIMIT) == (small, sent)


def test_picture_is_stored_as_displayed() -> None:
    """EXIF rotation is applied to the stored image."""
    exif = Image.Exif()
    exif[0x0112] = 6
    small, sent = shrink_picture(noise(600, 300, "JPEG", quality=100, exif=exif), LIMIT)
    assert sent == PictureFacts("jpeg", 300, 600, 6)
    with Image.open(io.BytesIO(small)) as turned:
        assert turned.size[1] == pytest.approx(2 * turned.size[0], abs=2)
        assert not turned.getexif()


def test_pixels_over_the_limit_are_scaled_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """An image of more than 50,000,000 pixels is scaled to at most 12,000,000.

    Of limits and picture a ninth is enough, but in `make growth`.
    """
    assert (shrinking.MAX_PIXELS, shrinking._MAX_SHRUNK_PIXELS) == (50_000_000, 12_000_000)
    most, wanted = 50_000_000 // size(9, 1), 12_000_000 // size(9, 1)
    monkeypatch.setattr(shrinking, "MAX_PIXELS", most)
    monkeypatch.setattr(shrinking, "_MAX_SHRUNK_PIXELS", wanted)
    width, height = size(3_000, 9_000), size(2_000, 6_000)
    content = encoded(Image.new("RGB", (width, height), "red"), "PNG")
    small, sent = shrink_picture(content, 5 << 20)

    facts = check_picture(small, 5 << 20)
    assert sent == PictureFacts("png", width, height)
    assert facts.width * facts.height == pytest.approx(wanted, rel=0.01)
    assert math.isclose(facts.width / facts.height, 1.5, rel_tol=0.01)


@pytest.mark.parametrize("content", [b"", b"GIF89a", draw()[:-9], noise(9, 9, "JPEG")[:-200]])
def test_what_cannot_be_read_is_refused(content: bytes) -> None:
    """Scaling down does not bypass the checks."""
    with pytest.raises(ServiceError):
        check_picture(shrink_picture(content, LIMIT)[0], LIMIT)
