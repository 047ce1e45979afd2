"""Composition root: builds stores, engines and services, each at its first use.

The only file that names concrete classes. Tests build one with their own settings and clock.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path

from chalicelib import log, metrics
from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, system_clock
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from chalicelib.domain.models.learning import Learner
from chalicelib.domain.models.model_files import INSTALLED_ONLY, ModelSource
from chalicelib.engines.ocr.interface import PPOCR, OcrNotInstalled
from chalicelib.engines.ocr.pool import SLANET, OcrPool
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.engines.vision.backbone.pool import LITE2, NANODET, BackbonePool
from chalicelib.services.datasets import DatasetService
from chalicelib.services.deletion_runs import DeletionRunService, DeletionStores
from chalicelib.services.deletions import DeletionService
from chalicelib.services.embeddings import EmbeddingService
from chalicelib.services.examples import ExampleService
from chalicelib.services.features import FeatureService, FeatureStores
from chalicelib.services.feedback import FeedbackService
from chalicelib.services.health import HealthService
from chalicelib.services.incoming import IncomingService
from chalicelib.services.ingest import IngestService, IngestStores, Reader
from chalicelib.services.models import ModelService
from chalicelib.services.ocr import OcrService
from chalicelib.services.picture_ingest import PictureReader, PictureReaderStores
from chalicelib.services.picture_predictions import PicturePredictionService
from chalicelib.services.predictions import PredictionService
from chalicelib.services.receipts import ReceiptService
from chalicelib.services.sweeping import SweepService, SweepStores
from chalicelib.services.text_ingest import TextReader
from chalicelib.services.text_learning import Embedder, TextLearner
from chalicelib.services.tokens import TokenService
from chalicelib.services.training import TrainingService, TrainingStores
from chalicelib.services.training_runs import RunStores, TrainingRunService
from chalicelib.services.uploads import UploadService, UploadStores
from chalicelib.services.usage import UsageService
from chalicelib.services.vision_learning import LearningStores, VisionLearner
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.quotas import QuotaStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.counters import IdStore
from chalicelib.stores.aws.objects import ArtifactStore
from chalicelib.stores.aws.secrets import SecretStore
from chalicelib.stores.datasets.appends import AppendStore
from chalicelib.stores.datasets.contents import DatasetContents
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.example_names import ExampleNames
from chalicelib.stores.datasets.example_views import ExampleViews
from chalicelib.stores.datasets.examples import ExampleStore
from chalicelib.stores.datasets.labels import LabelStore
from chalicelib.stores.datasets.leases import DatasetLeases
from chalicelib.stores.datasets.parts import PartStore
from chalicelib.stores.datasets.pictures import PictureStore
from chalicelib.stores.datasets.receipts import ReceiptStore
from chalicelib.stores.datasets.training_examples import TrainingExamples
from chalicelib.stores.fetching.downloads import Downloader
from chalicelib.stores.fetching.model_downloads import ModelDownloads
from chalicelib.stores.fetching.sample_files import SampleFiles
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
from chalicelib.stores.jobs.deletions import DeletionStore
from chalicelib.stores.jobs.guards import GuardStore
from chalicelib.stores.jobs.queues import Queues
from chalicelib.stores.models.checkpoints import CheckpointStore
from chalicelib.stores.models.curves import CurveStore
from chalicelib.stores.models.leases import ModelLeases
from chalicelib.stores.models.models import ModelStore
from chalicelib.stores.models.prebuilt import PrebuiltStore
from chalicelib.stores.models.served import ServedModels
from chalicelib.stores.models.versions import ModelCards, ModelVersions

FAST_ENCODERS = ("minilm", "use")
"""Encoders of the fast profile; the service's start installs them."""
ACCURATE_ENCODERS = ("mpnet", "e5")
"""Encoders that the accurate profile adds; loaded when a model needs them."""
BACKBONES = (LITE2, NANODET)
"""Backbones of the vision engines."""
READERS = (PPOCR, SLANET)
"""Networks that read documents."""


