"""Reads any vision artifact, whatever was trained. Holds no native import at the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engines.artifact import ArtifactError, read_kind

if TYPE_CHECKING:
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.engines.vision.interface import TrainedVision

IMAGE_KIND = "vision-image"
MULTI_LABEL_KIND = "vision-multi-label"
DETECTION_KIND = "vision-detection"
PREBUILT_KIND = "vision-prebuilt"


def load(content: bytes, backbones: BackbonePool) -> TrainedVision:
    """Read a model; its backbones are loaded at its first prediction.

    Args:
        content: the artifact.
        backbones: the frozen networks.

    Returns:
        The model.

    Raises:
        ArtifactError: damaged, of no vision model, or of another version.
    """
    kind = read_kind(content)
    if kind == IMAGE_KIND:
        from chalicelib.engines.vision.classification.classifier import load as load_image

        return load_image(content, backbones)
    if kind == MULTI_LABEL_KIND:
        from chalicelib.engines.vision.multi_label.classifier import load as load_multi_label

        return load_multi_label(content, backbones)
    if kind == DETECTION_KIND:
        from chalicelib.engines.vision.detection.answering.detector import load as load_detector

        return load_detector(content, backbones)
    if kind == PREBUILT_KIND:
        from chalicelib.engines.vision.prebuilt import load as load_prebuilt

        return load_prebuilt(content, backbones)
    raise ArtifactError(f"This artifact is of kind {kind!r}, which is no vision model.")
