"""Accepting files: fields, limits, states, and leftovers of failures."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Event, Thread
from typing import BinaryIO

import pytest

from chalicelib.domain.common.limits import MAX_DATASET_BYTES, MAX_TEXT_FILE_BYTES
from chalicelib.domain.datasets import growth
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.domain.jobs.messages import IngestJob
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotYetAvailable,
    InvalidParameter,
    InvalidUpload,
    MissingParameter,
    StorageUnavailable,
    TooLarge,
    TooManyOpen,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import DatasetRow
from chalicelib.stores.datasets.leases import OwnedDataset
from tests.builders import World, a_model, a_source, some_rows

ROWS = some_rows({"book": 5, "cancel": 5})
FIELDS = UploadFields("intents", "text-intent")


def test_new_dataset_shows_nothing_until_it_is_read(world: World) -> None:
    """After POST a dataset is UPLOADING, without labels or totals, and not available."""
    view = world.upload(ROWS)

    assert view.labels == ()
    assert (view.dataset.status_message, view.dataset.available) == ("UPLOADING", False)
    assert view == world.get(view)
    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert (receipt.status, receipt.seen) == ("UPLOADING", 0)


def test_synchronous_upload_is_finished_with_the_call(world: World) -> None:
    """The answer of a synchronous upload shows the examples."""
    view = world.container.uploads.create_sync(world.account, LANGUAGE, a_source(ROWS), FIELDS, 25)

    assert [(label.name, label.examples) for label in view.labels] == [("book", 5), ("cancel", 5)]
    assert view.dataset.available


def test_synchronous_upload_of_a_bad_file(world: World) -> None:
    """An unusable file gives a FAILED dataset with the cause."""
    view = world.container.uploads.create_sync(
        world.account, LANGUAGE, a_source([("only one cell",)]), FIELDS, 25
    )

    assert view.dataset.status_message.startswith("FAILED: None of the 1 rows can be used.")
    assert not view.dataset.available


@pytest.mark.parametrize(
    ("file_name", "name"),
    [
        ("orders.v2.csv", "orders.v2"),
        ("n" * 120 + ".csv", "n" * 100),
        ("", "dataset"),
        (".csv", ".csv"),
        ("a\tb.csv", "a b"),
    ],
)
def test_name_from_the_file(world: World, file_name: str, name: str) -> None:
    """Without a name the dataset has that of its file, without extension, cut to 100 characters."""
    source = UploadSource(content=b"a,b\n", file_name=file_name)

    view = world.container.uploads.create(
        world.account, LANGUAGE, source, UploadFields(type="text-intent")
    )

    assert view.dataset.name == name


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        (UploadFields("n", None), MissingParameter),
        (UploadFields("n", "image"), InvalidParameter),
        (UploadFields("n", "text-intent", "tlh"), InvalidParameter),
        (UploadFields("n" * 181, "text-intent"), InvalidParameter),
        (UploadFields("a\x07b", "text-intent"), InvalidParameter),
    ],
)
def test_bad_fields_leave_nothing(
    world: World, fields: UploadFields, error: type[BadRequest]
) -> None:
    """A refused call writes no row and no object."""
    with pytest.raises(error):
        world.container.uploads.create(world.account, LANGUAGE, a_source(ROWS), fields)

    assert world.rows(DatasetRow) == []
    assert world.objects() == []


@pytest.mark.parametrize(
    ("size", "error"), [(0, InvalidUpload), (MAX_TEXT_FILE_BYTES + 1, TooLarge)]
)
def test_file_size_limits(world: World, size: int, error: type[Exception]) -> None:
    """An empty file and one over 25 MB are refused before anything is stored."""
    with pytest.raises(error):
        world.container.uploads.create(
            world.account, LANGUAGE, UploadSource(content=b"x" * size), FIELDS
        )

    assert world.objects() == []


def test_twenty_first_open_upload_is_refused(world: World) -> None:
    """At most 20 uploads of an account are in progress; those of others do not count."""
    other = world.new_account("other@example.com")
    for number in range(20):
        world.upload([(f"text {number}", "a")])

    with pytest.raises(TooManyOpen, match="20 uploads are in progress, the limit is 20"):
        world.upload(ROWS)

    world.upload(ROWS, account=other)
    world.work()
    world.upload(ROWS)


def test_stored_bytes_limit(world: World) -> None:
    """A file that would exceed the account's storage is refused with the numbers."""
    world = world.another(replace(world.settings, max_stored_bytes=400))
    world.dataset(some_rows({"a": 5, "b": 5}))
    stored = world.rows(DatasetRow)[0].size_bytes

    with pytest.raises(TooManyOpen, match=f"stores {stored} bytes and this file has"):
        world.upload(some_rows({"c": 40}))


