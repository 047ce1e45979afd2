"""Card metrics, data report and limits of a model of type image-multi-label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines import data_report as reports
from chalicelib.engines import metrics
from chalicelib.engines.vision.multi_label.evaluation import mean_average_precision, sign_of
from chalicelib.engines.vision.report.card import share_record
from chalicelib.engines.vision.report.duplicates import duplicates_record

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.engines.vision.head.training import HeadTraining

    Bools = npt.NDArray[np.bool_]
    Doubles = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MultiLabelFolds:
    """What heads said of pictures that they had not seen."""

    places: Ints
    """Pictures, int, shape (n,)."""
    is_answered: Bools
    """Whether the score was above 0, bool, shape (n, labels)."""
    shares: Doubles
    """Calibrated probabilities, float64, shape (n, labels)."""
    truth: Bools
    """Whether a picture has a label, bool, shape (n, labels)."""

    def calibration_error(self) -> float | None:
        """Mean gap of probability and frequency over all pairs; None without pictures."""
        if not self.truth.size:
            return None
        pairs = np.stack([1.0 - self.shares.ravel(), self.shares.ravel()], axis=1)
        error = metrics.calibration_error(pairs, self.truth.ravel().astype(np.int64))
        return round(error, 6)

    def card_metrics(self, last: dict[str, Any], tests: int) -> dict[str, Any]:
        """Return the card's metrics.

        Args:
            last: metricsData of the last epoch.
            tests: pictures held out.
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


def data_report(training: HeadTraining, folds: MultiLabelFolds) -> dict[str, Any]:
    """Say what the training noticed about its data.

    Args:
        training: pictures and near-duplicates.
        folds: answers out of fold.
    """
    counts = training.targets.counts(np.arange(training.targets.pictures))
    return {
        "likelyLabelErrors": _suspects(training, folds),
        "expectedPrecision": reports.expected_precision(float(np.median(counts))),
        "confusedLabels": _confusions(training, folds),
        **duplicates_record(training),
        "examined": len(folds.places),
    }


def limits(training: HeadTraining) -> str:
    """Say in words what the model should not be trusted with."""
    tests = len(training.held)
    return " ".join(
        [
            f"Trained on {training.targets.pictures} pictures; pictures of another kind may be "
            "misjudged. Probabilities of rare labels are low even where the label is right: "
            "compare them with the thresholds of this card.",
            f"Metrics come from {tests} pictures that were held out."
            if tests
            else "No picture was held out, so there are no test metrics.",
        ]
    )


def _suspects(training: HeadTraining, folds: MultiLabelFolds) -> list[dict[str, Any]]:
    """Name labels that are probably missing or wrong, the most suspicious first."""
    found: list[tuple[float, int, int]] = []
    for label in range(folds.truth.shape[1]):
        truth, shares = folds.truth[:, label], folds.shares[:, label]
        rows = reports.likely_binary_errors(shares, truth)
        own = np.where(truth, shares, 1.0 - shares)
        found += [(float(own[row]), int(row), label) for row in rows]
    return [
        _suspect_record(training, folds, row, label)
        for _, row, label in sorted(found)[: reports.MAX_LISTED]
    ]


def _suspect_record(
    training: HeadTraining, folds: MultiLabelFolds, row: int, label: int
) -> dict[str, Any]:
    """Name one pair of picture and label."""
    picture = training.data.pictures.pictures[int(folds.places[row])]
    index = int(training.targets.present[label])
    name, has_it = training.data.pictures.labels[index], bool(folds.truth[row, label])
    example = picture.labels.index(index) if has_it else 0
    share = float(folds.shares[row, label])
    return {
        "id": picture.example_ids[example],
        "name": picture.name,
        "label": sign_of(name, is_present=has_it),
        "suggestion": sign_of(name, is_present=not has_it),
        "confidence": round(1.0 - share if has_it else share, 6),
    }


def _confusions(training: HeadTraining, folds: MultiLabelFolds) -> list[dict[str, Any]]:
    """Name labels that are answered in pictures where another one is missed."""
    missed = folds.truth & ~folds.is_answered
    invented = folds.is_answered & ~folds.truth
    rows = np.flatnonzero(missed.any(axis=1) & invented.any(axis=1))
    pairs = [
        (label, answer)
        for row in rows
        for label in np.flatnonzero(missed[row])
        for answer in np.flatnonzero(invented[row])
    ]
    table = np.array(pairs, np.int64).reshape(-1, 2)
    names, present = training.data.pictures.labels, training.targets.present
    return [
        {
            "label": names[present[one.label]],
            "predictedLabel": names[present[one.answer]],
            "count": one.times,
            "expectedByChance": round(one.expected, 6),
        }
        for one in reports.confused_labels(table[:, 0], table[:, 1], len(present))
    ]
