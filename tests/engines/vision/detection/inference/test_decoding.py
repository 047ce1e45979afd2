"""Overlap of boxes, and non-maximum suppression."""

import math
from dataclasses import replace

import numpy as np
import pytest

from chalicelib.engines.vision.detection.algorithms import rules_of
from chalicelib.engines.vision.detection.inference.decoding import (
    Candidates,
    decayed_suppression,
    iou,
    non_maximum_suppression,
    select_objects,
)


def test_overlap_is_shared_area_over_joint_area():
    """Half of each of two equal boxes in common gives an IoU of one third."""
    left = np.array([[0.0, 0.0, 2.0, 2.0]])
    right = np.array([[1.0, 0.0, 3.0, 2.0], [5.0, 5.0, 6.0, 6.0], [0.0, 0.0, 2.0, 2.0]])

    assert iou(left, right)[0] == pytest.approx([1 / 3, 0.0, 1.0])


def test_boxes_without_area_overlap_nothing():
    """Boxes without area have an IoU of 0."""
    point = np.array([[1.0, 1.0, 1.0, 1.0]])

    assert iou(point, point)[0, 0] == 0.0


def test_the_best_of_overlapping_boxes_stays():
    """Of two overlapping boxes the better one stays, and so does a third box."""
    boxes = np.array([[0.0, 0, 10, 10], [0, 0, 10, 9], [20, 0, 30, 10]])

    kept = non_maximum_suppression(boxes, np.array([0.5, 0.9, 0.1]), 0.5, 10)

    assert kept.tolist() == [1, 2]


def test_an_overlap_at_the_limit_stays():
    """Only an overlap above the limit removes a box."""
    boxes = np.array([[0.0, 0, 10, 10], [0, 0, 10, 5]])

    assert non_maximum_suppression(boxes, np.array([0.9, 0.8]), 0.5, 10).tolist() == [0, 1]


def test_no_more_boxes_than_wanted():
    """At most the requested number of boxes is returned, also none."""
    boxes = np.array([[place, 0.0, place + 1, 1.0] for place in range(0, 20, 2)])

    assert non_maximum_suppression(boxes, np.arange(10.0), 0.5, 3).tolist() == [9, 8, 7]
    assert non_maximum_suppression(boxes[:0], np.empty(0), 0.5, 3).tolist() == []


def test_a_poor_box_near_an_object_ranks_behind_another_object():
    """A box that overlaps a better one is decayed and ranks after separate objects."""
    boxes = np.array([[0.0, 0, 10, 10], [5, 0, 15, 10], [30, 0, 40, 10]])

    kept, scores = decayed_suppression(boxes, np.array([0.9, 0.6, 0.5]), 0.5, 0.3, 10)

    assert kept.tolist() == [0, 2, 1]
    assert scores.tolist() == pytest.approx([0.9, 0.5, 0.6 * math.exp(-1 / 9 / 0.3)])


def test_a_box_falls_for_each_better_one_that_stays_and_for_no_other():
    """A box is decayed once for each better box that stays."""
    boxes = np.array([[0.0, 0, 10, 10], [10, 0, 20, 10], [5, 0, 15, 10], [0, 0, 10, 9]])

    kept, scores = decayed_suppression(boxes, np.array([0.9, 0.8, 0.7, 0.85]), 0.5, 0.3, 10)

    assert kept.tolist() == [0, 1, 2]
    assert scores[2] == pytest.approx(0.7 * math.exp(-1 / 9 / 0.3) ** 2)


def test_what_overlaps_too_much_or_falls_below_the_floor_goes():
    """Boxes over the overlap limit, or decayed below 5 %, are removed."""
    boxes = np.array([[0.0, 0, 10, 10], [0, 0, 10, 9], [5, 0, 15, 10]])

    kept, _ = decayed_suppression(boxes, np.array([0.9, 0.8, 0.06]), 0.5, 0.3, 10)

    assert kept.tolist() == [0]


def test_of_equal_scores_the_first_is_chosen_and_the_count_is_kept():
    """Ties are resolved by order, and the count is limited."""
    boxes = np.array([[place, 0.0, place + 1, 1.0] for place in range(0, 20, 2)])

    assert decayed_suppression(boxes, np.full(10, 0.5), 0.5, 0.3, 3)[0].tolist() == [0, 1, 2]
    assert decayed_suppression(boxes[:0], np.empty(0), 0.5, 0.3, 3)[0].tolist() == []


@pytest.mark.parametrize("algorithm", ["object-detection", "retail-execution"])
def test_rules_without_decay_leave_scores_alone(algorithm: str):
    """Without decay, as in older models, scores are unchanged."""
    overlapping = Candidates(np.array([[0.0, 0, 10, 10], [5, 0, 15, 10]]), np.array([[0.9], [0.6]]))
    rules = rules_of(algorithm)

    assert select_objects(overlapping, replace(rules, decay=None)).scores.tolist() == [0.9, 0.6]
    assert select_objects(overlapping, rules).scores[1] < 0.5


def test_labels_do_not_push_each_other_out():
    """Boxes of different labels do not suppress each other; scores under the floor are dropped."""
    candidates = Candidates(
        np.array([[0.0, 0, 10, 10], [0, 0, 10, 9], [30, 30, 40, 40]]),
        np.array([[0.3, 0.0], [0.2, 0.6], [0.04, 0.04]]),
    )

    found = select_objects(candidates, rules_of("object-detection"))

    assert found.labels.tolist() == [1, 0]
    assert found.scores.tolist() == [0.6, 0.3]


@pytest.mark.parametrize(
    ("algorithm", "most"), [("object-detection", 100), ("retail-execution", 500)]
)
def test_each_algorithm_has_its_most_answers(algorithm: str, most: int):
    """Each algorithm has its own maximum of boxes."""
    places = np.arange(600)
    boxes = np.stack([places * 20.0, places * 0.0, places * 20.0 + 10, places * 0.0 + 10], axis=1)

    found = select_objects(Candidates(boxes, np.full((600, 1), 0.5)), rules_of(algorithm))

    assert len(found.scores) == most


def test_no_candidates_give_no_answers():
    """Without candidates the answer is an empty list."""
    found = select_objects(Candidates(np.empty((0, 4)), np.empty((0, 3))), rules_of(""))

    assert found.boxes.shape == (0, 4)
    assert len(found.labels) == 0
