"""Tries detection methods on training images, with heads that were not trained on these images.

The training part is split into three folds. For each fold, heads are trained on the other folds.
These heads detect objects in the fold with each method. The results show the gain of each method.
If too few images are held out, the results also calibrate the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.vision.detection.evaluation.average_precision import (
    EvaluatedImage,
    evaluated_arrays,
    evaluated_of,
)
from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
from chalicelib.engines.vision.detection.training.ways import AnswerWay, found_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.folds import TrialFold
    from chalicelib.engines.vision.detection.training.stage_0_proposals import ProposalStage
    from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage

_PICTURES_A_STEP = 4


def always() -> bool:
    """Return True. This is the default of `is_wanted`, for heads that are always needed."""
    return True


@dataclass(frozen=True)
class FoldHeads:
    """The heads that detect objects in a fold. They were trained without the images of the fold."""

    dense: DenseStage
    proposals: ProposalStage
    is_needed: Callable[[], bool] = always
    """Returns whether these heads must be tried; called before the trial begins."""


class TrialStage:
    """Detects objects in one fold with one method."""

    def __init__(
        self,
        context: DetectionContext,
        fold: TrialFold,
        heads: FoldHeads,
        find_way: Callable[[], AnswerWay],
        cost: float,
    ) -> None:
        """Prepare the stage.

        Args:
            context: images and options of the training.
            fold: images to train on, and images in which to detect objects.
            heads: the heads of the fold, trained before this stage begins.
            find_way: returns the detection method; called at the first `advance`.
            cost: approximate time per image, in seconds on one core.
        """
        self._context = context
        self._fold = fold
        self._heads = heads
        self._find_way = find_way
        self._cost = cost
        self._way: AnswerWay | None = None
        pictures = context.data.pictures.pictures
        labels = [known.label for place in fold.trained for known in pictures[place].boxes]
        self._is_trained = np.bincount(labels, minlength=len(context.labels)) > 0
        self.answered: list[EvaluatedImage] = []

    @property
    def seconds(self) -> float:
        """Return the approximate time of the stage, in seconds on one core."""
        return len(self._fold.tested) * self._cost if self._heads.is_needed() else 0.0

    @property
    def share(self) -> float:
        """Progress of the stage, 0 to 1."""
        return len(self.answered) / len(self._fold.tested)

    @property
    def is_done(self) -> bool:
        """Whether objects were detected in every image of the fold, or the stage is not needed."""
        return self.is_answered or not self._heads.is_needed()

    @property
    def is_answered(self) -> bool:
        """Whether the trial has a result for every image."""
        return len(self.answered) >= len(self._fold.tested)

    def advance(self) -> dict[str, Any] | None:
        """Detect objects in the next images."""
        way = self._way = self._way or self._find_way()
        context, done = self._context, len(self.answered)
        places = self._fold.tested[done : done + _PICTURES_A_STEP]
        threads = max(1, context.options.threads)
        evaluator = DetectionEvaluator(context.dataset, self._heads.dense.run.vector, threads)
        propose = self._heads.proposals.proposals
        found = found_objects(context, evaluator, places, lambda _: way, propose)
        for place, objects in zip(places, found, strict=True):
            evaluated = evaluator.evaluate(place, objects)
            # A label that only this fold shows could not be trained, so it is not measured either.
            self.answered.append(replace(evaluated, truths=evaluated.truths * self._is_trained))
        return None

    def arrays(self) -> Mapping[str, Array]:
        """Return the state as arrays; `restore` resumes from them."""
        return evaluated_arrays(self.answered, len(self._context.labels))

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from the state that the method `arrays` returned."""
        self.answered = evaluated_of(arrays)
