"""The card of a detection model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chalicelib.domain.common.clock import date_text
from chalicelib.engines.vision.detection.answering.model_file import KIND, VERSION
from chalicelib.engines.vision.detection.evaluation.intervals import LEVEL
from chalicelib.engines.vision.detection.training.algorithms import FLOOR
from chalicelib.engines.vision.detection.views.extractor import BACKBONES

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.models.model import Model
    from chalicelib.engines.interface import Interval
    from chalicelib.engines.vision.detection.evaluation.calibration import Calibration
    from chalicelib.engines.vision.detection.training.stage import Course

_DIGITS = 6


@dataclass(frozen=True)
class CardFacts:
    """What the card says beside the run itself."""

    artifact_sha256: str
    """Digest of the artifact, 64 hex digits."""
    average_precision: Interval | None
    """Mean AP over the held-out pictures; None when that cannot be said."""
    calibration_error: float | None
    """Gap between probability and being right; None when nothing was held out."""
    calibration: Calibration
    """From scores to probabilities."""
    tried: tuple[float | None, float | None] | None
    """Mean AP without and with a second look inside the training part; None if not tried."""
    has_crops: bool
    """Whether boxes are looked at twice."""
    report: dict[str, Any]
    """The data report."""


def card_document(course: Course, facts: CardFacts, model: Model, now: datetime) -> dict[str, Any]:
    """Return the model's card.

    Args:
        course: pictures and options.
        facts: what was measured.
        model: the run.
        now: date of the card.
    """
    pictures = course.data.pictures
    return {
        "modelId": model.model_id,
        "name": model.name,
        "algorithm": course.rules.algorithm,
        "language": model.language,
        "createdAt": date_text(now),
        "trainedOn": {
            "datasetId": model.dataset_id,
            "examples": pictures.examples,
            "pictures": len(pictures.pictures),
            "labels": len(pictures.labels),
            "feedback": pictures.feedback,
        },
        "engine": _engine_document(course, facts),
        "artifactSha256": facts.artifact_sha256,
        "metrics": {"meanAveragePrecision": _interval_document(facts.average_precision)},
        "calibrationError": _rounded(facts.calibration_error),
        "limits": _limits(course, facts),
        "dataReport": facts.report,
        "object": "card",
    }


def _engine_document(course: Course, facts: CardFacts) -> dict[str, Any]:
    """Say with what and how it was trained."""
    networks = [course.backbones.facts(name) for name in BACKBONES]
    without, with_crops = facts.tried or (None, None)
    return {
        "name": KIND,
        "version": VERSION,
        "backbones": [
            {"name": network.title, "sha256": network.sha256, "licence": network.licence}
            for network in networks
        ],
        "seed": course.options.seed,
        "algorithm": course.rules.algorithm,
        "isAugmented": course.options.augment,
        "calibration": {"slope": facts.calibration.slope, "offset": facts.calibration.offset},
        "secondLook": {
            "isOn": facts.has_crops,
            "meanAveragePrecisionWithout": _rounded(without),
            "meanAveragePrecisionWith": _rounded(with_crops),
        },
    }


def _interval_document(interval: Interval | None) -> dict[str, float] | None:
    """Value, bounds and level."""
    if interval is None:
        return None
    return {
        "value": round(interval.value, _DIGITS),
        "low": round(interval.low, _DIGITS),
        "high": round(interval.high, _DIGITS),
        "level": LEVEL,
    }


def _limits(course: Course, facts: CardFacts) -> str:
    """Say in words what the model should not be trusted with."""
    pictures, rules = course.data.pictures, course.rules
    parts = [
        f"Trained on {pictures.examples} boxes in {len(course.trained) + len(course.tested)} "
        "pictures; pictures of another kind may be misjudged.",
        f"Answers have a probability of at least {FLOOR:g} and are at most {rules.most_boxes}.",
    ]
    if not rules.is_tiled:
        parts.append("Objects smaller than a fiftieth of the picture's side may be missed.")
    if course.tested:
        parts.append(f"Metrics come from {len(course.tested)} pictures that were held out.")
    else:
        parts.append("No picture was held out, so nothing is known of new pictures.")
    if facts.calibration_error is not None and facts.calibration.slope == 1.0:
        parts.append(
            "Probabilities are scores of the head; too few answers were held out to calibrate them."
        )
    return " ".join(parts)


def _rounded(value: float | None) -> float | None:
    """Round what is known."""
    return None if value is None else round(value, _DIGITS)
