"""Trains a model of type image-multi-label: an independent sigmoid classifier for each label."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines import metrics
from chalicelib.engines.arithmetic import exact_log
from chalicelib.engines.vision.interface import FittedVision
from chalicelib.engines.vision.linear_head.linear import SigmoidLoss
from chalicelib.engines.vision.linear_head.pipeline import HeadPipeline, HeadTask
from chalicelib.engines.vision.linear_head.report import (
    LinearCardFacts,
    backbone_records,
    card_document,
    present_labels,
)
from chalicelib.engines.vision.linear_head.targets import ImageTargets
from chalicelib.engines.vision.linear_head.training import LinearHeadTraining
from chalicelib.engines.vision.multi_label import classifier
from chalicelib.engines.vision.multi_label.calibration import SigmoidCalibration, fit_calibration
from chalicelib.engines.vision.multi_label.extractor import BACKBONES, DIMS
from chalicelib.engines.vision.multi_label.report import (
    MultiLabelFolds,
    average_precisions,
    best_thresholds,
    curve_record,
    data_report,
    evaluation,
    limits,
    mean_average_precision,
    suspect_examples,
)
from chalicelib.engines.vision.multi_label.standardizing import (
    BLOCK_NAMES,
    BOTH,
    Standardizing,
    fit_standardizing,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from chalicelib.domain.common.arrays import Doubles, Floats, Halves, Ints
    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.features.table import FeatureTable, Rows
    from chalicelib.engines.vision.linear_head.split import ImageSplit

# Strengths of the penalty of the squared weights that cross-validation chooses from.
PENALTIES = (30.0, 100.0, 300.0, 1_000.0)
_MOST_WEIGHT = 5.0
_HALF = 0.5


class SigmoidHeadSpec:
    """Defines how sigmoid heads are fitted: transformation, start, loss and penalty."""

    def __init__(self, targets: ImageTargets) -> None:
        self._targets = targets

    def decay(self, choice: int, pictures: int) -> float:
        """Return the strength of the penalty on the weights; see `HeadSpec`."""
        # The penalty per image: with more images, a weaker penalty is enough.
        return PENALTIES[choice] / pictures

    def fit_transform(self, raw: Halves, places: Ints) -> Standardizing:
        """Fit the mean and the deviation of each column to the training part.

        Args:
            raw: features of the training part, float16, shape (n, 2992).
            places: index of the image of each row of `raw`, int, shape (n,).
        """
        del places
        return fit_standardizing(raw, BOTH)

    def start(self, table: FeatureTable, rows: Rows, places: Ints) -> Floats:
        """Return weights of zero, then biases from label frequencies, float64, (dims + 1, labels).

        Args:
            table: table of standardised features.
            rows: maps rows of the table to images.
            places: indexes of the images to train on, int, shape (n,).
        """
        del rows
        counts = self._targets.counts(places).astype(np.float64)
        start = np.zeros((table.dims + 1, self._targets.size))
        start[-1] = exact_log((counts + _HALF) / (len(places) - counts + _HALF))
        return start

    def loss(self, places: Ints) -> SigmoidLoss:
        """Return the binary cross-entropy with the weights that `positive_weights` returns."""
        return SigmoidLoss(self.positive_weights(places))

    def positive_weights(self, places: Ints) -> Doubles:
        """Return the weight of the positive examples of each label, at most 5.

        The weight is the square root of the odds that an image does not have the label.

        Args:
            places: indexes of the images to train on, int, shape (n,).
        """
        counts = self._targets.counts(places).astype(np.float64)
        odds = np.maximum(len(places) - counts, 1.0) / np.maximum(counts, 1.0)
        return np.minimum(np.sqrt(odds), _MOST_WEIGHT)


_FOLDS = 5
_FASTER = 2.5
# Index of the penalty for trainings that are too small for cross-validation.
_USUAL_PENALTY = 1
_CHOICE_PICTURES = 1_000
_CHOICE_VISITS, _CHOICE_EPOCHS = 10_000, 10


class MultiLabelTraining(LinearHeadTraining):
    """A `VisionTraining` of type image-multi-label: trains one sigmoid per label."""

    def make_spec(self, targets: ImageTargets) -> SigmoidHeadSpec:
        """Return the definition of the sigmoid head."""
        self._own_spec = SigmoidHeadSpec(targets)
        return self._own_spec

    @property
    def fold_count(self) -> int:
        """Return the number of folds."""
        return _FOLDS

    def choices(self, split: ImageSplit) -> list[HeadTask]:
        """Return one task for each penalty and fold; `choose` compares the tasks' predictions."""
        ranks = np.where(split.held_out, len(split.ranks), split.ranks)
        chosen = np.argsort(ranks, kind="stable")[:_CHOICE_PICTURES]
        chosen = np.sort(chosen[~split.held_out[chosen]])
        folds = split.folds[chosen]
        epochs = max(_CHOICE_EPOCHS, _CHOICE_VISITS // len(chosen))
        epochs = min(self.options.epochs, epochs)
        tasks = []
        for choice in range(len(PENALTIES)):
            for fold in range(_FOLDS):
                trained, scored = chosen[folds != fold], chosen[folds == fold]
                if len(scored) and len(trained):
                    task = HeadTask("choice", trained, scored, epochs, choice, DIMS)
                    tasks.append(task)
        return tasks

    def choose(self, tasks: list[HeadTask]) -> int:
        """Return the index of the strongest penalty that is nearly as good as the best penalty."""
        if not tasks:
            return _USUAL_PENALTY
        found = [self.choice_scores(choice) for choice in range(len(PENALTIES))]
        areas = np.array([average_precisions(*one) for one in found])
        gaps = areas[np.argmax(areas.mean(axis=1))] - areas
        # Labels have few positive examples, so small differences between the means are chance.
        errors = gaps.std(axis=1) / np.sqrt(areas.shape[1])
        return int(np.flatnonzero(gaps.mean(axis=1) <= errors)[-1])

    def choice_scores(self, choice: int) -> tuple[Floats, Floats]:
        """Return the out-of-fold logits of the heads with one penalty, and the true labels.

        Args:
            choice: index of the penalty in `penalties`.

        Returns:
            The logits and the true labels, both of shape (images, labels).
        """
        places, logits = self.scores("choice", choice)
        return logits, self.targets.dense(places)

    @property
    def raw_dims(self) -> int:
        """Length of an image's feature vector."""
        return DIMS

    @property
    def penalties(self) -> Sequence[float]:
        """The penalties to try."""
        return PENALTIES

    @property
    def rate(self) -> float:
        """Learning rate at the first step. With it, a fit converges in a few hundred steps."""
        return _FASTER * super().rate

    def record(self, epoch: int, pipeline: HeadPipeline) -> dict[str, Any]:
        """Return the learning curve record of an epoch."""
        return curve_record(epoch, self, pipeline.fit)

    def finish(self, model: Model, now: datetime) -> FittedVision:
        """Return artifact, metrics and model card. Call this after `step` has returned None."""
        calibration, folds = self._folds()
        artifact = self._artifact(calibration)
        facts = LinearCardFacts(
            engine="image-multi-label-linear",
            backbones=backbone_records(self.backbones, BACKBONES),
            artifact_sha256=hashlib.sha256(artifact).hexdigest(),
            details=self._details(calibration, folds),
            limits=limits(self),
        )
        last = self.last_record["metricsData"]
        card = card_document(model, self, facts, now)
        card["metrics"] = folds.card_metrics(last, len(self.held_out))
        card["calibrationError"] = folds.calibration_error()
        card["thresholds"] = folds.target_records(present_labels(self))
        card["advice"] = folds.advice(present_labels(self))
        card["dataReport"] = data_report(self, folds)
        return FittedVision(
            artifact=artifact,
            metrics=last,
            card=card,
            epochs=self.epochs_done,
            train_size=len(self.trained),
            test_size=len(self.held_out),
            suspects=suspect_examples(self, folds, model.dataset_id),
            evaluation=evaluation(self, folds, model.dataset_id),
        )

    def _folds(self) -> tuple[SigmoidCalibration, MultiLabelFolds]:
        places, logits = self.scores("fold")
        truth = self.targets.dense(places) > 0
        weights = self._own_spec.positive_weights(np.arange(self.targets.pictures))
        calibration = fit_calibration(weights, logits, truth)
        shares = calibration.shares(logits)
        return calibration, MultiLabelFolds(places, best_thresholds(shares, truth), shares, truth)

    def _artifact(self, calibration: SigmoidCalibration) -> bytes:
        uses = {name: self.backbones.facts(name).sha256 for name in BACKBONES}
        served = {**self.served(), "shifts": calibration.shifts, "present": self.targets.present}
        head = classifier.MultiLabelHeader(
            self.data.pictures.labels, BOTH, calibration.temperature, uses
        )
        return classifier.dump(head, served)

    def _details(self, calibration: SigmoidCalibration, folds: MultiLabelFolds) -> dict[str, Any]:
        names, present = self.data.pictures.labels, self.targets.present
        thresholds = metrics.rounded(folds.thresholds)
        return {
            "features": BLOCK_NAMES[BOTH],
            "penalty": PENALTIES[self.choice],
            "penaltyScores": {
                f"{penalty:g}": round(mean_average_precision(*self.choice_scores(choice)), 6)
                for choice, penalty in enumerate(PENALTIES)
            },
            "temperature": calibration.temperature,
            "thresholds": {
                names[label]: value for label, value in zip(present, thresholds, strict=True)
            },
        }
