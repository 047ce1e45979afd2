"""Writes learning curve, model card metrics, data report and limitations of a model of type image.

Sections 4 and 5 of the contract define the JSON. `shares` are out-of-fold probabilities of labels,
float, shape (images, labels).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.common.limits import MAX_EPOCH_RESULTS
from chalicelib.domain.models.evaluation import Evaluation
from chalicelib.engines import data_report as reports
from chalicelib.engines import metrics
from chalicelib.engines.advice import single_label_advice
from chalicelib.engines.calibration import fit_temperature, probabilities
from chalicelib.engines.evaluation import evaluate_single
from chalicelib.engines.target_thresholds import target_thresholds
from chalicelib.engines.vision.linear_head.report import (
    duplicates_record,
    present_labels,
    share_record,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Floats, Ints, Singles
    from chalicelib.domain.models.suspects import SuspectExample
    from chalicelib.engines.vision.linear_head.fit import LinearFit
    from chalicelib.engines.vision.linear_head.training import LinearHeadTraining


def curve_record(epoch: int, training: LinearHeadTraining, fit: LinearFit) -> dict[str, Any]:
    """Return the learning curve record of an epoch, for the head in `fit`."""
    targets, held, seen = training.targets, training.held_out, training.scored_part
    names = training.data.pictures.labels
    truth = targets.single()
    seen_logits = fit.logits(seen)
    answers = fit.logits(held).argmax(axis=1)
    present = targets.present
    matrix = metrics.confusion_matrix(present[truth[held]], present[answers], len(names))
    hits = int(np.trace(matrix))
    # Accuracy and loss of a large training part come from a sample of it, to save time.
    right = seen_logits.argmax(axis=1) == truth[seen]
    return {
        "epoch": epoch,
        "metricsData": {
            "f1": metrics.rounded(metrics.label_scores(matrix, len(names)).f1),
            "labels": list(names),
            "testAccuracy": round(hits / max(len(held), 1), 6),
            "trainingLoss": round(fit.mean_loss(seen_logits, seen), 6),
            "confusionMatrix": matrix.tolist(),
            "trainingAccuracy": round(float(right.mean()), 6),
        },
        "epochResults": _results(training, held, present[answers]),
        "object": "learningcurve",
    }


def _results(training: LinearHeadTraining, examples: Ints, answers: Ints) -> list[dict[str, str]]:
    pictures, names = training.data.pictures.pictures, training.data.pictures.labels
    results = []
    for place, answer in zip(examples[:MAX_EPOCH_RESULTS], answers, strict=False):
        expected = names[pictures[place].labels[0]]
        results.append(
            {
                "exampleName": f"{pictures[place].name}-{expected}",
                "expectedLabel": expected,
                "predictedLabel": names[answer],
            }
        )
    return results


_LOWEST, _HIGHEST = 0.25, 8.0


@dataclass(frozen=True, slots=True, eq=False)
class ImageFolds:
    """Out-of-fold predictions, from heads that were not trained on the predicted images."""

    places: Ints
    """Image indexes, int, shape (n,)."""
    logits: Singles
    """Logits of the labels that have images, float32, shape (n, labels)."""
    truth: Ints
    """True label of each image, as an index of the labels that have images, int, shape (n,)."""

    def calibration_error(self, temperature: float) -> float | None:
        """Return the mean difference between probability and accuracy; None without images."""
        if not len(self.truth):
            return None
        shares = probabilities(self.logits, temperature)
        return round(metrics.calibration_error(shares, self.truth), 6)

    def card_metrics(self, last: dict[str, Any], tests: int, temperature: float) -> dict[str, Any]:
        """Return accuracies and Brier score for the model card.

        Args:
            last: learning curve record of the last epoch, with the accuracy on held-out images.
            tests: number of held-out images.
            temperature: number by which the logits are divided.
        """
        shares = probabilities(self.logits, temperature)
        hits = int((self.logits.argmax(axis=1) == self.truth).sum()) if len(self.truth) else 0
        return {
            "testAccuracy": share_record(round(last["testAccuracy"] * tests), tests),
            "foldAccuracy": share_record(hits, len(self.truth)),
            "brierScore": round(metrics.brier_score(shares, self.truth), 6),
        }

    def thresholds(self, shares: Floats) -> list[dict[str, Any]]:
        """Return the model card's probability thresholds, one record for each target precision."""
        return target_thresholds(shares.max(axis=1), shares.argmax(axis=1) == self.truth)

    def advice(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the model card's advice on improving the model; `names` are the label names."""
        return single_label_advice(names, self.truth, self.logits.argmax(axis=1))


def served_temperature(folds: ImageFolds) -> float:
    """Return the temperature of the model, fitted to out-of-fold logits.

    Targets are smoothed, because otherwise the temperature would be extreme if errors are few.
    """
    # Rule of succession: after n correct predictions, the next is wrong with probability 1 / (n +
    # 2).
    smoothing = 1.0 / (len(folds.truth) + 2)
    return min(_HIGHEST, max(_LOWEST, fit_temperature(folds.logits, folds.truth, smoothing)))


def data_report(training: LinearHeadTraining, folds: ImageFolds, shares: Floats) -> dict[str, Any]:
    """Return the data report as a JSON object. It lists problems of the training data."""
    typical = float(np.median(training.targets.counts(np.arange(training.targets.pictures))))
    suspects = reports.likely_label_errors(shares, folds.truth) if len(folds.truth) else []
    return {
        "likelyLabelErrors": [_suspect_record(training, folds, one) for one in suspects],
        "expectedPrecision": reports.expected_precision(typical),
        "confusedLabels": _confusions(training, folds),
        **duplicates_record(training),
        "examined": len(folds.places),
    }


def limits(training: LinearHeadTraining) -> str:
    """Return the limitations of the model as text for the model card."""
    tests = len(training.held_out)
    counts = training.targets.counts(np.arange(training.targets.pictures))
    parts = [
        f"Trained on {training.targets.pictures} images. Images of another kind may be misjudged, "
        "and an image that shows none of the labels gets one of them all the same.",
        f"Metrics come from {tests} images that were held out."
        if tests
        else "No image was held out, so there are no test metrics.",
    ]
    names = training.data.pictures.labels
    few = [names[training.targets.present[label]] for label in np.flatnonzero(counts < 5)]
    if few:
        parts.append(f"Labels with fewer than 5 images are unreliable: {', '.join(few[:10])}.")
    if not training.is_exact:
        parts.append("With this many images the artifact may differ between processors.")
    return " ".join(parts)


def suspect_examples(
    training: LinearHeadTraining, folds: ImageFolds, shares: Floats, dataset_id: int
) -> list[SuspectExample]:
    """Return all images with likely label errors; the data report lists only some of them.

    Images of a global dataset are left out, because users cannot correct them.
    """
    data = training.data.pictures
    names = reports.LabelNames(data.labels, data.label_ids)
    found: list[SuspectExample] = []
    if not len(folds.truth):
        return found
    for one in reports.likely_label_errors(shares, folds.truth, len(folds.truth)):
        image = data.pictures[int(folds.places[one.example])]
        if image.dataset_id == dataset_id:
            suspect = one._replace(suggestion=int(training.targets.present[one.suggestion]))
            example, digest = image.example_ids[0], image.digest.hex()
            found.append(names.suspect(example, digest, image.labels[0], suspect))
    return found


def evaluation(
    training: LinearHeadTraining, folds: ImageFolds, shares: Floats, dataset_id: int
) -> Evaluation:
    """Return the evaluation of the dataset `dataset_id`, from out-of-fold predictions.

    Images of other (global) datasets are left out.
    """
    if not len(folds.truth):
        return Evaluation()
    order = np.argsort(folds.places, kind="stable")
    pictures = [training.data.pictures.pictures[place] for place in folds.places[order].tolist()]
    ids = [one.example_ids[0] if one.dataset_id == dataset_id else None for one in pictures]
    return evaluate_single(ids, present_labels(training), folds.truth[order], shares[order])


def _suspect_record(
    training: LinearHeadTraining, folds: ImageFolds, suspect: reports.Suspect
) -> dict[str, Any]:
    place = int(folds.places[suspect.example])
    image, names = training.data.pictures.pictures[place], training.data.pictures.labels
    return {
        "id": image.example_ids[0],
        "name": image.name,
        "label": names[image.labels[0]],
        "suggestion": names[training.targets.present[suspect.suggestion]],
        "confidence": round(suspect.confidence, 6),
    }


def _confusions(training: LinearHeadTraining, folds: ImageFolds) -> list[dict[str, Any]]:
    if not len(folds.truth):
        return []
    names = present_labels(training)
    return reports.confusion_records(names, folds.truth, folds.logits.argmax(axis=1))
