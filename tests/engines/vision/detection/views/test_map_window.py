"""Parts of maps, which make a step of a training cheaper."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.head.dataset import CellTargets
from chalicelib.engines.vision.detection.views.map_window import MapWindow, draw_map_window
from chalicelib.engines.vision.detection.views.maps import CELLS, CHANNELS, ROW_VALUES, maps_of


@pytest.mark.parametrize("cell", [0, 51, 52 * 51, 52 * 52 - 1, 1300])
def test_a_part_holds_one_of_the_cells_that_show_an_object(cell: int):
    """Wherever an object lies, at the border too, the part lies in the map and shows it."""
    for seed in range(20):
        window = draw_map_window(np.array([cell]), 6, [seed])

        assert window.moved(np.array([cell]))[1].all()
        assert 0 <= window.top <= 7
        assert 0 <= window.left <= 7


def test_without_an_object_a_part_lies_anywhere():
    """A view that shows nothing teaches background, from all places in turn."""
    windows = [draw_map_window(np.empty(0, int), 6, [seed]) for seed in range(200)]

    assert {window.top for window in windows} == {window.left for window in windows}
    assert {window.top for window in windows} == set(range(8))


def test_the_same_numbers_draw_the_same_part():
    """A training that goes on elsewhere learns from the same parts."""
    shown = np.array([700, 1900])

    assert draw_map_window(shown, 6, [1, 2]) == draw_map_window(shown, 6, [1, 2])


def test_all_three_maps_show_the_same_part():
    """A cell of a coarser map covers the same pixels as before."""
    row = (np.arange(ROW_VALUES) % 2048).astype(np.float16)
    whole, part = maps_of(row), MapWindow(2, 5, 6).maps(row)

    for name, cells, width in zip(("fine", "middle", "coarse"), CELLS, CHANNELS, strict=True):
        scale = cells // CELLS[-1]
        image = getattr(whole, name).reshape(cells, cells, width)
        wanted = image[2 * scale : 8 * scale, 5 * scale : 11 * scale]
        np.testing.assert_array_equal(getattr(part, name), wanted.reshape(-1, width))


def test_cells_in_a_part_go_on_pointing_to_the_sides_of_their_boxes():
    """Targets outside are left out; the others move, their distances stay."""
    window = MapWindow(1, 1, 6)
    cells = np.array([3 * 52 + 3, 4 * 52 + 5, 27 * 52 + 27, 28 * 52 + 27])
    targets = CellTargets(cells, np.arange(4), np.arange(16.0).reshape(4, 4))

    inside = targets.inside(window)

    assert inside.cells.tolist() == [1, 23 * 24 + 23]
    assert inside.labels.tolist() == [1, 2]
    assert inside.distances.tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