class Stores:
    """Every store of one container, sharing clients and clock."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        clients = Clients(settings)
        self.clients = clients
        self.accounts = AccountStore(clients)
        self.refresh_tokens = RefreshTokenStore(clients)
        self.secrets = SecretStore(clients, settings)
        self.quotas = QuotaStore(clients)
        self.ids = IdStore(clients)
        self.labels = LabelStore(clients)
        self.datasets = DatasetStore(clients, clock)
        self.dataset_leases = DatasetLeases(clients, clock, settings)
        self.artifacts = ArtifactStore(settings, clients)
        self.examples = ExampleStore(clients, self.artifacts)
        self.parts = PartStore(self.artifacts)
        self.pictures = PictureStore(settings, clients, self.artifacts)
        self.receipts = ReceiptStore(clients)
        self.contents = DatasetContents(self.examples, self.labels, self.receipts, self.artifacts)
        self._add_models(settings, clock)
        self.deletions = DeletionStore(clients, clock, settings)
        self.queues = Queues(settings, clients)
        self.guards = GuardStore(self.accounts, self.datasets, self.models, clock)
        self.downloads = Downloader(settings.download_allow)
        self.incoming = UploadedFileStore(settings, clients, clock)
        self.sample_files = SampleFiles(self.downloads, self.incoming)
        self.training_examples = TrainingExamples(self.datasets, self.labels, self.examples)
        self.example_names = ExampleNames(self.examples, self.artifacts)
        self.example_views = ExampleViews(self.datasets, self.labels, self.pictures, clock)
        self.appends = AppendStore(self, clock, settings.max_stored_bytes)

    def _add_models(self, settings: Settings, clock: Clock) -> None:
        """Build the stores of models and their trainings."""
        self.models = ModelStore(self.clients, clock)
        self.model_leases = ModelLeases(self.clients, clock, settings)
        self.model_files = ModelVersions(self.artifacts)
        self.model_cards = ModelCards(self.artifacts)
        self.checkpoints = CheckpointStore(self.artifacts)
        self.curves = CurveStore(self.artifacts)
        self.model_source: ModelSource = INSTALLED_ONLY
        if settings.models_from_bucket:
            self.model_source = ModelDownloads(settings, self.clients)
        self.prebuilt = PrebuiltStore(settings.model_dir, self.model_source)
        self.served_models = ServedModels(self.models, self.model_files, self.prebuilt)


class Container:
    """Services of one process."""

    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        log.configure(settings.log_level, settings.log_stream)
        metrics.configure(settings.metrics, settings.name)
        self.settings = settings
        self.clock = clock
        self.stores = Stores(settings, clock)
        source, model_dir = self.stores.model_source, Path(settings.model_dir)
        self.encoders = EncoderPool(model_dir, source, settings.threads)
        self.backbones = BackbonePool(model_dir, source)
        self.readers = OcrPool(model_dir, settings.ocr_engine, source)

    def engines(self) -> dict[str, str]:
        """Tell for each engine whether it is ready."""
        has_texts = all(self.encoders.is_installed(name) for name in FAST_ENCODERS)
        has_accurate = all(self.encoders.is_installed(name) for name in ACCURATE_ENCODERS)
        has_pictures = all(self.backbones.is_installed(name) for name in BACKBONES)
        return {
            "text-fast": _state(has_texts),
            "text-accurate": _state(has_texts and has_accurate),
            "vision": _state(has_pictures),
            **self.readers.state(),
        }

    @cached_property
    def health(self) -> HealthService:
        """Lists the parts of the engines."""
        pools = (self.encoders, self.backbones, self.readers)
        names = (*FAST_ENCODERS, *BACKBONES, *READERS)
        model_dir = Path(self.settings.model_dir)
        return HealthService(model_dir, self.stores.model_source, pools, names)

    def warm(self) -> None:
        """Load the installed engines now, so that the first call does not wait for them."""
        import_module("chalicelib.engines.text.training")
        import_module("chalicelib.formats.pictures.reading")
        for name in FAST_ENCODERS:
            if self.encoders.is_installed(name):
                self.encoders.get(name).encode(["warm"])
        for name in BACKBONES:
            if self.backbones.is_installed(name):
                self.backbones.get(name)
        with suppress(OcrNotInstalled):
            self.ocr.warm()

    @cached_property
    def tokens(self) -> TokenService:
        """Gives out and checks tokens."""
        s = self.stores
        return TokenService(s.accounts, s.refresh_tokens, s.secrets, self.clock, self.settings)

    @cached_property
    def usage(self) -> UsageService:
        """Counts calls against allowances."""
        return UsageService(self.stores.quotas, self.clock, self.settings)

    @cached_property
    def datasets(self) -> DatasetService:
        """Lists, reads and creates datasets."""
        s = self.stores
        return DatasetService(s.datasets, s.labels, s.ids, self.clock)

    @cached_property
    def uploads(self) -> UploadService:
        """Accepts files."""
        s = self.stores
        stores = UploadStores(
            s.datasets, s.labels, s.ids, s.artifacts, s.receipts, s.queues, s.downloads, s.incoming
        )
        return UploadService(stores, self.clock, self.settings, self.ingest.run)

    @cached_property
    def incoming(self) -> IncomingService:
        """Gives out forms for large files."""
        return IncomingService(self.stores.incoming, self.clock)

    @cached_property
    def ingest(self) -> IngestService:
        """Reads accepted files."""
        s = self.stores
        stores = IngestStores(
            datasets=s.datasets,
            contents=s.contents,
            leases=s.dataset_leases,
            labels=s.labels,
            ids=s.ids,
            examples=s.examples,
            artifacts=s.artifacts,
            receipts=s.receipts,
            parts=s.parts,
            queues=s.queues,
            downloads=s.downloads,
            incoming=s.incoming,
        )
        pictures = PictureReaderStores(s.labels, s.examples, s.pictures)
        readers: dict[str, Reader] = {
            LANGUAGE: TextReader(s.labels, s.examples),
            VISION: PictureReader(pictures),
        }
        return IngestService(stores, readers, self.clock, self.settings)

    @cached_property
    def embeddings(self) -> EmbeddingService:
        """Turns texts into vectors."""
        s = self.stores
        return EmbeddingService(
            s.datasets, s.artifacts, s.parts, self.encoders, self.settings.threads
        )

    @cached_property
    def receipts(self) -> ReceiptService:
        """Lists receipts."""
        return ReceiptService(self.stores.receipts)

    @cached_property
    def examples(self) -> ExampleService:
        """Lists and adds examples."""
        s = self.stores
        return ExampleService(s.datasets, s.labels, s.examples, s.appends, s.example_views)

    @cached_property
    def feedback(self) -> FeedbackService:
        """Adds feedback."""
        s = self.stores
        return FeedbackService(s.datasets, s.labels, s.appends, s.example_views)

    @cached_property
    def training(self) -> TrainingService:
        """Accepts trainings."""
        s = self.stores
        stores = TrainingStores(s.datasets, s.labels, s.models, s.guards, s.queues)
        return TrainingService(stores, self.encoders, self.clock, self.settings)

    @cached_property
    def features(self) -> FeatureService:
        """Turns pictures into features."""
        s = self.stores
        stores = FeatureStores(s.datasets, s.artifacts, s.parts, s.pictures, s.queues)
        return FeatureService(stores, self.backbones, self.settings)

    @cached_property
    def training_runs(self) -> TrainingRunService:
        """Runs trainings."""
        s = self.stores
        stores = RunStores(s.datasets, s.models, s.model_leases, s.model_files, s.guards, s.queues)
        embedder = Embedder(
            self.embeddings.finish_parts,
            self.embeddings.vectors,
            self.embeddings.embed,
            self.encoders,
            self.settings.text_profile,
            self.settings.threads,
        )
        pictures = LearningStores(s.training_examples, s.pictures, s.checkpoints, s.curves)
        learners: dict[str, Learner] = {
            LANGUAGE: TextLearner(s.training_examples, s.curves, embedder, self.clock),
            VISION: VisionLearner(
                pictures, self.features, self.backbones, self.clock, self.settings
            ),
        }
        return TrainingRunService(stores, learners, self.clock, self.settings)

    @cached_property
    def models(self) -> ModelService:
        """Reads models."""
        s = self.stores
        return ModelService(s.models, s.model_files, s.curves, s.prebuilt)

    @cached_property
    def predictions(self) -> PredictionService:
        """Predicts."""
        return PredictionService(self.stores.served_models, self.encoders)

    @cached_property
    def picture_predictions(self) -> PicturePredictionService:
        """Predicts and detects in pictures."""
        s = self.stores
        return PicturePredictionService(s.served_models, s.sample_files, self.backbones)

    @cached_property
    def ocr(self) -> OcrService:
        """Reads documents."""
        s, threads, seconds = self.stores, self.settings.ocr_threads, self.settings.sync_seconds
        return OcrService(s.served_models, s.sample_files, self.readers, threads, seconds)

    @cached_property
    def deletions(self) -> DeletionService:
        """Accepts deletions."""
        s = self.stores
        return DeletionService(s.datasets, s.models, s.guards, s.deletions, s.queues)

    @cached_property
    def deletion_runs(self) -> DeletionRunService:
        """Runs deletions."""
        s = self.stores
        stores = DeletionStores(
            datasets=s.datasets,
            labels=s.labels,
            contents=s.contents,
            models=s.models,
            files=s.model_files,
            cards=s.model_cards,
            deletions=s.deletions,
            queues=s.queues,
        )
        return DeletionRunService(stores, self.clock)

    @cached_property
    def sweeping(self) -> SweepService:
        """Ends what nobody owns."""
        s = self.stores
        stores = SweepStores(s.accounts, s.datasets, s.models, s.guards, s.deletions, s.queues)
        return SweepService(stores, self.clock, self.settings)


def _state(is_ready: bool) -> str:
    """Say a truth as answers do."""
    return "ready" if is_ready else "missing"
