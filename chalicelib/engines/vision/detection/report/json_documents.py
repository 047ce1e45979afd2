"""The JSON documents of a detection model: metrics, learning curve and model card.

The contract defines them in sections 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.common.clock import date_text
from chalicelib.engines.metrics import CURVE_POINTS, rounded
from chalicelib.engines.vision.detection.algorithms import FLOOR
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    LEVEL,
    mean_average_precision,
)
from chalicelib.engines.vision.detection.evaluation.calibration import Calibration
from chalicelib.engines.vision.detection.inference.model_file import KIND, VERSION
from chalicelib.engines.vision.detection.views.extractor import BACKBONES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from chalicelib.domain.models.model import Model
    from chalicelib.engines.interface import Interval
    from chalicelib.engines.vision.detection.evaluation.average_precision import PrecisionRecall
    from chalicelib.engines.vision.detection.evaluation.comparison import Compared
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.ways import AnswerWay

_DIGITS = 6
# Time of a prediction with the mirror image, relative to one without.
_MIRROR_TIMES = 2
# Mean average precision below which a model is called not usable.
_LEAST_USABLE = 0.3
# Boxes of a label that a detector usually needs.
_ENOUGH_BOXES = 30


def metrics_document(
    labels: Sequence[str], by_label: Sequence[PrecisionRecall], training_loss: float
) -> dict[str, Any]:
    """Return the JSON object `metricsData` of a model or an epoch.

    Args:
        labels: label names.
        by_label: precision and recall on the held-out images, in the order of the labels.
        training_loss: mean loss of the last epoch.
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
    """Return the learning curve record of an epoch."""
    return {
        "epoch": epoch,
        "metricsData": metrics,
        "epochResults": {},
        "object": "learningcurve",
    }


def _label_document(name: str, quality: PrecisionRecall) -> dict[str, Any]:
    count = len(quality.recall)
    picks = np.linspace(0, count - 1, min(count, CURVE_POINTS)).round().astype(int)
    return {
        "label": name,
        "averagePrecision": _rounded(quality.average_precision),
        "f1": rounded(quality.f1[picks]),
        "precision": rounded(quality.precision[picks]),
        "recall": rounded(quality.recall[picks]),
    }


@dataclass(frozen=True)
class DetectionCardFacts:
    """Measurements of a detection training that the model card shows."""

    artifact_sha256: str
    average_precision: Interval | None
    """Mean average precision (AP) on images that were not trained on; None if unknown."""
    measured: int
    """Number of images on which the AP was measured: held-out images, or images of folds."""
    calibration_error: float | None
    """Mean gap between probability and accuracy on unseen images; None if nothing was detected."""
    calibration: Calibration
    threshold: float | None
    """Suggested probability threshold; None if unknown."""
    proposals: float | None
    """Mean AP of proposals on folds of the training part; None if not tried."""
    dense: Compared | None
    """Gain in mean AP of the dense head over proposals, on the same folds; None if not tried."""
    mirror: Compared | None
    """Gain in mean AP from adding mirror images, on the same folds; None if not tried."""
    second_look: Compared | None
    """Gain in mean AP from classifying crops again, on the same folds; None if not tried."""
    way: AnswerWay
    """Detection method of the model."""
    report: dict[str, Any]


def card_document(
    context: DetectionContext, facts: DetectionCardFacts, model: Model, now: datetime
) -> dict[str, Any]:
    """Return the model card."""
    pictures = context.data.pictures
    return {
        "modelId": model.model_id,
        "name": model.name,
        "algorithm": context.rules.algorithm,
        "language": model.language,
        "createdAt": date_text(now),
        "trainedOn": {
            "datasetId": model.dataset_id,
            "examples": pictures.examples,
            "pictures": len(pictures.pictures),
            "labels": len(pictures.labels),
            "feedback": pictures.feedback,
        },
        "engine": _engine_document(context, facts),
        "artifactSha256": facts.artifact_sha256,
        "metrics": {"meanAveragePrecision": _interval_document(facts.average_precision)},
        "calibrationError": _rounded(facts.calibration_error),
        "threshold": facts.threshold,
        "limits": _limits(context, facts),
        "dataReport": facts.report,
        "object": "card",
    }


