"""What a finished training hands over: artifact, metrics and card."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.answering.model_file import DetectionModel, dump_model
from chalicelib.engines.vision.detection.evaluation.average_precision import Judged, qualities
from chalicelib.engines.vision.detection.evaluation.calibration import (
    Calibration,
    calibration_error,
    fit_calibration,
)
from chalicelib.engines.vision.detection.evaluation.intervals import bootstrap_interval
from chalicelib.engines.vision.detection.report.card import CardFacts, card_document
from chalicelib.engines.vision.detection.report.data_report import Reviewed, data_report
from chalicelib.engines.vision.detection.report.json_documents import metrics_document
from chalicelib.engines.vision.detection.training.algorithms import FLOOR
from chalicelib.engines.vision.detection.views.extractor import BACKBONES
from chalicelib.engines.vision.interface import BackboneUse, FittedVision

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.detection.head.crop_head import CropHead
    from chalicelib.engines.vision.detection.head.run import HeadRun
    from chalicelib.engines.vision.detection.training.stage import Course
    from chalicelib.engines.vision.detection.training.stage_4_review import ReviewStage


@dataclass(frozen=True)
class Outcome:
    """The stages' results."""

    course: Course
    """Pictures and options."""
    run: HeadRun
    """The head."""
    review: ReviewStage
    """What was measured."""
    crop_head: CropHead | None
    """Of the second look."""
    tried: tuple[float | None, float | None] | None
    """Mean AP without and with a second look inside the training part; None if not tried."""


def finished(outcome: Outcome, model: Model, now: datetime) -> FittedVision:
    """Make artifact, metrics and card.

    Args:
        outcome: of the stages.
        model: the run.
        now: date of the card.
    """
    course, judged = outcome.course, outcome.review.judged
    curve = fit_calibration(judged)
    artifact = dump_model(_model_of(outcome, curve))
    answered = [_calibrated(part, curve) for part in judged]
    by_label = qualities(answered, len(course.labels))
    facts = CardFacts(
        artifact_sha256=hashlib.sha256(artifact).hexdigest(),
        average_precision=bootstrap_interval(answered, len(course.labels), course.options.seed),
        calibration_error=calibration_error(judged),
        calibration=curve,
        tried=outcome.tried,
        has_crops=outcome.crop_head is not None,
        report=_report(outcome),
    )
    return FittedVision(
        artifact=artifact,
        metrics=metrics_document(course.labels, by_label, outcome.run.loss),
        card=card_document(course, facts, model, now),
        epochs=outcome.run.epoch,
        train_size=len(course.trained),
        test_size=len(course.tested),
    )


def _model_of(outcome: Outcome, curve: Calibration) -> DetectionModel:
    """Put the model together."""
    course = outcome.course
    uses = [BackboneUse(name, course.backbones.facts(name).sha256) for name in BACKBONES]
    return DetectionModel(
        algorithm=course.rules.algorithm,
        labels=list(course.labels),
        backbones=uses,
        vector=outcome.run.vector,
        crop_head=outcome.crop_head,
        calibration=curve,
    )


def _calibrated(judged: Judged, curve: Calibration) -> Judged:
    """The answers as the model gives them: probabilities, unlikely ones left out."""
    scores = curve.apply(judged.scores)
    stays = scores >= FLOOR
    return replace(
        judged,
        labels=judged.labels[stays],
        scores=scores[stays],
        is_right=judged.is_right[stays],
    )


def _report(outcome: Outcome) -> dict[str, object]:
    """Write the data report."""
    course, review = outcome.course, outcome.review
    tested = frozenset(course.tested)
    reviewed = [
        Reviewed(
            course.data.pictures.pictures[place],
            course.data.features.size(place),
            place in tested,
        )
        for place in review.places
    ]
    return data_report(reviewed, review.pooled, review.suspicions)
