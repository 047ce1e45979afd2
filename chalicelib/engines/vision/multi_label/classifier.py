"""A trained model of type image-multi-label: a sigmoid classifier of standardised features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.datasets.dataset import MULTI_LABEL
from chalicelib.domain.models.judgement import Judgement
from chalicelib.domain.models.prediction import Ranked, ranked
from chalicelib.engines import artifact
from chalicelib.engines.artifact import Artifact, ArtifactError
from chalicelib.engines.ranking.vectors import short_vectors
from chalicelib.engines.vision.backbone.pool import BackbonePool, read_uses
from chalicelib.engines.vision.backbone.resizing import RECIPE
from chalicelib.engines.vision.multi_label.calibration import SigmoidCalibration
from chalicelib.engines.vision.multi_label.extractor import (
    LITE2_SIDE,
    NANODET_SIDE,
    MultiLabelExtractor,
)
from chalicelib.engines.vision.multi_label.standardizing import (
    BLOCK_NAMES,
    EMBEDDING,
    Standardizing,
    block_dims,
)

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Doubles, Floats
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.vision.interface import BackboneUse

KIND, VERSION = "vision-multi-label", 1


@dataclass(frozen=True)
class MultiLabelHeader:
    """The JSON header of a stored model of type image-multi-label."""

    labels: Sequence[str]
    """All label names. Labels without a training image always have probability 0."""
    block: int
    """Which features the model uses: EMBEDDING, POOLED or BOTH (see `standardizing`)."""
    temperature: float
    """Divisor of the shifted logits."""
    backbones: Mapping[str, str]
    """SHA-256 of each backbone's file, by name."""


class TrainedMultiLabel:
    """A `TrainedVision` that returns an independent probability for each label."""

    def __init__(
        self,
        head: MultiLabelHeader,
        arrays: Mapping[str, Array],
        backbones: BackbonePool,
    ) -> None:
        """Create a model from its header and its arrays.

        Args:
            head: header with labels, features, temperature and backbones.
            arrays: `present` (known,), `mean` and `scale` (dims,), `values` (dims + 1, known),
                `shifts` (known,). `known` is the number of labels that the head was trained on.
            backbones: the frozen networks.
        """
        self._head = head
        self._present = arrays["present"].astype(np.int64)
        self._standardizing = Standardizing(
            head.block, arrays["mean"].astype(np.float32), arrays["scale"].astype(np.float32)
        )
        self._values = arrays["values"].astype(np.float32, copy=False)
        self._calibration = SigmoidCalibration(
            arrays["shifts"].astype(np.float64), head.temperature
        )
        self._uses = read_uses(head.backbones)
        self._extractor = MultiLabelExtractor(backbones)

    @property
    def type(self) -> str:
        """Return the dataset type."""
        return MULTI_LABEL

    @property
    def labels(self) -> Sequence[str]:
        """Return the label names."""
        return self._head.labels

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        return self._extractor.least_side

    @property
    def backbones(self) -> Sequence[BackboneUse]:
        """Return the backbones that the model needs."""
        return self._uses

    def predict(self, image: Picture) -> Ranked:
        """Return every label with its probability for an image, most probable first.

        Raises:
            BackboneNotInstalled: a backbone's files are missing or damaged.
        """
        return ranked(self.labels, self.probabilities(self._features(image)))

    def judge(self, image: Picture) -> Judgement:
        """Return the most probable label of an image, with the uncertainty of the prediction.

        Raises:
            BackboneNotInstalled: a backbone's files are missing or damaged.
        """
        return self.judgement(self._features(image))

    def judgement(self, features: Floats) -> Judgement:
        """Return the most probable label and its uncertainty, given features of one image."""
        shares = self.probabilities(features)
        best = ranked(self.labels, shares, 1)[0]
        return Judgement(
            label=best.label,
            probability=best.probability,
            # The prediction is wrong if any label is wrong.
            uncertainty=1.0 - float(np.maximum(shares, 1.0 - shares).prod()),
            likeness=best.probability,
            vector=short_vectors(self._standardizing.apply(features[None]))[0],
        )

    def _features(self, image: Picture) -> Floats:
        if self._head.block == EMBEDDING:
            return self._extractor.embedding(image)
        return self._extractor.extract(image, b"", 0)

    def probabilities(self, features: Floats) -> Doubles:
        """Return the probability of each label, float64, shape (labels,).

        Args:
            features: features of one image, float, shape (2992,) or (1280,).
        """
        vector = self._standardizing.apply(features[None]).astype(np.float32)
        logits = vector @ self._values[:-1] + self._values[-1]
        answer = np.zeros(len(self._head.labels))
        answer[self._present] = self._calibration.shares(logits)[0]
        return answer


def dump(head: MultiLabelHeader, arrays: Mapping[str, Array]) -> bytes:
    """Return a model as bytes for storage; equal parameters give equal bytes.

    Args:
        head: header with labels, features, temperature and backbones.
        arrays: `present`, `mean`, `scale`, `values`, `shifts`; see `TrainedMultiLabel`.
    """
    header = {
        "kind": KIND,
        "version": VERSION,
        "type": MULTI_LABEL,
        "labels": list(head.labels),
        "features": BLOCK_NAMES[head.block],
        "backbones": dict(head.backbones),
        "preprocessing": {"sides": [LITE2_SIDE, NANODET_SIDE], "views": RECIPE},
        "temperature": head.temperature,
    }
    content = {**arrays, "values": arrays["values"].astype(np.float32)}
    return artifact.dump(header, content)


def load(content: bytes, backbones: BackbonePool) -> TrainedMultiLabel:
    """Read a model from the bytes of `dump`; its backbones are loaded at the first prediction.

    Raises:
        ArtifactError: the bytes are damaged, not a multi-label model, or of an unknown version.
    """

    def build(artifact: Artifact) -> TrainedMultiLabel:
        head = _head(artifact)
        _check(head, artifact)
        return TrainedMultiLabel(head, artifact.arrays, backbones)

    return artifact.read(content, KIND, VERSION, build)


def _head(read: Artifact) -> MultiLabelHeader:
    header = read.header
    return MultiLabelHeader(
        labels=tuple(str(name) for name in header["labels"]),
        block=BLOCK_NAMES.index(header["features"]),
        temperature=float(header["temperature"]),
        backbones=header["backbones"],
    )


def _check(head: MultiLabelHeader, read: Artifact) -> None:
    arrays, dims = read.arrays, block_dims(head.block)
    present = arrays["present"]
    known = len(present)
    shapes = [arrays[name].shape for name in ("mean", "scale", "values", "shifts")]
    if shapes != [(dims,), (dims,), (dims + 1, known), (known,)]:
        raise ArtifactError("The artifact's weights, labels and features do not fit together.")
    if not known or present.min() < 0 or present.max() >= len(head.labels):
        raise ArtifactError("The artifact's head and labels do not fit together.")
    if not (math.isfinite(head.temperature) and head.temperature > 0):
        raise ArtifactError("The artifact's temperature is not a positive number.")
    if not all(np.isfinite(arrays[name]).all() for name in ("mean", "scale", "values", "shifts")):
        raise ArtifactError("The artifact holds numbers that are not finite.")
