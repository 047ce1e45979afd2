"""Small makers of what tests need: files, accounts, encoders, and a service with its workers."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from chalicelib import workers
from chalicelib.config import Settings
from chalicelib.container import Container
from chalicelib.domain.accounts.account import ACTIVE, Account
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION, DatasetView
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.domain.jobs.messages import decode_job
from chalicelib.domain.models.model import SUCCEEDED, Model, ModelView, TrainRequest
from chalicelib.domain.models.prediction import PredictionOptions, Ranked
from chalicelib.engines.text.encoding.encoders import EncoderFacts
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.tables import ROWS, DeletionRow, TableRow, table_name
from chalicelib.stores.jobs.queues import (
    DELETE,
    DELIVER,
    EMBED,
    EXPORT,
    INGEST,
    TRAIN_FREE,
    TRAIN_PAID,
    queue_name,
)
from tests.conftest import MovableClock
from tests.held import answering, held
from tests.pictures import make_zip

T = TypeVar("T")
WORKERS = {
    INGEST: "ingest",
    EMBED: "ingest",
    TRAIN_PAID: "train",
    TRAIN_FREE: "train",
    DELETE: "delete",
    EXPORT: "export",
    DELIVER: "deliver",
}
ONE_RESULT: dict[tuple[str, ...], Any] = {}
"""What the quick engine was trained on, by labels. See tests/faults/conftest.py."""
# Queue and job, a struct of its kind.
Message = tuple[str, Any]


@lru_cache(20_000)
def _word_vector(name: str, word: str, dimensions: int) -> np.ndarray:
    """Return a vector of a word, float64; it differs between encoders."""
    seed = hashlib.sha256(f"{name} {word}".encode()).digest()
    return np.frombuffer(seed[:dimensions], np.uint8) / 127.5 - 1


class TinyEncoder:
    """Embeds texts by hashing their words; equal texts get equal vectors."""

    def __init__(self, name: str, dimensions: int = 16) -> None:
        digest = hashlib.sha256(name.encode()).hexdigest()
        self.facts = EncoderFacts(name, f"tiny {name}", digest, "Apache-2.0", dimensions)
        self.name, self.sha256, self.licence = name, digest, self.facts.licence
        self.dimensions = dimensions
        self.texts = 0

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> np.ndarray:
        """Return float32 vectors of length 1, shape (texts, dimensions)."""
        self.texts += len(texts)
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in text.split() or [""]:
                vectors[row] += _word_vector(self.name, word, self.dimensions)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


def empty_aws(settings: Settings) -> None:
    """Empty the emulated AWS, keeping the tables, queues and bucket that are there already.

    Much quicker than making them again for each test.
    """
    tables = held("dynamodb", settings.region).tables
    if set(tables) != {table_name(settings, row) for row in ROWS}:
        from tests.fresh_aws import provide

        provide(settings)
        return
    for table in tables.values():
        table.items.clear()
    for queue in held("sqs", settings.region).queues.values():
        queue._messages = []
        queue.pending_messages.clear()
    held("s3").buckets[settings.bucket].keys.clear()


class Snapshot:
    """Rows and objects of the emulated AWS at one moment; its queues are empty."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._rows = {name: deepcopy(table.items) for name, table in self._tables().items()}
        self._objects = {key: found.value for key, found in self._keys().items()}

    def restore(self) -> None:
        """Restore all rows and objects, and empty the queues."""
        empty_aws(self._settings)
        for name, table in self._tables().items():
            table.items = deepcopy(self._rows[name])
        for key, content in self._objects.items():
            held("s3").put_object(self._settings.bucket, key, content)

    def _tables(self) -> dict[str, Any]:
        """Return the tables of the emulated AWS."""
        region = self._settings.region
        tables: dict[str, Any] = held("dynamodb", region).tables
        return tables

    def _keys(self) -> Any:
        """Return the objects of the emulated AWS by key."""
        return held("s3").buckets[self._settings.bucket].keys


_ONCE: dict[str, tuple[Snapshot, Account, Any]] = {}
"""Snapshot, account and result by name. See `World.once`."""


def one_call_at_a_time(clients: Clients) -> None:
    """Serialise calls of several threads to the emulated AWS, which has no locks."""
    from tests.quick_aws import answer_directly, keep_clients, make_requests

    lock, answer = Lock(), answering()
    keep_clients()

    def send(event_name: str, request: Any, **_: Any) -> Any:
        """Send a request while no other thread sends one."""
        with lock:
            return answer(event_name, request)

    def call(**params: Any) -> Any:
        """Answer a call while no other thread calls."""
        with lock:
            return answer_directly(**params)

    for client in (clients.dynamodb, clients.dynamodb_once, clients.s3, clients.sqs):
        make_requests(client, send)
        client.meta.events.register_last("before-call", call)


