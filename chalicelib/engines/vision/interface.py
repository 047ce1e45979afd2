"""Contracts between the vision engines and the services. Holds no native import.

A training is three things: an Extractor turns each picture into features, once, whatever is
trained from them later; a VisionTraining learns from those features step by step and can be
saved between any two steps; a TrainedVision answers.
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
    """Turns views of a picture into features.

    View 0 is the picture as it is. What the other views show depends on nothing but the picture's
    digest, its size and the view's number, so that two workers compute the same.
    """

    @property
    def name(self) -> str:
        """Short name; part of the folder that keeps the features."""
        ...

    @property
    def version(self) -> str:
        """12 hex digits of a digest over everything that decides the numbers."""
        ...

    @property
    def least_side(self) -> int:
        """The decoder must keep at least this many pixels on the shorter side."""
        ...

    @property
    def shard_rows(self) -> int:
        """How many rows of features are kept in one object."""
        ...

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of float16 features."""
        ...

    @property
    def row_seconds(self) -> float:
        """Seconds of one processor that a row takes, about."""
        ...

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Return how many views of a picture of this size a training uses, at least 1."""
        ...

    def extract(self, picture: Picture, digest: bytes, view: int) -> Halves:
        """Compute the features of one view.

        Args:
            picture: decoded with `least_side`.
            digest: of the picture file, 16 bytes; the seed of the view.
            view: from 0.

        Returns:
            float16, shape (row_bytes / 2,).
        """
        ...


class FeatureReader(Protocol):
    """The features of a training's pictures, by the pictures' places."""

    def size(self, place: int) -> tuple[int, int]:
        """Width and height of a picture as displayed, in pixels."""
        ...

    def views(self, place: int) -> int:
        """How many views are there, at least 1; fewer than wanted when space is short."""
        ...

    def row(self, place: int, view: int = 0) -> Halves:
        """Features of one view, float16, shape (row_bytes / 2,); a copy or a read-only view."""
        ...


@dataclass(frozen=True)
class VisionData:
    """What a training learns from."""

    pictures: TrainingPictures
    """Labels and pictures."""
    features: FeatureReader
    """Their features; places are indexes into `pictures.pictures`."""
    open_picture: Callable[[int, int], Picture]
    """Decodes the picture at a place, keeping at least that many pixels on the shorter side."""


@dataclass(frozen=True)
class VisionOptions:
    """What the caller of a training may choose."""

    epochs: int
    """Records of the learning curve at most."""
    has_named_epochs: bool = field(default=True, kw_only=True)
    """Whether the caller chose the epochs: then each is one pass over the training part.
    Otherwise an engine may go over few pictures several times an epoch."""
    learning_rate: float
    """As answers show it; 0.001 is each engine's own best rate, other values scale that."""
    split_ratio: float = 0.9
    """Share of the pictures to train on; 1 holds nothing out (benchmarks)."""
    augment: bool = False
    """Whether views other than the picture itself are trained on."""
    algorithm: str = ""
    """`object-detection` or `retail-execution`; empty for the other types."""
    seed: int = 0
    """Chooses split, folds, order and first weights."""
    threads: int = 1
    """Threads to use; the result does not depend on it."""


@dataclass(frozen=True)
class VisionStep:
    """What one step of a training did."""

    share: float
    """Share of the whole training that is done, 0 to 1; never falls."""
    record: dict[str, Any] | None = None
    """Record of the learning curve when the step ended an epoch: `epoch`, `metricsData`,
    `epochResults`, `object`. Contract section 4, Learning curve."""


@dataclass(frozen=True)
class FittedVision:
    """A finished training."""

    artifact: bytes
    """The model, see chalicelib/engines/artifact.py."""
    metrics: dict[str, Any]
    """metricsData of GET models/{id}."""
    card: dict[str, Any] = field(repr=False)
    """The model's card, complete."""
    epochs: int
    """Epochs that were run."""
    train_size: int
    """Pictures trained on while metrics were measured."""
    test_size: int
    """Pictures held out."""
    early_stopping: bool = False
    """Whether it stopped before the last allowed epoch."""
    suspects: Sequence[SuspectExample] = ()
    """All examples whose labels are flagged as likely errors, the most suspicious first."""
    evaluation: Evaluation | None = None
    """Answers to the dataset's own pictures by heads that had not seen them; None: not kept."""


class VisionTraining(Protocol):
    """A training that runs in steps of about a second, and can be resumed by another process."""

    @property
    def epochs_done(self) -> int:
        """Epochs that have ended."""
        ...

    def step(self) -> VisionStep | None:
        """Do the next piece of work; None when nothing is left to do.

        Raises:
            TrainingFailed: these pictures cannot be trained on; says why, with the remedy.
        """
        ...

    def save(self) -> bytes:
        """Return everything that another process needs to resume from here (npz, no pickle)."""
        ...

    def finish(self, model: Model, now: datetime) -> FittedVision:
        """Make artifact, metrics and card, once `step` has returned None."""
        ...


class TrainedVision(Protocol):
    """A model that answers."""

    @property
    def type(self) -> str:
        """Dataset type: image, image-multi-label or image-detection."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """Label names."""
        ...

    @property
    def least_side(self) -> int:
        """The decoder must keep at least this many pixels on the shorter side."""
        ...

    @property
    def backbones(self) -> Sequence[BackboneUse]:
        """Backbones that it needs."""
        ...

    def predict(self, picture: Picture) -> Sequence[Probability | Detection]:
        """Answer for one picture, most probable first.

        Returns:
            Image and multi-label: every label. Detection: boxes in pixels of the picture as
            displayed, clamped to it.
        """
        ...


@runtime_checkable
class JudgingVision(Protocol):
    """A model that says how sure it is of a picture, and where that lies among others."""

    def judge(self, picture: Picture) -> Judgement:
        """Return what it makes of one picture."""
        ...


@dataclass(frozen=True, slots=True)
class BackboneUse:
    """One backbone that a model was trained on."""

    name: str
    """Its name: lite2 or nanodet."""
    sha256: str
    """Digest of its model file, 64 hex digits."""
