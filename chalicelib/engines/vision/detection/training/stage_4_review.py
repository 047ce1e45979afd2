"""Measures the finished model on held-out images; compares its boxes with annotated boxes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.artifact import add_prefix, strip_prefix
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    evaluated_arrays,
    evaluated_of,
)
from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
from chalicelib.engines.vision.detection.head.dataset import DatasetItem
from chalicelib.engines.vision.detection.report.data_report import MOST_ENTRIES, suspicions_of
from chalicelib.engines.vision.detection.training.ways import (
    CROPS_SECONDS,
    VIEW_SECONDS,
    AnswerWay,
    found_objects,
)
from chalicelib.engines.vision.detection.views.maps import CHANNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from chalicelib.domain.common.arrays import Array, Singles
    from chalicelib.engines.vision.detection.evaluation.average_precision import EvaluatedImage
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.stage_3_trial import FoldHeads

# Reviewed images of the training part, to bound the time; all held-out ones are reviewed.
MOST_REVIEWED = 1_000
_VIEWS_A_STEP = 40


class ReviewStage:
    """Detects objects in all images; the held-out images come first."""

    def __init__(
        self,
        context: DetectionContext,
        heads: FoldHeads,
        find_way: Callable[[], AnswerWay],
    ) -> None:
        """Prepare the stage.

        Args:
            context: images and options of the training.
            heads: the heads of the model, trained before this stage begins.
            find_way: returns the detection method for held-out images; called at the first
                `advance`.
        """
        self._context = context
        self._heads = heads
        self._find_way = find_way
        self._way: AnswerWay | None = None
        self._tested = frozenset(context.tested)
        self.places = [*context.tested, *context.trained[:MOST_REVIEWED]]
        self.evaluated: list[EvaluatedImage] = []
        self.suspicions: list[dict[str, Any]] = []
        self._pooled: list[Singles] = []

    @property
    def seconds(self) -> float:
        """Return the approximate time of the stage, in seconds on one core."""
        return len(self.places) * VIEW_SECONDS + len(self._context.tested) * CROPS_SECONDS

    @property
    def share(self) -> float:
        """Progress of the stage, 0 to 1."""
        return len(self._pooled) / max(1, len(self.places))

    @property
    def is_done(self) -> bool:
        """Whether every image has been processed."""
        return len(self._pooled) >= len(self.places)

    @property
    def pooled(self) -> Singles:
        """Mean of the coarsest feature map of each processed image, float32, (images, 480)."""
        return np.array(self._pooled, np.float32).reshape(-1, CHANNELS[-1])

    def advance(self) -> dict[str, Any] | None:
        """Detect objects in the next images."""
        way = self._way = self._way or self._find_way()
        places = self._next_places(way)
        threads = max(1, self._context.options.threads)
        evaluator = DetectionEvaluator(self._context.dataset, self._heads.dense.run.vector, threads)
        # Held-out images use the method of the served model. Images of the training part are only
        # for the report, and use the fastest method.
        plain = replace(way, is_mirrored=False, crop_head=None)
        found = found_objects(
            self._context,
            evaluator,
            places,
            lambda place: way if place in self._tested else plain,
            self._heads.proposals.proposals,
        )
        for place, answered in zip(places, found, strict=True):
            self._pooled.append(
                self._context.dataset.maps(DatasetItem(place, 0)).coarse.mean(axis=0)
            )
            if place in self._tested:
                self.evaluated.append(evaluator.evaluate(place, answered))
            if len(self.suspicions) < 10 * MOST_ENTRIES:
                image = self._context.data.pictures.pictures[place]
                self.suspicions += suspicions_of(image, answered, self._context.labels)
        return None

    def arrays(self) -> Mapping[str, Array]:
        """Return the state as arrays; `restore` resumes from them."""
        text = np.frombuffer(json.dumps(self.suspicions).encode(), np.uint8)
        evaluated = add_prefix(
            "judged", evaluated_arrays(self.evaluated, len(self._context.labels))
        )
        return {"pooled": self.pooled, "suspicions": text, **evaluated}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from the state that the method `arrays` returned."""
        self._pooled = list(arrays["pooled"])
        self.suspicions = json.loads(arrays["suspicions"].tobytes())
        self.evaluated = evaluated_of(strip_prefix("judged", arrays))

    def _next_places(self, way: AnswerWay) -> list[int]:
        first = len(self._pooled)
        views = max(1, self._context.data.features.views(self.places[first]))
        count = max(1, _VIEWS_A_STEP // views) if self._context.rules.is_tiled else _VIEWS_A_STEP
        if (way.is_mirrored or way.crop_head) and first < len(self._context.tested):
            count = min(count, 4)
        return self.places[first : first + count]
