"""Trains a model of type image-multi-label."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines import metrics
from chalicelib.engines.vision.head.stage import Task
from chalicelib.engines.vision.head.targets import Targets
from chalicelib.engines.vision.head.training import HeadTraining
from chalicelib.engines.vision.interface import FittedVision
from chalicelib.engines.vision.multi_label import classifier
from chalicelib.engines.vision.multi_label.calibration import SigmoidCalibration, fit_calibration
from chalicelib.engines.vision.multi_label.evaluation import curve_record, mean_average_precision
from chalicelib.engines.vision.multi_label.recipe import MultiLabelRecipe
from chalicelib.engines.vision.multi_label.report import MultiLabelFolds, data_report, limits
from chalicelib.engines.vision.multi_label.standardizing import BLOCK_NAMES, block_dims
from chalicelib.engines.vision.report.card import CardFacts, backbone_records, card_document

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.division import Division
    from chalicelib.engines.vision.head.stage import Stage

_FOLDS = 5
_CHOICE_PICTURES = 1_000
_CHOICE_VISITS, _CHOICE_EPOCHS = 10_000, 10


class MultiLabelTraining(HeadTraining):
    """A VisionTraining: features chosen by cross-validation, sigmoids, calibration."""

    def make_recipe(self, targets: Targets) -> MultiLabelRecipe:
        """Say how sigmoids are fitted."""
        self._own_recipe = MultiLabelRecipe(targets)
        return self._own_recipe

    @property
    def fold_count(self) -> int:
        """Folds of every set."""
        return _FOLDS

    def choices(self, division: Division) -> list[Task]:
        """Cross-validation of every block of features inside the training part."""
        ranks = np.where(division.held, len(division.ranks), division.ranks)
        chosen = np.argsort(ranks, kind="stable")[:_CHOICE_PICTURES]
        chosen = np.sort(chosen[~division.held[chosen]])
        folds = division.folds[chosen]
        epochs = max(_CHOICE_EPOCHS, _CHOICE_VISITS // len(chosen))
        epochs = min(self.options.epochs, epochs)
        tasks = []
        for block in range(len(BLOCK_NAMES)):
            for fold in range(_FOLDS):
                trained, judged = chosen[folds != fold], chosen[folds == fold]
                if len(judged) and len(trained):
                    task = Task("choice", trained, judged, epochs, block, block_dims(block))
                    tasks.append(task)
        return tasks

    def chosen_block(self, tasks: list[Task]) -> int:
        """Return the block with the highest mean average precision, the smallest of equals."""
        areas = [self.choice_area(block) for block in range(len(BLOCK_NAMES))]
        return int(np.argmax(areas)) if tasks else len(areas) - 1

    def choice_area(self, block: int) -> float:
        """Mean average precision of a block, out of fold inside the training part."""
        places, logits = self.scores("choice", block)
        return mean_average_precision(logits, self.targets.dense(places))

    def raw_dims(self, block: int) -> int:
        """Length of the features of a block."""
        return block_dims(block)

    def record(self, epoch: int, stage: Stage) -> dict[str, Any]:
        """Measure the head after an epoch on both sides of the split."""
        return curve_record(epoch, self, stage.run)

    def finish(self, model: Model, now: datetime) -> FittedVision:
        """Make artifact, metrics and card, once `step` has returned None."""
        calibration, folds = self._folds()
        artifact = self._artifact(calibration)
        facts = CardFacts(
            engine="image-multi-label-linear",
            backbones=backbone_records(self.backbones, classifier.backbones_of(self.block)),
            artifact_sha256=hashlib.sha256(artifact).hexdigest(),
            details=self._details(calibration),
            limits=limits(self),
        )
        last = self.last_record["metricsData"]
        card = card_document(model, self, facts, now)
        card["metrics"] = folds.card_metrics(last, len(self.held))
        card["calibrationError"] = folds.calibration_error()
        card["dataReport"] = data_report(self, folds)
        return FittedVision(
            artifact=artifact,
            metrics=last,
            card=card,
            epochs=self.epochs_done,
            train_size=len(self.trained),
            test_size=len(self.held),
        )

    def _folds(self) -> tuple[SigmoidCalibration, MultiLabelFolds]:
        """Calibrate out of fold."""
        places, logits = self.scores("fold")
        truth = self.targets.dense(places) > 0
        weights = self._own_recipe.positive_weights(np.arange(self.targets.pictures))
        calibration = fit_calibration(weights, logits, truth)
        shares = calibration.shares(logits)
        return calibration, MultiLabelFolds(places, logits > 0, shares, truth)

    def _artifact(self, calibration: SigmoidCalibration) -> bytes:
        """Write the served model."""
        names = classifier.backbones_of(self.block)
        uses = {name: self.backbones.facts(name).sha256 for name in names}
        served = {**self.served(), "shifts": calibration.shifts, "present": self.targets.present}
        head = classifier.Head(self.data.pictures.labels, self.block, calibration.temperature, uses)
        return classifier.dump(head, served)

    def _details(self, calibration: SigmoidCalibration) -> dict[str, Any]:
        """Say in the card what was chosen, and from which probability a label is answered."""
        names, present = self.data.pictures.labels, self.targets.present
        zero = np.zeros((1, self.targets.size))
        thresholds = metrics.rounded(calibration.shares(zero)[0])
        return {
            "features": BLOCK_NAMES[self.block],
            "featureScores": {
                name: round(self.choice_area(block), 6) for block, name in enumerate(BLOCK_NAMES)
            },
            "temperature": calibration.temperature,
            "thresholds": {
                names[label]: value for label, value in zip(present, thresholds, strict=True)
            },
        }
