"""Detection models: bytes and answers."""

from dataclasses import replace

import numpy as np
import pytest

from chalicelib.domain.documents.picture import Picture
from chalicelib.engines.artifact import ArtifactError, dump, load
from chalicelib.engines.vision.detection.evaluation.calibration import Calibration
from chalicelib.engines.vision.detection.head.crop_head import CropHead
from chalicelib.engines.vision.detection.head.network import HeadSize, first_weights, weights_of
from chalicelib.engines.vision.detection.inference import detector
from chalicelib.engines.vision.detection.inference.model_file import (
    KIND,
    VERSION,
    DetectionModel,
    dump_model,
)
from chalicelib.engines.vision.detection.proposals.head import ProposalHead
from chalicelib.engines.vision.detection.proposals.network import CLASSES, VALUES
from chalicelib.engines.vision.detection.views.crops import CROP_VALUES
from chalicelib.engines.vision.interface import BackboneUse
from tests.engines.vision.detection.drawn import LABELS, POOL, drawn_picture


def loud_model(**changes: object) -> DetectionModel:
    """Return an untrained head that detects something everywhere."""
    size = HeadSize(2)
    vector = first_weights(size, 0)
    weights = weights_of(size, vector)
    weights.output_bias[:2] = 0.0
    uses = [BackboneUse(name, POOL.facts(name).sha256) for name in ("lite2", "nanodet")]
    model = DetectionModel("object-detection", LABELS, uses, vector, None, Calibration())
    return replace(model, **changes)


def answered(model: DetectionModel, image: Picture | None = None) -> list:
    """Return the answers of a model that was written and read."""
    loaded = detector.load(dump_model(model), POOL)
    return list(loaded.predict(image or drawn_picture(0)[0]))


def test_answers_are_whole_pixels_inside_of_the_picture():
    """At most 100 boxes are returned in score order, in whole pixels, clipped to the image."""
    found = answered(loud_model())

    assert 0 < len(found) <= 100
    for item in found:
        assert 0 <= item.box.min_x < item.box.max_x <= 300
        assert 0 <= item.box.min_y < item.box.max_y <= 240
        assert 0.05 <= item.probability <= 1
    assert [item.probability for item in found] == sorted(
        (item.probability for item in found), reverse=True
    )


def test_boxes_refer_to_the_picture_as_displayed():
    """Boxes are in the full size of an image that was reduced in decoding."""
    image, _ = drawn_picture(0)
    large = Picture(image.pixels, 3000, 2400)

    for small, big in zip(answered(loud_model()), answered(loud_model(), large), strict=True):
        assert small.box.max_x * 10 == pytest.approx(big.box.max_x, abs=10)


def test_retail_execution_answers_from_tiles():
    """With tiles and the whole image more than 100 boxes are possible."""
    found = answered(loud_model(algorithm="retail-execution"))

    assert 100 < len(found) <= 500


@pytest.mark.parametrize(("width", "height"), [(1, 1), (5, 400), (400, 4)])
def test_tiny_and_thin_pictures_are_answered(width: int, height: int):
    """Tiny and thin images give boxes inside the image."""
    image = Picture(np.full((height, width, 3), 90, np.uint8), width, height)

    for item in answered(loud_model(), image):
        assert 0 <= item.box.min_x < item.box.max_x <= width
        assert 0 <= item.box.min_y < item.box.max_y <= height


def test_a_second_look_changes_the_labels():
    """A crop head with one label raises that label's probability."""
    sure = CropHead(np.zeros((CROP_VALUES, 2), np.float32), np.array([0, 20], np.float32))

    found = answered(loud_model(crop_head=sure))

    assert found[0].label == "crate"
    assert detector.load(dump_model(loud_model(crop_head=sure)), POOL).least_side == 1024


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_a_mirrored_model_answers_a_picture_and_its_mirror_image_alike(is_mirrored: bool):
    """With mirrored inference an image and its mirror image get mirrored answers."""
    pixels = np.random.default_rng(5).integers(0, 255, (416, 416, 3), dtype=np.uint8)
    model = loud_model(is_mirrored=is_mirrored)

    found, turned = (
        answered(model, Picture(np.ascontiguousarray(shown), 416, 416))
        for shown in (pixels, pixels[:, ::-1])
    )

    same = [(i.label, i.probability, 416 - i.box.max_x, i.box.min_y) for i in turned] == [
        (i.label, i.probability, i.box.min_x, i.box.min_y) for i in found
    ]
    assert same == is_mirrored


