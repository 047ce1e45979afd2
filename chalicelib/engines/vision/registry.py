"""Selects the vision engine for a dataset type. This module imports no native code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.domain.datasets.dataset import DETECTION, IMAGE, MULTI_LABEL
from chalicelib.engines.artifact import ArtifactError, read_kind

if TYPE_CHECKING:
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.engines.vision.interface import (
        Extractor,
        TrainedVision,
        VisionData,
        VisionOptions,
        VisionTraining,
    )

RETAIL = "retail-execution"


def extractor_for(dataset_type: str, algorithm: str | None, backbones: BackbonePool) -> Extractor:
    """Return the extractor for the type and the algorithm of a training.

    Args:
        dataset_type: image, image-multi-label or image-detection.
        algorithm: `retail-execution`; anything else means `object-detection`.
        backbones: the frozen networks.

    Raises:
        ValueError: the type is not an image type, which is a bug of the caller.
    """
    if dataset_type == IMAGE:
        from chalicelib.engines.vision.classification.extractor import ClassificationExtractor

        return ClassificationExtractor(backbones)
    if dataset_type == MULTI_LABEL:
        from chalicelib.engines.vision.multi_label.extractor import MultiLabelExtractor

        return MultiLabelExtractor(backbones)
    if dataset_type == DETECTION:
        from chalicelib.engines.vision.detection.views.extractor import (
            DetectionExtractor,
            RetailExtractor,
        )

        if algorithm == RETAIL:
            return RetailExtractor(backbones)
        return DetectionExtractor(backbones)
    raise ValueError(f"{dataset_type!r} is not a type of image dataset.")


def open_training(
    dataset_type: str,
    data: VisionData,
    options: VisionOptions,
    backbones: BackbonePool,
    checkpoint: bytes | None = None,
) -> VisionTraining:
    """Start a training, or resume a saved one.

    Args:
        dataset_type: image, image-multi-label or image-detection.
        data: images and features; must be the same when a training is resumed.
        options: options of the training; must be the same when a training is resumed.
        backbones: the frozen networks.
        checkpoint: bytes that `save` of the same training returned; None for a new training.

    Raises:
        ValueError: the type is not an image type, which is a bug of the caller.
        TrainingFailed: no model can be trained on these images.
    """
    if dataset_type == IMAGE:
        from chalicelib.engines.vision.classification.training import ImageTraining

        return ImageTraining(data, options, backbones, checkpoint)
    if dataset_type == MULTI_LABEL:
        from chalicelib.engines.vision.multi_label.training import MultiLabelTraining

        return MultiLabelTraining(data, options, backbones, checkpoint)
    if dataset_type == DETECTION:
        from chalicelib.engines.vision.detection.training.training import DetectionTraining

        return DetectionTraining(data, options, backbones, checkpoint)
    raise ValueError(f"{dataset_type!r} is not a type of image dataset.")


IMAGE_KIND = "vision-image"
MULTI_LABEL_KIND = "vision-multi-label"
DETECTION_KIND = "vision-detection"
PREBUILT_KIND = "vision-prebuilt"


def load(content: bytes, backbones: BackbonePool) -> TrainedVision:
    """Read a stored vision model; its backbones are loaded at the first prediction.

    Raises:
        ArtifactError: the bytes are damaged, are not a vision model, or have an unknown version.
    """
    kind = read_kind(content)
    if kind == IMAGE_KIND:
        from chalicelib.engines.vision.classification.classifier import load as load_image

        return load_image(content, backbones)
    if kind == MULTI_LABEL_KIND:
        from chalicelib.engines.vision.multi_label.classifier import load as load_multi_label

        return load_multi_label(content, backbones)
    if kind == DETECTION_KIND:
        from chalicelib.engines.vision.detection.inference.detector import load as load_detector

        return load_detector(content, backbones)
    if kind == PREBUILT_KIND:
        from chalicelib.engines.vision.prebuilt import load as load_prebuilt

        return load_prebuilt(content, backbones)
    raise ArtifactError(f"This artifact is of kind {kind!r}, which is not a vision model.")
