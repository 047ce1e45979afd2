"""Answers for pictures of the training part from heads that have not seen them.

The training part is divided into three folds. A head trained without a fold answers for it, in
each way that is tried. Those answers say what a way gains, and calibrate the model where too few
pictures are held out.
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


# Parts of the training part, of which at most each is answered once.
FOLDS = 3
_MOST_PICTURES = 60
_PICTURES_A_STEP = 4


@dataclass(frozen=True)
class TrialFold:
    """Places of pictures to learn from, and of those to answer for."""

    learnt: Sequence[int]
    tried: Sequence[int]


def trial_folds(context: DetectionContext) -> list[TrialFold]:
    """Divide the training part; equal files stay in one fold, and folds may be missing."""
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
    return [fold for fold in folds if fold.learnt and fold.tried]


def _fold(context: DetectionContext, held: set[int]) -> TrialFold:
    return TrialFold(
        [place for place in context.trained if place not in held],
        sorted(held)[:_MOST_PICTURES],
    )


class TrialStage:
    """Answers for one fold in one way."""

    def __init__(
        self,
        context: DetectionContext,
        fold: TrialFold,
        dense: DenseStage,
        find_way: Callable[[], AnswerWay],
        cost: float,
    ) -> None:
        """Prepare.

        Args:
            context: of the training.
            fold: what the head learns from, and what is answered.
            dense: the head, trained once this stage begins.
            find_way: how it is answered; asked when this stage begins.
            cost: roughly, of an answer, in seconds of one core.
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
        """Roughly what the whole stage costs."""
        return len(self._fold.tried) * self._cost

    @property
    def share(self) -> float:
        """How much is done."""
        return len(self.answered) / len(self._fold.tried)

    @property
    def is_done(self) -> bool:
        """Whether every picture is answered."""
        return len(self.answered) >= len(self._fold.tried)

    def advance(self) -> dict[str, Any] | None:
        """Answer for some pictures."""
        way = self._way = self._way or self._find_way()
        context, done = self._context, len(self.answered)
        places = self._fold.tried[done : done + _PICTURES_A_STEP]
        threads = max(1, context.options.threads)
        evaluator = DetectionEvaluator(context.dataset, self._dense.run.vector, threads)
        found = found_objects(context, evaluator, places, lambda _: way)
        self.answered += map(evaluator.evaluate, places, found)
        return None

    def arrays(self) -> Mapping[str, Array]:
        """Everything that `restore` needs."""
        return evaluated_arrays(self.answered, len(self._context.labels))

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from what `arrays` returned."""
        self.answered = evaluated_of(arrays)
