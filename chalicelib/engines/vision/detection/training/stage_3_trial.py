"""Answers for pictures of the training part from heads that have not seen them.

The training part is divided into three folds. A head trained without a fold answers for it, with
and without a second look where that is possible. Those answers say whether a second look helps,
and calibrate the model where too few pictures are held out.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chalicelib.engines.artifact import add_prefix, strip_prefix
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    EvaluatedPicture,
    evaluated_arrays,
    evaluated_of,
)
from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
from chalicelib.engines.vision.detection.inference.decoding import select_objects
from chalicelib.engines.vision.detection.inference.second_look import second_look
from chalicelib.engines.vision.detection.training.holdout import hold_out_pictures
from chalicelib.engines.vision.detection.training.stage_2_crops import CROP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.vision.detection.head.crop_head import CropHead
    from chalicelib.engines.vision.detection.inference.decoding import Candidates
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage
    from chalicelib.engines.vision.detection.training.stage_2_crops import CropStage


FOLDS = 3
"""Parts of the training part, of which at most each is answered once."""
_MOST_PICTURES = 60
_PICTURES_A_STEP = 4
_EXPECTED_CROPS = 10


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
    """Answers for one fold, with and without a second look."""

    def __init__(
        self,
        context: DetectionContext,
        fold: TrialFold,
        dense: DenseStage,
        crops: CropStage | None,
    ) -> None:
        """Prepare.

        Args:
            context: of the training.
            fold: what the head learns from, and what is answered.
            dense: the head, trained once this stage begins.
            crops: described boxes for a second look; None for none.
        """
        self._context = context
        self._fold = fold
        self._dense = dense
        self._crops = crops
        self._head: CropHead | None = None
        self.once: list[EvaluatedPicture] = []
        self.twice: list[EvaluatedPicture] = []

    @property
    def seconds(self) -> float:
        """Roughly what the whole stage costs."""
        return len(self._fold.tried) * _EXPECTED_CROPS * CROP_SECONDS

    @property
    def share(self) -> float:
        """How much is done."""
        return len(self.once) / len(self._fold.tried)

    @property
    def is_done(self) -> bool:
        """Whether every picture is answered."""
        return len(self.once) >= len(self._fold.tried)

    def advance(self) -> dict[str, Any] | None:
        """Answer for some pictures."""
        if self._head is None and self._crops is not None:
            self._head = self._crops.head(self._fold.learnt)
        places = self._fold.tried[len(self.once) : len(self.once) + _PICTURES_A_STEP]
        threads = max(1, self._context.options.threads)
        evaluator = DetectionEvaluator(self._context.dataset, self._dense.run.vector, threads)
        candidates = evaluator.candidates(places)
        with ThreadPoolExecutor(threads) as pool:
            twice = list(pool.map(self._again, places, candidates))
        for place, first, second in zip(places, candidates, twice, strict=True):
            rules = self._context.rules
            self.once.append(evaluator.evaluate(place, select_objects(first, rules)))
            self.twice.append(evaluator.evaluate(place, select_objects(second, rules)))
        return None

    def arrays(self) -> Mapping[str, Array]:
        """Everything that `restore` needs."""
        count = len(self._context.labels)
        once, twice = evaluated_arrays(self.once, count), evaluated_arrays(self.twice, count)
        return {**add_prefix("once", once), **add_prefix("twice", twice)}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from what `arrays` returned."""
        self.once = evaluated_of(strip_prefix("once", arrays))
        self.twice = evaluated_of(strip_prefix("twice", arrays))

    def _again(self, place: int, candidates: Candidates) -> Candidates:
        """Look at one picture twice."""
        if self._head is None:
            return candidates
        context = self._context
        return second_look(
            candidates,
            self._head,
            context.backbones,
            lambda side: context.data.open_picture(place, side),
        )