class World:
    """A service on the emulated AWS; its queue workers run when a test calls them."""

    def __init__(self, settings: Settings, clock: MovableClock) -> None:
        self.settings, self.clock = settings, clock
        self.container = Container(settings, clock)
        self.stores = self.container.stores
        for name in ("bge", "use"):
            self.container.encoders._encoders[name] = TinyEncoder(name)
        self.account = self.new_account("me@example.com")

    def new_account(self, email: str, plan: str = "STARTER") -> Account:
        """Store a new account."""
        made = self.stores.accounts.create(
            Account(
                "",
                email,
                plan,
                "HEROKU",
                ACTIVE,
                (),
                "LICENSEIDX",
                self.clock(),
                example_calls_per_month=1_000_000,
            )
        )
        assert made is not None
        return made

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Make data for the first test that asks and copy it for the others.

        The world is empty before, and its queues are empty after.

        Args:
            name: of the data in this run of the tests.
            make: returns ids and records, which no test changes.
        """
        if name not in _ONCE:
            made = make()
            _ONCE[name] = Snapshot(self.settings), self.account, made
        snapshot, self.account, made = _ONCE[name]
        snapshot.restore()
        return made

    def another(self, settings: Settings | None = None) -> World:
        """Return a second process of the same service, with empty memory."""
        other = World.__new__(World)
        other.settings, other.clock, other.account = self.settings, self.clock, self.account
        other.container = Container(settings or self.settings, self.clock)
        other.stores = other.container.stores
        other.container.encoders._encoders.update(self.container.encoders._encoders)
        return other

    def one_call_at_a_time(self) -> None:
        """Serialise calls of several threads to the emulated AWS."""
        one_call_at_a_time(self.stores.clients)

    def send_file(self, content: bytes, name: str = "texts.csv") -> str:
        """Send a file with a presigned form, and return its path."""
        form = self.container.upload_forms.issue(self.account, name)
        self.stores.clients.s3.put_object(
            Bucket=self.settings.bucket, Key=form.fields["key"], Body=content
        )
        return form.path

    def upload(
        self,
        rows: Iterable[tuple[str, str]],
        *,
        account: Account | None = None,
        fields: UploadFields | None = None,
    ) -> DatasetView:
        """Accept a file of texts and labels as a new dataset, without reading it yet."""
        return self.container.uploads.create(
            account or self.account,
            LANGUAGE,
            a_source(rows),
            fields or UploadFields("intents", "text-intent"),
        )

    def upload_pictures(
        self,
        files: Mapping[str, bytes] | bytes,
        kind: str = "image",
        *,
        account: Account | None = None,
    ) -> DatasetView:
        """Accept an archive of files by path as a new dataset, without reading it yet."""
        return self.container.uploads.create(
            account or self.account, VISION, an_archive(files), UploadFields("pictures", kind)
        )

    def pictures(
        self, files: Mapping[str, bytes] | bytes, kind: str = "image", **more: Any
    ) -> DatasetView:
        """Upload an archive and read it, without computing features of its images."""
        view = self.upload_pictures(files, kind, **more)
        self.read_files()
        return self.get(view)

    def read_files(self) -> list[Message]:
        """Run the workers that read uploads; return the messages that they send."""
        for message in self.messages():
            if message[0] == INGEST:
                self.deliver(message)
            else:
                raise AssertionError(f"This was not expected to wait: {message}")
        return self.messages()

    def dataset(self, rows: Iterable[tuple[str, str]], **more: Any) -> DatasetView:
        """Upload a file and read it."""
        view = self.upload(rows, **more)
        self.work()
        return self.get(view)

    def unembedded(self, rows: Iterable[tuple[str, str]]) -> tuple[DatasetView, list[Message]]:
        """Upload a file and read it; return the jobs that would embed its parts."""
        view = self.upload(rows)
        [reading] = self.messages()
        self.deliver(reading)
        return self.get(view), self.messages()

    def get(self, view: DatasetView) -> DatasetView:
        """Return the stored state of a dataset."""
        dataset = view.dataset
        return self.container.datasets.get(dataset.account_id, dataset.family, dataset.dataset_id)

    def train(
        self, view: DatasetView, request: TrainRequest | None = None, account: Account | None = None
    ) -> ModelView:
        """Request a training without running it."""
        return self.container.training.request(
            account or self.account, view, "model", request or TrainRequest(epochs=3)
        )

    def model(self, view: DatasetView, request: TrainRequest | None = None) -> Model:
        """Train a model and return its stored state."""
        model_id = self.train(view, request).model.model_id
        self.work()
        return self.container.models.get(self.account.account_id, model_id)

    def answer(
        self, model_id: str, text: str, count: int | None = None, kind: str = "text-intent"
    ) -> Ranked:
        """Predict with a model of the account or a prebuilt one, as a call does."""
        model = self.container.stores.served_models.find(self.account.account_id, model_id)
        options = PredictionOptions(count)
        [prediction] = self.container.predictions.predict(
            model, [text], dataset_type=kind, options=options, account=self.account
        )
        return tuple(prediction.items)

    def messages(self, *, delayed: bool = False) -> list[Message]:
        """Take everything that can be received now, paid trainings before free ones.

        Args:
            delayed: whether to take those too that were sent with a delay.
        """
        taken: list[Message] = []
        for short in WORKERS:
            queue = self._queue(short)
            for message in [m for m in queue._messages if delayed or not m.delayed]:
                queue._messages.remove(message)
                job = decode_job(message.body, *workers.HANDLED[WORKERS[short]])
                taken.append((short, job))
        return taken

    def deliver(
        self,
        message: Message,
        remaining_seconds: Callable[[], float] = lambda: 900.0,
        *,
        delivery: int = 1,
    ) -> None:
        """Pass a message to its worker; a failed message is received again after its lease."""
        _, job = message
        try:
            workers.run(self.container, job, remaining_seconds, delivery)
        except Exception:
            self.clock.advance(seconds=self.settings.lease_seconds + 1)
            raise

    def work(self) -> None:
        """Deliver messages until none is left, and expect all to succeed."""
        while waiting := self.messages():
            for message in waiting:
                self.deliver(message)

    def work_on(self, receives: int = 3) -> None:
        """Deliver messages until none is left; failed ones are delivered again a few times."""
        received: dict[str, int] = {}
        waiting = self.messages()
        while waiting:
            for message in waiting:
                try:
                    self.deliver(message)
                except StorageUnavailable:
                    received[str(message)] = received.get(str(message), 0) + 1
                    if received[str(message)] < receives:
                        self.send(message)
            waiting = self.messages()

    def send(self, message: Message) -> None:
        """Send a message to its queue again."""
        queue, job = message
        self.stores.queues.send(queue, job)

    def settle(self, rounds: int = 30) -> None:
        """Deliver messages, move the clock and sweep until no work is left."""
        for _ in range(rounds):
            self.work_on()
            self.clock.advance(minutes=16)
            if not self.container.sweeping.run():
                return
        raise AssertionError("The work never ends.")

    def _queue(self, short: str) -> Any:
        """Return a queue of the emulator itself, because reading it is not an AWS call."""
        queues = held("sqs", self.settings.region).queues
        return queues[queue_name(self.settings, short)]

    def rows(self, row: type[TableRow]) -> list[Any]:
        """Return every row of a table."""
        backend = held("dynamodb", self.settings.region)
        table = backend.tables[table_name(self.settings, row)]
        return [row.from_raw_data(item.to_json()["Attributes"]) for item in table.all_items()]

    def objects(self, prefix: str = "") -> list[str]:
        """Return every key of the bucket."""
        bucket = held("s3").buckets[self.settings.bucket]
        return sorted(key for key in bucket.keys if key.startswith(prefix))

    def traces(self, number: object) -> list[str]:
        """Return all rows and objects that contain an id, except records of deletions."""
        wanted = str(number)
        found = [key for key in self.objects() if wanted in key]
        for row in ROWS:
            if row is not DeletionRow:
                found += [
                    f"{row.__name__} {item.attribute_values}"
                    for item in self.rows(row)
                    if wanted in _words(item)
                ]
        return found


def _words(item: Any) -> set[str]:
    """Return the words in a row's values that look like keys."""
    words: set[str] = set()
    for value in item.attribute_values.values():
        if isinstance(value, str | int | float):
            words |= {str(value), *str(value).split("#")}
    return words


