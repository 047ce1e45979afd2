"""Trains a detection model in stages. Another process can resume an interrupted training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engines.artifact import add_prefix, dump, load, strip_prefix
from chalicelib.engines.vision.detection.training.context import (
    TrainingStage,
    make_context,
)
from chalicelib.engines.vision.detection.training.finish import StageResults, finish_training
from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage
from chalicelib.engines.vision.detection.training.stage_4_review import ReviewStage
from chalicelib.engines.vision.detection.training.trials import Trials
from chalicelib.engines.vision.interface import FittedVision, VisionData, VisionOptions, VisionStep

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.common.arrays import Array
    from chalicelib.domain.models.model import Model
    from chalicelib.engines.vision.backbone.pool import BackbonePool

_KIND = "vision-detection-training"
_VERSION = 5


class DetectionTraining:
    """A `VisionTraining` of a detection model."""

    def __init__(
        self,
        data: VisionData,
        options: VisionOptions,
        backbones: BackbonePool,
        checkpoint: bytes | None = None,
    ) -> None:
        """Start a training, or resume a saved one.

        Args:
            data: images and features.
            options: options of the training.
            backbones: the frozen networks.
            checkpoint: bytes that `save` of the same training returned; None for a new training.

        Raises:
            TrainingFailed: no model can be trained on these images.
        """
        self._context = context = make_context(data, options, backbones)
        # Unless the caller chose the epochs, the first record measures the proposals.
        first = 2 if context.has_proposal_record else 1
        self._dense = DenseStage(
            context,
            context.trained,
            options.epochs - first + 1,
            is_needed=lambda: self._trials.needs_dense,
            first_record=first,
        )
        self._trials = Trials(context, self._dense)
        self._review = ReviewStage(context, self._trials.heads, lambda: self._trials.way)
        self._stages: list[TrainingStage] = [*self._trials.stages, self._dense, self._review]
        if checkpoint is not None:
            self._restore(checkpoint)

    @property
    def epochs_done(self) -> int:
        """Return the number of finished epochs."""
        return self._dense.run.epoch + self._trials.proposals.records

    def step(self) -> VisionStep | None:
        """Do the next step; return None when the training is finished.

        Raises:
            TrainingFailed: the outputs of the head are not finite.
        """
        stage = next((stage for stage in self._stages if not stage.is_done), None)
        if stage is None:
            return None
        record = stage.advance()
        return VisionStep(self._share(), record)

    def save(self) -> bytes:
        """Return the state of the training; another process can resume from it."""
        arrays: dict[str, Array] = {}
        for number, stage in enumerate(self._stages):
            if stage.share > 0:
                arrays |= add_prefix(str(number), stage.arrays())
        return dump({"kind": _KIND, "version": _VERSION}, arrays)

    def finish(self, model: Model, now: datetime) -> FittedVision:
        """Return artifact, metrics and model card. Call this after `step` has returned None."""
        outcome = StageResults(
            self._context, self._dense.run, self._review, self._trials, self.epochs_done
        )
        return finish_training(outcome, model, now)

    def _share(self) -> float:
        total = sum(stage.seconds for stage in self._stages)
        done = sum(stage.seconds * min(1.0, stage.share) for stage in self._stages)
        return min(1.0, done / total) if total else 1.0

    def _restore(self, checkpoint: bytes) -> None:
        arrays = load(checkpoint, _KIND, _VERSION).arrays
        for number, stage in enumerate(self._stages):
            saved = strip_prefix(str(number), arrays)
            if saved:
                stage.restore(saved)
