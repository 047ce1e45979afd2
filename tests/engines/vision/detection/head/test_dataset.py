"""The assignment of boxes to cells."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.head.dataset import assign, visible_boxes


def test_cells_around_the_centre_learn_a_box():
    """With a radius of 1.5 cells a large box is assigned to nine cells."""
    targets = assign(np.array([[0.0, 0.0, 9.0, 9.0]]), np.array([3]), 1.5, 10)

    assert sorted(targets.cells) == [row * 10 + column for row in (3, 4, 5) for column in (3, 4, 5)]
    assert set(targets.labels) == {3}
    first = targets.distances[list(targets.cells).index(33)]
    assert first.tolist() == [3.5, 3.5, 5.5, 5.5]


def test_a_small_box_is_assigned_to_the_cell_of_its_centre():
    """A box inside one cell is assigned only to that cell, also at the border."""
    targets = assign(np.array([[9.6, 9.7, 9.9, 10.0]]), np.array([0]), 1.5, 10)

    assert targets.cells.tolist() == [99]


def test_the_smallest_box_wins():
    """If two boxes compete for a cell, the smaller one gets it."""
    boxes = np.array([[4.0, 4.0, 6.0, 6.0], [0.0, 0.0, 10.0, 10.0]])

    targets = assign(boxes, np.array([0, 1]), 1.5, 10)

    small = {row * 10 + column for row in (4, 5) for column in (4, 5)}
    assert {
        cell for cell, label in zip(targets.cells, targets.labels, strict=True) if label == 0
    } == small


def test_cells_outside_of_a_thin_box_do_not_learn_it():
    """Only cells inside a thin box are assigned, so all distances are positive."""
    targets = assign(np.array([[0.0, 4.2, 10.0, 4.9]]), np.array([0]), 1.5, 10)

    assert {cell // 10 for cell in targets.cells} == {4}
    assert (targets.distances > 0).all()


def test_nothing_to_learn_gives_no_cells():
    """A view without boxes has no targets."""
    assert len(assign(np.empty((0, 4)), np.empty(0, int), 1.5, 10)) == 0


@pytest.mark.parametrize(("share", "kept"), [(0.4, 1), (0.6, 0)])
def test_boxes_that_are_hardly_seen_are_left_out(share: float, kept: int):
    """A box half outside the view is kept if half is enough."""
    boxes, labels = visible_boxes(np.array([[-50.0, 0, 50, 100]]), np.array([2]), share)

    assert len(boxes) == len(labels) == kept
    assert boxes[:, 0].tolist() == [0.0] * kept


def test_boxes_outside_or_too_thin_are_left_out():
    """Boxes outside the view, or thinner than two pixels, are ignored."""
    boxes = np.array([[500.0, 0, 600, 10], [0, 0, 1.5, 100], [0, 0, 2, 2]])

    seen, _ = visible_boxes(boxes, np.arange(3), 0.0)

    assert seen.tolist() == [[0, 0, 2, 2]]
