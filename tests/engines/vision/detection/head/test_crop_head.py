"""The second look: classifying crops of boxes and combining both scores."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.head.crop_head import fit_crop_head, item_limit, rescored
from chalicelib.engines.vision.detection.inference.decoding import Candidates
from chalicelib.engines.vision.detection.inference.second_look import (
    MOST_CROPS,
    SecondLook,
    boxes_to_classify,
    distinct,
)
from chalicelib.engines.vision.detection.views.crops import CROP_VALUES, describe_crops
from tests.engines.vision.detection.drawn import POOL, drawn_picture


def clusters(count: int = 90, labels: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return crop features in one cluster per label, float32, (count, 1280)."""
    generator = np.random.default_rng(0)
    known = np.arange(count) % labels
    middles = generator.normal(size=(labels, CROP_VALUES))
    rows = middles[known] + 2.0 * generator.normal(size=(count, CROP_VALUES))
    rows /= np.sqrt((rows**2).sum(axis=1))[:, None]
    return rows.astype(np.float32), known


def test_labels_of_new_crops_are_separated():
    """A head trained on one half classifies the other half; probabilities sum to 1."""
    rows, labels = clusters()
    head = fit_crop_head(rows[:45], labels[:45], np.arange(45), 3)

    shares = head.probabilities(rows[45:])

    assert (shares.argmax(axis=1) == labels[45:]).mean() > 0.9
    assert shares.sum(axis=1) == pytest.approx(np.ones(45))


def test_a_label_without_crops_is_never_preferred():
    """A label without crops gets almost no probability."""
    rows, labels = clusters(labels=2)

    head = fit_crop_head(rows, labels, np.arange(90), 3)

    assert head.probabilities(rows)[:, 2].max() < 1e-6


def test_one_crop_is_enough_to_learn_from():
    """A single crop gives a head with one label."""
    rows, labels = clusters(1)

    head = fit_crop_head(rows, labels, np.zeros(1, int), 1)

    assert head.probabilities(rows) == pytest.approx(np.ones((1, 1)))


def test_scores_are_blended_as_a_geometric_mean():
    """Scores are combined as a geometric mean."""
    blended = rescored(np.array([[0.64, 0.16]]), np.array([[0.25, 0.75]]))

    assert blended[0, 0] == pytest.approx((0.64 * 0.64) ** 0.25 * (0.64 * 0.25) ** 0.5)
    assert blended[0, 1] == pytest.approx((0.64 * 0.16) ** 0.25 * (0.64 * 0.75) ** 0.5)


def test_few_boxes_are_looked_at_twice():
    """Only the best distinct boxes are rescored; others keep their scores."""
    places = np.arange(40) * 20.0
    boxes = np.stack([places, places * 0, places + 10, places * 0 + 10], axis=1)
    scores = np.stack([np.linspace(0.9, 0.5, 40), np.full(40, 0.3)], axis=1)
    once = distinct(Candidates(np.repeat(boxes, 2, axis=0), np.repeat(scores, 2, axis=0)))
    rows, labels = clusters(labels=2)
    head = fit_crop_head(rows, labels, np.arange(90), 2)

    twice = SecondLook(head).apply(once, rows[:MOST_CROPS])

    assert len(once.boxes) == 40
    assert len(boxes_to_classify(once)) == MOST_CROPS
    assert (twice.scores[MOST_CROPS:] == once.scores[MOST_CROPS:]).all()
    assert (twice.scores[:MOST_CROPS] != once.scores[:MOST_CROPS]).any()


def test_unlikely_boxes_are_not_looked_at_again():
    """A box with a score below one tenth is not rescored."""
    boxes = np.array([[0.0, 0, 10, 10], [20, 0, 30, 10], [40, 0, 50, 10]])
    once = distinct(Candidates(boxes, np.array([[0.09, 0.05], [0.5, 0.1], [0.05, 0.1]])))

    assert boxes_to_classify(once).tolist() == [[20, 0, 30, 10], [40, 0, 50, 10]]
    assert len(boxes_to_classify(distinct(Candidates(boxes[:0], np.empty((0, 2)))))) == 0


def test_crops_at_and_beyond_the_border_are_described():
    """Thin boxes, and boxes beyond the border, give finite vectors of length one."""
    image, _ = drawn_picture(0)
    boxes = np.array([[0, 0, 300, 240], [299.5, 239.5, 300, 240], [-20, -20, 5, 5]], float)

    rows = describe_crops(POOL, image, boxes)

    assert rows.shape == (3, CROP_VALUES)
    assert (rows**2).sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)


@pytest.mark.parametrize(
    ("totals", "most", "cap"), [([5, 3], 100, 5), ([], 10, 0), ([50, 2], 22, 20), ([9, 9], 1, 1)]
)
def test_space_for_crops_is_shared_between_labels(totals: list[int], most: int, cap: int):
    """The crop budget is divided so that frequent labels do not displace rare ones."""
    assert item_limit(totals, most) == pytest.approx(cap, abs=2)
