"""Decides which detection methods are tried on folds, and which methods the model uses."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.evaluation.average_precision import (
    mean_average_precision,
    precision_recall,
)
from chalicelib.engines.vision.detection.evaluation.calibration import fit_calibration
from chalicelib.engines.vision.detection.evaluation.comparison import (
    Compared,
    compare,
)
from chalicelib.engines.vision.detection.training.folds import TrialFold, trial_folds
from chalicelib.engines.vision.detection.training.stage_0_proposals import (
    PROPOSAL_SECONDS,
    ProposalStage,
)
from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage
from chalicelib.engines.vision.detection.training.stage_2_crops import CropStage
from chalicelib.engines.vision.detection.training.stage_3_trial import FoldHeads, TrialStage
from chalicelib.engines.vision.detection.training.ways import (
    CROPS_SECONDS,
    MIRROR_SECONDS,
    PLAIN,
    VIEW_SECONDS,
    AnswerWay,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chalicelib.domain.common.arrays import Ints
    from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedImage
    from chalicelib.engines.vision.detection.proposals.head import ProposalHead
    from chalicelib.engines.vision.detection.training.context import DetectionContext, TrainingStage

_FEWEST_TO_TRY = 12
_ENOUGH_PICTURES = 20
_ENOUGH_BOXES = 40
# Number of boxes that is enough if there are few images, such as photographs of shelves.
_MANY_IN_FEW = 400
_MOST_EPOCHS = 20
# Mean AP of proposals from which a dense head is not tried. The second, lower value applies if the
# median label has fewer than `_MANY_BOXES` boxes: a dense head then rarely does better.
_GOOD = 0.85
_GOOD_OF_FEW = 0.6
_MANY_BOXES = 40
# Boxes of the median label below which a dense head learns nothing useful.
_FEWEST_BOXES = 8
# Maximum by which the mean AP of the first fold's dense head may be below that of proposals. It is
# above 0, because the final head is trained for longer.
_BEHIND = 0.1


class Trials:
    """The trials of detection methods on the folds of a training, with their results.

    The methods are tried in this order: proposals alone; the dense head alone; the dense head on
    each image and its mirror image; proposals and the dense head together; and last, the dense head
    followed by a second look, which crops the detected boxes and classifies them again. The second
    look also uses the mirror image if an earlier trial shows a likely gain.
    """

    def __init__(self, context: DetectionContext, dense: DenseStage) -> None:
        """Prepare the stages of all trials.

        Args:
            context: context of the training.
            dense: the stage that trains the dense head of the model, after the trials.
        """
        self._context = context
        folds, wanted = trial_folds(context), _wanted_folds(context)
        self.proposals = ProposalStage(context, folds)
        self.heads = FoldHeads(dense, self.proposals, lambda: self.proposals.has_heads)
        self._crops = None
        if wanted and _may_look_twice(context):
            self._crops = CropStage(context, self._wants_fold(1))
        self._is_calibrating = not _is_enough(context, context.tested)
        self._proposed = [
            TrialStage(context, fold, self.heads, self._proposal_way(number), PROPOSAL_SECONDS)
            for number, fold in enumerate(folds if self.proposals.has_heads else ())
        ]
        self._plain: list[TrialStage] = []
        self._mirrored: list[TrialStage] = []
        self._joined: list[TrialStage] = []
        self._twice: list[TrialStage] = []
        self.stages: list[TrainingStage] = [self.proposals, *self._proposed]
        for number, fold in enumerate(wanted):
            self._add_fold(number, fold)
        if self._crops is not None:
            self.stages.append(self._crops)
        self.stages += [*self._joined, *self._twice]

    @cached_property
    def mirror(self) -> Compared | None:
        """Gain in mean AP if the dense head also uses mirror images; None if that was not tried."""
        return self._compared(self._plain, self._mirrored)

    @cached_property
    def second_look(self) -> Compared | None:
        """Gain in mean AP by classifying crops of the boxes again; None if that was not tried."""
        return self._compared(self._once, self._twice)

    @cached_property
    def dense_gain(self) -> Compared | None:
        """Mean AP of the dense head minus mean AP of proposals alone; None if not tried."""
        return self._compared(self._proposed[: len(self._plain)], self._with_dense)

    @property
    def proposals_value(self) -> float | None:
        """Mean AP of proposals alone on all folds; None without proposals or without folds."""
        return self._value(self._proposed)

    @property
    def needs_dense(self) -> bool:
        """Whether the model needs a dense head. The answer can change until all trials are done."""
        if self._context.options.has_named_epochs:
            return True
        if all(stage.is_done for stage in self.stages):
            return self.way.is_dense
        return self._may_gain()

    @cached_property
    def way(self) -> AnswerWay:
        """Detection method of the model. It uses all options that are worth their cost."""
        if self.proposals.has_heads and not self._gains:
            return AnswerWay(proposal_head=self.proposals.head(), is_dense=False)
        head = None
        if self._crops is not None and self.second_look and self.second_look.is_certain:
            head = self._crops.head(self._context.trained)
        proposals = self._aligned(None) if self._is_joined else None
        return AnswerWay(self._is_mirrored, head, proposals)

    @property
    def evaluated(self) -> list[EvaluatedImage]:
        """Return detections in folds, for the calibration; none if enough images are held out."""
        if not self._is_calibrating:
            return []
        if not self.way.is_dense:
            return _answers(self._proposed)
        return _answers(self._with_dense if self.way.crop_head is None else self._twice)

    @property
    def _is_mirrored(self) -> bool:
        return self.mirror is not None and self.mirror.is_likely

    @property
    def _once(self) -> list[TrialStage]:
        return self._mirrored if self._is_mirrored else self._plain

    @cached_property
    def _is_joined(self) -> bool:
        gain = self._compared(self._plain, self._joined)
        return gain is not None and gain.is_likely

    @property
    def _with_dense(self) -> list[TrialStage]:
        return self._joined if self._is_joined else self._once

    @property
    def _gains(self) -> bool:
        """Whether the dense head, with or without proposals, clearly beats proposals alone."""
        return self.dense_gain is not None and self.dense_gain.is_large

    def _may_gain(self) -> bool:
        """Return whether a dense head may be worth trying, according to the results so far."""
        if self._context.options.has_named_epochs or not self.proposals.has_heads:
            return True
        if not all(trial.is_done for trial in self._proposed):
            return True
        return self._can_improve

    @cached_property
    def _can_improve(self) -> bool:
        counts = _boxes_by_label(self._context)
        median = float(np.median(counts[counts > 0]))
        good = _GOOD if median >= _MANY_BOXES else _GOOD_OF_FEW
        return median >= _FEWEST_BOXES and (self.proposals_value or 0.0) < good

    @cached_property
    def _is_behind(self) -> bool:
        ours = max(self._value(part[:1]) or 0.0 for part in (self._plain, self._mirrored))
        return ours < (self._value(self._proposed[:1]) or 0.0) - _BEHIND

    def _wants_fold(self, number: int) -> Callable[[], bool]:
        """Return a function that returns whether to try the dense head on the fold `number`."""

        def wants() -> bool:
            if not number or self._context.options.has_named_epochs:
                return self._may_gain()
            first = [*self._plain[:1], *self._mirrored[:1]]
            is_known = self._proposed and all(trial.answered for trial in first)
            return self._may_gain() and not (is_known and self._is_behind)

        return wants

    def _add_fold(self, number: int, fold: TrialFold) -> None:
        context, may_try = self._context, self._wants_fold(number)
        epochs = context.options.epochs
        # A comparison does not need fully trained heads. With few images, an epoch has several
        # passes, so half of the epochs are enough.
        is_whole = self._is_calibrating and context.passes == 1
        epochs = min(_MOST_EPOCHS, epochs if is_whole else max(1, epochs // 2))
        dense = DenseStage(context, fold.trained, epochs, is_needed=may_try)
        heads = FoldHeads(dense, self.proposals, may_try)
        later = replace(heads, is_needed=self._wants_fold(1))

        def find_joined() -> AnswerWay:
            return AnswerWay(proposal_head=self._aligned(number))

        plain = TrialStage(context, fold, heads, lambda: PLAIN, VIEW_SECONDS)
        self._plain.append(plain)
        self.stages += [dense, plain]
        if _may_mirror(context):
            way = AnswerWay(is_mirrored=True)
            mirrored = TrialStage(context, fold, heads, lambda: way, MIRROR_SECONDS)
            self._mirrored.append(mirrored)
            self.stages.append(mirrored)
        if self._proposed:
            self._joined.append(TrialStage(context, fold, later, find_joined, VIEW_SECONDS))
        if self._crops is not None:
            crops = self._crops
            # Called late, because whether mirror images are used is known only after their trial.
            self._twice.append(
                TrialStage(
                    context,
                    fold,
                    later,
                    lambda: AnswerWay(self._is_mirrored, crops.head(fold.trained)),
                    CROPS_SECONDS,
                )
            )

    def _proposal_way(self, number: int) -> Callable[[], AnswerWay]:
        return lambda: AnswerWay(proposal_head=self.proposals.head(number), is_dense=False)

    def _aligned(self, number: int | None) -> ProposalHead:
        own, other = (fit_calibration(_answers(part)) for part in (self._proposed, self._plain))
        return self.proposals.head(number).aligned(own, other)

    def _value(self, trials: Sequence[TrialStage]) -> float | None:
        return mean_average_precision(precision_recall(_answers(trials), len(self._context.labels)))

    def _compared(
        self, before: Sequence[TrialStage], after: Sequence[TrialStage]
    ) -> Compared | None:
        """Compare two methods on the same folds; None if a method was not tried on all folds."""
        if not after or not all(trial.is_answered for trial in (*before, *after)):
            return None
        count, seed = len(self._context.labels), self._context.options.seed
        return compare(_answers(before), _answers(after), count, seed)


def _answers(trials: Sequence[TrialStage]) -> list[EvaluatedImage]:
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
    # Minimum number of boxes for a calibration.
    boxes = sum(len(context.data.pictures.pictures[place].boxes) for place in places)
    return boxes >= (_ENOUGH_BOXES if len(places) >= _ENOUGH_PICTURES else _MANY_IN_FEW)


def _boxes_by_label(context: DetectionContext) -> Ints:
    pictures = context.data.pictures.pictures
    labels = [known.label for place in context.trained for known in pictures[place].boxes]
    return np.bincount(labels, minlength=len(context.labels))
