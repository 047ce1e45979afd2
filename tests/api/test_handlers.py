"""The queues' door: each handler hands its message on, with the time that is left."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest

import app as module
from chalicelib.workers import JobFailed


class Jobs:
    """Services that remember their jobs."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Any]] = []

    def container(self) -> SimpleNamespace:
        """Arrange them as the container does."""

        def named(name: str) -> SimpleNamespace:
            return SimpleNamespace(run=lambda *facts: self.done.append((name, facts)))

        names = ("ingest", "training_runs", "deletion_runs", "sweeping")
        return SimpleNamespace(**{name: named(name) for name in names})


@pytest.fixture
def jobs():
    """Remembering services behind the handlers."""
    found = Jobs()
    module.app.container = found.container()
    yield found.done
    module.app.container = None


def sqs(*bodies: str) -> dict[str, Any]:
    """Write the event of a queue."""
    return {"Records": [{"body": body, "receiptHandle": "h"} for body in bodies]}


CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 12_500)


@pytest.mark.parametrize(
    ("handler", "service"),
    [
        ("ingest_upload", "ingest"),
        ("train_paid", "training_runs"),
        ("train_free", "training_runs"),
        ("delete_object", "deletion_runs"),
    ],
)
def test_messages_are_handed_on(jobs, handler, service):
    """The message's JSON reaches the service of its queue."""
    job = {"job": "ingest", "model_id": "A" * 26}

    getattr(module, handler)(sqs(json.dumps(job)), CONTEXT)

    ((name, facts),) = jobs
    assert (name, facts[0]) == (service, job)


def test_trainings_know_the_time_that_is_left(jobs):
    """The function's remaining time is given in seconds."""
    module.train_paid(sqs("{}"), CONTEXT)

    assert jobs[0][1][1]() == 12.5


def test_sweep_runs_on_schedule(jobs):
    """The schedule calls the sweep."""
    event = {
        **dict.fromkeys(("version", "account", "region", "detail", "source", "time", "id"), ""),
        "detail-type": "Scheduled Event",
        "resources": [],
    }

    module.sweep(event, CONTEXT)

    assert [name for name, _ in jobs] == ["sweeping"]


def test_job_has_its_line(jobs, lines):
    """The line of a job names message, run, function and object, and how long it had waited."""
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
def test_message_that_cannot_be_read_fails_without_its_text(jobs, lines, body):
    """It goes back to the queue; neither our line nor the error for the host repeats it."""
    module.app.container.training_runs.run = lambda job, left: job["model_id"]

    with pytest.raises(JobFailed) as failure:
        module.train_free(sqs(body), CONTEXT)

    (line,) = lines()
    assert (line["level"], line["outcome"]) == ("ERROR", "failed")
    assert line["exception"]
    assert "secret" not in str(line)
    assert "secret" not in str(failure.value)
    assert failure.value.__suppress_context__


def test_failed_sweep_is_logged(jobs, lines):
    """A sweep that fails says where, and the next one goes on."""

    def broken():
        raise RuntimeError("secret")

    module.app.container.sweeping.run = broken
    event = {
        **dict.fromkeys(("version", "account", "region", "detail", "source", "time", "id"), "")
    }

    with pytest.raises(JobFailed):
        module.sweep({**event, "detail-type": "Scheduled Event", "resources": []}, CONTEXT)

    (line,) = lines()
    assert (line["event"], line["exception"]) == ("sweep_failed", "RuntimeError")
    assert "secret" not in str(line)
