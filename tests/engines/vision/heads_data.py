"""Small training sets for tests of the linear heads: clusters of features, no images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b

import numpy as np

from chalicelib.domain.documents.picture import Picture
from chalicelib.domain.models.model import RUNNING, Model
from chalicelib.domain.models.training_pictures import LabelledPicture, TrainingPictures
from chalicelib.engines.vision.interface import (
    FittedVision,
    VisionData,
    VisionOptions,
    VisionStep,
    VisionTraining,
)

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@dataclass
class ArrayFeatures:
    """A FeatureReader of an array, float16, shape (images, views, dims)."""

    values: np.ndarray

    def size(self, place: int) -> tuple[int, int]:
        return 320, 240

    def views(self, place: int) -> int:
        return self.values.shape[1]

    def row(self, place: int, view: int = 0) -> np.ndarray:
        return self.values[place, view]


def a_model(dataset_type: str) -> Model:
    """Return a run of a model."""
    return Model(
        account_id="account",
        model_id="MODEL",
        name="Drawn",
        dataset_id=7,
        family="vision",
        type=dataset_type,
        language="N/A",
        status=RUNNING,
        progress=0.0,
        created_at=NOW,
        updated_at=NOW,
    )


def digest_of(number: int) -> bytes:
    """Return the digest of an image file."""
    return blake2b(str(number).encode(), digest_size=16).digest()


def vision_data(
    values: np.ndarray,
    labels: Sequence[Sequence[int]],
    names: Sequence[str],
    digests: Sequence[bytes] | None = None,
) -> VisionData:
    """Combine features and labels; example ids are 100 x image + position of the label."""
    pictures = [
        LabelledPicture(
            dataset_id=7,
            digest=digest_of(place) if digests is None else digests[place],
            name=f"p{place}.png",
            labels=tuple(own),
            example_ids=tuple(100 * place + number for number in range(len(own))),
        )
        for place, own in enumerate(labels)
    ]

    def no_picture(place: int, least_side: int) -> Picture:
        raise AssertionError("A head needs no images.")

    examples = sum(map(len, labels))
    return VisionData(
        TrainingPictures(list(names), pictures, examples), ArrayFeatures(values), no_picture
    )


def clusters(
    counts: Sequence[int], dims: int = 96, views: int = 1, spread: float = 0.6, seed: int = 0
) -> tuple[np.ndarray, list[list[int]]]:
    """Draw non-negative features around a centre for every label.

    Returns:
        Float16, shape (pictures, views, dims), and the label of every picture.
    """
    generator = np.random.default_rng(seed)
    centres = np.maximum(generator.normal(size=(len(counts), dims)), 0)
    labels = np.repeat(np.arange(len(counts)), counts)
    noise = generator.normal(size=(len(labels), views, dims)) * spread
    values = np.maximum(centres[labels][:, None] + noise, 0).astype(np.float16)
    return values, [[int(label)] for label in labels]


def options(**chosen: object) -> VisionOptions:
    """Return options: few epochs, a fifth held out."""
    return VisionOptions(**{"epochs": 4, "learning_rate": 0.001, "split_ratio": 0.8, **chosen})


def run_to_end(training: VisionTraining) -> tuple[FittedVision, list[VisionStep]]:
    """Run all steps and finish."""
    steps = []
    while (step := training.step()) is not None:
        steps.append(step)
    return training.finish(a_model("image"), NOW), steps
