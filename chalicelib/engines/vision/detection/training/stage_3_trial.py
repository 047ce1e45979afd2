"""Tries whether a second look helps, on pictures that neither head has seen.

A part of the training part is set aside; a head trained without it answers, with and without crops.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from chalicelib.engines.artifact import add_prefix, strip_prefix
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    EvaluatedPicture,
    evaluated_arrays,
    evaluated_of,
    mean_average_precision,
    precision_recall,
)
from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
from chalicelib.engines.vision.detection.inference.decoding import select_objects
from chalicelib.engines.vision.detection.inference.second_look import second_look
from chalicelib.engines.vision.detection.training.holdout import hold_out_pictures
from chalicelib.engines.vision.detection.training.stage_2_crops import CROP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.vision.detection.head.crop_head import CropHead
    from chalicelib.engines.vision.detection.inference.decoding import Candidates
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage
    from chalicelib.engines.vision.detection.training.stage_2_crops import CropStage


_SHARE = 2 / 3
_MOST_PICTURES = 60
_PICTURES_A_STEP = 4
_EXPECTED_CROPS = 10


def trial_places(context: DetectionContext) -> tuple[list[int], list[int]]:
    """Divide the training part: places to learn from, and at most 60 to try on."""
    pictures = [context.data.pictures.pictures[place] for place in context.trained]
    labels, seed = len(context.labels), context.options.seed + 1
    held = set(hold_out_pictures(pictures, labels, _SHARE, seed))
    learnt = [place for index, place in enumerate(context.trained) if index not in held]
    tried = [context.trained[index] for index in sorted(held)]
    return learnt, tried[:_MOST_PICTURES]


class TrialStage:
    """Answers for the pictures set aside, with and without a second look."""

    def __init__(self, context: DetectionContext, dense: DenseStage, crops: CropStage) -> None:
        self._context = context
        self._dense = dense
        self._crops = crops
        self._learnt, self._tried = trial_places(context)
        self._head: CropHead | None = None
        self._once: list[EvaluatedPicture] = []
        self._twice: list[EvaluatedPicture] = []

    @property
    def seconds(self) -> float:
        """Roughly what the whole stage costs."""
        return len(self._tried) * _EXPECTED_CROPS * CROP_SECONDS

    @property
    def share(self) -> float:
        """How much is done."""
        return len(self._once) / max(1, len(self._tried))

    @property
    def is_done(self) -> bool:
        """Whether every picture is answered."""
        return len(self._once) >= len(self._tried)

    @property
    def average_precisions(self) -> tuple[float | None, float | None]:
        """Mean AP without and with a second look; None when nothing could be tried."""
        count = len(self._context.labels)
        once, twice = (
            mean_average_precision(precision_recall(evaluated, count))
            for evaluated in (self._once, self._twice)
        )
        return once, twice

    @property
    def is_better(self) -> bool:
        """Whether answers do not get worse with a second look."""
        once, twice = self.average_precisions
        return once is not None and twice is not None and twice >= once

    def advance(self) -> dict[str, Any] | None:
        """Answer for some pictures."""
        if self._head is None:
            self._head = self._crops.head(self._learnt)
        places = self._tried[len(self._once) : len(self._once) + _PICTURES_A_STEP]
        threads = max(1, self._context.options.threads)
        evaluator = DetectionEvaluator(self._context.dataset, self._dense.run.vector, threads)
        candidates = evaluator.candidates(places)
        with ThreadPoolExecutor(threads) as pool:
            twice = list(pool.map(self._again, places, candidates))
        for place, first, second in zip(places, candidates, twice, strict=True):
            rules = self._context.rules
            self._once.append(evaluator.evaluate(place, select_objects(first, rules)))
            self._twice.append(evaluator.evaluate(place, select_objects(second, rules)))
        return None

    def arrays(self) -> Mapping[str, Array]:
        """Everything that `restore` needs."""
        count = len(self._context.labels)
        once, twice = evaluated_arrays(self._once, count), evaluated_arrays(self._twice, count)
        return {**add_prefix("once", once), **add_prefix("twice", twice)}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from what `arrays` returned."""
        self._once = evaluated_of(strip_prefix("once", arrays))
        self._twice = evaluated_of(strip_prefix("twice", arrays))

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
