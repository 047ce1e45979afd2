"""Measures the finished model on held-out pictures, and looks all over for the report."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.artifact import add_prefix, strip_prefix
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    evaluated_arrays,
    evaluated_of,
)
from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
from chalicelib.engines.vision.detection.head.dataset import DatasetItem
from chalicelib.engines.vision.detection.inference.second_look import answer
from chalicelib.engines.vision.detection.report.data_report import MOST_ENTRIES, suspicions_of
from chalicelib.engines.vision.detection.training.stage_2_crops import CROP_SECONDS
from chalicelib.engines.vision.detection.views.maps import CHANNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from chalicelib.domain.common.arrays import Array, Singles
    from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedPicture
    from chalicelib.engines.vision.detection.head.crop_head import CropHead
    from chalicelib.engines.vision.detection.inference.decoding import Candidates, DetectedObjects
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.stage_1_dense import DenseStage


MOST_REVIEWED = 1_000
"""Pictures of the training part that the report looks over; all held-out ones are."""
_VIEW_SECONDS = 0.02
_EXPECTED_CROPS = 10
_VIEWS_A_STEP = 40


class ReviewStage:
    """Answers for pictures, the held-out ones first."""

    def __init__(
        self, context: DetectionContext, dense: DenseStage, find_head: Callable[[], CropHead | None]
    ) -> None:
        """Prepare.

        Args:
            context: of the training.
            dense: the finished head, once this stage begins.
            find_head: gives the head of the second look, or None; asked when this stage begins.
        """
        self._context = context
        self._dense = dense
        self._find_head = find_head
        self._head: CropHead | None = None
        self._has_begun = False
        self._tested = frozenset(context.tested)
        self.places = [*context.tested, *context.trained[:MOST_REVIEWED]]
        self.evaluated: list[EvaluatedPicture] = []
        self.suspicions: list[dict[str, Any]] = []
        self._pooled: list[Singles] = []

    @property
    def seconds(self) -> float:
        """Roughly what the whole stage costs."""
        crops = len(self._context.tested) * _EXPECTED_CROPS * CROP_SECONDS
        return len(self.places) * _VIEW_SECONDS + crops

    @property
    def share(self) -> float:
        """How much is done."""
        return len(self._pooled) / max(1, len(self.places))

    @property
    def is_done(self) -> bool:
        """Whether every picture is looked over."""
        return len(self._pooled) >= len(self.places)

    @property
    def pooled(self) -> Singles:
        """Mean of the coarse map of each picture looked over, float32, shape (places, 480)."""
        return np.array(self._pooled, np.float32).reshape(-1, CHANNELS[-1])

    def advance(self) -> dict[str, Any] | None:
        """Look over some pictures."""
        if not self._has_begun:
            self._head, self._has_begun = self._find_head(), True
        places = self._next_places()
        threads = max(1, self._context.options.threads)
        evaluator = DetectionEvaluator(self._context.dataset, self._dense.run.vector, threads)
        candidates = evaluator.candidates(places)
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(self._answer, places, candidates))
        for place, answered in zip(places, found, strict=True):
            self._pooled.append(
                self._context.dataset.maps(DatasetItem(place, 0)).coarse.mean(axis=0)
            )
            if place in self._tested:
                self.evaluated.append(evaluator.evaluate(place, answered))
            if len(self.suspicions) < 10 * MOST_ENTRIES:
                picture = self._context.data.pictures.pictures[place]
                self.suspicions += suspicions_of(picture, answered, self._context.labels)
        return None

    def arrays(self) -> Mapping[str, Array]:
        """Everything that `restore` needs."""
        text = np.frombuffer(json.dumps(self.suspicions).encode(), np.uint8)
        evaluated = add_prefix(
            "judged", evaluated_arrays(self.evaluated, len(self._context.labels))
        )
        return {"pooled": self.pooled, "suspicions": text, **evaluated}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from what `arrays` returned."""
        self._pooled = list(arrays["pooled"])
        self.suspicions = json.loads(arrays["suspicions"].tobytes())
        self.evaluated = evaluated_of(strip_prefix("judged", arrays))

    def _next_places(self) -> list[int]:
        first = len(self._pooled)
        views = max(1, self._context.data.features.views(self.places[first]))
        count = max(1, _VIEWS_A_STEP // views) if self._context.rules.is_tiled else _VIEWS_A_STEP
        if self._head is not None and first < len(self._context.tested):
            count = min(count, 4)
        return self.places[first : first + count]

    def _answer(self, place: int, candidates: Candidates) -> DetectedObjects:
        """Answer as the model will, but look twice at held-out pictures alone."""
        context = self._context
        is_tested = place in self._tested
        return answer(
            candidates,
            context.rules,
            self._head if is_tested else None,
            context.backbones,
            lambda side: context.data.open_picture(place, side),
        )