def a_model(view: DatasetView, **facts: Any) -> Model:
    """Return a trained model of a dataset, with the fields that feedback needs."""
    row = view.dataset
    known = {
        "account_id": row.account_id,
        "model_id": "M" * 26,
        "name": "model",
        "dataset_id": row.dataset_id,
        "family": row.family,
        "type": row.type,
        "language": row.language,
        "status": SUCCEEDED,
        "progress": 1,
        "created_at": row.created_at,
        "updated_at": row.created_at,
    }
    return Model(**{**known, **facts})


def a_source(rows: Iterable[tuple[str, str]]) -> UploadSource:
    """Make a csv file of texts and labels."""
    return UploadSource(content=a_csv(rows), file_name="intents.csv")


def an_archive(files: Mapping[str, bytes] | bytes, name: str = "pictures.zip") -> UploadSource:
    """Return an archive of files by path, or the given archive unchanged."""
    content = files if isinstance(files, bytes) else make_zip(files)
    return UploadSource(content=content, file_name=name)


def a_csv(rows: Iterable[tuple[str, str]]) -> bytes:
    """Write texts and labels as csv."""
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def some_rows(counts: Mapping[str, int], salt: str = "") -> list[tuple[str, str]]:
    """Return `count` different texts for each label, label by label."""
    return [
        (f"{label} please number {number} {salt}".strip(), label)
        for label, count in counts.items()
        for number in range(count)
    ]
