"""Crops annotated boxes. Features of the crops are used to fit a head that classifies crops."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.vision.detection.head.crop_head import CropHead, fit_crop_head, item_limit
from chalicelib.engines.vision.detection.head.dataset import truth_of
from chalicelib.engines.vision.detection.views.crops import CROP_VALUES, LEAST_SIDE, describe_crops

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chalicelib.domain.common.arrays import Array, Ints, Singles
    from chalicelib.engines.vision.detection.training.context import DetectionContext

# Approximate cost of a crop's features, in seconds of one core.
CROP_SECONDS = 0.025
_MOST_CROPS = 2_000
_CROPS_A_STEP = 40


class CropStage:
    """Crops annotated boxes, about equally many per label, and computes features of the crops."""

    def __init__(self, context: DetectionContext, is_needed: Callable[[], bool]) -> None:
        """Prepare the stage.

        Args:
            context: images and options of the training.
            is_needed: returns whether the second look, which classifies crops, will be tried. It is
                called before each step, because earlier stages can change the result.
        """
        self._is_needed = is_needed
        self._context = context
        chosen = _chosen_boxes(context)
        self._places = sorted(chosen)
        self._chosen = chosen
        self._ends = np.cumsum([len(chosen[place]) for place in self._places])
        self._next = 0
        self._rows: list[Singles] = []

    @property
    def seconds(self) -> float:
        """Return the approximate time of the stage, in seconds on one core."""
        return float(self._ends[-1]) * CROP_SECONDS if self._is_needed() else 0.0

    @property
    def share(self) -> float:
        """Progress of the stage, 0 to 1."""
        return self._next / len(self._places)

    @property
    def is_done(self) -> bool:
        """Whether every selected crop has features, or no crops are needed."""
        return not self._is_needed() or self._next >= len(self._places)

    def advance(self) -> dict[str, Any] | None:
        """Compute features of the crops of the next images."""
        done = int(self._ends[self._next - 1]) if self._next else 0
        last = int(np.searchsorted(self._ends, done + _CROPS_A_STEP)) + 1
        places = self._places[self._next : last]
        with ThreadPoolExecutor(max(1, self._context.options.threads)) as pool:
            self._rows += list(pool.map(self._describe, places))
        self._next += len(places)
        return None

    def arrays(self) -> Mapping[str, Array]:
        """Return the state as arrays; `restore` resumes from them."""
        rows = [np.empty((0, CROP_VALUES), np.float32), *self._rows]
        return {"rows": np.concatenate(rows), "next": np.array([self._next])}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from the state that the method `arrays` returned."""
        self._next = int(arrays["next"][0])
        self._rows = np.split(arrays["rows"], self._ends[: self._next])[: self._next]

    def head(self, places: Sequence[int]) -> CropHead | None:
        """Fit a head to crops of the images `places`; return None if they have no crops."""
        wanted = set(places)
        chosen = [index for index, place in enumerate(self._places) if place in wanted]
        if not chosen:
            return None
        pictures = self._context.data.pictures.pictures
        labels = [
            truth_of(pictures[place])[1][self._chosen[place]]
            for place in (self._places[index] for index in chosen)
        ]
        groups = np.repeat(np.arange(len(chosen)), [len(part) for part in labels])
        rows = np.concatenate([self._rows[index] for index in chosen])
        return fit_crop_head(rows, np.concatenate(labels), groups, len(self._context.labels))

    def _describe(self, place: int) -> Singles:
        boxes, _ = truth_of(self._context.data.pictures.pictures[place])
        image = self._context.data.open_picture(place, LEAST_SIDE)
        return describe_crops(self._context.backbones, image, boxes[self._chosen[place]])


def _chosen_boxes(context: DetectionContext) -> dict[int, Ints]:
    pictures = context.data.pictures.pictures
    pairs = [
        (place, number, known.label)
        for place in context.trained
        for number, known in enumerate(pictures[place].boxes)
    ]
    labels = np.array([label for _, _, label in pairs])
    # As many of each label as the total allows, so that rare labels keep all of theirs.
    cap = item_limit(np.bincount(labels).tolist(), _MOST_CROPS)
    generator = np.random.Generator(np.random.PCG64([context.options.seed, 2]))
    taken = np.zeros(len(context.labels), np.int64)
    chosen: dict[int, list[int]] = {}
    for index in generator.permutation(len(pairs)):
        place, number, label = pairs[index]
        if taken[label] < cap:
            taken[label] += 1
            chosen.setdefault(place, []).append(number)
    return {place: np.array(sorted(numbers)) for place, numbers in chosen.items()}
