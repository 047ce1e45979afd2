"""Detects objects in training images, by heads that were not trained on them.

The training part is split into three folds. A head that was trained without a fold detects objects
in the fold, with each method that is tried. The results give the gain of a method, and calibrate
the model if too few images are held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chalicelib.engines.vision.detection.evaluation.average_precision import (
    EvaluatedPicture,
    evaluated_arrays,
    evaluated_of,
)
from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
from chalicelib.engines.vision.detection.training.holdout import hold_out_pictures
from chalicelib.engines.vision.detection.training.ways import AnswerWay, found_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage


# Folds of the training part; each is answered at most once.
FOLDS = 3
_MOST_PICTURES = 60
_PICTURES_A_STEP = 4


@dataclass(frozen=True)
class TrialFold:
    """Indexes of images to train on, and of images to detect in."""

    trained: Sequence[int]
    tested: Sequence[int]


def trial_folds(context: DetectionContext) -> list[TrialFold]:
    """Split the training part into folds; equal files share a fold, and folds may be missing."""
    rest, labels = list(context.trained), len(context.labels)
    folds: list[TrialFold] = []
    for number in range(FOLDS - 1):
        pictures = [context.data.pictures.pictures[place] for place in rest]
        share = 1.0 - 1.0 / (FOLDS - number)
        seed = context.options.seed + 1 + number
        held = {rest[index] for index in hold_out_pictures(pictures, labels, share, seed)}
        folds.append(_fold(context, held))
        rest = [place for place in rest if place not in held]
    folds.append(_fold(context, set(rest)))
    return [fold for fold in folds if fold.trained and fold.tested]


def _fold(context: DetectionContext, held: set[int]) -> TrialFold:
    return TrialFold(
        [place for place in context.trained if place not in held],
        sorted(held)[:_MOST_PICTURES],
    )


class TrialStage:
    """Detects objects in one fold with one method."""

    def __init__(
        self,
        context: DetectionContext,
        fold: TrialFold,
        dense: DenseStage,
        find_way: Callable[[], AnswerWay],
        cost: float,
    ) -> None:
        """Prepare the stage.

        Args:
            context: context of the training.
            fold: images to train on and to detect in.
            dense: the head, trained before this stage begins.
            find_way: returns the method; called when this stage begins.
            cost: approximate cost per image, in seconds of one core.
        """
        self._context = context
        self._fold = fold
        self._dense = dense
        self._find_way = find_way
        self._cost = cost
        self._way: AnswerWay | None = None
        self.answered: list[EvaluatedPicture] = []

    @property
    def seconds(self) -> float:
        """Return the approximate cost of the stage."""
        return len(self._fold.tested) * self._cost

    @property
    def share(self) -> float:
        """Return the progress, 0 to 1."""
        return len(self.answered) / len(self._fold.tested)

    @property
    def is_done(self) -> bool:
        """Return whether every image is done."""
        return len(self.answered) >= len(self._fold.tested)

    def advance(self) -> dict[str, Any] | None:
        """Detect objects in some images."""
        way = self._way = self._way or self._find_way()
        context, done = self._context, len(self.answered)
        places = self._fold.tested[done : done + _PICTURES_A_STEP]
        threads = max(1, context.options.threads)
        evaluator = DetectionEvaluator(context.dataset, self._dense.run.vector, threads)
        found = found_objects(context, evaluator, places, lambda _: way)
        self.answered += map(evaluator.evaluate, places, found)
        return None

    def arrays(self) -> Mapping[str, Array]:
        """Return the state as arrays, from which `restore` resumes."""
        return evaluated_arrays(self.answered, len(self._context.labels))

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from the arrays that `arrays` returned."""
        self.answered = evaluated_of(arrays)