def _engine_document(context: DetectionContext, facts: DetectionCardFacts) -> dict[str, Any]:
    networks = [context.backbones.facts(name) for name in BACKBONES]
    return {
        "name": KIND,
        "version": VERSION,
        "backbones": [
            {"name": network.title, "sha256": network.sha256, "licence": network.licence}
            for network in networks
        ],
        "seed": context.options.seed,
        "algorithm": context.rules.algorithm,
        "isAugmented": context.options.augment,
        "calibration": {"slope": facts.calibration.slope, "offset": facts.calibration.offset},
        "mirrorImage": _tried_document(facts.mirror, is_on=facts.way.is_mirrored)
        | {"timeFactor": _MIRROR_TIMES},
        "proposals": {
            "isOn": facts.way.proposal_head is not None,
            "meanAveragePrecision": _rounded(facts.proposals),
        },
        "denseHead": _tried_document(facts.dense, is_on=facts.way.is_dense),
        "secondLook": _tried_document(facts.second_look, is_on=facts.way.crop_head is not None),
    }


def _tried_document(comparison: Compared | None, *, is_on: bool) -> dict[str, Any]:
    return {
        "isOn": is_on,
        "meanAveragePrecisionWithout": _rounded(comparison.before if comparison else None),
        "meanAveragePrecisionWith": _rounded(comparison.after if comparison else None),
        "gain": _interval_document(comparison.gain if comparison else None),
    }


def _interval_document(interval: Interval | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {
        "value": round(interval.value, _DIGITS),
        "low": round(interval.low, _DIGITS),
        "high": round(interval.high, _DIGITS),
        "level": LEVEL,
    }


def _limits(context: DetectionContext, facts: DetectionCardFacts) -> str:
    pictures, rules = context.data.pictures, context.rules
    parts = [
        f"Trained on {pictures.examples} boxes in {len(context.trained) + len(context.tested)} "
        "images. Images of another kind may be misjudged.",
        f"Answers have a probability of at least {FLOOR:g} and are at most {rules.most_boxes}.",
    ]
    if not rules.is_tiled:
        parts.append("Objects smaller than a fiftieth of the image's side may be missed.")
    parts += _measured_limits(context, facts)
    if facts.calibration == Calibration():
        parts.append(
            "Probabilities are uncalibrated scores of the head: too few images were held out to "
            "calibrate them."
        )
    gain = facts.mirror.gain if facts.mirror else None
    if facts.way.is_mirrored and gain is not None:
        parts.append(
            "Each image is answered together with its mirror image, which takes twice the time "
            f"and gained {gain.value:.3f} of mean average precision (95 % interval {gain.low:.3f} "
            f"to {gain.high:.3f}) on images that were not trained on."
        )
    if facts.threshold is not None:
        parts.append(
            f"Answers from a probability of {facts.threshold:g} on had the best balance of "
            "precision and recall on images that were not trained on. Less probable answers are "
            "returned, too."
        )
    return " ".join(parts)


def _measured_limits(context: DetectionContext, facts: DetectionCardFacts) -> list[str]:
    if not facts.measured:
        return ["No image was held out, so the quality on new images is unknown."]
    parts = [f"Metrics come from {len(context.tested)} images that were held out."]
    if facts.measured > len(context.tested):
        parts = [
            f"The mean average precision comes from {facts.measured} images, each answered by a "
            "model that was trained without it; metricsData only from the "
            f"{len(context.tested)} that were held out."
        ]
    found = facts.average_precision
    if found is not None and found.value < _LEAST_USABLE:
        boxes = context.data.pictures.examples / max(1, len(context.labels))
        parts.append(
            f"This model is not usable yet: its mean average precision is {found.value:.2f}, and "
            f"below {_LEAST_USABLE:g} most answers are wrong or missing. It has {boxes:.0f} boxes "
            f"a label; label at least {_ENOUGH_BOXES} of each, merge labels that look alike, and "
            "crop images around small objects."
        )
    return parts


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
