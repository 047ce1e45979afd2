"""Makes the results of a finished training: artifact, metrics and model card."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chalicelib.engines.data_report import LabelNames
from chalicelib.engines.vision.detection.algorithms import FLOOR
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    EvaluatedImage,
    bootstrap_interval,
    precision_recall,
)
from chalicelib.engines.vision.detection.evaluation.calibration import (
    Calibration,
    calibration_error,
    fit_calibration,
    suggest_threshold,
)
from chalicelib.engines.vision.detection.inference.model_file import DetectionModel, dump_model
from chalicelib.engines.vision.detection.report.data_report import (
    Reviewed,
    data_report,
    suspect_examples,
)
from chalicelib.engines.vision.detection.report.json_documents import (
    DetectionCardFacts,
    card_document,
    metrics_document,
)
from chalicelib.engines.vision.detection.views.extractor import BACKBONES
from chalicelib.engines.vision.interface import BackboneUse, FittedVision

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.models.model import Model
    from chalicelib.domain.models.suspects import SuspectExample
    from chalicelib.engines.vision.detection.head.fit import DenseFit
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.stage_4_review import ReviewStage
    from chalicelib.engines.vision.detection.training.trials import Trials


@dataclass(frozen=True)
class StageResults:
    """The finished stages of a training."""

    context: DetectionContext
    run: DenseFit
    review: ReviewStage
    trials: Trials
    """Trials of detection methods on folds of the training part."""
    epochs: int
    """Number of learning curve records."""

    @property
    def loss(self) -> float:
        """Training loss of the dense head if the model uses it, otherwise of the proposal head."""
        return self.run.loss if self.trials.way.is_dense else self.trials.proposals.loss

    @property
    def unseen(self) -> list[EvaluatedImage]:
        """Return detections in images, from heads that were not trained on these images."""
        return [*self.review.evaluated, *self.trials.evaluated]


def finish_training(outcome: StageResults, model: Model, now: datetime) -> FittedVision:
    """Make the artifact, the metrics and the model card."""
    context, trials, unseen = outcome.context, outcome.trials, outcome.unseen
    # Small trainings also use the detections of their folds, because few images are held out.
    curve = fit_calibration(unseen)
    artifact = dump_model(_model_of(outcome, curve))
    answered = [_calibrated(part, curve) for part in outcome.review.evaluated]
    by_label = precision_recall(answered, len(context.labels))
    # Small trainings are also measured on folds, because a tenth of few images is not enough.
    measured = [_calibrated(part, curve) for part in unseen]
    facts = DetectionCardFacts(
        artifact_sha256=hashlib.sha256(artifact).hexdigest(),
        average_precision=bootstrap_interval(measured, len(context.labels), context.options.seed),
        measured=len(measured),
        calibration_error=calibration_error(unseen),
        calibration=curve,
        threshold=suggest_threshold(measured),
        proposals=trials.proposals_value,
        dense=trials.dense_gain,
        mirror=trials.mirror,
        second_look=trials.second_look,
        way=trials.way,
        report=_report(outcome),
    )
    return FittedVision(
        artifact=artifact,
        metrics=metrics_document(context.labels, by_label, outcome.loss),
        card=card_document(context, facts, model, now),
        epochs=outcome.epochs,
        early_stopping=outcome.epochs < context.options.epochs,
        train_size=len(context.trained),
        test_size=len(context.tested),
        suspects=_suspects(outcome, model.dataset_id),
    )


def _model_of(outcome: StageResults, curve: Calibration) -> DetectionModel:
    context = outcome.context
    way = outcome.trials.way
    uses = [BackboneUse(name, context.backbones.facts(name).sha256) for name in BACKBONES]
    return DetectionModel(
        algorithm=context.rules.algorithm,
        labels=list(context.labels),
        backbones=uses,
        vector=outcome.run.vector if way.is_dense else None,
        crop_head=way.crop_head,
        calibration=curve,
        decay=context.rules.decay,
        is_mirrored=way.is_mirrored,
        proposal_head=way.proposal_head,
    )


def _calibrated(evaluated: EvaluatedImage, curve: Calibration) -> EvaluatedImage:
    scores = curve.apply(evaluated.scores)
    stays = scores >= FLOOR
    return replace(
        evaluated,
        labels=evaluated.labels[stays],
        scores=scores[stays],
        is_right=evaluated.is_right[stays],
    )


def _suspects(outcome: StageResults, dataset_id: int) -> list[SuspectExample]:
    pictures, places = outcome.context.data.pictures, outcome.review.places
    reviewed = [pictures.pictures[place] for place in places]
    own = [image for image in reviewed if image.dataset_id == dataset_id]
    names = LabelNames(pictures.labels, pictures.label_ids)
    return suspect_examples(own, names, outcome.review.suspicions)


def _report(outcome: StageResults) -> dict[str, object]:
    context, review = outcome.context, outcome.review
    tested = frozenset(context.tested)
    reviewed = [
        Reviewed(
            context.data.pictures.pictures[place],
            context.data.features.size(place),
            place in tested,
        )
        for place in review.places
    ]
    return data_report(reviewed, review.pooled, review.suspicions)
