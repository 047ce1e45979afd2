"""Losses and their gradients."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.head.dataset import CellTargets
from chalicelib.engines.vision.detection.head.loss import (
    BOX_WEIGHT,
    _overlaps,
    _quality_focal,
    detection_loss,
    sigmoid,
)

GENERATOR = np.random.default_rng(7)


def test_overlap_of_two_boxes_around_a_point_is_that_of_the_hand():
    """A box twice as wide as its target has IoU and GIoU one half."""
    logs = np.log([[2.0, 1.0, 2.0, 1.0]])

    iou, giou, _ = _overlaps(logs, np.ones((1, 4)))

    assert iou == pytest.approx([0.5])
    assert giou == pytest.approx([0.5])


def test_boxes_that_miss_each_other_have_a_negative_giou():
    """A disjoint box has a negative GIoU, so there is a gradient towards the target."""
    logs = np.log([[1.0, 1.0, 1.0, 1.0]])

    iou, giou, slope = _overlaps(logs, np.array([[-2.0, 1.0, 4.0, 1.0]]))

    assert iou == pytest.approx([0.0])
    assert giou == pytest.approx([8 / 10 - 1.0])
    assert slope[0, 2] > slope[0, 0]


def test_giou_gradient_agrees_with_finite_differences():
    """The GIoU gradient equals finite differences."""
    logs = GENERATOR.normal(size=(40, 4))
    wanted = GENERATOR.uniform(-0.5, 3.0, (40, 4))
    wanted[:, 2:] = np.maximum(wanted[:, 2:], 0.6 - wanted[:, :2])
    slope = _overlaps(logs, wanted)[2]

    for side in range(4):
        step = np.zeros(4)
        step[side] = 1e-6
        change = _overlaps(logs + step, wanted)[1] - _overlaps(logs - step, wanted)[1]
        np.testing.assert_allclose(slope[:, side], change / 2e-6, rtol=1e-4, atol=1e-6)


def test_quality_focal_gradient_agrees_with_finite_differences():
    """The quality focal gradient equals finite differences."""
    logits = GENERATOR.normal(size=(6, 3)) * 3
    wanted = GENERATOR.uniform(0, 1, (6, 3)) * (GENERATOR.random((6, 3)) < 0.5)
    slope = _quality_focal(logits, wanted)[1]

    for place in np.ndindex(*logits.shape):
        step = np.zeros_like(logits)
        step[place] = 1e-6
        high, low = _quality_focal(logits + step, wanted)[0], _quality_focal(logits - step, wanted)
        assert slope[place] == pytest.approx((high - low[0]) / 2e-6, rel=1e-4, abs=1e-7)


def test_a_perfect_answer_costs_nothing():
    """A perfect answer has zero loss."""
    targets = CellTargets(np.array([1]), np.array([0]), np.array([[1.0, 2.0, 3.0, 1.0]]))
    outputs = np.full((4, 5), -40.0)
    outputs[1] = [40.0, *np.log([1.0, 2.0, 3.0, 1.0])]

    loss, gradient = detection_loss(outputs, targets, 1, 1.0)

    assert loss == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(gradient[:, 0], 0.0, atol=1e-6)


def test_boxes_weigh_twice_and_everything_is_divided_by_the_positives():
    """The box loss is 2 (1 - GIoU), divided by the positive cells of the batch."""
    targets = CellTargets(np.array([0]), np.array([0]), np.ones((1, 4)))
    outputs = np.array([[0.0, *np.log([2.0, 1.0, 2.0, 1.0])]])

    loss, _ = detection_loss(outputs, targets, 1, 8.0)

    labels = _quality_focal(np.zeros((1, 1)), np.full((1, 1), 0.5))[0]
    assert loss == pytest.approx((BOX_WEIGHT * 0.5 + labels) / 8.0)


def test_a_view_without_objects_teaches_that_there_is_nothing():
    """Without boxes only label scores have a gradient, which lowers them."""
    nothing = CellTargets(np.empty(0, int), np.empty(0, int), np.empty((0, 4)))

    loss, gradient = detection_loss(np.zeros((4, 6)), nothing, 2, 1.0)

    assert loss > 0
    assert (gradient[:, :2] > 0).all()
    assert not gradient[:, 2:].any()


def test_sigmoid_survives_any_logit():
    """Extreme logits give 0 and 1 without a warning."""
    assert sigmoid(np.array([-1e4, 0.0, 1e4])) == pytest.approx([0.0, 0.5, 1.0])
