"""Interfaces between vision engines and services. This module imports no native code.

An `Extractor` computes features of each image, once for all trainings. A `VisionTraining` trains on
these features in steps. Its state can be saved between any two steps. A `TrainedVision` predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.common.arrays import Halves
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.domain.models.evaluation import Evaluation
    from chalicelib.domain.models.judgement import Judgement
    from chalicelib.domain.models.model import Model
    from chalicelib.domain.models.prediction import Detection, Probability
    from chalicelib.domain.models.suspects import SuspectExample
    from chalicelib.domain.models.training_pictures import TrainingPictures


class Extractor(Protocol):
    """Computes features of views of an image.

    View 0 is the whole image, unchanged. Other views depend only on the image's digest, its size
    and the view's number, so that all workers compute the same features.
    """

    @property
    def name(self) -> str:
        """Return the short name of the extractor. It is part of the path of stored features."""
        ...

    @property
    def version(self) -> str:
        """Return 12 hex digits that change if anything that affects the features changes."""
        ...

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        ...

    @property
    def shard_rows(self) -> int:
        """Number of rows of features in one stored object."""
        ...

    @property
    def row_bytes(self) -> int:
        """Size of one row of float16 features, in bytes."""
        ...

    @property
    def row_seconds(self) -> float:
        """Approximate processor time to compute a row, in seconds."""
        ...

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Return the number of views that a training makes of an image of this size, at least 1."""
        ...

    def extract(self, image: Picture, digest: bytes, view: int) -> Halves:
        """Return the features of one view, float16, shape (row_bytes / 2,).

        Args:
            image: decoded image; may be downscaled to `least_side` pixels on its shorter side.
            digest: digest of the image file, 16 bytes, which determines the view.
            view: number of the view, from 0.
        """
        ...


class FeatureReader(Protocol):
    """Reads the features of a training's images, by index of the image."""

    def size(self, place: int) -> tuple[int, int]:
        """Return width and height of the image `place` as displayed, in pixels."""
        ...

    def views(self, place: int) -> int:
        """Return the number of views of the image `place` that have features, at least 1."""
        ...

    def row(self, place: int, view: int = 0) -> Halves:
        """Return the features of one view, float16, shape (row_bytes / 2,).

        The array is a copy or read-only.
        """
        ...


@dataclass(frozen=True)
class VisionData:
    """The images of a training, with their features."""

    pictures: TrainingPictures
    features: FeatureReader
    """Features of the images, by index in `pictures.pictures`."""
    open_picture: Callable[[int, int], Picture]
    """Decodes an image, given its index and the smallest length of its shorter side."""


@dataclass(frozen=True)
class VisionOptions:
    """Options of a training."""

    epochs: int
    """Maximum number of epochs; each has a record of the learning curve."""
    # Otherwise an engine may repeat few images several times an epoch.
    has_named_epochs: bool = field(default=True, kw_only=True)
    """Whether the caller set the number of epochs; then each epoch is one pass over the images."""
    learning_rate: float
    """Learning rate of the request. The engine multiplies its best rate by this value / 0.001."""
    split_ratio: float = 0.9
    """Fraction of the images to train on; 1 holds nothing out (only in benchmarks)."""
    augment: bool = False
    """Whether to train on other views in addition to the image itself."""
    algorithm: str = ""
    """`object-detection` or `retail-execution` for type image-detection; otherwise empty."""
    seed: int = 0
    """Seed of the split, the folds, the order of the images and the initial weights."""
    threads: int = 1
    """Threads to use; the result does not depend on them."""


@dataclass(frozen=True)
class VisionStep:
    """The result of one step of a training."""

    share: float
    """Progress of the whole training, 0 to 1; it never decreases."""
    record: dict[str, Any] | None = None
    """Learning curve record (contract, section 4), if the step ended an epoch; else None."""


@dataclass(frozen=True)
class FittedVision:
    """The results of a finished training."""

    artifact: bytes
    metrics: dict[str, Any]
    """`metricsData` of GET models/{id}."""
    card: dict[str, Any] = field(repr=False)
    epochs: int
    train_size: int
    """Number of images on which the head was trained for the metrics."""
    test_size: int
    early_stopping: bool = False
    """Whether the training stopped before the last allowed epoch."""
    suspects: Sequence[SuspectExample] = ()
    """All examples whose labels are flagged, the most suspicious first."""
    evaluation: Evaluation | None = None
    """Out-of-fold predictions for the dataset's own images; None for object detection."""


class VisionTraining(Protocol):
    """A training in steps of about a second. Another process can resume it from a saved state."""

    @property
    def epochs_done(self) -> int:
        """Return the number of finished epochs."""
        ...

    def step(self) -> VisionStep | None:
        """Do the next step; return None when the training is finished.

        Raises:
            TrainingFailed: no model can be trained on these images. The message says what to do.
        """
        ...

    def save(self) -> bytes:
        """Return the state (npz without pickle), from which another process can resume."""
        ...

    def finish(self, model: Model, now: datetime) -> FittedVision:
        """Return artifact, metrics and model card. Call this after `step` has returned None."""
        ...


class TrainedVision(Protocol):
    """A trained image model, which predicts."""

    @property
    def type(self) -> str:
        """Return the dataset type: image, image-multi-label or image-detection."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """Return the label names."""
        ...

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        ...

    @property
    def backbones(self) -> Sequence[BackboneUse]:
        """Return the backbones that the model needs."""
        ...

    def predict(self, image: Picture) -> Sequence[Probability | Detection]:
        """Return the predictions for an image, most probable first.

        Args:
            image: decoded image; may be downscaled to `least_side` pixels on its shorter side.

        Returns:
            For types image and image-multi-label, all labels. For image-detection, boxes in pixels
            of the image as displayed, clipped to the image.
        """
        ...


@runtime_checkable
class JudgingVision(Protocol):
    """A model that judges how uncertain its prediction for an image is."""

    def judge(self, image: Picture) -> Judgement:
        """Return the prediction for an image and the uncertainty of the prediction."""
        ...


@dataclass(frozen=True, slots=True)
class BackboneUse:
    """The name and digest of a backbone whose features a model uses."""

    name: str
    """`lite2` or `nanodet`."""
    sha256: str
    """SHA-256 of the backbone's model file, 64 hex digits."""
