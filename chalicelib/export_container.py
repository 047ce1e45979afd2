"""The part of the composition root that builds exports of datasets and models."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from chalicelib.services.exports.bundles import BundleService
from chalicelib.services.exports.models import ModelExportService
from chalicelib.services.exports.requests import ExportService
from chalicelib.services.exports.runs import ExportRunService, ExportRunServiceStores
from chalicelib.stores.stores import pick

if TYPE_CHECKING:
    from chalicelib.config import Settings
    from chalicelib.domain.common.clock import Clock
    from chalicelib.engines.text.encoding.pool import EncoderPool
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.services.predictions.pictures import PicturePredictionService
    from chalicelib.services.predictions.texts import PredictionService
    from chalicelib.stores.stores import Stores


class ExportContainer:
    """The services of exports; the container has the other members."""

    settings: Settings
    clock: Clock
    stores: Stores
    encoders: EncoderPool
    backbones: BackbonePool

    @cached_property
    def predictions(self) -> PredictionService:
        """Return the service that predicts texts."""
        raise NotImplementedError

    @cached_property
    def picture_predictions(self) -> PicturePredictionService:
        """Return the service that predicts images."""
        raise NotImplementedError

    @cached_property
    def exports(self) -> ExportService:
        """Return the service that accepts exports of datasets."""
        s = self.stores
        return ExportService(s.datasets, s.exports, s.queues, self.clock)

    @cached_property
    def model_exports(self) -> ModelExportService:
        """Return the service that accepts exports of models."""
        s = self.stores
        return ModelExportService(s.exports, s.queues, self.clock)

    @cached_property
    def export_runs(self) -> ExportRunService:
        """Return the service that writes exports."""
        s, pools = self.stores, (self.encoders, self.backbones)
        predictors = self.predictions, self.picture_predictions
        bundles = BundleService(s.models, s.model_files, pools, predictors, self.clock)
        return ExportRunService(pick(ExportRunServiceStores, s), bundles, self.settings)
