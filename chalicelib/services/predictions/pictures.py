"""Predicts labels or boxes of images. Spec: Prediction response; contract section 5.

Loaded models are cached by version. Each call reads the stored row of the model first. So a deleted
model is not used any more, and a new version is used at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Allowances
from chalicelib.domain.common.limits import MAX_PREDICTED_IMAGE_BYTES, TOP_LABELS
from chalicelib.domain.datasets.dataset import DETECTION, MULTI_LABEL, VISION
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.models.model import ServedModel
from chalicelib.domain.models.prediction import (
    DEFAULTS,
    Detection,
    Prediction,
    PredictionOptions,
    Probability,
)
from chalicelib.domain.models.warm_models import WarmModels
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.memory import release_memory_beyond
from chalicelib.engines.vision.backbone.pool import BackboneNotInstalled, BackbonePool
from chalicelib.engines.vision.interface import JudgingVision, TrainedVision
from chalicelib.errors import BackboneMissing, ModelNotReady, ModelUnreadable
from chalicelib.stores.fetching.sample_files import SampleFiles
from chalicelib.stores.models.served import ServedModels

if TYPE_CHECKING:
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.domain.models.explanation import Explanation

# Cached artifacts; the least recently used one is evicted first.
WARM_MODELS = 16
_WHAT = "the image"


class PicturePredictionService:
    """Predicts with trained and prebuilt vision models."""

    def __init__(
        self,
        models: ServedModels,
        samples: SampleFiles,
        allowances: Allowances,
        backbones: BackbonePool,
    ) -> None:
        self._models = models
        self._samples = samples
        self._allowances = allowances
        self._backbones = backbones
        self._warm: WarmModels[TrainedVision] = WarmModels(WARM_MODELS, family=VISION)

    def predict(
        self,
        model: ServedModel,
        samples: Iterable[Sample],
        *,
        types: Collection[str],
        options: PredictionOptions = DEFAULTS,
        account: Account | None = None,
    ) -> list[Prediction[Probability | Detection]]:
        """Predict labels or boxes for each image. A call for a single image passes a list of one.

        Args:
            model: any model that the account may use.
            samples: images, or their locations.
            types: allowed types of the dataset that the model was trained from.
            options: number of labels to return, and whether to explain them. The default is 5
                labels for image models; multi-label models always return all labels.
            account: the account for which each successful prediction is counted; None if the caller
                has reserved the predictions, as a batch does.

        Returns:
            One prediction per image, with labels or detected objects, most probable first.

        Raises:
            BadRequest: the model's type is not in `types`, the URL cannot be read, or the image is
                damaged or over a limit of pixels.
            TooLarge: the image has more bytes than the limit.
            UnsupportedType: the image is not PNG or JPEG.
            ModelNotReady: no training of the model has succeeded yet.
            BackboneMissing: the model needs a backbone that is not installed.
            ModelUnreadable: the model's artifact is damaged or of another version.
            PredictionQuotaExceeded: no prediction is left this month.
        """
        return [self._predict_one(account, model, each, types, options) for each in samples]

    def check(self, model: ServedModel, types: Collection[str]) -> None:
        """Raise the error that `predict` would raise for this model. No prediction is counted."""
        self._checked(model, types)

    def _predict_one(
        self,
        account: Account | None,
        model: ServedModel,
        sample: Sample,
        types: Collection[str],
        options: PredictionOptions,
    ) -> Prediction[Probability | Detection]:
        trained, picture = self._read_for(model, sample, types)

        def work() -> Prediction[Probability | Detection]:
            return self._answer(model, trained, picture, options)

        if account is None:
            return work()
        found, usage = self._allowances.predict(account, model, work)
        return replace(found, usage=usage)

    def _answer(
        self,
        model: ServedModel,
        trained: TrainedVision,
        picture: Picture,
        options: PredictionOptions,
    ) -> Prediction[Probability | Detection]:
        try:
            if options.judges:
                if not isinstance(trained, JudgingVision):
                    raise TypeError(f"Model {model.model_id} cannot rank; check it before.")
                return Prediction((), judgement=trained.judge(picture))
            items = trained.predict(picture)
        except BackboneNotInstalled as missing:
            raise BackboneMissing(model.model_id, missing.name) from missing
        finally:
            # Large images leave free memory in the heaps; below a size nothing is returned.
            release_memory_beyond()
        if model.type == DETECTION:
            return Prediction(items)
        why = self._explain(trained, picture, items) if options.explains else None
        return Prediction(_labels(model, items, options.count), explanation=why)

    def _checked(self, model: ServedModel, types: Collection[str]) -> TrainedVision:
        """Return the loaded model; raise an error if it cannot predict."""
        model.require_type(types)
        if not model.version:
            raise ModelNotReady(model.model_id, model.status)
        trained = self._warm.get((model.model_id, model.version), lambda: self._read(model))
        self._check_backbones(model, trained)
        return trained

    def _read_for(
        self, model: ServedModel, sample: Sample, types: Collection[str]
    ) -> tuple[TrainedVision, Picture]:
        """Return the loaded model, and the image decoded at a size that suffices for the model."""
        from chalicelib.formats.pictures.png_exif import standardize_orientation
        from chalicelib.formats.pictures.reading import read_picture

        model.require_type(types)
        content = standardize_orientation(
            self._samples.content(sample, MAX_PREDICTED_IMAGE_BYTES, _WHAT)
        )
        key = (model.model_id, model.version)
        trained = self._warm.get(key, lambda: self._read(model)) if model.version else None
        least_side = trained.least_side if trained else 1
        picture = read_picture(content, MAX_PREDICTED_IMAGE_BYTES, least_side)
        # Checked after the image, because errors of the request come before the state of the model.
        if trained is None:
            raise ModelNotReady(model.model_id, model.status)
        self._check_backbones(model, trained)
        return trained, picture

    def _check_backbones(self, model: ServedModel, trained: TrainedVision) -> None:
        for use in trained.backbones:
            try:
                installed = self._backbones.facts(use.name).sha256
            except BackboneNotInstalled:
                installed = ""
            # Another version of the network gives other features, for which the head was not
            # trained.
            if installed != use.sha256:
                raise BackboneMissing(model.model_id, use.name)

    @staticmethod
    def _explain(
        trained: TrainedVision, picture: Picture, items: Sequence[Probability | Detection]
    ) -> Explanation:
        from chalicelib.engines.vision.explanation import explain

        return explain(trained, picture, items[0].label) if items else ()

    def _read(self, model: ServedModel) -> TrainedVision:
        from chalicelib.engines.vision.registry import load

        content = self._models.artifact(model)
        try:
            return load(content, self._backbones)
        except ArtifactError as cause:
            raise ModelUnreadable(model.model_id, str(cause)) from cause


def _labels(
    model: ServedModel, answer: Sequence[Probability | Detection], count: int | None
) -> list[Probability]:
    """Return the `count` most probable labels; if the model is multi-label, return all labels."""
    items = [item for item in answer if isinstance(item, Probability)]
    return items[: None if model.type == MULTI_LABEL else count or TOP_LABELS]
