"""Converts trained detection models to bytes for storage, and reads the bytes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.artifact import dump, read
from chalicelib.engines.vision.detection.algorithms import RULES, Rules, rules_of
from chalicelib.engines.vision.detection.evaluation.calibration import Calibration
from chalicelib.engines.vision.detection.head.crop_head import CropHead
from chalicelib.engines.vision.detection.head.network import HeadSize
from chalicelib.engines.vision.detection.proposals.head import ProposalHead
from chalicelib.engines.vision.detection.proposals.network import CLASSES, VALUES
from chalicelib.engines.vision.detection.views.crops import BORDER, CROP_SIDE, CROP_VALUES
from chalicelib.engines.vision.detection.views.extractor import BACKBONES
from chalicelib.engines.vision.detection.views.maps import SIDE
from chalicelib.engines.vision.detection.views.views import TILE_STRIDE, TILED_SIDE
from chalicelib.engines.vision.interface import BackboneUse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chalicelib.domain.common.arrays import Array, Singles

KIND = "vision-detection"
# Versions of the layout: 1 has a dense head; 2 has a head for proposals, maybe a dense head too.
VERSION = 2
_DENSE_VERSION = 1
# Dataset type of the models.
TYPE = "image-detection"


@dataclass(frozen=True)
class DetectionModel:
    """Parameters of a trained detection model."""

    algorithm: str
    """`object-detection` or `retail-execution`."""
    labels: Sequence[str]
    backbones: Sequence[BackboneUse]
    """Networks on whose features the model was trained."""
    vector: Singles | None
    """Parameters of the dense head, float32, shape (parameters,); None if this head is not used."""
    crop_head: CropHead | None
    """Head that classifies crops of detected boxes again; None if boxes keep their labels."""
    calibration: Calibration
    decay: float | None = None
    """Value of `Rules.decay` with which the model was trained; None in older models."""
    is_mirrored: bool = False
    """Whether predictions also use the mirror image; False in older models."""
    proposal_head: ProposalHead | None = None
    """Head that labels proposed boxes; None if proposals are not used, as in older models."""

    @property
    def rules(self) -> Rules:
        """Return the settings of the model's algorithm, with the model's value of `Rules.decay`."""
        return replace(rules_of(self.algorithm), decay=self.decay)


def dump_model(model: DetectionModel) -> bytes:
    """Return a model as bytes for storage; equal models give equal bytes."""
    head = model.proposal_head
    header: dict[str, Any] = {
        "kind": KIND,
        # Models without proposals keep the layout that earlier releases read.
        "version": _DENSE_VERSION if head is None else VERSION,
        "type": TYPE,
        "algorithm": model.algorithm,
        "labels": list(model.labels),
        "backbones": [{"name": use.name, "sha256": use.sha256} for use in model.backbones],
        "calibration": asdict(model.calibration),
        "decay": model.decay,
        "isMirrored": model.is_mirrored,
        "preprocessing": _preprocessing(model),
    }
    arrays: dict[str, Array] = {} if model.vector is None else {"head": model.vector}
    if head is not None:
        header["proposals"] = {"alignment": asdict(head.alignment)}
        arrays |= {"proposal_weights": head.weights, "proposal_classes": head.classes}
    if model.crop_head is not None:
        arrays["crop_weights"] = model.crop_head.weights
        arrays["crop_bias"] = model.crop_head.bias
    return dump(header, arrays)


def load_model(content: bytes) -> DetectionModel:
    """Read a model from the bytes that `dump_model` returned.

    Raises:
        ArtifactError: the bytes are damaged, are not a detection model, have an unknown version, or
            contain arrays whose shapes do not match.
    """
    return read(content, KIND, VERSION, lambda found: _model_of(found.header, found.arrays), 1)


def _model_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> DetectionModel:
    labels = [str(label) for label in header["labels"]]
    size = HeadSize(len(labels))
    if header["algorithm"] not in RULES:
        raise ValueError(f"the algorithm is {header['algorithm']!r}")
    uses = [BackboneUse(use["name"], use["sha256"]) for use in header["backbones"]]
    if [use.name for use in uses] != list(BACKBONES):
        raise ValueError(f"the backbones are {[use.name for use in uses]}")
    proposal_head = _proposal_head(header, arrays, len(labels))
    vector = None
    if proposal_head is None or "head" in arrays:
        vector = _checked(arrays["head"], (size.parameters,))
    crop_head = None
    if "crop_weights" in arrays:
        weights = _checked(arrays["crop_weights"], (CROP_VALUES, len(labels)))
        crop_head = CropHead(weights, _checked(arrays["crop_bias"], (len(labels),)))
    return DetectionModel(
        algorithm=header["algorithm"],
        labels=labels,
        backbones=uses,
        vector=vector,
        crop_head=crop_head,
        calibration=_calibration_of(header["calibration"]),
        decay=_decay_of(header),
        is_mirrored=_is_mirrored(header),
        proposal_head=proposal_head,
    )


def _proposal_head(
    header: Mapping[str, Any], arrays: Mapping[str, Array], labels: int
) -> ProposalHead | None:
    if header["version"] == _DENSE_VERSION:
        return None
    return ProposalHead(
        _checked(arrays["proposal_weights"], (VALUES + 1, labels)),
        _checked(arrays["proposal_classes"], (CLASSES, labels)),
        _calibration_of(header["proposals"]["alignment"]),
    )


def _calibration_of(curve: Mapping[str, Any]) -> Calibration:
    return Calibration(float(curve["slope"]), float(curve["offset"]))


def _decay_of(header: Mapping[str, Any]) -> float | None:
    # Models made before the decay existed have no such member.
    if header.get("decay") is None:
        return None
    decay = float(header["decay"])
    if not decay > 0.0:
        raise ValueError(f"the decay is {decay}")
    return decay


def _is_mirrored(header: Mapping[str, Any]) -> bool:
    # Older models have no such member.
    found = header.get("isMirrored", False)
    if found not in (True, False):
        raise ValueError(f"isMirrored is {found!r}")
    return bool(found)


def _checked(array: Array, shape: tuple[int, ...]) -> Singles:
    if array.dtype != np.float32 or array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"an array is not finite float32 of shape {shape}")
    checked: Singles = array.astype(np.float32, copy=False)
    return checked


def _preprocessing(model: DetectionModel) -> dict[str, Any]:
    facts: dict[str, Any] = {"view": [SIDE, SIDE], "resize": "squash", "colours": "RGB"}
    if model.rules.is_tiled:
        facts["tiles"] = {"longSide": TILED_SIDE, "stride": TILE_STRIDE}
    if model.crop_head is not None:
        facts["crop"] = {"side": CROP_SIDE, "border": BORDER}
    return facts
