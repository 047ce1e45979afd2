"""Multi-label trainings: records, penalty, card, and predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chalicelib.domain.common.limits import MAX_EPOCH_RESULTS
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.vision.backbone.pool import LITE2, NANODET, BackbonePool
from chalicelib.engines.vision.interface import VisionData
from chalicelib.engines.vision.multi_label.extractor import MultiLabelExtractor
from chalicelib.engines.vision.multi_label.report import best_thresholds, mean_average_precision
from chalicelib.engines.vision.multi_label.training import PENALTIES, MultiLabelTraining
from chalicelib.engines.vision.registry import load
from tests.engines.vision.drawn import SHAPES, draw
from tests.engines.vision.heads_data import digest_of, options, run_to_end, vision_data
from tests.engines.vision.memory_features import MemoryFeatures

POOL = BackbonePool(Path(__file__).parents[4] / ".models")
NAMES = ["sky", "sea", "sand", "never"]


def _data(columns: slice, pictures: int = 50, missing: int = 0) -> VisionData:
    """Return three independent labels, each visible in some of the chosen columns only."""
    generator = np.random.default_rng(11)
    has = generator.random((pictures, 3)) < 0.4
    has[:, 0] |= ~has.any(axis=1)
    values = np.abs(generator.normal(size=(pictures, 1, 2992)))
    strength = np.abs(generator.normal(size=(3, 2992)))
    shown = np.zeros((pictures, 2992))
    shown[:, columns] = (has.astype(float) @ strength)[:, columns]
    given = has.copy()
    for place in np.flatnonzero(has[:, 1] & has[:, 0])[:missing]:
        given[place, 1] = False
    labels = [np.flatnonzero(row).tolist() for row in given]
    return vision_data((values + 2 * shown[:, None]).astype(np.float16), labels, NAMES)


def test_records_have_the_contract_s_members() -> None:
    """Pairs and matrices list the negative first; results are by label with both signs."""
    data = _data(slice(0, 1280))
    fitted, steps = run_to_end(MultiLabelTraining(data, options(), POOL))

    record = next(step.record for step in steps if step.record)
    metrics, results = record["metricsData"], record["epochResults"]
    assert list(metrics) == [
        "f1",
        "labels",
        "testAccuracies",
        "trainingAccuracies",
        "confusionMatrices",
    ]
    assert NAMES == metrics["labels"] == list(metrics["confusionMatrices"]) == list(results)
    assert [len(pair) for pair in metrics["f1"]] == [2] * 4
    assert [[fitted.test_size, 0], [0, 0]] == metrics["confusionMatrices"]["never"]
    for matrix in metrics["confusionMatrices"].values():
        assert fitted.test_size == sum(map(sum, matrix))
    by_name = {image.name: image for image in data.pictures.pictures}
    for label, name in enumerate(NAMES):
        for result in results[name]:
            file, expected = result["exampleName"].split("-")
            has_it = label in by_name[file].labels
            assert (
                expected
                == result["expectedLabel"]
                == f"{name}_" + ("positive" if has_it else "negative")
            )
            assert result["predictedLabel"] in (f"{name}_positive", f"{name}_negative")
    assert sum(map(len, results.values())) <= MAX_EPOCH_RESULTS


@pytest.mark.parametrize("columns", [slice(0, 1280), slice(1280, 2992)])
def test_labels_are_found_in_either_vector(columns: slice) -> None:
    """Labels that show in only one of the two vectors are found."""
    fitted, _ = run_to_end(MultiLabelTraining(_data(columns, 100), options(epochs=10), POOL))

    assert fitted.card["engine"]["features"] == "embedding+pooled"
    assert fitted.card["metrics"]["foldMeanAveragePrecision"] > 0.8


def test_the_penalty_is_the_strongest_of_those_that_are_as_good_as_the_best() -> None:
    """The strongest penalty within one standard error of the best is chosen."""
    training = MultiLabelTraining(_data(slice(0, 1280)), options(), POOL)
    truth = np.eye(3)[[0, 1, 2, 0, 1, 2]]
    best, equal, worse = truth.copy(), truth.copy(), 1 - truth
    # Average precision 5/6 of the second label against 2/3 of the first one.
    best[0, 1], best[1, 1] = 0.7, 0.5
    equal[0, 0] = -1
    found = {0: worse, 1: best, 2: equal, 3: worse}
    training.choice_scores = lambda choice: (found[choice], truth)

    assert training.choose(training.choices(training.split)) == 2
    found[2] = worse
    assert training.choose(training.choices(training.split)) == 1
    assert PENALTIES[training.choose([])] == 100.0


def test_a_checkpoint_with_other_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint with other candidate settings is refused."""
    data = _data(slice(0, 1280))
    training = MultiLabelTraining(data, options(), POOL)
    training.step()
    saved = training.save()

    MultiLabelTraining(data, options(), POOL, saved)
    monkeypatch.setattr(MultiLabelTraining, "penalties", (1.0, 2.0))
    with pytest.raises(ArtifactError):
        MultiLabelTraining(data, options(), POOL, saved)


