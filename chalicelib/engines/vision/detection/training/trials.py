"""Decides what is answered by folds: to try a second look, and to calibrate small trainings."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.evaluation.average_precision import (
    bootstrap_gain,
    mean_average_precision,
    precision_recall,
)
from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage
from chalicelib.engines.vision.detection.training.stage_2_crops import CropStage
from chalicelib.engines.vision.detection.training.stage_3_trial import (
    TrialFold,
    TrialStage,
    trial_folds,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.engines.interface import Interval
    from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedPicture
    from chalicelib.engines.vision.detection.head.crop_head import CropHead
    from chalicelib.engines.vision.detection.training.context import DetectionContext, TrainingStage


_FEWEST_FOR_CROPS = 12
_ENOUGH_PICTURES = 20
_ENOUGH_BOXES = 40
_MOST_EPOCHS = 20


class Trials:
    """The folds of a training, and what they say once their stages have ended."""

    def __init__(self, context: DetectionContext) -> None:
        self._context = context
        folds = _wanted_folds(context)
        self._crops = CropStage(context) if folds and _may_look_twice(context) else None
        self.stages: list[TrainingStage] = [] if self._crops is None else [self._crops]
        self._trials: list[TrialStage] = []
        self._is_calibrating = not _is_enough(context, context.tested)
        epochs = context.options.epochs
        # To compare two ways of answering, no finished head is needed; and of few pictures, which
        # are gone over several times an epoch, half the epochs are more steps than once over all.
        is_whole = self._is_calibrating and context.passes == 1
        epochs = epochs if is_whole else max(1, epochs // 2)
        for fold in folds:
            dense = DenseStage(context, fold.learnt, min(_MOST_EPOCHS, epochs), has_records=False)
            self._trials.append(TrialStage(context, fold, dense, self._crops))
            self.stages += [dense, self._trials[-1]]

    @property
    def precisions(self) -> tuple[float | None, float | None]:
        """Mean AP without and with a second look; None where none was tried."""
        if self._crops is None:
            return None, None
        count = len(self._context.labels)
        once, twice = (
            mean_average_precision(precision_recall(evaluated, count))
            for evaluated in (self._once, self._twice)
        )
        return once, twice

    @cached_property
    def gain(self) -> Interval | None:
        """What a second look adds to the mean AP; None where none was tried."""
        if self._crops is None:
            return None
        seed = self._context.options.seed
        return bootstrap_gain(self._once, self._twice, len(self._context.labels), seed)

    @cached_property
    def crop_head(self) -> CropHead | None:
        """The head of the second look; None unless its gain is beyond doubt: it costs fivefold."""
        if self._crops is None or self.gain is None or self.gain.low <= 0.0:
            return None
        return self._crops.head(self._context.trained)

    @property
    def evaluated(self) -> list[EvaluatedPicture]:
        """Answers to calibrate on, as the model makes them; none where enough is held out."""
        if not self._is_calibrating:
            return []
        return self._once if self.crop_head is None else self._twice

    @property
    def _once(self) -> list[EvaluatedPicture]:
        return [part for trial in self._trials for part in trial.once]

    @property
    def _twice(self) -> list[EvaluatedPicture]:
        return [part for trial in self._trials for part in trial.twice]


def _may_look_twice(context: DetectionContext) -> bool:
    """Whether there are labels to confuse, and pictures to try it on."""
    is_able = context.rules.has_crops and len(context.labels) > 1
    return is_able and len(context.trained) >= _FEWEST_FOR_CROPS


def _wanted_folds(context: DetectionContext) -> list[TrialFold]:
    """As many folds as calibration needs beside the held-out pictures; one for a second look."""
    seen, chosen = list(context.tested), list[TrialFold]()
    for fold in trial_folds(context):
        if _is_enough(context, seen) and (chosen or not _may_look_twice(context)):
            break
        chosen.append(fold)
        seen += fold.tried
    return chosen


def _is_enough(context: DetectionContext, places: Sequence[int]) -> bool:
    """Whether answers for these pictures say how often an answer is right."""
    boxes = sum(len(context.data.pictures.pictures[place].boxes) for place in places)
    return len(places) >= _ENOUGH_PICTURES and boxes >= _ENOUGH_BOXES
