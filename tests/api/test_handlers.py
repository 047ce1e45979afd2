"""Queue handlers: each passes its message, and the remaining time, to its service."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import app as module
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.domain.jobs.messages import encode_job
from chalicelib.services.batches.requests import BatchOptions
from chalicelib.services.training.runs import TrainingRunService
from chalicelib.workers import JobFailed
from tests.api.conftest import asked
from tests.api.prepared import DATASET_ID, MODEL_ID, NEXT_ID, Prepared, raising
from tests.builders import some_rows


@pytest.fixture
def hosted(world: Prepared) -> Iterator[Prepared]:
    """The services behind the handlers."""
    module.app.container = world.container
    yield world
    module.app.container = None


def sqs(*bodies: str) -> dict[str, Any]:
    """Build the event of a queue."""
    return {"Records": [{"body": body, "receiptHandle": "h"} for body in bodies]}


CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 612_500)


SWEEP = {
    **dict.fromkeys(("version", "account", "region", "detail", "source", "time", "id"), ""),
    "detail-type": "Scheduled Event",
    "resources": [],
}


def upload(world: Prepared) -> None:
    """Send texts."""
    world.upload(some_rows({"a": 1}), fields=UploadFields("new", "text-intent"))


def retrain(world: Prepared) -> None:
    """Start a training."""
    model = world.container.models.get(world.account.account_id, MODEL_ID)
    world.container.training.retrain(world.account, model, model.request)


def delete(world: Prepared) -> None:
    """Delete a dataset."""
    world.container.deletions.delete_dataset(world.account, "language", DATASET_ID)


def export(world: Prepared) -> None:
    """Create an export of a dataset."""
    view = world.container.datasets.get(world.account.account_id, "language", DATASET_ID)
    world.container.exports.create(world.account, view, "csv", "upload")


def examples(world: Prepared, dataset_id: int) -> int:
    """Count the examples of a dataset."""
    return world.container.datasets.get(
        world.account.account_id, "language", dataset_id
    ).dataset.total


def version(world: Prepared) -> str:
    """Return the version of the model that predicts."""
    return world.container.stores.served_models.find(world.account.account_id, MODEL_ID).version


@pytest.mark.parametrize(
    ("handler", "begin", "is_done"),
    [
        ("ingest_upload", upload, lambda world: examples(world, NEXT_ID) == 1),
        ("train_paid", retrain, lambda world: version(world) != "r1-1"),
        ("train_free", retrain, lambda world: version(world) != "r1-1"),
        ("export_dataset", export, lambda world: bool(world.objects("exports/"))),
        ("delete_object", delete, lambda world: not world.objects(f"datasets/{DATASET_ID}/")),
    ],
)
def test_messages_are_handed_on(hosted, handler, begin, is_done):
    """The message's JSON reaches the service of its queue."""
    begin(hosted)
    [job] = hosted.sent()
    assert not is_done(hosted)

    getattr(module, handler)(sqs(encode_job(job)), CONTEXT)

    assert is_done(hosted)


def test_parts_of_batches_are_handed_on(hosted):
    """The handler that computes embeddings answers the lines of a batch."""
    account = hosted.account
    model = hosted.container.stores.served_models.find(account.account_id, MODEL_ID)
    sent = UploadSource(content=b"text\na\n", file_name="t.csv")
    hosted.container.batches.create(account, "language", model, sent, BatchOptions())
    [part] = hosted.sent()

    module.embed_texts(sqs(encode_job(part)), CONTEXT)

    assert [one.status for one in hosted.stores.batches.of_account(account.account_id)] == [
        "SUCCEEDED"
    ]


def test_parts_of_uploads_are_handed_on(hosted):
    """The embedding handler computes the vectors of an upload."""
    upload(hosted)
    [job] = hosted.sent()
    module.ingest_upload(sqs(encode_job(job)), CONTEXT)
    [part] = hosted.sent()

    module.embed_texts(sqs(encode_job(part)), CONTEXT)

    assert hosted.objects(f"datasets/{NEXT_ID}/embeddings/")


def test_trainings_know_the_time_that_is_left(hosted, monkeypatch):
    """The training service gets the function's remaining time in seconds."""
    runs = asked(monkeypatch, TrainingRunService, "run")
    retrain(hosted)
    [job] = hosted.sent()

    module.train_paid(sqs(encode_job(job)), CONTEXT)

    [(_, sent, seconds_left, _)] = runs
    assert (sent, seconds_left()) == (job, 612.5)


def test_sweep_runs_on_schedule(hosted):
    """The scheduled event runs the sweep."""
    upload(hosted)
    [lost] = hosted.sent()
    hosted.clock.advance(minutes=20)

    module.sweep(SWEEP, CONTEXT)

    assert hosted.sent() == [lost]


def test_job_has_its_line(hosted, lines):
    """A job's log line has its message, run, function, object and waiting time."""
    sent = str(int((time.time() - 30) * 1000))
    record = {
        "body": json.dumps({"job": "train", "account_id": "2", "model_id": "M", "run": 1}),
        "receiptHandle": "h",
        "messageId": "m-1",
        "attributes": {"SentTimestamp": sent, "ApproximateReceiveCount": "2"},
    }
    context = SimpleNamespace(aws_request_id="i-1", function_name="presage-train-free")

    module.train_free({"Records": [record]}, context)

    (line,) = lines()
    assert (line["event"], line["outcome"], line["delivery"]) == ("job_run", "done", 2)
    assert (line["message_id"], line["invocation_id"]) == ("m-1", "i-1")
    assert (line["account"], line["model"], line["job"]) == ("2", "M", "train")
    assert 30 <= line["queue_seconds"] < 60


@pytest.mark.parametrize("body", ["secret", "[1]", '{"job": "secret"'])
def test_message_that_cannot_be_read_fails_without_its_text(hosted, lines, body):
    """A malformed message returns to the queue; no log line or error repeats its text."""
    with pytest.raises(JobFailed) as failure:
        module.train_free(sqs(body), CONTEXT)

    (line,) = lines()
    assert (line["level"], line["outcome"]) == ("ERROR", "failed")
    assert line["exception"]
    assert "secret" not in str(line)
    assert "secret" not in str(failure.value)
    assert failure.value.__suppress_context__


def test_failed_sweep_is_logged(hosted, lines, monkeypatch):
    """A failed sweep logs where it failed, and the next sweep runs."""
    with monkeypatch.context() as patch:
        patch.setattr(hosted.stores.datasets, "claim_lost", raising(RuntimeError("secret")))
        with pytest.raises(JobFailed):
            module.sweep(SWEEP, CONTEXT)

    (line,) = lines()
    assert (line["event"], line["exception"]) == ("sweep_failed", "RuntimeError")
    assert "secret" not in str(line)
    module.sweep(SWEEP, CONTEXT)
