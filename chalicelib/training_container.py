"""Creates the services for trainings. chalicelib/container.py creates all other services."""

from __future__ import annotations

from functools import cached_property

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from chalicelib.domain.models.learning import Learner
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.services.datasets.thumbnails import ThumbnailService
from chalicelib.services.maintenance.traces import TraceService, TraceServiceStores
from chalicelib.services.training.adjusting import AdjustmentService, AdjustmentStores
from chalicelib.services.training.embeddings import EmbeddingService
from chalicelib.services.training.features import FeatureService, FeatureServiceStores
from chalicelib.services.training.importing import ImportService, ImportStores
from chalicelib.services.training.parts import TrainingPartService
from chalicelib.services.training.requests import TrainingService, TrainingServiceStores
from chalicelib.services.training.runs import TrainingRunService, TrainingRunServiceStores
from chalicelib.services.training.text_learner import (
    Embedder,
    TextLearner,
    TextLearnerStores,
)
from chalicelib.services.training.unlabelled import UnlabelledStores, UnlabelledTextService
from chalicelib.services.training.vision_learner import VisionLearner, VisionLearnerStores
from chalicelib.stores.stores import Stores, pick


class TrainingContainer:
    """The services that trainings need, for one process."""

    settings: Settings
    clock: Clock
    stores: Stores
    encoders: EncoderPool
    backbones: BackbonePool

    @cached_property
    def thumbnails(self) -> ThumbnailService:
        """Return the service that creates and returns thumbnails."""
        return ThumbnailService(self.stores.pictures, self.stores.thumbnails)

    @cached_property
    def embeddings(self) -> EmbeddingService:
        """Return the service that computes the vectors of texts."""
        s = self.stores
        return EmbeddingService(
            s.datasets, s.artifacts, s.parts, self.encoders, self.settings.threads
        )

    @cached_property
    def training(self) -> TrainingService:
        """Return the service that accepts trainings."""
        unlabelled = UnlabelledTextService(pick(UnlabelledStores, self.stores), self.clock)
        return TrainingService(
            pick(TrainingServiceStores, self.stores),
            unlabelled.queue,
            self.encoders,
            self.clock,
            self.settings,
        )

    @cached_property
    def features(self) -> FeatureService:
        """Return the service that computes the features of images."""
        return FeatureService(
            pick(FeatureServiceStores, self.stores), self.backbones, self.settings, self.thumbnails
        )

    @cached_property
    def training_parts(self) -> TrainingPartService:
        """Return the service that computes the parts that trainings delegate."""
        s = self.stores
        return TrainingPartService(
            s.models,
            s.run_parts,
            s.training_queue,
            {LANGUAGE: self.embeddings, VISION: self.features},
        )

    @cached_property
    def training_runs(self) -> TrainingRunService:
        """Return the service that runs trainings."""
        embedder = Embedder(
            self.embeddings.finish_parts,
            self.embeddings.table,
            self.embeddings.embed,
            self.encoders,
            self.settings.text_profile,
            self.settings.threads,
        )
        learners: dict[str, Learner] = {
            LANGUAGE: TextLearner(
                pick(TextLearnerStores, self.stores), embedder, self.training_parts, self.clock
            ),
            VISION: VisionLearner(
                pick(VisionLearnerStores, self.stores),
                self.features,
                self.training_parts,
                self.backbones,
                self.clock,
                self.settings,
            ),
        }
        stores = pick(TrainingRunServiceStores, self.stores)
        others = (self.adjustments, self.imports)
        return TrainingRunService(stores, learners, others, self.clock, self.settings)

    @cached_property
    def imports(self) -> ImportService:
        """Return the service that imports models."""
        stores = pick(ImportStores, self.stores)
        pools = (self.encoders, self.backbones)
        return ImportService(stores, self.training.queue_new, pools, self.clock)

    @cached_property
    def adjustments(self) -> AdjustmentService:
        """Return the service that adjusts models to texts of users."""
        stores = pick(AdjustmentStores, self.stores)
        return AdjustmentService(
            stores,
            self.training.queue_adjustment,
            self.embeddings.embed,
            self.traces.is_overdue,
            self.clock,
        )

    @cached_property
    def traces(self) -> TraceService:
        """Return the service that deletes data that was replaced by corrections."""
        return TraceService(pick(TraceServiceStores, self.stores), self.clock)
