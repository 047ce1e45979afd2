"""Trains a model of type image: a softmax head on whitened embeddings."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.calibration import probabilities
from chalicelib.engines.vision.backbone.pool import LITE2
from chalicelib.engines.vision.classification import classifier
from chalicelib.engines.vision.classification.report import (
    ImageFolds,
    curve_record,
    data_report,
    evaluation,
    limits,
    served_temperature,
    suspect_examples,
)
from chalicelib.engines.vision.classification.whitening import Whitening, fit_whitening
from chalicelib.engines.vision.interface import FittedVision
from chalicelib.engines.vision.linear_head.linear import SoftmaxLoss
from chalicelib.engines.vision.linear_head.report import (
    LinearCardFacts,
    backbone_records,
    card_document,
    present_labels,
)
from chalicelib.engines.vision.linear_head.targets import ImageTargets
from chalicelib.engines.vision.linear_head.training import LinearHeadTraining
from chalicelib.engines.vision.similarity.vectors import unit_rows

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.common.arrays import Floats, Halves, Ints
    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.features.table import FeatureTable, Rows
    from chalicelib.engines.vision.linear_head.pipeline import HeadPipeline

# Length of every label's weights at the start; features have length 1.
START_LENGTH = 8.0
_DECAY = 1e-3


class SoftmaxHeadSpec:
    """Defines how the softmax head of an image model is fitted: transform, start, loss, penalty."""

    def __init__(self, targets: ImageTargets) -> None:
        self._labels = targets.single()
        self._size = targets.size

    def decay(self, choice: int, pictures: int) -> float:
        """Return the strength of the penalty; it is the same for all trainings."""
        del choice, pictures
        return _DECAY

    def fit_transform(self, raw: Halves, places: Ints) -> Whitening:
        """Fit the whitening to the embeddings of the training part.

        Args:
            raw: embeddings of the training part, float16, shape (n, 1280).
            places: index of the image of each row of `raw`, int, shape (n,).
        """
        return fit_whitening(raw, self._labels[places])

    def start(self, table: FeatureTable, rows: Rows, places: Ints) -> Floats:
        """Return the initial weights and biases, float64, shape (1281, labels).

        The weights of a label are its mean feature vector, scaled to START_LENGTH. Biases are zero.

        Args:
            table: whitened features.
            rows: maps rows of the table to images.
            places: indexes of the images to train on, int, shape (n,).
        """
        means = np.zeros((self._size, table.dims))
        is_trained = np.zeros(len(rows.first), bool)
        is_trained[places] = True
        chosen = np.flatnonzero(is_trained[rows.places])
        labels = self._labels[rows.places[chosen]]
        order = np.argsort(labels, kind="stable")
        bounds = np.searchsorted(labels[order], np.arange(self._size + 1))
        for label in range(self._size):
            means[label] = table.total(chosen[order[bounds[label] : bounds[label + 1]]])
        start = np.zeros((table.dims + 1, self._size))
        # Mean directions predict well with few examples; training then improves them.
        start[:-1] = START_LENGTH * unit_rows(means).T
        return start

    def loss(self, places: Ints) -> SoftmaxLoss:
        """Return the cross-entropy loss. It is the same for all `places`."""
        del places
        return SoftmaxLoss()


class ImageTraining(LinearHeadTraining):
    """A `VisionTraining` of type image: trains a softmax head on whitened embeddings."""

    def make_spec(self, targets: ImageTargets) -> SoftmaxHeadSpec:
        """Return the definition of the softmax head for these labels."""
        return SoftmaxHeadSpec(targets)

    def record(self, epoch: int, pipeline: HeadPipeline) -> dict[str, Any]:
        """Return the learning curve record of an epoch."""
        return curve_record(epoch, self, pipeline.fit)

    def finish(self, model: Model, now: datetime) -> FittedVision:
        """Return artifact, metrics and model card. Call this after `step` has returned None."""
        folds = self._folds()
        temperature = served_temperature(folds)
        names = self.data.pictures.labels
        served = self.served()
        uses = {name: self.backbones.facts(name).sha256 for name in (LITE2,)}
        artifact = classifier.dump(names, self.targets.present, served, temperature, uses)
        facts = LinearCardFacts(
            engine="image-linear",
            backbones=backbone_records(self.backbones, (LITE2,)),
            artifact_sha256=hashlib.sha256(artifact).hexdigest(),
            details={"features": "embedding", "temperature": temperature},
            limits=limits(self),
        )
        metrics = self.last_record["metricsData"]
        card = card_document(model, self, facts, now)
        card["metrics"] = folds.card_metrics(metrics, len(self.held_out), temperature)
        card["calibrationError"] = folds.calibration_error(temperature)
        shares = probabilities(folds.logits, temperature)
        card["thresholds"] = folds.thresholds(shares)
        card["advice"] = folds.advice(present_labels(self))
        card["dataReport"] = data_report(self, folds, shares)
        return FittedVision(
            artifact=artifact,
            metrics=metrics,
            card=card,
            epochs=self.epochs_done,
            train_size=len(self.trained),
            test_size=len(self.held_out),
            suspects=suspect_examples(self, folds, shares, model.dataset_id),
            evaluation=evaluation(self, folds, shares, model.dataset_id),
        )

    def _folds(self) -> ImageFolds:
        places, logits = self.scores("fold")
        return ImageFolds(places, logits, self.targets.single()[places])