def test_put_adds_to_old_and_new_labels(world: World) -> None:
    """A PUT keeps ids and order of the old labels; duplicates across files are counted."""
    view = world.dataset([*ROWS, ROWS[0]])
    old = [label.label_id for label in view.labels]
    world.clock.advance(seconds=1)
    more = [*some_rows({"refund": 2, "book": 1}, "more"), ROWS[1], ("BOOK please number 0", "book")]

    started = world.container.uploads.add(world.account, view, a_source(more))

    assert (started.dataset.status_message, started.dataset.available) == ("UPLOADING", False)
    assert started.labels == view.labels
    world.work()
    view = world.get(view)
    assert [(label.name, label.examples) for label in view.labels] == [
        ("book", 7),
        ("cancel", 5),
        ("refund", 2),
    ]
    assert old == [label.label_id for label in view.labels[:2]]
    assert view.dataset.duplicates == 2
    newest, first = world.container.receipts.list(view, 0, 25).items
    assert (newest.seen, newest.kept, newest.duplicates, newest.rejected) == (5, 4, 1, 0)
    assert (first.seen, first.kept, first.duplicates, first.rejected) == (11, 10, 1, 0)


def test_receipt_of_a_failed_upload_counts_what_was_read(world: World) -> None:
    """The receipt of a file without a usable row counts all rows and lists 100 reasons."""
    view = world.container.uploads.create_sync(
        world.account, LANGUAGE, a_source([("only one cell",)] * 150), FIELDS, 25
    )

    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert (receipt.status, receipt.seen, receipt.kept, receipt.rejected) == ("FAILED", 150, 0, 150)
    assert [item.row for item in receipt.rejections] == list(range(1, 101))
    assert receipt.rejections[0].reason


def test_receipt_of_a_failed_upload_adds_the_cause(world: World) -> None:
    """The receipt joins the message and its detail, here the columns, as one sentence."""
    rows = [("a", "b", "c"), ("d", "e", "f")]
    view = world.container.uploads.create_sync(world.account, LANGUAGE, a_source(rows), FIELDS, 25)

    [receipt] = world.container.receipts.list(view, 0, 25).items
    message = view.dataset.message
    assert receipt.message.startswith(f"{message.removesuffix('.')}: 1 'a': 1 values")


def test_receipt_of_a_failed_put_adds_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The valid rows of a failed file count as rejected, since nothing was added."""
    monkeypatch.setattr(growth, "MAX_LABELS", 2)
    view = world.dataset(ROWS)
    world.clock.advance(seconds=1)
    world.container.uploads.add(
        world.account, view, a_source([*ROWS[:1], ("x", "new"), ("only one cell",)])
    )
    world.work()

    receipt = world.container.receipts.list(world.get(view), 0, 25).items[0]
    assert receipt.message.startswith("The dataset would have 3 labels")
    assert (receipt.seen, receipt.kept, receipt.duplicates, receipt.rejected) == (3, 0, 1, 2)
    assert [item.row for item in receipt.rejections] == [3]


def test_receipt_of_a_broken_file_counts_the_rows_before_the_fault(world: World) -> None:
    """The receipt of a file with broken JSON counts the rows before the fault."""
    whole = b'{"text": "a", "label": "x"}\n{"text": "", "label": "x"}\n'
    source = UploadSource(content=whole + b'{"text": "b", la}', file_name="a.json")
    view = world.container.uploads.create_sync(world.account, LANGUAGE, source, FIELDS, 25)

    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert (receipt.status, receipt.seen, receipt.rejected) == ("FAILED", 2, 2)
    assert [item.row for item in receipt.rejections] == [2]


def test_put_that_fails_keeps_the_old_data(world: World) -> None:
    """After a failed PUT the dataset is FAILED, and its data stays usable."""
    view = world.dataset(ROWS)
    world.container.uploads.add(world.account, view, a_source([("one cell",)]))
    world.work()

    view = world.get(view)
    assert view.dataset.status_message.startswith("FAILED: ")
    assert view.dataset.available
    page = world.container.examples.list_dataset(world.account, view, "upload", 0, 100)
    assert [text for text, _ in ROWS] == [item.location for item in page.items]
    world.container.uploads.add(world.account, view, a_source([("another", "book")]))
    world.work()
    assert world.get(view).dataset.status_message == "SUCCEEDED"
    assert world.get(view).dataset.total == len(ROWS) + 1


def test_put_in_states_that_take_no_file(world: World) -> None:
    """In each state that takes no file PUT has its own error and writes nothing."""
    uploads, source = world.container.uploads, a_source(ROWS)
    uploading = world.upload(ROWS)
    with pytest.raises(DatasetNotYetAvailable, match="try again once the dataset is ready"):
        uploads.add(world.account, uploading, source)
    world.work()
    made = world.container.datasets.create(
        world.account, LANGUAGE, NewDataset("made", "text-intent", labels="a,b")
    )
    with pytest.raises(BadRequest, match="was not created from a file"):
        uploads.add(world.account, made, source)
    failed = world.dataset([("one cell",)])
    with pytest.raises(BadRequest, match="Delete the dataset"):
        uploads.add(world.account, failed, source)
    deleted = world.get(uploading)
    world.container.deletions.delete_dataset(world.account, LANGUAGE, deleted.dataset.dataset_id)
    with pytest.raises(DatasetBeingDeleted):
        uploads.add(world.account, world.get(deleted), source)
    full = replace(deleted, dataset=replace(deleted.dataset, bytes=MAX_DATASET_BYTES))
    with pytest.raises(TooLarge, match="2 GB"):
        uploads.add(world.account, full, source)


def test_put_that_lost_the_race(world: World) -> None:
    """Of two simultaneous PUTs one is accepted, and the other leaves no file."""
    view = world.dataset(ROWS)
    world.container.uploads.add(world.account, view, a_source([("first", "book")]))

    with pytest.raises(DatasetNotYetAvailable):
        world.container.uploads.add(world.account, view, a_source([("second", "book")]))

    assert len([key for key in world.objects() if "/raw/" in key]) == 2
    world.work()
    assert world.get(view).dataset.total == len(ROWS) + 1


def test_upload_whose_row_could_not_be_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that fails with a 503 leaves no row and no file once the sweep has run."""

    def fail(*_: object) -> None:
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.datasets, "finish", fail)
    with pytest.raises(StorageUnavailable):
        world.upload(ROWS)
    world.settle()

    assert world.rows(DatasetRow) == []
    assert world.objects() == []


