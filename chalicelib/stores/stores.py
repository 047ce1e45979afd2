"""Creates all stores of a process, and selects those that a service uses."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.models.model_files import INSTALLED_ONLY, ModelSource
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.batch_quotas import BatchQuotaStore
from chalicelib.stores.accounts.idempotency import IdempotencyStore
from chalicelib.stores.accounts.in_flight import InFlight
from chalicelib.stores.accounts.quotas import QuotaStore
from chalicelib.stores.accounts.rates import RateStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.accounts.webhooks import WebhookStore
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.counters import IdStore
from chalicelib.stores.aws.objects import ArtifactStore
from chalicelib.stores.aws.secrets import SecretStore
from chalicelib.stores.datasets.appends import AppendStore
from chalicelib.stores.datasets.contents import DatasetContents
from chalicelib.stores.datasets.corrections import CorrectionStore
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.example_views import ExampleViews
from chalicelib.stores.datasets.labels import LabelStore
from chalicelib.stores.datasets.leases import DatasetLeases
from chalicelib.stores.datasets.ownership import DatasetOwnership
from chalicelib.stores.datasets.receipts import CorrectionReceipts, ReceiptStore
from chalicelib.stores.datasets.traces import TraceStore
from chalicelib.stores.datasets.training_examples import TrainingExamples
from chalicelib.stores.examples.digest_index import DigestIndex
from chalicelib.stores.examples.example_names import ExampleNames
from chalicelib.stores.examples.example_search import ExamplePlaces
from chalicelib.stores.examples.examples import ExampleStore
from chalicelib.stores.examples.parts import PartStore
from chalicelib.stores.examples.pictures import PictureStore
from chalicelib.stores.examples.thumbnails import ThumbnailStore
from chalicelib.stores.fetching.downloads import Downloader
from chalicelib.stores.fetching.model_downloads import ModelDownloads
from chalicelib.stores.fetching.page_images import PageImageStore
from chalicelib.stores.fetching.sample_files import SampleFiles
from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
from chalicelib.stores.jobs.batch_files import BatchFiles
from chalicelib.stores.jobs.batches import BatchStore
from chalicelib.stores.jobs.capacity import CapacityStore
from chalicelib.stores.jobs.deletions import DeletionStore
from chalicelib.stores.jobs.deliveries import DeliveryStore
from chalicelib.stores.jobs.events import Events
from chalicelib.stores.jobs.exports import ExportStore
from chalicelib.stores.jobs.guards import GuardStore
from chalicelib.stores.jobs.queues import Queues
from chalicelib.stores.jobs.template_learnings import LearningStore
from chalicelib.stores.jobs.turns import IngestQueue, TrainingQueue, TurnStore
from chalicelib.stores.models.checkpoints import CheckpointStore
from chalicelib.stores.models.curves import CurveStore
from chalicelib.stores.models.leases import ModelLeases
from chalicelib.stores.models.models import ModelStore
from chalicelib.stores.models.places import QueuePlaces
from chalicelib.stores.models.prebuilt import PrebuiltStore
from chalicelib.stores.models.run_files import ImportedFileStore, RunFileStore, UserTextStore
from chalicelib.stores.models.run_parts import RunParts
from chalicelib.stores.models.served import ServedModels
from chalicelib.stores.models.serving import VersionServing, VersionUse
from chalicelib.stores.models.sizes import VersionSizes
from chalicelib.stores.models.versions import ModelCards, ModelVersions

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Group = TypeVar("Group", bound=DataclassInstance)


class Stores:
    """All stores of one process. They share the AWS clients and the clock."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        clients = Clients(settings)
        self.clients = clients
        self.queues = Queues(settings, clients)
        self._add_accounts(settings, clock)
        self.ids = IdStore(clients)
        self.labels = LabelStore(clients)
        self.datasets = DatasetStore(clients, clock)
        self.dataset_leases = DatasetLeases(clients, clock, settings)
        self.ownership = DatasetOwnership(self.datasets, self.dataset_leases)
        self.artifacts = ArtifactStore(settings, clients)
        self.examples = ExampleStore(clients, self.artifacts)
        self.example_places = ExamplePlaces(clients)
        self.digests = DigestIndex(self.examples, self.artifacts)
        self.parts = PartStore(self.artifacts)
        self.pictures = PictureStore(settings, clients, self.artifacts)
        self.receipts = ReceiptStore(clients)
        self.contents = DatasetContents(self.examples, self.labels, self.receipts, self.artifacts)
        self._add_models(settings, clock)
        self.deletions = DeletionStore(clients, clock, settings)
        self.exports = ExportStore(clients, self.artifacts, clock, settings)
        self.batches = BatchStore(clients, clock, settings)
        self.batch_files = BatchFiles(self.artifacts)
        self._add_queues(settings, clock)
        self.deliveries = DeliveryStore(clients, clock)
        self.events = Events(self.webhooks, self.deliveries, self.queues, clock)
        self.guards = GuardStore(self.accounts, self.datasets, self.models, clock)
        self.downloads = Downloader(settings.download_allow)
        self.uploaded_files = UploadedFileStore(settings, clients, clock)
        self.sample_files = SampleFiles(self.downloads, self.uploaded_files, self.in_flight)
        self._add_writers(settings, clock)

    def _add_writers(self, settings: Settings, clock: Clock) -> None:
        """Create further stores. Most of them use the stores that exist already."""
        self.run_files = RunFileStore(self.models, self.uploaded_files)
        self.training_examples = TrainingExamples(self.datasets, self.labels, self.examples)
        self.page_images = PageImageStore(self.clients, self.artifacts, clock)
        self.thumbnails = ThumbnailStore(settings, self.clients, self.artifacts)
        self.example_names = ExampleNames(self.examples, self.artifacts)
        self.example_views = ExampleViews(self.datasets, self.labels, self.pictures, clock)
        self.learnings = LearningStore(self.clients, self.artifacts, clock, settings)
        self.capacity = CapacityStore(
            self.clients, self.datasets, self.version_sizes, clock, settings
        )
        self.version_use = VersionUse(self.version_serving, self.batches, self.exports)
        self.appends = AppendStore(self, clock)
        self.traces = TraceStore(self.clients, clock)
        self.correction_receipts = CorrectionReceipts(self.clients, clock)
        self.corrections = CorrectionStore(self, settings.lease_seconds)

    def _add_queues(self, settings: Settings, clock: Clock) -> None:
        """Create the queues in which accounts take turns."""
        self.turns = TurnStore(self.clients, clock)
        self.ingest_queue = IngestQueue(
            self.datasets,
            self.dataset_leases,
            self.turns,
            self.queues,
            clock=clock,
            limit=settings.max_running_uploads,
        )
        self.training_queue = TrainingQueue(
            self.models,
            self.model_leases,
            self.turns,
            self.queues,
            clock=clock,
            limit=settings.max_running_trainings,
        )

    def _add_accounts(self, settings: Settings, clock: Clock) -> None:
        self.accounts = AccountStore(self.clients)
        self.refresh_tokens = RefreshTokenStore(self.clients)
        self.api_keys = ApiKeyStore(self.clients)
        self.secrets = SecretStore(self.clients, settings)
        self.webhooks = WebhookStore(self.clients, self.secrets, clock)
        self.idempotency = IdempotencyStore(self.clients, self.secrets, clock, settings)
        self.quotas = QuotaStore(self.clients, self.queues)
        self.batch_quotas = BatchQuotaStore(self.clients)
        self.rates = RateStore(self.clients)
        self.in_flight = InFlight(settings, self.clients, clock)

    def _add_models(self, settings: Settings, clock: Clock) -> None:
        self.models = ModelStore(self.clients, clock)
        self.places = QueuePlaces(self.clients, clock)
        self.model_leases = ModelLeases(self.clients, clock, settings)
        self.version_serving = VersionServing(self.clients)
        self.model_files = ModelVersions(self.artifacts)
        self.version_sizes = VersionSizes(self.clients, self.model_files)
        self.model_cards = ModelCards(self.artifacts, self.models)
        self.checkpoints = CheckpointStore(self.artifacts)
        self.user_texts = UserTextStore(self.artifacts)
        self.imported_files = ImportedFileStore(self.artifacts)
        self.run_parts = RunParts(self.artifacts)
        self.curves = CurveStore(self.artifacts)
        self.model_source: ModelSource = INSTALLED_ONLY
        if settings.models_from_bucket:
            self.model_source = ModelDownloads(settings, self.clients)
        self.prebuilt = PrebuiltStore(settings.model_dir, self.model_source)
        self.served_models = ServedModels(self.clients, self.model_files, self.prebuilt)


def pick(group: type[Group], stores: Stores) -> Group:
    """Create an instance of the dataclass `group`. Each field gets the store of the same name."""
    return group(**{field.name: getattr(stores, field.name) for field in fields(group)})
