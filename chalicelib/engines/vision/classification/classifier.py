"""A trained model of type image: a softmax classifier of whitened embeddings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.datasets.dataset import IMAGE
from chalicelib.domain.models.judgement import Judgement
from chalicelib.domain.models.prediction import Ranked, ranked
from chalicelib.engines import artifact
from chalicelib.engines.artifact import Artifact, ArtifactError
from chalicelib.engines.ranking.vectors import short_vectors
from chalicelib.engines.vision.backbone.pool import BackbonePool, read_uses
from chalicelib.engines.vision.backbone.resizing import RECIPE
from chalicelib.engines.vision.classification.extractor import (
    DIMS,
    LOOKS,
    SIDE,
    WHOLE,
    ClassificationExtractor,
    Look,
)
from chalicelib.engines.vision.similarity.vectors import unit_roots

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Array, Doubles, Floats, Ints, Singles
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.vision.interface import BackboneUse

KIND, VERSION = "vision-image", 2
# Oldest version that can be read; its models use only the whole image.
_OLDEST = 1
_SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class ImageParameters:
    """Parameters of a trained model of type image."""

    labels: tuple[str, ...]
    """All label names. Labels without a training image always have probability 0."""
    present: Ints
    """Indexes of the labels that the head was trained on, int, shape (known,)."""
    mean: Singles
    """Mean to subtract from the square roots of embeddings, float32, shape (1280,)."""
    whitening: npt.NDArray[np.int16]
    """Whitening matrix, upper triangular, int16, shape (1280, 1280)."""
    weights: Singles
    """Weights of the head, float32, shape (1280, known); column i is for label `present[i]`."""
    biases: Singles
    """Biases of the head, float32, shape (known,)."""
    temperature: float
    """Divisor of the logits, which calibrates the probabilities."""
    backbones: tuple[BackboneUse, ...]
    looks: tuple[Look, ...]
    """Parts of an image from which the embedding is computed."""


class TrainedImage:
    """A `TrainedVision` that returns one probability per label. Their sum is 1."""

    def __init__(self, parameters: ImageParameters, backbones: BackbonePool) -> None:
        self._parameters = parameters
        self._extractor = ClassificationExtractor(backbones)

    @property
    def type(self) -> str:
        """Return the dataset type."""
        return IMAGE

    @property
    def labels(self) -> Sequence[str]:
        """Return the label names."""
        return self._parameters.labels

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        return SIDE

    @property
    def backbones(self) -> Sequence[BackboneUse]:
        """Return the backbones that the model needs."""
        return self._parameters.backbones

    def predict(self, image: Picture) -> Ranked:
        """Return every label with its probability for an image, most probable first.

        Raises:
            BackboneNotInstalled: the backbone's files are missing or damaged.
        """
        return ranked(self.labels, self.probabilities(self._embedding(image)))

    def judge(self, image: Picture) -> Judgement:
        """Return a `Judgement` of an image: label, uncertainty, similarity to training images.

        Raises:
            BackboneNotInstalled: the backbone's files are missing or damaged.
        """
        return self.judgement(self._embedding(image))

    def judgement(self, embedding: Floats) -> Judgement:
        """Return the most probable label and its uncertainty, given an embedding, shape (1280,)."""
        whitened = self._whitened(embedding)
        logits = self._logits(whitened)
        shares = self._shares(logits)
        best = ranked(self.labels, shares, 1)[0]
        top = float(logits.max())
        return Judgement(
            label=best.label,
            probability=best.probability,
            uncertainty=1.0 - best.probability,
            # The energy of the logits: high for images like those of the training.
            likeness=top + math.log(float(np.exp(logits - top).sum())),
            vector=short_vectors(whitened[None])[0],
        )

    def probabilities(self, embedding: Floats) -> Doubles:
        """Return the probability of each label, float64, (labels,), given an embedding, (1280,)."""
        return self._shares(self._logits(self._whitened(embedding)))

    def _embedding(self, image: Picture) -> Floats:
        return self._extractor.extract(image, b"", 0, self._parameters.looks)

    def _whitened(self, embedding: Floats) -> Singles:
        own = self._parameters
        centred = unit_roots(embedding[None])[0].astype(np.float32) - own.mean
        whitened: Singles = centred @ own.whitening.astype(np.float32)
        whitened /= max(math.sqrt(float(whitened @ whitened)), _SMALLEST)
        return whitened

    def _logits(self, whitened: Singles) -> Doubles:
        own = self._parameters
        return (whitened @ own.weights + own.biases).astype(np.float64) / own.temperature

    def _shares(self, logits: Doubles) -> Doubles:
        shares = np.exp(logits - logits.max())
        answer = np.zeros(len(self._parameters.labels))
        answer[self._parameters.present] = shares / shares.sum()
        return answer


def dump(
    labels: Sequence[str],
    indexes: Ints,
    content: Mapping[str, Array],
    temperature: float,
    backbones: Mapping[str, str],
) -> bytes:
    """Return a model as bytes for storage; equal parameters give equal bytes.

    Args:
        labels: all label names.
        indexes: indexes of the labels that the head was trained on, int, shape (known,).
        content: the arrays `mean`, `whitening` and `values`, float. `values` contains weights, then
            biases, shape (1281, known).
        temperature: number by which the logits are divided.
        backbones: SHA-256 digest of each backbone, by name.
    """
    header = {
        "kind": KIND,
        "version": VERSION,
        "type": IMAGE,
        "labels": list(labels),
        "backbones": dict(backbones),
        "preprocessing": {"looks": [[look.share, look.side] for look in LOOKS], "views": RECIPE},
        "temperature": temperature,
    }
    arrays = {
        "present": indexes,
        "mean": content["mean"],
        "whitening": content["whitening"],
        "weights": content["values"][:-1].astype(np.float32),
        "biases": content["values"][-1].astype(np.float32),
    }
    return artifact.dump(header, arrays)


def load(content: bytes, backbones: BackbonePool) -> TrainedImage:
    """Read a model from the bytes of `dump`; its backbone is loaded at the first prediction.

    Raises:
        ArtifactError: the bytes are damaged, are not an image model, or have an unknown version.
    """
    parameters = artifact.read(content, KIND, VERSION, _parameters, _OLDEST)
    _check(parameters)
    return TrainedImage(parameters, backbones)


def _parameters(read: Artifact) -> ImageParameters:
    arrays, seen = read.arrays, read.header["preprocessing"].get("looks")
    return ImageParameters(
        labels=tuple(str(name) for name in read.header["labels"]),
        present=arrays["present"].astype(np.int64),
        mean=arrays["mean"].astype(np.float32),
        whitening=arrays["whitening"].astype(np.int16, copy=False),
        weights=arrays["weights"].astype(np.float32, copy=False),
        biases=arrays["biases"].astype(np.float32, copy=False),
        temperature=float(read.header["temperature"]),
        backbones=read_uses(read.header["backbones"]),
        # Models of the first version saw only the whole image.
        looks=(WHOLE,) if seen is None else tuple(Look(float(a), int(b)) for a, b in seen),
    )


def _check(model: ImageParameters) -> None:
    known = len(model.present)
    shapes = [model.mean.shape, model.whitening.shape, model.weights.shape, model.biases.shape]
    if shapes != [(DIMS,), (DIMS, DIMS), (DIMS, known), (known,)]:
        raise ArtifactError("The artifact's weights, labels and features do not fit together.")
    if not known or model.present.min() < 0 or model.present.max() >= len(model.labels):
        raise ArtifactError("The artifact's head and labels do not fit together.")
    if not model.looks or not all(0 < one.share <= 1 and one.side > 0 for one in model.looks):
        raise ArtifactError("The artifact does not list the views of an image that it uses.")
    if not (math.isfinite(model.temperature) and model.temperature > 0):
        raise ArtifactError("The artifact's temperature is not a positive number.")
    if not all(np.isfinite(array).all() for array in (model.mean, model.weights, model.biases)):
        raise ArtifactError("The artifact holds numbers that are not finite.")
