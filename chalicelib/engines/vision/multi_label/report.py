"""Writes learning curve, metrics, data report and limitations of image-multi-label models.

In the learning curve, a label counts as predicted if its logit is above 0. On the model card, it
counts as predicted if its probability reaches the label's threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.common.limits import MAX_EPOCH_RESULTS
from chalicelib.domain.models.evaluation import EvaluatedExample, Evaluation, reliability
from chalicelib.domain.models.suspects import EXTRA_LABEL, MISSING_LABEL, SuspectExample
from chalicelib.engines import data_report as reports
from chalicelib.engines import metrics
from chalicelib.engines.advice import multi_label_advice
from chalicelib.engines.target_thresholds import target_thresholds
from chalicelib.engines.vision.linear_head.report import (
    duplicates_record,
    present_labels,
    share_record,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints
    from chalicelib.engines.vision.linear_head.fit import LinearFit
    from chalicelib.engines.vision.linear_head.training import LinearHeadTraining


def curve_record(epoch: int, training: LinearHeadTraining, fit: LinearFit) -> dict[str, Any]:
    """Return the learning curve record of an epoch, for the head in `fit`."""
    held, seen = training.held_out, training.scored_part
    names = training.data.pictures.labels
    truth, answers = _sides(training, fit, held)
    seen_truth, seen_answers = _sides(training, fit, seen)
    matrices = [_matrix(truth[:, label], answers[:, label]) for label in range(len(names))]
    scores = [metrics.rounded(metrics.label_scores(matrix, 2).f1) for matrix in matrices]
    return {
        "epoch": epoch,
        "metricsData": {
            "f1": scores,
            "labels": list(names),
            "testAccuracies": _accuracies(truth, answers),
            "trainingAccuracies": _accuracies(seen_truth, seen_answers),
            "confusionMatrices": {
                name: matrix.tolist() for name, matrix in zip(names, matrices, strict=True)
            },
        },
        "epochResults": _results(training, truth, answers),
        "object": "learningcurve",
    }


def mean_average_precision(scores: Floats, truth: Floats) -> float:
    """Return the mean average precision over labels with examples; 0 if no label has examples."""
    areas = average_precisions(scores, truth)
    return sum(areas) / len(areas) if areas else 0.0


def best_thresholds(shares: Doubles, truth: Bools) -> Doubles:
    """Return each label's probability threshold with the best F1 score, float64, (labels,).

    Args:
        shares: out-of-fold probabilities, float64, shape (images, labels).
        truth: whether each image has each label, bool, same shape.
    """
    pairs = zip(shares.T, truth.T, strict=True)
    return np.array([metrics.best_threshold(*pair) for pair in pairs])


def average_precisions(scores: Floats, truth: Floats) -> list[float]:
    """Return the average precision of each label with examples.

    Args:
        scores: scores of labels, such as logits, float, shape (images, labels).
        truth: 1 where an image has a label, else 0, same shape.
    """
    areas = []
    for label in np.flatnonzero(truth.sum(axis=0) > 0):
        order = np.argsort(-scores[:, label], kind="stable")
        is_hit = truth[order, label] > 0
        precision = np.cumsum(is_hit) / np.arange(1, len(order) + 1)
        areas.append(float(precision[is_hit].mean()))
    return areas


def _sides(training: LinearHeadTraining, fit: LinearFit, places: Ints) -> tuple[Bools, Bools]:
    targets = training.targets
    truth = np.zeros((len(places), targets.names), bool)
    answers = np.zeros_like(truth)
    truth[:, targets.present] = targets.dense(places, bool)
    answers[:, targets.present] = fit.logits(places) > 0
    return truth, answers


def _matrix(truth: Bools, answers: Bools) -> Ints:
    return metrics.confusion_matrix(truth.astype(np.int64), answers.astype(np.int64), 2)


def _accuracies(truth: Bools, answers: Bools) -> list[float]:
    right = (truth == answers).sum(axis=0) / max(len(truth), 1)
    return metrics.rounded(right)


def _results(
    training: LinearHeadTraining, truth: Bools, answers: Bools
) -> dict[str, list[dict[str, str]]]:
    pictures, names = training.data.pictures.pictures, training.data.pictures.labels
    shown = training.held_out[: max(1, MAX_EPOCH_RESULTS // len(names))]
    results: dict[str, list[dict[str, str]]] = {name: [] for name in names}
    for row, place in enumerate(shown):
        for label, name in enumerate(names):
            expected = sign_of(name, is_present=bool(truth[row, label]))
            results[name].append(
                {
                    "exampleName": f"{pictures[place].name}-{expected}",
                    "expectedLabel": expected,
                    "predictedLabel": sign_of(name, is_present=bool(answers[row, label])),
                }
            )
    return results


def sign_of(name: str, *, is_present: bool) -> str:
    """Return the API's class name of a present or absent label, such as `red_positive`."""
    return f"{name}_positive" if is_present else f"{name}_negative"


