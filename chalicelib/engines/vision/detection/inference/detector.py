"""A trained detection model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, LifoQueue
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from chalicelib.domain.documents.picture import Picture, PixelBox
from chalicelib.domain.models.prediction import Detection
from chalicelib.engines.vision.detection.algorithms import FLOOR
from chalicelib.engines.vision.detection.head.network import HeadSize
from chalicelib.engines.vision.detection.inference.decoding import Candidates, HeadDecoder, merged
from chalicelib.engines.vision.detection.inference.model_file import (
    TYPE,
    DetectionModel,
    load_model,
)
from chalicelib.engines.vision.detection.inference.second_look import answer
from chalicelib.engines.vision.detection.proposals.network import propose
from chalicelib.engines.vision.detection.views.crops import LEAST_SIDE
from chalicelib.engines.vision.detection.views.extractor import compute_row, render
from chalicelib.engines.vision.detection.views.maps import SIDE, Maps, maps_of
from chalicelib.engines.vision.detection.views.views import TILED_SIDE, ImageView

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Singles
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.engines.vision.interface import BackboneUse

# Limits the views that this process evaluates at a time, because each takes tens of megabytes.
_PROCESSORS = BoundedSemaphore(max(1, os.cpu_count() or 1))


class TrainedDetector:
    """A `TrainedVision` that detects objects; safe to share between threads."""

    def __init__(self, model: DetectionModel, backbones: BackbonePool) -> None:
        self._model = model
        self._pool = backbones
        self._rules = model.rules
        self._idle: LifoQueue[HeadDecoder] = LifoQueue()

    @property
    def type(self) -> str:
        """Return the dataset type."""
        return TYPE

    @property
    def labels(self) -> Sequence[str]:
        """Return the label names."""
        return self._model.labels

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        if self._rules.is_tiled:
            return TILED_SIDE
        return SIDE if self._model.crop_head is None else LEAST_SIDE

    @property
    def backbones(self) -> Sequence[BackboneUse]:
        """Return the backbones that the model needs."""
        return self._model.backbones

    def predict(self, image: Picture) -> Sequence[Detection]:
        """Return the objects with a probability of at least 5 %, most probable first.

        Args:
            image: decoded image, whose shorter side may be reduced to `least_side` pixels.

        Returns:
            The objects, with boxes in whole pixels of the image as displayed.
        """
        found = answer(
            merged([*self._dense(image), *self._proposed(image)]),
            self._rules,
            self._model.crop_head,
            self._pool,
            lambda _: image,
        )
        probabilities = self._model.calibration.apply(found.scores)
        return [
            Detection(self.labels[label], float(probability), _pixel_box(box, image))
            for label, probability, box in zip(
                found.labels, probabilities, found.boxes, strict=True
            )
            if probability >= FLOOR
        ]

    def _proposed(self, image: Picture) -> list[Candidates]:
        head = self._model.proposal_head
        if head is None:
            return []
        with _PROCESSORS:
            return [head.candidates(propose(self._pool, image))]

    def _dense(self, image: Picture) -> list[Candidates]:
        vector = self._model.vector
        if vector is None:
            return []
        views = self._rules.answered_views(image.width, image.height)

        def look(view: ImageView) -> Candidates:
            with self._decoder(vector) as decoder:
                maps = self._maps(image, view)
                mirrored = None
                if self._model.is_mirrored:
                    mirrored = self._maps(image, view.mirrored())
                return decoder.look(maps, view, image.width, image.height, mirrored)

        if len(views) == 1:
            return [look(views[0])]
        with ThreadPoolExecutor(min(len(views), os.cpu_count() or 1)) as pool:
            return list(pool.map(look, views))

    def _maps(self, image: Picture, view: ImageView) -> Maps:
        return maps_of(compute_row(self._pool, render(image.pixels, view)))

    @contextmanager
    def _decoder(self, vector: Singles) -> Iterator[HeadDecoder]:
        with _PROCESSORS:
            try:
                decoder = self._idle.get_nowait()
            except Empty:
                decoder = HeadDecoder(HeadSize(len(self.labels)), vector)
            try:
                yield decoder
            finally:
                self._idle.put(decoder)


def load(content: bytes, backbones: BackbonePool) -> TrainedDetector:
    """Read a model from the bytes of `dump_model`; backbones are loaded at the first prediction.

    Raises:
        ArtifactError: the bytes are damaged, are not a detection model, have an unknown version, or
            contain arrays whose shapes do not match.
    """
    return TrainedDetector(load_model(content), backbones)


def _pixel_box(box: Doubles, image: Picture) -> PixelBox:
    left, top, right, bottom = (round(float(side)) for side in box)
    left, top = min(max(left, 0), image.width - 1), min(max(top, 0), image.height - 1)
    right = min(max(right, left + 1), image.width)
    bottom = min(max(bottom, top + 1), image.height)
    return PixelBox(left, top, right, bottom)
