"""Composition root: creates the stores, engines and services of a process when first used.

Only this file and training_container.py name concrete classes. Tests create a container with their
own settings and clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path

from chalicelib import log, metrics
from chalicelib.config import Settings
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.batch_allowances import BatchAllowances
from chalicelib.domain.accounts.rates import RateLimits
from chalicelib.domain.accounts.usage import Allowances
from chalicelib.domain.common.clock import Clock, system_clock
from chalicelib.domain.common.limits import MAX_ARCHIVE_ENTRIES
from chalicelib.domain.common.saving import FindUnsaved, all_is_saved
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from chalicelib.domain.jobs.batch_work import BatchWork
from chalicelib.engines import parts
from chalicelib.engines.ocr.interface import OcrNotInstalled
from chalicelib.engines.ocr.pool import OcrPool
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.errors import ServiceError
from chalicelib.services.accounts.api_keys import ApiKeyService
from chalicelib.services.accounts.tokens import TokenService
from chalicelib.services.batches.pictures import PictureWork
from chalicelib.services.batches.rankings import RankingWork
from chalicelib.services.batches.requests import BatchService, BatchServiceStores
from chalicelib.services.batches.runs import BatchRunService, BatchRunServiceStores, BatchWriters
from chalicelib.services.batches.tables import TableWork
from chalicelib.services.batches.texts import TextWork
from chalicelib.services.datasets.boxes import BoxService
from chalicelib.services.datasets.browsing import BrowseService
from chalicelib.services.datasets.corrections import CorrectionService, CorrectionServiceStores
from chalicelib.services.datasets.datasets import DatasetService, DatasetServiceStores
from chalicelib.services.datasets.examples import ExampleService
from chalicelib.services.datasets.feedback import FeedbackService
from chalicelib.services.datasets.receipts import ReceiptService
from chalicelib.services.datasets.version_1 import VersionOneService, VersionOneStores
from chalicelib.services.exports.bundles import BundleService
from chalicelib.services.exports.requests import ExportService, ModelExportService
from chalicelib.services.exports.runs import ExampleWriter, ExportRunService, ExportRunServiceStores
from chalicelib.services.maintenance.deletion_runs import (
    DeletionRunService,
    DeletionRunServiceStores,
)
from chalicelib.services.maintenance.deletions import DeletionService
from chalicelib.services.maintenance.health import HealthService
from chalicelib.services.maintenance.sweeping import SweepService, SweepServiceStores
from chalicelib.services.predictions.documents import OcrService
from chalicelib.services.predictions.pictures import PicturePredictionService
from chalicelib.services.predictions.texts import PredictionService
from chalicelib.services.templates.learning import TemplateService, TemplateServiceStores
from chalicelib.services.training.models import ModelService
from chalicelib.services.training.versions import VersionService
from chalicelib.services.uploads.ingest import IngestService, IngestServiceStores, Reader
from chalicelib.services.uploads.readers import PictureReader, TextReader
from chalicelib.services.uploads.upload_forms import UploadFormService
from chalicelib.services.uploads.upload_parts import UploadPartService
from chalicelib.services.uploads.uploads import UploadService, UploadServiceStores
from chalicelib.services.webhooks.delivering import DeliveryService
from chalicelib.services.webhooks.hooks import WebhookService
from chalicelib.stores.stores import Stores, pick
from chalicelib.training_container import TrainingContainer
from chalicelib.web.records.batch_lines import write_lines


class Container(TrainingContainer):
    """The services of one process."""

    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        log.configure(settings.log_level, settings.log_stream)
        metrics.configure(settings.metrics, settings.name)
        self.settings = settings
        self.clock = clock
        self.unsaved: FindUnsaved = all_is_saved
        """Returns which accepted data is not saved. The local stack replaces this function."""
        self.stores = Stores(settings, clock)
        source, model_dir = self.stores.model_source, Path(settings.model_dir)
        self.encoders = EncoderPool(model_dir, source, settings.threads)
        self.backbones = BackbonePool(model_dir, source)
        self.readers = OcrPool(model_dir, settings.ocr_engine, source)

    def engines(self) -> dict[str, str]:
        """Return the state of each engine, `ready` or `missing`."""
        has_texts = all(self.encoders.is_installed(name) for name in parts.FAST_ENCODERS)
        has_accurate = all(self.encoders.is_installed(name) for name in parts.ACCURATE_ENCODERS)
        has_pictures = all(self.backbones.is_installed(name) for name in parts.BACKBONES)
        return {
            "text-fast": _state(has_texts),
            "text-accurate": _state(has_texts and has_accurate),
            "vision": _state(has_pictures),
            **self.readers.state(),
        }

    @cached_property
    def health(self) -> HealthService:
        """Return the service that reports which parts of the engines are installed."""
        pools = (self.encoders, self.backbones, self.readers)
        names = (*parts.FAST_ENCODERS, *parts.BACKBONES, *parts.READERS)
        model_dir = Path(self.settings.model_dir)
        return HealthService(model_dir, self.stores.model_source, pools, names)

    def warm(self) -> None:
        """Load the installed engines, so that the first call does not wait for them."""
        self.load((*parts.FAST_ENCODERS, *parts.BACKBONES, *parts.READERS))

    def load(self, names: Sequence[str]) -> None:
        """Load parts of engines in the given order.

        Missing parts that can be downloaded are downloaded in parallel, while the modules that use
        them are imported. Other missing parts are skipped.

        Raises:
            StorageUnavailable: a download failed.
        """
        with ThreadPoolExecutor(max(1, len(names))) as threads:
            ensure = self.stores.model_source.ensure
            downloads = {name: threads.submit(ensure, name) for name in names}
            for module in {module for name in names for module in parts.modules_of(name)}:
                import_module(module)
            for name, download in downloads.items():
                download.result()
                self._load(name)

    def start(self) -> None:
        """Load everything that a deployed function needs, while Lambda initialises the function."""
        try:
            self.stores.clients.bind_tables()
            self.stores.secrets.signing_key()
            self.load(self.settings.loads)
        except (ServiceError, OSError, ValueError) as error:
            # The function still starts: the first call loads what is missing, or reports it.
            log.error("start_unfinished", error)

    def _load(self, name: str) -> None:
        """Load one part of an engine, unless its files are missing."""
        if name in parts.READERS:
            with suppress(OcrNotInstalled):
                self.ocr.warm()
        elif name in parts.BACKBONES and self.backbones.is_installed(name):
            self.backbones.get(name)
        elif self.encoders.is_installed(name):
            self.encoders.get(name).encode(["warm"])

    @cached_property
    def tokens(self) -> TokenService:
        """Return the service that issues and verifies tokens."""
        s = self.stores
        return TokenService(
            s.accounts, s.refresh_tokens, s.secrets, self.clock, self.settings, self.rates
        )

    @cached_property
    def api_keys(self) -> ApiKeyService:
        """Return the service that manages and verifies API keys."""
        return ApiKeyService(self.stores.accounts, self.stores.api_keys, self.clock)

    @cached_property
    def rates(self) -> RateLimits:
        """Return the rate limits of calls."""
        return RateLimits(self.stores.rates, self.clock, self.settings.rate_factor)

    def reserve_id(self, kind: str) -> int:
        """Reserve an integer id for an object of this kind; return 0 if `kind` is empty."""
        return self.stores.ids.reserve(kind) if kind else 0

    @cached_property
    def allowances(self) -> Allowances:
        """Return the monthly allowances of accounts."""
        calls, browsed = self.settings.example_calls_per_month, self.settings.browsed_per_day
        return Allowances(self.stores.quotas, self.clock, calls, browsed, self._note_quota)

    def _note_quota(self, account: Account, percent: int, month: str) -> None:
        """Emit the event that an account has used a percentage of its monthly predictions."""
        limit = account.predictions_per_month
        self.stores.events.emit(account.account_id, f"quota.{percent}", month=month, limit=limit)

    @cached_property
    def datasets(self) -> DatasetService:
        """Return the service that lists, reads and creates datasets."""
        return DatasetService(pick(DatasetServiceStores, self.stores), self.clock)

    @cached_property
    def uploads(self) -> UploadService:
        """Return the service that accepts files."""
        return UploadService(
            pick(UploadServiceStores, self.stores), self.clock, self.settings, self.ingest.run_now
        )

    @cached_property
    def upload_forms(self) -> UploadFormService:
        """Return the service that issues forms for large files."""
        return UploadFormService(self.stores.uploaded_files, self.stores.capacity, self.clock)

    @cached_property
    def ingest(self) -> IngestService:
        """Return the service that reads accepted files into datasets."""
        s = self.stores
        readers: dict[str, Reader] = {
            LANGUAGE: TextReader(s.labels, s.examples),
            VISION: PictureReader(self.stores.examples, self.stores.labels, self.stores.pictures),
        }
        announce = self.upload_parts.announce
        return IngestService(
            pick(IngestServiceStores, self.stores), readers, announce, self.clock, self.settings
        )

    @cached_property
    def upload_parts(self) -> UploadPartService:
        """Return the service that computes vectors and features of uploads in parts."""
        s = self.stores
        return UploadPartService(
            s.parts, s.queues, self.embeddings.run_part, self.features.run_part
        )

    @cached_property
    def receipts(self) -> ReceiptService:
        """Return the service that lists receipts."""
        return ReceiptService(self.stores.receipts, self.stores.correction_receipts)

    @cached_property
    def examples(self) -> ExampleService:
        """Return the service that lists and adds examples."""
        s = self.stores
        return ExampleService(
            s.datasets, s.labels, s.examples, s.appends, s.example_views, self.allowances
        )

    @cached_property
    def browsing(self) -> BrowseService:
        """Return the service that browses examples."""
        s = self.stores
        return BrowseService(
            s.examples, s.model_files, s.example_views, self.allowances, self.thumbnails
        )

    @cached_property
    def corrections(self) -> CorrectionService:
        """Return the service that corrects datasets."""
        return CorrectionService(pick(CorrectionServiceStores, self.stores))

    @cached_property
    def version_1(self) -> VersionOneService:
        """Return the service for calls that only version 1.0 of the API has."""
        return VersionOneService(pick(VersionOneStores, self.stores), self.allowances)

    @cached_property
    def boxes(self) -> BoxService:
        """Return the service that replaces the boxes of images."""
        s = self.stores
        return BoxService(s.examples, s.ids, s.corrections, s.pictures, self.clock)

    @cached_property
    def feedback(self) -> FeedbackService:
        """Return the service that adds feedback."""
        s = self.stores
        return FeedbackService(s.datasets, s.labels, s.appends, s.example_views)

    @cached_property
    def models(self) -> ModelService:
        """Return the service that reads models."""
        s = self.stores
        return ModelService(s.models, s.model_files, s.curves, s.prebuilt)

    @cached_property
    def model_versions(self) -> VersionService:
        """Return the service that manages the versions of models."""
        s = self.stores
        return VersionService(s.models, s.version_serving, s.model_files, s.version_use, s.capacity)

    @cached_property
    def predictions(self) -> PredictionService:
        """Return the service that predicts texts."""
        return PredictionService(
            self.stores.served_models, self.allowances, self.encoders, self.settings.threads
        )

    @cached_property
    def batches(self) -> BatchService:
        """Return the service that accepts batches."""
        runs = self.batch_runs
        return BatchService(
            pick(BatchServiceStores, self.stores),
            self.clock,
            self.batch_works,
            runs.prepare,
            runs.settle,
        )

    @cached_property
    def batch_runs(self) -> BatchRunService:
        """Return the service that runs batches."""
        s = self.stores
        allowances = BatchAllowances(s.batch_quotas, self.clock, self._note_quota)
        return BatchRunService(
            pick(BatchRunServiceStores, self.stores),
            allowances,
            self.batch_works,
            BatchWriters(write_lines, RankingWork(s.batch_files), TableWork(s.batch_files)),
            self.clock,
            self.settings,
        )

    @cached_property
    def batch_works(self) -> dict[str, BatchWork]:
        """Return a mapping from each family to the object that reads and answers its batches."""
        s = self.stores
        return {
            LANGUAGE: TextWork(s.examples, self.predictions),
            VISION: PictureWork(
                s.batch_files,
                s.examples,
                s.pictures,
                self.picture_predictions,
                self.ocr,
            ),
        }

    @cached_property
    def picture_predictions(self) -> PicturePredictionService:
        """Return the service that predicts images."""
        s = self.stores
        return PicturePredictionService(
            s.served_models, s.sample_files, self.allowances, self.backbones
        )

    @cached_property
    def ocr(self) -> OcrService:
        """Return the service that reads documents."""
        s, threads, seconds = self.stores, self.settings.ocr_threads, self.settings.sync_seconds
        files = s.sample_files, s.page_images
        return OcrService(*files, self.readers, s.in_flight, threads, seconds)

    @cached_property
    def templates(self) -> TemplateService:
        """Return the service that learns form templates."""
        stores = pick(TemplateServiceStores, self.stores)
        return TemplateService(stores, self.ocr, self.clock, self.settings)

    @cached_property
    def exports(self) -> ExportService:
        """Return the service that accepts exports of datasets."""
        s = self.stores
        return ExportService(s.datasets, s.exports, s.queues, self.clock)

    @cached_property
    def model_exports(self) -> ModelExportService:
        """Return the service that accepts exports of models."""
        s = self.stores
        check_kept = s.served_models.check_kept
        return ModelExportService(
            s.exports, s.queues, self._bundles.require_graph, check_kept, self.clock
        )

    @cached_property
    def _bundles(self) -> BundleService:
        s, pools = self.stores, (self.encoders, self.backbones)
        predictors = self.predictions, self.picture_predictions
        return BundleService(s.models, s.model_files, pools, predictors, self.clock)

    @cached_property
    def export_runs(self) -> ExportRunService:
        """Return the service that writes exports."""
        s, stores = self.stores, pick(ExportRunServiceStores, self.stores)
        examples = ExampleWriter(s.examples, s.pictures, MAX_ARCHIVE_ENTRIES)
        return ExportRunService(stores, examples, self._bundles, self.settings)

    @cached_property
    def deletions(self) -> DeletionService:
        """Return the service that accepts deletions."""
        s = self.stores
        return DeletionService(s.datasets, s.models, s.guards, s.deletions, s.queues)

    @cached_property
    def deletion_runs(self) -> DeletionRunService:
        """Return the service that runs deletions."""
        return DeletionRunService(
            pick(DeletionRunServiceStores, self.stores), self.clock, self.traces.clear
        )

    @cached_property
    def webhooks(self) -> WebhookService:
        """Return the service that manages webhooks."""
        s = self.stores
        return WebhookService(
            s.deliveries, s.downloads, s.events, s.webhooks, self.rates, self.clock
        )

    @cached_property
    def deliveries(self) -> DeliveryService:
        """Return the service that delivers events to webhooks."""
        s = self.stores
        return DeliveryService(
            s.deliveries, s.downloads, s.events, s.webhooks, s.in_flight, self.clock
        )

    @cached_property
    def sweeping(self) -> SweepService:
        """Return the service that resumes or ends abandoned work."""
        stores, announce = pick(SweepServiceStores, self.stores), self.deliveries.announce_due
        return SweepService(stores, self.clock, self.settings, announce)


def _state(is_ready: bool) -> str:
    return "ready" if is_ready else "missing"
