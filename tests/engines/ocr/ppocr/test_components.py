"""Connected components of pixels."""

import time

import numpy as np
import pytest

from chalicelib.engines.ocr.ppocr.boxes import find_runs, groups_of


def mask_of(*rows):
    """Draw a mask."""
    return np.array([[character == "#" for character in row] for row in rows])


def outlines(mask, least_side, most):
    """Return the first and last pixel of each row of the largest components."""
    groups = groups_of(mask)
    return [groups.outline(index) for index in groups.largest(least_side, most)]


def boxes(found):
    """Return left, top, right and bottom of each component."""
    return [(*group.min(axis=0).tolist(), *group.max(axis=0).tolist()) for group in found]


def test_runs_are_pixels_side_by_side():
    """Every run has its row, its first column and the column after its last."""
    runs = find_runs(mask_of("##.#", "....", "...#"))

    assert list(zip(runs.rows, runs.starts, runs.ends, strict=True)) == [
        (0, 0, 2),
        (0, 3, 4),
        (2, 3, 4),
    ]


def test_corners_touch():
    """Pixels that touch at a corner are connected; those one column apart are not."""
    found = outlines(mask_of("##....", "..##.#", "...#.#"), 1, 10)

    assert boxes(found) == [(0, 0, 3, 2), (5, 1, 5, 2)]


def test_a_spiral_is_one_group():
    """A spiral, whose arms meet late, is one component."""
    found = outlines(mask_of("#######", "#.....#", "#.###.#", "#.#...#", "#.#####"), 1, 10)

    assert boxes(found) == [(0, 0, 6, 4)]


def test_the_largest_are_kept():
    """The largest components are returned first; small ones are dropped."""
    found = outlines(mask_of("##.###.#", "##.###.#", "...###.."), 2, 1)

    assert boxes(found) == [(3, 0, 5, 2)]


def test_nothing_comes_of_an_empty_mask():
    """An empty mask has no components."""
    assert outlines(np.zeros((5, 5), bool), 1, 10) == []


@pytest.mark.parametrize("density", [0.2, 0.41, 0.6])
def test_noise_costs_little(density):
    """A page of noise, which has the most components possible, takes less than four seconds."""
    mask = np.random.default_rng(5).random((1280, 960)) < density
    started = time.process_time()

    found = outlines(mask, 2, 2_000)

    assert len(found) <= 2_000
    assert time.process_time() - started < 4
