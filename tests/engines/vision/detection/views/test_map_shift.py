"""Maps and boxes shifted together."""

import numpy as np

from chalicelib.engines.vision.detection.algorithms import rules_of
from chalicelib.engines.vision.detection.head.dataset import DetectionDataset
from chalicelib.engines.vision.detection.views.map_shift import (
    FARTHEST,
    MapShift,
    draw_map_shift,
)
from chalicelib.engines.vision.detection.views.maps import CELLS, CHANNELS, Maps
from tests.engines.vision.detection.drawn import drawn_data


def marked_maps() -> Maps:
    """Return maps with one nonzero cell at the same place."""
    parts = []
    for cells, channels in zip(CELLS, CHANNELS, strict=True):
        part = np.zeros((cells, cells, channels), np.float32)
        scale = cells // 13
        part[5 * scale, 6 * scale] = 1.0
        parts.append(part.reshape(cells * cells, channels))
    return Maps(*parts)


def test_maps_and_boxes_move_alike():
    """Maps and boxes shift by the same number of cells."""
    shift = MapShift(down=2, right=-1)

    maps = shift.maps(marked_maps())
    boxes = shift.boxes(np.array([[6 * 32.0, 5 * 32.0, 7 * 32.0, 6 * 32.0]]))

    for part, cells in zip((maps.fine, maps.middle, maps.coarse), CELLS, strict=True):
        scale = cells // 13
        place = int(np.flatnonzero(part[:, 0])[0])
        assert divmod(place, cells) == (7 * scale, 5 * scale)
        assert np.count_nonzero(part[:, 0]) == 1
    assert boxes.tolist() == [[5 * 32.0, 7 * 32.0, 6 * 32.0, 8 * 32.0]]


def test_what_leaves_the_view_does_not_come_back():
    """Shifted content is not wrapped around the borders."""
    maps = MapShift(down=3, right=3).maps(
        Maps(*(np.ones((cells * cells, 1), np.float32) for cells in CELLS))
    )

    coarse = maps.coarse.reshape(13, 13)
    assert not coarse[:3].any()
    assert not coarse[:, :3].any()
    assert coarse[3:, 3:].all()


def test_the_way_follows_from_the_seed():
    """The shift is determined by the seed, and all shifts occur."""
    ways = {(each.down, each.right) for each in (draw_map_shift([1, seed]) for seed in range(999))}

    assert draw_map_shift([4, 2]) == draw_map_shift([4, 2])
    assert len(ways) == (2 * FARTHEST + 1) ** 2


def test_only_pictures_with_one_view_are_disturbed():
    """Only images with one view are shifted, not augmented views or tiles."""
    whole = DetectionDataset(drawn_data(), rules_of("object-detection"))
    tiled = DetectionDataset(drawn_data(), rules_of("retail-execution"))

    assert whole.item(0, 0, [1]).shift is not None
    assert tiled.item(0, 0, [1]).shift is None
