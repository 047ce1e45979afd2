"""Box proposals of the shipped detector, and the head that labels them."""

import numpy as np
import pytest

from chalicelib.engines.vision.detection.evaluation.calibration import Calibration
from chalicelib.engines.vision.detection.inference.decoding import iou
from chalicelib.engines.vision.detection.proposals.head import ProposalSums, sums_of
from chalicelib.engines.vision.detection.proposals.network import (
    FIRST_CLASS,
    MOST_BOXES,
    VALUES,
    Proposals,
    pool_boxes,
    propose,
)
from chalicelib.engines.vision.detection.views.maps import SIDE
from tests.engines.vision.detection.drawn import HEIGHT, POOL, WIDTH, drawn_picture


def test_a_box_has_the_mean_of_the_map_inside_of_it():
    """Box features are the mean of the map over whole and partial cells, as computed by hand."""
    values = np.arange(16, dtype=np.float32).reshape(1, 4, 4)
    cell = SIDE / 4
    boxes = np.array(
        [[0, 0, 2, 2], [1.5, 1, 2.5, 2], [3.4, 3.4, 3.6, 3.6], [3.9, 0, 4, 1], [0, 0, 4, 4]]
    )

    found = pool_boxes(values, boxes * cell)[:, 0]

    # The fourth box is widened to one cell, of which the half outside of the map is left out.
    assert found.tolist() == pytest.approx([2.5, 5.5, 15.0, 3.0, 7.5])


def test_drawn_objects_are_proposed():
    """Ball and crate are among the proposals, which are inside the image and have features."""
    image, known = drawn_picture(3)

    proposals = propose(POOL, image)

    assert 0 < len(proposals.boxes) <= MOST_BOXES
    assert proposals.features.shape == (len(proposals.boxes), VALUES)
    assert np.isfinite(proposals.features).all()
    assert (proposals.boxes >= 0).all()
    assert (proposals.boxes <= (WIDTH, HEIGHT, WIDTH, HEIGHT)).all()
    truth = np.array([box.corners for _, box in known], np.float64)
    assert (iou(truth, proposals.boxes).max(axis=1) > 0.5).all()


def made_up(seed: int) -> tuple[Proposals, np.ndarray, np.ndarray]:
    """Return proposals in two places; the detector's class 7 is at the first."""
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((40, VALUES)).astype(np.float32)
    features[:, FIRST_CLASS : FIRST_CLASS + 80] = -6.0
    features[:20, FIRST_CLASS + 7] = 2.0
    boxes = np.repeat([[0.0, 0.0, 10.0, 10.0], [50.0, 50.0, 80.0, 90.0]], 20, axis=0)
    return Proposals(boxes, features), boxes[:1], np.array([1])


def summed(*seeds: int) -> ProposalSums:
    """Return the sums over several images with three labels."""
    sums = ProposalSums.empty(3)
    for seed in seeds:
        sums.add(*made_up(seed))
    return sums


def test_a_label_is_found_by_the_detectors_class():
    """Boxes with the detector class of the examples get their label; labels without boxes get 0."""
    head, loss = summed(0, 1, 2).fit()

    found = head.candidates(made_up(9)[0]).scores

    assert found[:20, 1].min() > found[20:, 1].max() + 0.2
    assert found[:, [0, 2]].max() == pytest.approx(0.0, abs=1e-6)
    assert 0.0 <= loss < 0.25


def test_sums_of_parts_are_those_of_the_whole():
    """Sums of folds add up to those of the whole, also after a restart."""
    parts = [sums_of(summed(*seeds).arrays()) for seeds in ((0, 1), (2,))]

    joined, whole = (sums.fit()[0] for sums in (parts[0].joined(parts[1]), summed(0, 1, 2)))

    np.testing.assert_allclose(joined.weights, whole.weights, atol=1e-6)
    np.testing.assert_allclose(joined.classes, whole.classes, atol=1e-6)


def test_aligned_scores_mean_the_same_probability():
    """Aligned scores have the same probability under the other calibration."""
    head, _ = summed(0, 1).fit()
    own, other = Calibration(2.0, 1.0), Calibration(0.5, -1.0)
    proposals = made_up(5)[0]

    before = own.apply(head.candidates(proposals).scores)
    after = other.apply(head.aligned(own, other).candidates(proposals).scores)

    np.testing.assert_allclose(after[before > 0.01], before[before > 0.01], rtol=1e-3)


def test_an_image_without_boxes_counts_as_background():
    """Proposals in an image without boxes count as background."""
    sums = summed(0, 1)
    sums.add(made_up(2)[0], np.empty((0, 4)), np.empty(0, np.int64))

    lowered, plain = (each.fit()[0] for each in (sums, summed(0, 1)))

    scores = [head.candidates(made_up(9)[0]).scores[:20, 1].mean() for head in (lowered, plain)]
    assert scores[0] < scores[1]
