"""Calibration, data report and limits of a model of type image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines import data_report as reports
from chalicelib.engines import metrics
from chalicelib.engines.text.head.calibration import fit_temperature, probabilities
from chalicelib.engines.vision.report.card import share_record
from chalicelib.engines.vision.report.duplicates import duplicates_record

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.engines.vision.head.training import HeadTraining

    Floats = npt.NDArray[np.floating[Any]]
    Ints = npt.NDArray[np.int64]

_LOWEST, _HIGHEST = 0.25, 8.0


@dataclass(frozen=True, slots=True, eq=False)
class ImageFolds:
    """What heads said of pictures that they had not seen."""

    places: Ints
    """Pictures, int, shape (n,)."""
    logits: npt.NDArray[np.float32]
    """Scores of the labels that occur, float32, shape (n, labels)."""
    truth: Ints
    """Label of every picture among those that occur, int, shape (n,)."""

    def calibration_error(self, temperature: float) -> float | None:
        """Mean gap of probability and accuracy, 0 to 1; None without pictures."""
        if not len(self.truth):
            return None
        shares = probabilities(self.logits, temperature)
        return round(metrics.calibration_error(shares, self.truth), 6)

    def card_metrics(self, last: dict[str, Any], tests: int, temperature: float) -> dict[str, Any]:
        """Return the card's metrics.

        Args:
            last: metricsData of the last epoch.
            tests: pictures held out.
            temperature: of the served model.
        """
        shares = probabilities(self.logits, temperature)
        hits = int((self.logits.argmax(axis=1) == self.truth).sum()) if len(self.truth) else 0
        return {
            "testAccuracy": share_record(round(last["testAccuracy"] * tests), tests),
            "foldAccuracy": share_record(hits, len(self.truth)),
            "brierScore": round(metrics.brier_score(shares, self.truth), 6),
        }


def served_temperature(folds: ImageFolds) -> float:
    """Fit the temperature; few pictures, all answered rightly, must not make it extreme.

    The doubt is the rule of succession's: after n right answers the next one may be wrong with a
    chance of 1 / (n + 2).
    """
    doubt = 1.0 / (len(folds.truth) + 2)
    return min(_HIGHEST, max(_LOWEST, fit_temperature(folds.logits, folds.truth, doubt)))


def data_report(training: HeadTraining, folds: ImageFolds, shares: Floats) -> dict[str, Any]:
    """Say what the training noticed about its data.

    Args:
        training: pictures and near-duplicates.
        folds: answers out of fold.
        shares: their probabilities, float, shape (n, labels).
    """
    typical = float(np.median(training.targets.counts(np.arange(training.targets.pictures))))
    suspects = reports.likely_label_errors(shares, folds.truth) if len(folds.truth) else []
    return {
        "likelyLabelErrors": [_suspect_record(training, folds, one) for one in suspects],
        "expectedPrecision": reports.expected_precision(typical),
        "confusedLabels": _confusions(training, folds),
        **duplicates_record(training),
        "examined": len(folds.places),
    }


def limits(training: HeadTraining) -> str:
    """Say in words what the model should not be trusted with."""
    tests = len(training.held)
    counts = training.targets.counts(np.arange(training.targets.pictures))
    parts = [
        f"Trained on {training.targets.pictures} pictures; pictures of another kind may be "
        "misjudged, and one that shows none of the labels is given one of them nevertheless.",
        f"Metrics come from {tests} pictures that were held out."
        if tests
        else "No picture was held out, so there are no test metrics.",
    ]
    names = training.data.pictures.labels
    few = [names[training.targets.present[label]] for label in np.flatnonzero(counts < 5)]
    if few:
        parts.append(f"Labels with fewer than 5 pictures are unreliable: {', '.join(few[:10])}.")
    if not training.is_exact:
        parts.append("With this many pictures the artifact may differ between processors.")
    return " ".join(parts)


def _suspect_record(
    training: HeadTraining, folds: ImageFolds, suspect: reports.Suspect
) -> dict[str, Any]:
    """Name a likely label error."""
    place = int(folds.places[suspect.example])
    picture, names = training.data.pictures.pictures[place], training.data.pictures.labels
    return {
        "id": picture.example_ids[0],
        "name": picture.name,
        "label": names[picture.labels[0]],
        "suggestion": names[training.targets.present[suspect.suggestion]],
        "confidence": round(suspect.confidence, 6),
    }


def _confusions(training: HeadTraining, folds: ImageFolds) -> list[dict[str, Any]]:
    """Name labels that are mixed up more often than by chance."""
    if not len(folds.truth):
        return []
    names, present = training.data.pictures.labels, training.targets.present
    found = reports.confused_labels(folds.truth, folds.logits.argmax(axis=1), len(present))
    return [
        {
            "label": names[present[one.label]],
            "predictedLabel": names[present[one.answer]],
            "count": one.times,
            "expectedByChance": round(one.expected, 6),
        }
        for one in found
    ]
