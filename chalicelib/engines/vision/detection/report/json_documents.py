"""The metrics of a detection model in the API's own form. Contract section 4, Metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.metrics import CURVE_POINTS, rounded
from chalicelib.engines.vision.detection.evaluation.average_precision import mean_average_precision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.engines.vision.detection.evaluation.average_precision import LabelQuality

_DIGITS = 6


def metrics_document(
    labels: Sequence[str], by_label: Sequence[LabelQuality], training_loss: float
) -> dict[str, Any]:
    """Return the metricsData of a model or of an epoch.

    Args:
        labels: names.
        by_label: quality on the held-out pictures.
        training_loss: mean of the last epoch.
    """
    return {
        "labelMetrics": [
            _label_document(name, quality) for name, quality in zip(labels, by_label, strict=True)
        ],
        "modelMetrics": {
            "trainingLoss": round(training_loss, _DIGITS),
            "meanAveragePrecision": _rounded(mean_average_precision(by_label)),
        },
    }


def curve_record(epoch: int, metrics: dict[str, Any]) -> dict[str, Any]:
    """Return one record of the learning curve."""
    return {
        "epoch": epoch,
        "metricsData": metrics,
        "epochResults": {},
        "object": "learningcurve",
    }


def _label_document(name: str, quality: LabelQuality) -> dict[str, Any]:
    """Return one label's metrics, its curves thinned to 100 scores."""
    count = len(quality.recall)
    picks = np.linspace(0, count - 1, min(count, CURVE_POINTS)).round().astype(int)
    return {
        "label": name,
        "averagePrecision": _rounded(quality.average_precision),
        "f1": rounded(quality.f1[picks]),
        "precision": rounded(quality.precision[picks]),
        "recall": rounded(quality.recall[picks]),
    }


def _rounded(value: float | None) -> float | None:
    """Round what is known."""
    return None if value is None else round(value, _DIGITS)
