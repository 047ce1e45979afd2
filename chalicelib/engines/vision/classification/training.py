"""Trains a model of type image."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from chalicelib.engines.text.head.calibration import probabilities
from chalicelib.engines.vision.backbone.pool import LITE2
from chalicelib.engines.vision.classification import classifier
from chalicelib.engines.vision.classification.evaluation import curve_record
from chalicelib.engines.vision.classification.recipe import ImageRecipe
from chalicelib.engines.vision.classification.report import (
    ImageFolds,
    data_report,
    limits,
    served_temperature,
)
from chalicelib.engines.vision.head.targets import Targets
from chalicelib.engines.vision.head.training import HeadTraining
from chalicelib.engines.vision.interface import FittedVision
from chalicelib.engines.vision.report.card import CardFacts, backbone_records, card_document

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.head.stage import Stage


class ImageTraining(HeadTraining):
    """A VisionTraining: embeddings, whitening, softmax head, temperature."""

    def make_recipe(self, targets: Targets) -> ImageRecipe:
        """Say how a softmax head is fitted."""
        return ImageRecipe(targets)

    def record(self, epoch: int, stage: Stage) -> dict[str, Any]:
        """Measure the head after an epoch on both sides of the split."""
        return curve_record(epoch, self, stage.run)

    def finish(self, model: Model, now: datetime) -> FittedVision:
        """Make artifact, metrics and card, once `step` has returned None."""
        folds = self._folds()
        temperature = served_temperature(folds)
        names = self.data.pictures.labels
        served = self.served()
        uses = {name: self.backbones.facts(name).sha256 for name in (LITE2,)}
        artifact = classifier.dump(names, self.targets.present, served, temperature, uses)
        facts = CardFacts(
            engine="image-linear",
            backbones=backbone_records(self.backbones, (LITE2,)),
            artifact_sha256=hashlib.sha256(artifact).hexdigest(),
            details={"features": "embedding", "temperature": temperature},
            limits=limits(self),
        )
        metrics = self.last_record["metricsData"]
        card = card_document(model, self, facts, now)
        card["metrics"] = folds.card_metrics(metrics, len(self.held), temperature)
        card["calibrationError"] = folds.calibration_error(temperature)
        card["dataReport"] = data_report(self, folds, probabilities(folds.logits, temperature))
        return FittedVision(
            artifact=artifact,
            metrics=metrics,
            card=card,
            epochs=self.epochs_done,
            train_size=len(self.trained),
            test_size=len(self.held),
        )

    def _folds(self) -> ImageFolds:
        """What heads said of pictures that they had not seen."""
        places, logits = self.scores("fold")
        return ImageFolds(places, logits, self.targets.single()[places])
