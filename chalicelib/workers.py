"""The queues' door: hands each message to its service.

What a service raises is logged and gives the message back to the queue; services end their job for
good themselves, when it was refused or is out of attempts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import unquote_plus

from chalicelib import log, metrics
from chalicelib.container import Container

Handler = Callable[[Container, dict[str, Any], Callable[[], float]], None]
IDS = {
    "account_id": "account",
    "dataset_id": "dataset",
    "model_id": "model",
    "deletion_id": "deletion",
    "export_id": "export",
    "batch_id": "batch",
    "hook_id": "webhook",
    "job": "job",
}
"""Members of a job that every line of its handler has, and what they are called there."""


SWEEP_REST_SECONDS = 30.0
"""What a sweep leaves of its time; the next one has begun by then."""
COUNTING_SECONDS = 3.0
"""Pause between two counts of what waits: places that were counted hold for 5 seconds."""


class JobFailed(Exception):
    """A job did not end well; names the kind of the error only, because its host logs this text."""


def handle(
    handler: Handler, container: Container, message: Mapping[str, Any], context: Any
) -> None:
    """Do the job of one message, and write its line.

    Args:
        handler: one of the functions below.
        container: the services.
        message: as the queue's event has it.
        context: the function's.

    Raises:
        JobFailed: whatever ended the job; the queue tries again.
    """
    tracked = _tracked(context, message_id=message.get("messageId", ""))
    function = metrics.short_function(_function(context))
    with tracked, _written(message.get("attributes", {}), function):
        body = json.loads(message["body"])
        delivery = int(message.get("attributes", {}).get("ApproximateReceiveCount", 1))
        # Set or gone: a message that is sent again is a new one.
        body.pop("delivery", None)
        if delivery > 1:
            body["delivery"] = delivery
        log.add(**{name: body[member] for member, name in IDS.items() if member in body})
        handler(container, body, partial(_remaining, context))


@contextmanager
def _tracked(context: Any, **ids: object) -> Iterator[None]:
    """Put the ids of a run on every line of it."""
    ids["invocation_id"] = getattr(context, "aws_request_id", "")
    with (
        log.bound(**{name: value for name, value in ids.items() if value}),
        metrics.cold_start(_function(context)),
    ):
        yield


@contextmanager
def _written(attributes: Mapping[str, Any], function: str) -> Iterator[None]:
    """Write the one line of a job: how it ended, how long it took and how long it had waited."""
    waited = max(0.0, time.time() - float(attributes.get("SentTimestamp", "inf")) / 1000)
    delivery = int(attributes.get("ApproximateReceiveCount", 1))
    began, failure = time.perf_counter(), None
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the outermost edge: the host would log its text
        failure = error
        raise JobFailed(type(error).__name__) from None
    finally:
        log.record(
            "job_run",
            failure,
            function=function,
            outcome="failed" if failure else "done",
            milliseconds=round(1000 * (time.perf_counter() - began), 1),
            queue_seconds=round(waited, 3),
            delivery=delivery,
            **metrics.embedded({metrics.QUEUE_SECONDS: waited}, Function=function),
        )


def _remaining(context: Any) -> float:
    """Return the time until the function is stopped, in seconds."""
    return float(context.get_remaining_time_in_millis()) / 1000


def _function(context: Any) -> str:
    """Return the full name of the function that runs."""
    return str(getattr(context, "function_name", ""))


def run_ingest(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Read an upload, or do a part of one, of a batch or of a training."""
    delivery = int(job.get("delivery", 1))
    if job.get("job") in ("embed", "features"):
        container.upload_parts.run(job, remaining_seconds, delivery)
    elif job.get("job") == "batch":
        container.batch_runs.run(job, delivery)
    elif job.get("job") == "train_part":
        container.training_parts.run(job, delivery)
    elif job.get("job") == "ingest":
        container.ingest.run(job)
    else:
        log.warning("unknown_job", job=job.get("job"))


def run_train(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Run a training."""
    container.training_runs.run(job, remaining_seconds)


def run_delete(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Run a deletion, settle a counted call whose outcome is not known, or tell a webhook."""
    if job.get("job") == "settle":
        container.allowances.settle(job)
    elif job.get("job") == "deliver":
        container.deliveries.run(job)
    else:
        container.deletion_runs.run(job)


def run_export(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Write an export."""
    container.export_runs.run(job, remaining_seconds)


def run_receive(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Note the files that a notification of the bucket names."""
    # The first notification after a set-up is a test without records.
    for record in job.get("Records", ()):
        found = record["s3"]["object"]
        container.upload_forms.receive(unquote_plus(found["key"]), str(found.get("eTag", "")))


def run_sweep(container: Container, context: Any) -> None:
    """Send again what nobody works on; while much waits, count places until the next sweep does.

    Raises:
        JobFailed: the next sweep goes on.
    """
    with _tracked(context):
        try:
            container.sweeping.run()
            while container.sweeping.count_places() and _remaining(context) > SWEEP_REST_SECONDS:
                time.sleep(COUNTING_SECONDS)
        except Exception as error:  # noqa: BLE001 - the outermost edge, as above
            log.error("sweep_failed", error)
            raise JobFailed(type(error).__name__) from None