def test_calibration_moves_probabilities_and_keeps_the_order():
    """Calibration changes probabilities and keeps the order; those below the floor are dropped."""
    plain = answered(loud_model())
    bold = answered(loud_model(calibration=Calibration(1.0, 1.0)))
    shy = answered(loud_model(calibration=Calibration(1.0, -4.0)))

    assert [item.box for item in plain] == [item.box for item in bold]
    assert bold[0].probability > plain[0].probability
    assert all(item.probability >= 0.05 for item in shy)


def test_a_model_of_before_answers_as_it_did():
    """Older models have unchanged scores; newer ones decay overlapping boxes."""
    whole = load(dump_model(loud_model(decay=0.3)), KIND, 1)
    newer = ("decay", "isMirrored")
    header = {name: value for name, value in whole.header.items() if name not in newer}
    image = drawn_picture(0)[0]

    before = list(detector.load(dump(header, whole.arrays), POOL).predict(image))

    assert before == answered(loud_model())
    assert answered(loud_model(decay=0.3))[-1].probability < before[-1].probability


def test_facts_of_a_model_come_back():
    """Type, labels and backbones are read back as written."""
    loaded = detector.load(dump_model(loud_model()), POOL)

    assert loaded.type == "image-detection"
    assert list(loaded.labels) == LABELS
    assert [use.name for use in loaded.backbones] == ["lite2", "nanodet"]
    assert loaded.least_side == 416


@pytest.mark.parametrize("place", [0, 40, 2_000, -30])
def test_damaged_bytes_are_refused(place: int):
    """Changed or truncated bytes are refused."""
    content = bytearray(dump_model(loud_model()))
    content[place] ^= 0xFF

    with pytest.raises(ArtifactError):
        detector.load(bytes(content[: len(content) - 4_000]), POOL)


@pytest.mark.parametrize(
    ("header", "arrays"),
    [
        ({"labels": ["one"]}, {}),
        ({"labels": 3}, {}),
        ({"algorithm": "magic"}, {}),
        ({"backbones": [{"name": "lite2", "sha256": "0"}]}, {}),
        ({"calibration": {}}, {}),
        ({"decay": 0.0}, {}),
        ({"decay": "soft"}, {}),
        ({"isMirrored": "yes"}, {}),
        ({}, {"head": np.zeros(3, np.float32)}),
        ({}, {"head": np.full(HeadSize(2).parameters, np.nan, np.float32)}),
        ({}, {"crop_weights": np.zeros((4, 2), np.float32)}),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(header: dict, arrays: dict):
    """A header and arrays of different models raise ArtifactError."""
    whole = load(dump_model(loud_model()), KIND, 1)

    with pytest.raises(ArtifactError):
        detector.load(dump({**whole.header, **header}, {**whole.arrays, **arrays}), POOL)


def proposing(labels: int = 2) -> ProposalHead:
    """Return a head that gives every proposal the first label."""
    weights = np.zeros((VALUES + 1, labels), np.float32)
    weights[-1, 0] = 1.0
    classes = np.zeros((CLASSES, labels), np.float32)
    classes[:, 0] = 1.0
    return ProposalHead(weights, classes)


def test_a_model_of_proposals_alone_answers():
    """A model without a dense head answers from proposals."""
    found = answered(loud_model(vector=None, proposal_head=proposing()))

    assert found
    assert {item.label for item in found} == {LABELS[0]}


def test_both_sources_of_boxes_are_used_together():
    """A model with both heads returns boxes of both."""
    both = answered(loud_model(proposal_head=proposing()))
    dense, alone = (
        answered(model)
        for model in (loud_model(), loud_model(vector=None, proposal_head=proposing()))
    )

    boxes = [{item.box for item in found} for found in (both, dense, alone)]
    assert boxes[0] - boxes[1]
    assert boxes[0] - boxes[2]


def test_models_without_proposals_keep_their_stored_form():
    """Models without proposals keep the version that earlier releases read."""
    versions = [
        load(dump_model(model), KIND, VERSION, 1).header["version"]
        for model in (loud_model(), loud_model(proposal_head=proposing()))
    ]

    assert versions == [1, 2]


def test_a_proposal_head_of_another_size_is_refused():
    """A proposal head whose size does not fit the labels is refused."""
    with pytest.raises(ArtifactError, match="not finite float32 of shape"):
        detector.load(dump_model(loud_model(vector=None, proposal_head=proposing(3))), POOL)
