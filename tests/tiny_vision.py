"""A fast replacement of the vision engines: real rows, steps and states, simple arithmetic.

It keeps the contracts of chalicelib/engines/vision/interface.py, so that the services and routes
around the engines are tested in milliseconds; test_vision_engines.py of the services uses the real
ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from chalicelib.domain.datasets.dataset import DETECTION
from chalicelib.domain.documents.picture import Picture, PixelBox
from chalicelib.domain.models.evaluation import EvaluatedExample, Evaluation, reliability
from chalicelib.domain.models.judgement import Judgement
from chalicelib.domain.models.prediction import Detection, Probability, ordered
from chalicelib.engines.artifact import Artifact, dump, load
from chalicelib.engines.ranking.vectors import short_vectors
from chalicelib.engines.vision import registry
from chalicelib.engines.vision.interface import FittedVision, VisionStep
from chalicelib.errors import TrainingFailed

VALUES = 8
STEPS = 3
"""Steps of one epoch."""
COLORS = ("red", "green", "blue")
"""Labels that a model separates."""


class TinyExtractor:
    """Returns the image's mean colour, and numbers drawn from the digest and the view."""

    least_side = 32
    row_bytes = 2 * VALUES
    row_seconds = 0.0

    def __init__(self, name: str = "tiny", shard_rows: int = 4, views: int = 3) -> None:
        self.name, self.shard_rows, self.most_views = name, shard_rows, views
        self.version = hashlib.sha256(name.encode()).hexdigest()[:12]
        self.calls: list[tuple[bytes, int]] = []

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Return the number of views."""
        return self.most_views if augment else 1

    def extract(self, picture: Any, digest: bytes, view: int) -> np.ndarray:
        """Compute the features of a view."""
        self.calls.append((digest, view))
        drawn = np.frombuffer(hashlib.sha256(digest + bytes([view])).digest()[:5], np.uint8)
        row = np.concatenate([picture.pixels.mean((0, 1)), drawn])
        return (row / 255).astype(np.float16)


class TinyTraining:
    """Sums rows in an order drawn from the seed, a third of the images in each step."""

    def __init__(self, data: Any, options: Any, checkpoint: bytes | None) -> None:
        self.data, self.options = data, options
        self.opened_with = checkpoint
        self.number, self.sums = 0, np.zeros(VALUES)
        if len(data.pictures.pictures) < 2:
            raise TrainingFailed("One image is not enough. Add others.")
        if checkpoint is not None:
            state = load(checkpoint, "tiny", 1)
            self.number, self.sums = state.header["number"], state.arrays["sums"]

    @property
    def epochs_done(self) -> int:
        """Number of finished epochs."""
        return self.number // STEPS

    def step(self) -> VisionStep | None:
        """Sum a third of the rows."""
        if self.number == self.options.epochs * STEPS:
            return None
        count = len(self.data.pictures.pictures)
        epoch, part = divmod(self.number, STEPS)
        order = np.random.default_rng((self.options.seed, epoch)).permutation(count)
        for place in order[part::STEPS]:
            view = epoch % self.data.features.views(place)
            self.sums = self.sums * 0.75 + self.data.features.row(place, view)
        self.number += 1
        share = self.number / (self.options.epochs * STEPS)
        return VisionStep(share, self._record() if self.number % STEPS == 0 else None)

    def save(self) -> bytes:
        """Return the state."""
        return dump({"kind": "tiny", "version": 1, "number": self.number}, {"sums": self.sums})

    def finish(self, model: Any, now: Any) -> FittedVision:
        """Return the model made of the sums."""
        count = len(self.data.pictures.pictures)
        held = round(count * (1 - self.options.split_ratio))
        metrics = self._record()["metricsData"]
        card = {"modelId": model.model_id, "createdAt": str(now), "object": "card"}
        header = {"kind": "tiny", "version": 1, "type": model.type}
        header["labels"] = self.data.pictures.labels
        artifact = dump(header, {"sums": self.sums})
        sizes = self.epochs_done, count - held, held
        return FittedVision(artifact, metrics, card, *sizes, evaluation=self._evaluation())

    def _evaluation(self) -> Evaluation:
        """Predict for every image its own label."""
        pictures, names = self.data.pictures.pictures, self.data.pictures.labels
        examples = [
            EvaluatedExample(one.example_ids[0], names[label], names[label], 0.75)
            for one in pictures
            for label in one.labels[:1]
        ]
        return Evaluation(examples, reliability([(0.75, True)] * len(examples)))

    def _record(self) -> dict[str, Any]:
        """Return a record of the learning curve."""
        metrics = {"labels": self.data.pictures.labels, "trainingLoss": float(self.sums[0])}
        return {
            "epoch": self.epochs_done,
            "metricsData": metrics,
            "epochResults": [],
            "object": "learningcurve",
        }


class TinyModel:
    """Finds red, green or blue areas if it has a label with this name; bounds them exactly."""

    least_side = 2048
    backbones = ()

    def __init__(self, artifact: Artifact) -> None:
        self.type, self.labels = artifact.header["type"], artifact.header["labels"]

    def predict(self, picture: Picture) -> Sequence[Probability | Detection]:
        """Return the fraction of pixels that have a label's colour, or the box around them."""
        strongest = picture.pixels.argmax(2)
        places = {label: strongest == COLORS.index(label) for label in self.labels}
        if self.type == DETECTION:
            return [_detection(label, place) for label, place in places.items() if place.any()]
        return ordered(Probability(label, float(place.mean())) for label, place in places.items())

    def judge(self, picture: Picture) -> Judgement:
        """Describe an image by mean colour and size; it is wrong as often as it states."""
        best = self.predict(picture)[0]
        facts = [*picture.pixels.mean((0, 1)), picture.width, picture.height]
        vector = short_vectors(np.array([facts], np.float32) - 50)[0]
        share = best.probability
        return Judgement(best.label, share, 1 - share, share, vector)


def _detection(label: str, place: np.ndarray) -> Detection:
    """Return the box around pixels; bool, shape (height, width)."""
    rows, columns = place.nonzero()
    box = PixelBox(*map(int, (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)))
    return Detection(label, float(place.mean()), box)


class TinyVision:
    """Replaces the engines, and records what was opened."""

    def __init__(self) -> None:
        self.extractor = TinyExtractor()
        self.retail = TinyExtractor("retail")
        self.opened: list[TinyTraining] = []

    def extractor_for(self, dataset_type: str, algorithm: str | None, backbones: Any) -> Any:
        """Return the extractor."""
        return self.retail if algorithm == "retail-execution" else self.extractor

    def open_training(
        self,
        dataset_type: str,
        data: Any,
        options: Any,
        backbones: Any,
        checkpoint: bytes | None = None,
    ) -> TinyTraining:
        """Open a training."""
        self.opened.append(TinyTraining(data, options, checkpoint))
        return self.opened[-1]

    def load(self, content: bytes, backbones: Any) -> TinyModel:
        """Read a model."""
        return TinyModel(load(content, "tiny", 1))


def install(patch: pytest.MonkeyPatch) -> TinyVision:
    """Replace the engines of a module."""
    made = TinyVision()
    patch.setattr(registry, "extractor_for", made.extractor_for)
    patch.setattr(registry, "open_training", made.open_training)
    patch.setattr(registry, "load", made.load)
    return made
