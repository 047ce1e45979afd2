"""Rows of detection features."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.views.extractor import DetectionExtractor, RetailExtractor
from chalicelib.engines.vision.detection.views.maps import CELLS, CHANNELS, maps_of
from tests.engines.vision.detection.drawn import POOL, drawn_data, drawn_picture

DIGEST = b"0123456789abcdef"


def test_a_row_holds_three_maps_of_the_design():
    """A row has 176, 248 and 480 channels at 52, 26 and 13 cells, 1.45 MB, all finite."""
    extractor = DetectionExtractor(POOL)
    row = extractor.extract(drawn_picture(0)[0], DIGEST, 0)
    maps = maps_of(row)

    assert row.dtype == np.float16
    assert row.nbytes == extractor.row_bytes == 1_449_344
    for part, cells, channels in zip(
        (maps.fine, maps.middle, maps.coarse), CELLS, CHANNELS, strict=True
    ):
        assert part.shape == (cells * cells, channels)
        assert np.isfinite(part).all()


def test_both_networks_weigh_alike():
    """Both networks' maps have values of the same order of magnitude."""
    maps = maps_of(drawn_data().features.row(0))

    for part, taps in ((maps.fine, 48), (maps.middle, 120), (maps.coarse, 352)):
        for values in (part[:, :taps], part[:, taps:]):
            assert 0.3 < float(np.sqrt((values**2).mean())) < 3


def test_features_lie_where_the_object_is():
    """A change in the upper left corner mainly changes the upper left cells."""
    image, _ = drawn_picture(0)
    changed = image.pixels.copy()
    changed[:40, :40] = 0
    extractor = DetectionExtractor(POOL)
    before = maps_of(extractor.extract(image, DIGEST, 0)).fine
    after = maps_of(
        extractor.extract(type(image)(changed, image.width, image.height), DIGEST, 0)
    ).fine

    change = np.abs(after - before).mean(axis=1).reshape(52, 52)

    assert change[:10, :8].mean() > 5 * change[26:, 26:].mean()


def test_the_same_view_gives_the_same_row():
    """Equal image, digest and view give an equal row."""
    image, _ = drawn_picture(1)
    rows = [DetectionExtractor(POOL).extract(image, DIGEST, 2) for _ in range(2)]

    np.testing.assert_array_equal(*rows)


def test_views_follow_augmentation_and_algorithm():
    """There is one view without augmentation, four with it, and tiles for retail execution."""
    detection, retail = DetectionExtractor(POOL), RetailExtractor(POOL)

    assert detection.views(640, 480, augment=False) == 1
    assert detection.views(640, 480, augment=True) == 4
    assert retail.views(1200, 900, augment=False) == 13
    assert (detection.name, retail.name) == ("detection", "retail")
    assert (detection.least_side, retail.least_side) == (416, 1250)
    assert detection.version != retail.version
    assert len(detection.version) == 12


def test_a_row_of_another_length_is_refused():
    """A row of another length is refused."""
    with pytest.raises(ValueError, match="724672 numbers, not 5"):
        maps_of(np.zeros(5, np.float16))
