"""The size at which a page is processed."""

import pytest

from chalicelib.engines.ocr.ppocr.detector import detector_scale


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (1240, 1754, 1280 / 1754),
        (1754, 1240, 1280 / 1754),
        (600, 800, 1.5),
        (800, 1000, 1.28),
        (1100, 700, 1.0),
        (900, 1900, 960 / 1900),
        (600, 5000, 400 / 600),
        (5000, 1, 4096 / 5000),
    ],
)
def test_a_page_is_scaled_by_what_it_looks_like(width, height, expected):
    """Pages, small scans, slips and strips are scaled to different sizes."""
    assert detector_scale(width, height) == pytest.approx(expected)


@pytest.mark.parametrize("width", [1, 7, 300, 1000, 1001, 4000, 12_000])
@pytest.mark.parametrize("height", [1, 20, 999, 3000, 12_000])
def test_what_is_looked_at_is_bounded(width, height):
    """Scaling is at most 1.5, and never beyond the largest page size."""
    scale = detector_scale(width, height)

    assert 0 < scale <= 1.5
    assert width * scale * height * scale <= 1280 * 1280 * 1.01
    assert max(width, height) * scale <= 4096.01
