"""Image trainings: records, metrics, card, data report, and predictions."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from chalicelib.engines.vision.backbone.pool import LITE2, BackbonePool
from chalicelib.engines.vision.classification.extractor import ClassificationExtractor
from chalicelib.engines.vision.classification.training import ImageTraining
from chalicelib.engines.vision.interface import VisionData
from chalicelib.engines.vision.registry import load
from chalicelib.engines.vision.similarity import near_duplicates
from tests.engines.vision.drawn import SHAPES, draw
from tests.engines.vision.heads_data import (
    clusters,
    digest_of,
    options,
    run_to_end,
    vision_data,
)
from tests.engines.vision.memory_features import MemoryFeatures

POOL = BackbonePool(Path(__file__).parents[4] / ".models")
NAMES = ["bird", "cat", "dog", "empty"]


def _data(flipped: int = 0) -> VisionData:
    """Return three clusters of 30 images; some of the first have the second label."""
    values, labels = clusters([30, 30, 30])
    given = [[1] if place < flipped else own for place, own in enumerate(labels)]
    return vision_data(values, given, NAMES)


def test_records_have_the_contract_s_members() -> None:
    """A record has every label, also without images, and one result per test image."""
    fitted, steps = run_to_end(ImageTraining(_data(), options(), POOL))

    record = next(step.record for step in steps if step.record)
    metrics = record["metricsData"]
    assert list(record) == ["epoch", "metricsData", "epochResults", "object"]
    assert {
        "f1",
        "labels",
        "testAccuracy",
        "trainingLoss",
        "confusionMatrix",
        "trainingAccuracy",
    } == set(metrics)
    assert metrics["labels"] == NAMES
    assert [len(metrics["f1"]), len(metrics["confusionMatrix"]), 4] == [4, 4, 4]
    assert fitted.test_size == sum(map(sum, metrics["confusionMatrix"]))
    assert fitted.test_size == len(record["epochResults"])
    for result in record["epochResults"]:
        file, expected = result["exampleName"].split("-")
        assert result["expectedLabel"] == expected == NAMES[int(file[1:-4]) // 30]
        assert result["predictedLabel"] in NAMES


def test_epochs_are_genuine() -> None:
    """The loss falls in each epoch, and more epochs reach a lower loss."""
    _, steps = run_to_end(ImageTraining(_data(), options(epochs=6), POOL))

    losses = [step.record["metricsData"]["trainingLoss"] for step in steps if step.record]
    assert sorted(losses, reverse=True) == losses
    assert len(set(losses)) == 6


def test_the_card_has_training_data_and_quality() -> None:
    """The card has digest, backbone, confidence intervals and calibration."""
    fitted, _ = run_to_end(ImageTraining(_data(), options(), POOL))

    card = fitted.card
    accuracy = card["metrics"]["testAccuracy"]
    assert sha256(fitted.artifact).hexdigest() == card["artifactSha256"]
    assert card["trainedOn"] == {
        "datasetId": 7,
        "examples": 90,
        "labels": 4,
        "feedback": 0,
        "pictures": 90,
    }
    assert POOL.facts(LITE2).sha256 == card["engine"]["backbones"][0]["sha256"]
    assert card["engine"]["isReproducible"]
    assert accuracy["low"] < accuracy["value"] <= accuracy["high"]
    assert fitted.metrics["testAccuracy"] == accuracy["value"]
    assert 0 <= card["calibrationError"] < 0.2
    assert {"code", "message", "expectedGain"} >= {key for one in card["advice"] for key in one}
    assert [one["precision"] for one in card["thresholds"]] == [0.9, 0.95, 0.99]
    assert card["thresholds"][0]["coverage"] > 0.5
    assert "Trained on 90 images" in card["limits"]
    assert "fewer than 5" not in card["limits"]


def test_flipped_labels_are_reported() -> None:
    """Nearly all images with flipped labels are listed with the right one, and no others."""
    fitted, _ = run_to_end(ImageTraining(_data(flipped=4), options(epochs=10), POOL))

    report = fitted.card["dataReport"]
    listed = {one["name"]: one for one in report["likelyLabelErrors"]}
    assert {"p0.png", "p1.png", "p2.png", "p3.png"} >= set(listed)
    assert len(listed) >= 3
    assert {"id": 100, "label": "cat", "suggestion": "bird"}.items() <= listed["p1.png"].items()
    assert report["expectedPrecision"] == "about two thirds"
    assert report["examined"] == 90
    assert [one.example_id for one in fitted.suspects] == [
        one["id"] for one in report["likelyLabelErrors"]
    ]
    assert {one.reason for one in fitted.suspects} == {"otherLabel"}


def test_equal_files_with_different_labels_are_reported() -> None:
    """Equal files with different labels are listed and stay on one side of the split."""
    values, labels = clusters([20, 20])
    values[25] = values[3]
    digests = [digest_of(place) for place in range(40)]
    digests[25] = digests[3]

    data = vision_data(values, labels, ["cat", "dog"], digests)
    training = ImageTraining(data, options(), POOL)
    report = run_to_end(training)[0].card["dataReport"]

    conflict = report["conflictingNearDuplicates"][0]
    assert [(one["name"], one["label"]) for one in conflict["examples"]] == [
        ("p3.png", "cat"),
        ("p25.png", "dog"),
    ]
    assert conflict["similarity"] == 1.0
    assert [report["duplicatesAcrossSplit"], report["duplicatesKeptTogether"]] == [0, 1]
    assert training.split.held_out[3] == training.split.held_out[25]


def test_near_duplicates_across_the_split_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slightly changed copies stay on one side of the split, whatever the block size."""
    monkeypatch.setattr(near_duplicates, "_BLOCK", 16)
    values, labels = clusters([20, 20], spread=1.0)
    values[10:20] = values[:10] * np.float16(1.001)

    training = ImageTraining(vision_data(values, labels, ["cat", "dog"]), options(), POOL)
    report = run_to_end(training)[0].card["dataReport"]

    held = training.split.held_out
    np.testing.assert_array_equal(held[:10], held[10:20])
    assert report["duplicatesKeptTogether"] == 10
    assert report["duplicatesAcrossSplit"] == 0


def test_a_model_of_drawn_pictures_answers_new_ones() -> None:
    """Trained on a few circles, squares and stripes, the model classifies new ones."""
    extractor = ClassificationExtractor(POOL)
    pictures = [draw(shape, seed) for shape in SHAPES for seed in range(6)]
    digests = [digest_of(place) for place in range(len(pictures))]
    features = MemoryFeatures(extractor, pictures, digests)
    values = np.stack([features.row(place) for place in range(len(pictures))])[:, None]
    labels = [[place // 6] for place in range(len(pictures))]
    data = vision_data(values, labels, [*SHAPES, "unseen"])

    fitted, _ = run_to_end(ImageTraining(data, options(split_ratio=1.0, epochs=8), POOL))
    model = load(fitted.artifact, POOL)

    assert ("image", (*SHAPES, "unseen"), 320) == (model.type, model.labels, model.least_side)
    right = 0
    for shape in SHAPES:
        for seed in (100, 101, 102):
            answer = model.predict(draw(shape, seed))
            right += answer[0].label == shape
            assert pytest.approx(sum(one.probability for one in answer)) == 1.0
            assert len(answer) == 4
            assert next(one.probability for one in answer if one.label == "unseen") == 0.0
            shares = [one.probability for one in answer]
            assert sorted(shares, reverse=True) == shares
    assert right >= 8
