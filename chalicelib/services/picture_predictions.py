"""Answers pictures with labels or boxes. Spec: Prediction response; contract section 5.

Artifacts are kept warm by version; a model's row is read at every call, so that a deleted model
answers nothing and a retrained one answers with its new version at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from chalicelib.domain.common.limits import MAX_PREDICTED_IMAGE_BYTES, TOP_LABELS
from chalicelib.domain.datasets.dataset import MULTI_LABEL
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import Detection, Probability
from chalicelib.domain.models.warm_models import WarmModels
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.memory import give_back_beyond
from chalicelib.engines.vision.backbone.pool import BackboneNotInstalled, BackbonePool
from chalicelib.errors import BackboneMissing, ModelNotReady, ModelUnreadable
from chalicelib.stores.fetching.sample_files import SampleFiles
from chalicelib.stores.models.served import ServedModels

if TYPE_CHECKING:
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.vision.interface import TrainedVision

WARM_MODELS = 16
"""Artifacts kept in memory; the least recently used one goes first."""
_WHAT = "the image"


class PicturePredictionService:
    """Predicts with own and prebuilt vision models."""

    def __init__(self, models: ServedModels, samples: SampleFiles, backbones: BackbonePool) -> None:
        self._models = models
        self._samples = samples
        self._backbones = backbones
        self._warm: WarmModels[TrainedVision] = WarmModels(WARM_MODELS)

    def read(self, sample: Sample, model: ServedModel, types: Collection[str]) -> Picture:
        """Bring and decode the picture of a call, as large as the model needs it.

        Raises:
            BadRequest: the model is of another type, the URL cannot be read, or the picture is
                broken or over a limit of pixels.
            TooLarge: it has more bytes than are allowed.
            UnsupportedType: it is neither PNG nor JPEG.
            ModelNotReady: the model has not succeeded yet.
            BackboneMissing: the model needs a backbone that is not installed.
        """
        from chalicelib.formats.pictures.reading import read_picture

        model.require_type(types)
        content = self._samples.content(sample, MAX_PREDICTED_IMAGE_BYTES, _WHAT)
        least_side = self._load(model).least_side if model.version else 1
        picture = read_picture(content, MAX_PREDICTED_IMAGE_BYTES, least_side)
        self.check(model, types)
        return picture

    def check(self, model: ServedModel, types: Collection[str]) -> None:
        """Refuse a model that cannot answer this endpoint.

        Raises:
            InvalidParameter: it is of another type.
            ModelNotReady: it has not succeeded yet.
            BackboneMissing: it needs a backbone that is not installed.
        """
        model.require_type(types)
        if not model.version:
            raise ModelNotReady(model.model_id, model.status)
        for use in self._load(model).backbones:
            try:
                installed = self._backbones.facts(use.name).sha256
            except BackboneNotInstalled:
                installed = ""
            if installed != use.sha256:
                raise BackboneMissing(model.model_id, use.name)

    def predict(
        self, model: ServedModel, picture: Picture, count: int | None
    ) -> Sequence[Probability]:
        """Return labels by probability: the top 5 of an image model, all of a multi-label one.

        Raises:
            BackboneMissing: the model's backbone disappeared.
        """
        items = [item for item in self._answer(model, picture) if isinstance(item, Probability)]
        return items if model.type == MULTI_LABEL else items[: count or TOP_LABELS]

    def detect(self, model: ServedModel, picture: Picture) -> Sequence[Detection]:
        """Return the objects that were found, most probable first.

        Raises:
            BackboneMissing: the model's backbone disappeared.
        """
        return [item for item in self._answer(model, picture) if isinstance(item, Detection)]

    def _answer(self, model: ServedModel, picture: Picture) -> Sequence[Probability | Detection]:
        """Ask the model."""
        try:
            return self._load(model).predict(picture)
        except BackboneNotInstalled as missing:
            raise BackboneMissing(model.model_id, missing.name) from missing
        finally:
            give_back_beyond()

    def _load(self, model: ServedModel) -> TrainedVision:
        """Return the trained model, from memory when it is warm."""
        return self._warm.get((model.model_id, model.version), lambda: self._read(model))

    def _read(self, model: ServedModel) -> TrainedVision:
        """Read an artifact.

        Raises:
            ModelUnreadable: it is damaged, or of another version of the engine.
        """
        from chalicelib.engines.vision.registry import load

        content = self._models.artifact(model)
        try:
            return load(content, self._backbones)
        except ArtifactError as cause:
            raise ModelUnreadable(model.model_id, str(cause)) from cause
