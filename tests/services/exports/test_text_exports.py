"""Text exports: round trips, life cycle, and failures."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, DatasetView
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.domain.jobs.export import MAX_KEPT, Export
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    ExportNotFound,
    InvalidParameter,
    LeaseLost,
    StorageUnavailable,
    TooManyOpen,
)
from chalicelib.stores.aws.tables import ExportRow
from tests.builders import World, a_model, some_rows

ROWS = [*some_rows({"b,ook": 130, "cancel": 7}), ('say "hi"\r\nthere', "cancel"), ("=1+1", "x")]


@pytest.fixture
def view(world: World) -> DatasetView:
    """Texts with commas, quotes and line breaks, and one feedback text."""

    def upload() -> DatasetView:
        view = world.dataset(ROWS)
        world.container.feedback.add_text(world.account, a_model(view), "late", "cancel")
        return world.get(view)

    return world.once("exported texts", upload)


def _export(world: World, view: DatasetView, kind: str = "csv", source: str = "upload") -> Export:
    """Create an export and write it."""
    made = world.container.exports.create(world.account, view, kind, source)
    world.work()
    return world.container.exports.get(view, made.export_id)


def _content(world: World, export: Export) -> bytes:
    """Read the file of an export."""
    [key] = world.objects(f"exports/{export.dataset_id}/{export.export_id}-")
    content = world.stores.artifacts.get(key)
    assert content is not None
    return content


def _examples(world: World, view: DatasetView) -> list[tuple[str, str]]:
    """List the texts and labels of a dataset's uploads."""
    names = {label.label_id: label.name for label in view.labels}
    row = view.dataset
    found = world.stores.examples.read_all(row.dataset_id, "upload", row.counts)
    return [(example.name, names[example.label_id]) for example in found]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_export_uploads_to_the_same_examples(world: World, view: DatasetView, kind: str) -> None:
    """Exporting, uploading and exporting again gives the same examples, labels and bytes."""
    export = _export(world, view, kind)
    content = _content(world, export)
    sent = UploadSource(content=content, file_name=export.file_name)
    fields = UploadFields("again", "text-intent")
    again = world.container.uploads.create(world.account, LANGUAGE, sent, fields)
    world.work()
    again = world.get(again)

    assert _examples(world, again) == _examples(world, view) == ROWS
    assert again.dataset.duplicates == 0
    assert _content(world, _export(world, again, kind)) == content
    facts = (export.status, export.examples, export.size_bytes, export.message)
    assert facts == ("SUCCEEDED", len(ROWS), len(content), "")


def test_sources_are_exported_as_lists_have_them(world: World, view: DatasetView) -> None:
    """An export has feedback only, or uploads followed by feedback."""
    feedback = _content(world, _export(world, view, "jsonl", "feedback"))
    everything = _content(world, _export(world, view, "csv", "all")).decode()

    assert json.loads(feedback) == {"text": "late", "label": "cancel"}
    rows = list(csv.reader(io.StringIO(everything, newline="")))
    assert [tuple(row) for row in rows] == [("text", "label"), *ROWS, ("late", "cancel")]


def test_what_cannot_be_exported_is_refused(world: World, view: DatasetView) -> None:
    """Formats of other types, empty sources and datasets being deleted are refused."""
    create = world.container.exports.create
    with pytest.raises(InvalidParameter, match="'coco' is not one of csv, jsonl"):
        create(world.account, view, "coco", "upload")
    empty = world.dataset(some_rows({"a": 1}))
    with pytest.raises(BadRequest, match="no examples of source feedback"):
        create(world.account, empty, "csv", "feedback")
    world.container.deletions.delete_dataset(world.account, LANGUAGE, empty.dataset.dataset_id)
    with pytest.raises(DatasetBeingDeleted):
        create(world.account, world.get(empty), "csv", "upload")
    assert world.rows(ExportRow) == []


def test_exports_of_an_account_are_limited(world: World, view: DatasetView) -> None:
    """The limit of exports applies until the first one expires."""
    create = world.container.exports.create
    for _ in range(MAX_KEPT):
        create(world.account, view, "csv", "upload")
        world.clock.advance(seconds=60)

    with pytest.raises(TooManyOpen, match="10 exports") as refused:
        create(world.account, view, "csv", "upload")
    world.clock.advance(seconds=refused.value.retry_after_seconds)
    create(world.account, view, "csv", "upload")


def test_an_export_expires_after_a_day(world: World, view: DatasetView) -> None:
    """After a day an export cannot be downloaded, and the sweep deletes row and file."""
    export = _export(world, view)
    find = world.container.exports.get
    world.clock.advance(hours=23, minutes=59)
    assert find(view, export.export_id).status == "SUCCEEDED"
    assert world.container.sweeping.run() == 0
    world.clock.advance(minutes=2)

    with pytest.raises(ExportNotFound):
        find(view, export.export_id)
    world.container.sweeping.run()
    assert (world.rows(ExportRow), world.objects("exports/")) == ([], [])


