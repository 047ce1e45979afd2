"""Decides which methods are tried on folds, and uses the results."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.evaluation.comparison import Compared, compare
from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage
from chalicelib.engines.vision.detection.training.stage_2_crops import CropStage
from chalicelib.engines.vision.detection.training.stage_3_trial import (
    TrialFold,
    TrialStage,
    trial_folds,
)
from chalicelib.engines.vision.detection.training.ways import (
    CROPS_SECONDS,
    MIRROR_SECONDS,
    PLAIN,
    VIEW_SECONDS,
    AnswerWay,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedPicture
    from chalicelib.engines.vision.detection.training.context import DetectionContext, TrainingStage


_FEWEST_TO_TRY = 12
_ENOUGH_PICTURES = 20
_ENOUGH_BOXES = 40
_MOST_EPOCHS = 20


class Trials:
    """The folds of a training, and the results of their stages.

    Mirror images are tried first, then the second look with the chosen method.
    """

    def __init__(self, context: DetectionContext) -> None:
        self._context = context
        folds = _wanted_folds(context)
        self._crops = CropStage(context) if folds and _may_look_twice(context) else None
        self.stages: list[TrainingStage] = [] if self._crops is None else [self._crops]
        self._plain: list[TrialStage] = []
        self._mirrored: list[TrialStage] = []
        self._twice: list[TrialStage] = []
        self._is_calibrating = not _is_enough(context, context.tested)
        epochs = context.options.epochs
        # To compare two methods, no finished head is needed; and with few images, which an epoch
        # repeats several times, half the epochs are more steps than one pass each.
        is_whole = self._is_calibrating and context.passes == 1
        epochs = min(_MOST_EPOCHS, epochs if is_whole else max(1, epochs // 2))
        heads = [DenseStage(context, fold.trained, epochs, has_records=False) for fold in folds]
        for fold, dense in zip(folds, heads, strict=True):
            plain = TrialStage(context, fold, dense, lambda: PLAIN, VIEW_SECONDS)
            self._plain.append(plain)
            self.stages += [dense, plain]
            if _may_mirror(context):
                mirrored = TrialStage(
                    context, fold, dense, lambda: AnswerWay(is_mirrored=True), MIRROR_SECONDS
                )
                self._mirrored.append(mirrored)
                self.stages.append(mirrored)
        self._add_second_looks(folds, heads)

    @cached_property
    def mirror(self) -> Compared | None:
        """Return the gain by mirror images; None if they were not tried."""
        return self._compared(self._plain, self._mirrored) if self._mirrored else None

    @cached_property
    def second_look(self) -> Compared | None:
        """Return the gain by a second look; None if it was not tried."""
        return self._compared(self._once, self._twice) if self._twice else None

    @cached_property
    def way(self) -> AnswerWay:
        """Return the detection method of the model: all methods that are worth their cost."""
        head = None
        if self._crops is not None and self.second_look and self.second_look.is_certain:
            head = self._crops.head(self._context.trained)
        return AnswerWay(self._is_mirrored, head)

    @property
    def evaluated(self) -> list[EvaluatedPicture]:
        """Return detections for the calibration; empty if enough images are held out."""
        if not self._is_calibrating:
            return []
        return _answers(self._once if self.way.crop_head is None else self._twice)

    @property
    def _is_mirrored(self) -> bool:
        return self.mirror is not None and self.mirror.is_likely

    @property
    def _once(self) -> list[TrialStage]:
        return self._mirrored if self._is_mirrored else self._plain

    def _add_second_looks(self, folds: Sequence[TrialFold], heads: Sequence[DenseStage]) -> None:
        crops = self._crops
        if crops is None:
            return
        for fold, dense in zip(folds, heads, strict=True):
            # Called late, because whether mirror images are used is known only after their trial.
            def find_way(trained: Sequence[int] = fold.trained) -> AnswerWay:
                return AnswerWay(self._is_mirrored, crops.head(trained))

            self._twice.append(TrialStage(self._context, fold, dense, find_way, CROPS_SECONDS))
        self.stages += self._twice

    def _compared(self, before: Sequence[TrialStage], after: Sequence[TrialStage]) -> Compared:
        count, seed = len(self._context.labels), self._context.options.seed
        return compare(_answers(before), _answers(after), count, seed)


def _answers(trials: Sequence[TrialStage]) -> list[EvaluatedPicture]:
    return [part for trial in trials for part in trial.answered]


def _may_mirror(context: DetectionContext) -> bool:
    return context.rules.has_mirror and len(context.trained) >= _FEWEST_TO_TRY


def _may_look_twice(context: DetectionContext) -> bool:
    is_able = context.rules.has_crops and len(context.labels) > 1
    return is_able and len(context.trained) >= _FEWEST_TO_TRY


def _wanted_folds(context: DetectionContext) -> list[TrialFold]:
    may_try = _may_look_twice(context) or _may_mirror(context)
    seen, chosen = list(context.tested), list[TrialFold]()
    for fold in trial_folds(context):
        if _is_enough(context, seen) and (chosen or not may_try):
            break
        chosen.append(fold)
        seen += fold.tested
    return chosen


def _is_enough(context: DetectionContext, places: Sequence[int]) -> bool:
    # Fewer answers do not say how often an answer is right.
    boxes = sum(len(context.data.pictures.pictures[place].boxes) for place in places)
    return len(places) >= _ENOUGH_PICTURES and boxes >= _ENOUGH_BOXES