def test_the_choice_sees_nothing_that_is_held_out() -> None:
    """The penalty is chosen on the training part alone."""
    training = MultiLabelTraining(_data(slice(0, 1280)), options(), POOL)

    tasks = training.choices(training.split)

    assert len(tasks) == 5 * len(PENALTIES)
    held = set(training.held_out.tolist())
    assert held
    for task in tasks:
        assert not held & {*task.trained.tolist(), *task.scored.tolist()}
        assert not {*task.trained.tolist()} & {*task.scored.tolist()}


def test_the_card_has_thresholds_and_missing_labels() -> None:
    """An image that lacks a label is reported in the card."""
    data = _data(slice(0, 1280), pictures=100, missing=2)
    fitted, _ = run_to_end(MultiLabelTraining(data, options(epochs=10), POOL))

    card = fitted.card
    assert set(NAMES[:3]) == set(card["engine"]["thresholds"])
    assert all(0 < value < 1 for value in card["engine"]["thresholds"].values())
    assert set(NAMES) == set(card["metrics"]["testAccuracies"])
    targets = [(one["label"], one["precision"]) for one in card["thresholds"]]
    assert targets == [(name, target) for name in NAMES[:3] for target in (0.9, 0.95, 0.99)]
    assert max(one["coverage"] for one in card["thresholds"]) > 0.5
    assert 0 <= card["calibrationError"] < 0.25
    listed = card["dataReport"]["likelyLabelErrors"]
    assert any(
        (one["label"], one["suggestion"]) == ("sea_negative", "sea_positive") for one in listed
    )
    suspects = fitted.suspects
    assert len(suspects) >= len(listed)
    assert [one.label for one in suspects[: len(listed)]] == [one["label"] for one in listed]
    assert all(
        one.reason == ("missingLabel" if one.label.endswith("_negative") else "extraLabel")
        for one in suspects
    )


def test_a_model_of_drawn_pictures_answers_new_ones() -> None:
    """The model uses both backbones and predicts every label independently."""
    extractor = MultiLabelExtractor(POOL)
    pictures = [draw(shape, seed) for shape in SHAPES for seed in range(5)]
    digests = [digest_of(place) for place in range(len(pictures))]
    features = MemoryFeatures(extractor, pictures, digests)
    values = np.stack([features.row(place) for place in range(len(pictures))])[:, None]
    labels = [[place // 5, *([3] if place // 5 else [])] for place in range(len(pictures))]
    data = vision_data(values, labels, [*SHAPES, "angular", "unseen"])

    fitted, _ = run_to_end(MultiLabelTraining(data, options(split_ratio=1.0, epochs=8), POOL))
    model = load(fitted.artifact, POOL)
    answers = [model.predict(draw(shape, 200)) for shape in SHAPES]

    assert (model.type, model.least_side) == ("image-multi-label", 416)
    assert {use.name for use in model.backbones} == {LITE2, NANODET}
    right = 0
    for shape, answer in zip(SHAPES, answers, strict=True):
        shares = {one.label: one.probability for one in answer}
        assert set(model.labels) == set(shares)
        assert shares["unseen"] == 0.0
        assert sorted(shares.values(), reverse=True) == [one.probability for one in answer]
        right += max(SHAPES, key=shares.__getitem__) == shape
    assert right >= 2


def test_average_precision_is_that_of_its_definition() -> None:
    """Hits at ranks 1 and 3 give five sixths; a label without images does not count."""
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    truth = np.array([[1, 0], [0, 0], [1, 0]])

    assert pytest.approx((1 + 2 / 3) / 2) == mean_average_precision(scores, truth)
    assert mean_average_precision(scores, truth * 0) == 0.0


def test_thresholds_have_the_best_f1() -> None:
    """Each threshold has the best F1; a label without images has one half."""
    shares = np.array([[0.9, 0.1], [0.4, 0.2], [0.3, 0.3], [0.1, 0.4]])
    truth = np.array([[1, 0], [0, 0], [1, 0], [0, 0]], bool)

    assert best_thresholds(shares, truth).tolist() == [0.3, 0.5]