def test_exports_are_deleted_with_their_dataset(world: World, view: DatasetView) -> None:
    """After the deletion of a dataset its exports are a 404, and later no file remains."""
    done = _export(world, view)
    waiting = world.container.exports.create(world.account, view, "csv", "upload")
    messages = world.messages()
    assert world.container.exports.url(view, done) is not None
    deletion = world.container.deletions.delete_dataset(
        world.account, LANGUAGE, view.dataset.dataset_id
    )

    for export in (done, waiting):
        with pytest.raises(ExportNotFound):
            world.container.exports.get(world.get(view), export.export_id)
    for message in messages:
        world.deliver(message)
    world.work()
    assert world.objects("exports/") == []
    # A URL was handed out, and may live for half an hour.
    status = world.container.deletions.get(world.account.account_id, deletion.deletion_id).status
    assert status == "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL"


def test_a_dataset_deleted_meanwhile_leaves_no_file(
    world: World, view: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file written during the deletion of its dataset is deleted too."""
    world.container.exports.create(world.account, view, "csv", "upload")
    put_file = world.stores.exports.put_file

    def put_late(*given: Any) -> None:
        world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
        [message] = [m for m in world.messages() if m[0] == "delete"]
        world.deliver(message)
        put_file(*given)

    [job] = world.messages()
    monkeypatch.setattr(world.stores.exports, "put_file", put_late)
    world.deliver(job)

    assert world.objects("exports/") == []


def test_a_worker_that_died_is_replaced(world: World, view: DatasetView) -> None:
    """After the lease the sweep resends the job; writes of the former worker are refused."""
    made = world.container.exports.create(world.account, view, "csv", "upload")
    [job] = world.messages()
    dead = world.stores.exports.acquire(made.account_id, made.export_id)
    assert dead is not None
    world.deliver(job)
    assert world.container.exports.get(view, made.export_id).status == "RUNNING"
    world.clock.advance(minutes=16)
    world.container.sweeping.run()
    world.work()

    assert world.container.exports.get(view, made.export_id).status == "SUCCEEDED"
    for late in (
        lambda: world.stores.exports.fail(dead, ""),
        lambda: world.stores.exports.renew(dead),
    ):
        with pytest.raises(LeaseLost):
            late()


def test_a_lost_message_is_sent_again(world: World, view: DatasetView) -> None:
    """The sweep sends the job of an export whose message was lost."""
    made = world.container.exports.create(world.account, view, "csv", "upload")
    world.messages()
    world.clock.advance(minutes=16)
    world.container.sweeping.run()
    world.work()

    assert world.container.exports.get(view, made.export_id).status == "SUCCEEDED"


def test_an_interrupted_export_is_retried_and_then_fails(
    world: World, view: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three attempts the export is FAILED with the cause, without a file."""

    def broken(*_: Any) -> None:
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.exports, "put_file", broken)
    made = world.container.exports.create(world.account, view, "csv", "upload")
    [job] = world.messages()
    for _ in range(3):
        with pytest.raises(StorageUnavailable):
            world.deliver(job)

    failed = world.container.exports.get(view, made.export_id)
    assert failed.status == "FAILED"
    assert "interrupted 3 times. The last time, the storage did not answer" in failed.message
    assert world.container.exports.url(view, failed) is None
    world.deliver(job)
    assert world.objects("exports/") == []


def test_an_export_that_runs_out_of_time_fails(world: World, view: DatasetView) -> None:
    """An export that does not finish in one run is FAILED with a remedy and not repeated."""
    made = world.container.exports.create(world.account, view, "csv", "all")
    [job] = world.messages()
    world.deliver(job, lambda: 30.0)

    failed = world.container.exports.get(view, made.export_id)
    assert (failed.status, "Export uploads and feedback apart" in failed.message) == (
        "FAILED",
        True,
    )


def test_exports_of_others_are_not_found(world: World, view: DatasetView) -> None:
    """Exports of other datasets or accounts and unknown ids get the same answer."""
    export = _export(world, view)
    other = world.dataset(some_rows({"a": 1}))
    foreign = world.dataset(some_rows({"a": 1}), account=world.new_account("o@example.com"))
    disguised = replace(foreign, dataset=replace(foreign.dataset, dataset_id=export.dataset_id))

    for where, export_id in (
        (other, export.export_id),
        (disguised, export.export_id),
        (view, "A" * 26),
        (view, "x"),
    ):
        with pytest.raises(ExportNotFound, match="Unable to find export"):
            world.container.exports.get(where, export_id)
