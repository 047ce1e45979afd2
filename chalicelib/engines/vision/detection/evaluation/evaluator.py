"""Detects objects in the images of a training, and compares the objects with the true boxes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from chalicelib.engines.vision.detection.evaluation.average_precision import (
    EvaluatedImage,
    evaluate,
)
from chalicelib.engines.vision.detection.head.dataset import DatasetItem, DetectionDataset, truth_of
from chalicelib.engines.vision.detection.head.network import HeadSize
from chalicelib.engines.vision.detection.inference.decoding import (
    Candidates,
    DetectedObjects,
    HeadDecoder,
    merged,
    select_objects,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chalicelib.domain.common.arrays import Singles
    from chalicelib.engines.vision.detection.views.maps import Maps

    Result = TypeVar("Result")


class DetectionEvaluator:
    """Runs a dense head on images of a training, several images at a time."""

    def __init__(self, dataset: DetectionDataset, vector: Singles, threads: int = 1) -> None:
        size = HeadSize(dataset.labels)
        self._dataset = dataset
        self._decoders = [HeadDecoder(size, vector) for _ in range(max(1, threads))]

    def candidates(
        self, places: Sequence[int], mirror_maps: Callable[[int], Maps | None] | None = None
    ) -> list[Candidates]:
        """Return the candidates (boxes that may be objects) of each image.

        Args:
            places: indexes of the images.
            mirror_maps: returns the feature maps of the mirror image, given the index of an image.
                None: mirror images are not used.
        """
        return self._each(
            lambda decoder, place: self._candidates(
                decoder, place, None if mirror_maps is None else mirror_maps(place)
            ),
            places,
        )

    def detect(self, places: Sequence[int]) -> list[DetectedObjects]:
        """Return the objects detected in each image."""
        rules = self._dataset.rules
        return self._each(
            lambda decoder, place: select_objects(self._candidates(decoder, place), rules), places
        )

    def evaluated(self, places: Sequence[int]) -> list[EvaluatedImage]:
        """Return the objects detected in each image, compared with the true boxes."""
        found = self.detect(places)
        return [self.evaluate(place, answer) for place, answer in zip(places, found, strict=True)]

    def evaluate(self, place: int, detections: DetectedObjects) -> EvaluatedImage:
        """Compare the objects detected in one image with the true boxes."""
        boxes, labels = truth_of(self._dataset.data.pictures.pictures[place])
        return evaluate(detections, boxes, labels, self._dataset.labels)

    def _candidates(
        self, decoder: HeadDecoder, place: int, mirror_maps: Maps | None = None
    ) -> Candidates:
        width, height = self._dataset.data.features.size(place)
        # Views that were not stored for lack of space are left out.
        count = self._dataset.data.features.views(place)
        views = self._dataset.rules.answered_views(width, height)[:count]
        return merged(
            [
                decoder.look(
                    self._dataset.maps(DatasetItem(place, number)), view, width, height, mirror_maps
                )
                for number, view in enumerate(views)
            ]
        )

    def _each(
        self, work: Callable[[HeadDecoder, int], Result], places: Sequence[int]
    ) -> list[Result]:
        count = len(self._decoders)

        def share_of(item: int) -> list[Result]:
            # A decoder has buffers, so each thread needs its own.
            return [work(self._decoders[item], place) for place in places[item::count]]

        with ThreadPoolExecutor(count) as pool:
            shares = list(pool.map(share_of, range(count)))
        return [shares[index % count][index // count] for index in range(len(places))]
