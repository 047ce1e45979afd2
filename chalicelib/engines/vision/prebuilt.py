"""Prebuilt models: an installed network predicts some of the labels that it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.datasets.dataset import IMAGE, MULTI_LABEL
from chalicelib.domain.models.prediction import Ranked, ranked
from chalicelib.engines import artifact
from chalicelib.engines.artifact import Artifact, ArtifactError
from chalicelib.engines.vision.backbone.pool import LITE2, NANODET, BackbonePool
from chalicelib.engines.vision.backbone.resizing import squash
from chalicelib.engines.vision.interface import BackboneUse

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Ints
    from chalicelib.domain.documents.picture import Picture

KIND, VERSION = "vision-prebuilt", 1
_SIDES = {LITE2: 320, NANODET: 416}
_BACKBONES = {IMAGE: LITE2, MULTI_LABEL: NANODET}
_OUTPUTS = {LITE2: ("logits",), NANODET: ("scores52", "scores26", "scores13")}
_WIDTHS = {LITE2: 1_000, NANODET: 80}


class PrebuiltVision:
    """A `TrainedVision` that needs no training."""

    def __init__(
        self,
        dataset_type: str,
        labels: Sequence[str],
        indexes: Ints,
        use: BackboneUse,
        backbones: BackbonePool,
    ) -> None:
        """Create a model from a selection of a network's labels.

        Args:
            dataset_type: `image` or `image-multi-label`.
            labels: label names.
            indexes: indexes of the labels in the network's output, int, shape (labels,).
            use: name and digest of the network.
            backbones: the frozen networks.
        """
        self._type = dataset_type
        self._labels = tuple(labels)
        self._indexes = indexes
        self._use = use
        self._pool = backbones

    @property
    def type(self) -> str:
        """Return the dataset type."""
        return self._type

    @property
    def labels(self) -> Sequence[str]:
        """Return the label names."""
        return self._labels

    @property
    def least_side(self) -> int:
        """Minimum length of the shorter side of a downscaled image, in pixels."""
        return _SIDES[self._use.name]

    @property
    def backbones(self) -> Sequence[BackboneUse]:
        """Return the network that the model needs."""
        return (self._use,)

    def predict(self, image: Picture) -> Ranked:
        """Return every label with its probability for an image, most probable first.

        Returns:
            For type image, probabilities renormalised over the selected labels. For
            image-multi-label, the highest score at any position of the image.

        Raises:
            BackboneNotInstalled: the network's files are missing or damaged.
        """
        name = self._use.name
        pixels = squash(image.pixels, _SIDES[name])
        outputs = self._pool.get(name).run(pixels[None], _OUTPUTS[name])
        if name == LITE2:
            shares = _softmax(outputs[0][0, self._indexes].astype(np.float64))
        else:
            best = np.max([scores[0].max(axis=0) for scores in outputs], axis=0)
            shares = best[self._indexes].astype(np.float64)
        return ranked(self._labels, shares)


def load(content: bytes, backbones: BackbonePool) -> PrebuiltVision:
    """Read a prebuilt model; its network is loaded at the first prediction.

    Raises:
        ArtifactError: the bytes are damaged, are not a prebuilt model, or have an unknown version.
    """
    return artifact.read(content, KIND, VERSION, lambda found: _model(found, backbones))


def _model(artifact: Artifact, backbones: BackbonePool) -> PrebuiltVision:
    header, indexes = artifact.header, artifact.arrays["indexes"].astype(np.int64)
    labels = tuple(str(name) for name in header["labels"])
    dataset_type, backbone = str(header["type"]), str(header["backbone"])
    use = BackboneUse(backbone, str(header["backbone_sha256"]))
    if _BACKBONES.get(dataset_type) != backbone:
        raise ArtifactError(f"No prebuilt model of type {dataset_type!r} asks {backbone!r}.")
    if not labels or indexes.shape != (len(labels),):
        raise ArtifactError("The artifact's labels and places do not fit together.")
    if indexes.min() < 0 or indexes.max() >= _WIDTHS[backbone]:
        raise ArtifactError(f"The artifact names places that {backbone} does not have.")
    return PrebuiltVision(dataset_type, labels, indexes, use, backbones)


def _softmax(logits: Doubles) -> Doubles:
    shares = np.exp(logits - logits.max())
    answer: Doubles = shares / np.add.reduce(shares)
    return answer