def test_label_is_one_however_its_accent_is_typed(world: World) -> None:
    """A label is found in composed and decomposed spelling; texts stay as sent."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    view = world.dataset(
        [(f"{decomposed} {n}", decomposed if n % 2 else composed) for n in range(6)]
    )
    world.container.uploads.add(world.account, view, a_source([("one more", decomposed)]))
    world.work()
    view = world.get(view)
    example = world.container.examples.add_text(world.account, view, "again", None, decomposed)
    model = a_model(view)
    said = world.container.feedback.add_text(world.account, model, "so it is", decomposed)

    [label] = world.get(view).labels
    assert (label.name, label.examples) == (composed, 9)
    assert example.label.label_id == said.label.label_id == label.label_id
    page = world.container.examples.list_dataset(world.account, world.get(view), "all", 0, 9)
    assert page.items[0].location == f"{decomposed} 0"


def test_label_of_before_is_found_in_both_spellings(world: World) -> None:
    """A label stored decomposed keeps id and name, and new rows join it."""
    view = world.dataset([("first", "cafe")])
    [label] = view.labels
    world.stores.labels.put("1#language", view.dataset.dataset_id, {label.label_id: "cafe\u0301"})
    other = world.another()
    other.container.uploads.add(world.account, other.get(view), a_source([("more", "caf\u00e9")]))
    other.work()

    [kept] = other.get(view).labels
    assert (kept.label_id, kept.name, kept.examples) == (label.label_id, "cafe\u0301", 2)


def test_synchronous_upload_that_a_worker_owns_already(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a worker already reads a synchronous upload, the call waits for it."""
    world.one_call_at_a_time()
    world.upload(ROWS)
    [message] = world.messages()
    worker, is_taken = Thread(target=world.deliver, args=(message,)), Event()
    own, fetch = world.stores.ingest_queue.acquire_now, world.stores.artifacts.get_file

    def fetch_slowly(key: str, file: BinaryIO) -> bool:
        """Delay the call."""
        is_taken.set()
        time.sleep(0.5)
        return fetch(key, file)

    def own_too_late(job: IngestJob) -> OwnedDataset | None:
        """Let the worker acquire the upload first."""
        if not worker.ident:
            worker.start()
            is_taken.wait(60)
        return own(job)

    monkeypatch.setattr(world.stores.artifacts, "get_file", fetch_slowly)
    monkeypatch.setattr(world.stores.ingest_queue, "acquire_now", own_too_late)
    paid = world.new_account("paid@example.com", "GOLD")
    view = world.container.uploads.create_sync(paid, LANGUAGE, a_source(ROWS), FIELDS, 25)
    worker.join(60)

    assert (view.dataset.status_message, view.dataset.total) == ("SUCCEEDED", 10)
    assert [queue for queue, _ in world.messages() if queue == "ingest"] == ["ingest"]