@dataclass(frozen=True, slots=True, eq=False)
class MultiLabelFolds:
    """Out-of-fold predictions, from heads that were not trained on the predicted images."""

    places: Ints
    """Image indexes, int, shape (n,)."""
    thresholds: Doubles
    """Probability from which each label counts as predicted, float64, shape (labels,)."""
    shares: Doubles
    """Calibrated probabilities, float64, shape (n, labels)."""
    truth: Bools
    """Whether an image has a label, bool, shape (n, labels)."""

    @property
    def is_answered(self) -> Bools:
        """Whether each label is predicted for each image, bool, shape (n, labels)."""
        return self.shares >= self.thresholds

    def calibration_error(self) -> float | None:
        """Return the mean difference between probability and frequency; None without images."""
        if not self.truth.size:
            return None
        pairs = np.stack([1.0 - self.shares.ravel(), self.shares.ravel()], axis=1)
        error = metrics.calibration_error(pairs, self.truth.ravel().astype(np.int64))
        return round(error, 6)

    def card_metrics(self, last: dict[str, Any], tests: int) -> dict[str, Any]:
        """Return accuracies, mean average precision and Brier score for the model card.

        Args:
            last: learning curve record of the last epoch, with accuracies on held-out images.
            tests: number of held-out images.
        """
        accuracies = zip(last["labels"], last["testAccuracies"], strict=True)
        gaps = (self.shares - self.truth) ** 2
        area = mean_average_precision(self.shares, self.truth.astype(np.float64))
        return {
            "testAccuracies": {
                name: share_record(round(value * tests), tests) for name, value in accuracies
            },
            "foldMeanAveragePrecision": round(area, 6),
            "brierScore": round(float(gaps.mean()), 6) if gaps.size else 0.0,
        }

    def target_records(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return, for each label and target precision, the probability threshold on the model card.

        Args:
            names: names of the labels, in the order of the columns of the predictions.
        """
        records = []
        for name, shares, truth in zip(names, self.shares.T, self.truth.T, strict=True):
            # Most images lack the label, so the coverage counts only the images that have it.
            found = target_thresholds(shares, truth, truth)
            records += [{"label": name, **record} for record in found]
        return records

    def advice(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the model card's advice on improving the model; `names` are the label names."""
        tested = np.flatnonzero(self.truth.any(axis=0))
        truth = self.truth[:, tested]
        areas = average_precisions(self.shares[:, tested], truth.astype(np.float64))
        return multi_label_advice(
            [names[label] for label in tested.tolist()], truth, np.array(areas)
        )


def data_report(training: LinearHeadTraining, folds: MultiLabelFolds) -> dict[str, Any]:
    """Return the data report as a JSON object. It lists problems of the training data."""
    counts = training.targets.counts(np.arange(training.targets.pictures))
    return {
        "likelyLabelErrors": [
            _suspect_record(training, folds, row, label)
            for row, label in _suspects(folds)[: reports.MAX_LISTED]
        ],
        "expectedPrecision": reports.expected_precision(float(np.median(counts))),
        "confusedLabels": _confusions(training, folds),
        **duplicates_record(training),
        "examined": len(folds.places),
    }


def limits(training: LinearHeadTraining) -> str:
    """Return the limitations of the model as text for the model card."""
    tests = len(training.held_out)
    return " ".join(
        [
            f"Trained on {training.targets.pictures} images. Images of another kind may be "
            "misjudged. Probabilities of rare labels are low even where the label is right: "
            "compare them with the thresholds of this card.",
            f"Metrics come from {tests} images that were held out."
            if tests
            else "No image was held out, so there are no test metrics.",
        ]
    )


def suspect_examples(
    training: LinearHeadTraining, folds: MultiLabelFolds, dataset_id: int
) -> list[SuspectExample]:
    """Return all likely label errors of images; the data report lists only some of them.

    Images of a global dataset are left out, because users cannot correct them.
    """
    return [
        _suspect_example(training, folds, row, label)
        for row, label in _suspects(folds)
        if training.data.pictures.pictures[int(folds.places[row])].dataset_id == dataset_id
    ]


def evaluation(training: LinearHeadTraining, folds: MultiLabelFolds, dataset_id: int) -> Evaluation:
    """Return the evaluation of the dataset `dataset_id`, from out-of-fold predictions.

    Args:
        training: the training, with its images and labels.
        folds: out-of-fold predictions.
        dataset_id: id of the dataset; images of other (global) datasets are left out.
    """
    pictures, names = training.data.pictures.pictures, training.data.pictures.labels
    examples = []
    for row in np.argsort(folds.places, kind="stable").tolist():
        image = pictures[int(folds.places[row])]
        if image.dataset_id != dataset_id:
            continue
        for label in np.flatnonzero(folds.truth[row] | folds.is_answered[row]).tolist():
            index = int(training.targets.present[label])
            has_it, is_given = bool(folds.truth[row, label]), bool(folds.is_answered[row, label])
            example = image.example_ids[image.labels.index(index) if has_it else 0]
            expected, predicted = (names[index] if one else None for one in (has_it, is_given))
            share = round(float(folds.shares[row, label]), 6)
            examples.append(EvaluatedExample(example, expected, predicted, share))
    pairs = zip(folds.shares.ravel().tolist(), folds.truth.ravel().tolist(), strict=True)
    return Evaluation(examples, reliability(pairs))


def _suspect_example(
    training: LinearHeadTraining, folds: MultiLabelFolds, row: int, label: int
) -> SuspectExample:
    data = training.data.pictures
    names = reports.LabelNames(data.labels, data.label_ids)
    record = _suspect_record(training, folds, row, label)
    image, index = data.pictures[int(folds.places[row])], int(training.targets.present[label])
    has_it = bool(folds.truth[row, label])
    return SuspectExample(
        example_id=record["id"],
        digest=image.digest.hex(),
        label_id=names.id_of(index if has_it else image.labels[0]),
        label=record["label"],
        suggestion_id=0 if has_it else names.id_of(index),
        suggestion=record["suggestion"],
        confidence=record["confidence"],
        reason=EXTRA_LABEL if has_it else MISSING_LABEL,
    )


def _suspects(folds: MultiLabelFolds) -> list[tuple[int, int]]:
    found: list[tuple[float, int, int]] = []
    for label in range(folds.truth.shape[1]):
        truth, shares = folds.truth[:, label], folds.shares[:, label]
        rows = reports.likely_binary_errors(shares, truth)
        own = np.where(truth, shares, 1.0 - shares)
        found += [(float(own[row]), int(row), label) for row in rows]
    return [(row, label) for _, row, label in sorted(found)]


def _suspect_record(
    training: LinearHeadTraining, folds: MultiLabelFolds, row: int, label: int
) -> dict[str, Any]:
    image = training.data.pictures.pictures[int(folds.places[row])]
    index = int(training.targets.present[label])
    name, has_it = training.data.pictures.labels[index], bool(folds.truth[row, label])
    example = image.labels.index(index) if has_it else 0
    share = float(folds.shares[row, label])
    return {
        "id": image.example_ids[example],
        "name": image.name,
        "label": sign_of(name, is_present=has_it),
        "suggestion": sign_of(name, is_present=not has_it),
        "confidence": round(1.0 - share if has_it else share, 6),
    }


def _confusions(training: LinearHeadTraining, folds: MultiLabelFolds) -> list[dict[str, Any]]:
    missed = folds.truth & ~folds.is_answered
    invented = folds.is_answered & ~folds.truth
    # A confusion is an image in which one label is missed and another one invented.
    rows = np.flatnonzero(missed.any(axis=1) & invented.any(axis=1))
    pairs = [
        (label, answer)
        for row in rows
        for label in np.flatnonzero(missed[row])
        for answer in np.flatnonzero(invented[row])
    ]
    table = np.array(pairs, np.int64).reshape(-1, 2)
    names = present_labels(training)
    return reports.confusion_records(names, table[:, 0], table[:, 1])
