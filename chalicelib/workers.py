"""Passes each queue message to the service that runs its job.

If a service raises an error, the error is logged, and the queue delivers the message again. The
services themselves end jobs that were refused or have no attempts left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import unquote_plus

from msgspec import Struct

from chalicelib import log, metrics, tracing
from chalicelib.container import Container
from chalicelib.domain.jobs.messages import (
    BatchJob,
    BucketNotice,
    DeleteJob,
    DeliverJob,
    EmbedJob,
    ExportJob,
    FeaturesJob,
    IngestJob,
    LearnJob,
    SettleJob,
    TrainJob,
    TrainPartJob,
    UnknownJob,
    decode_job,
    kind_of,
)

# Members of a job that every log line of its handler contains, with their names there.
IDS = {
    "account_id": "account",
    "dataset_id": "dataset",
    "model_id": "model",
    "deletion_id": "deletion",
    "export_id": "export",
    "batch_id": "batch",
    "learning_id": "template",
    "hook_id": "webhook",
}

SWEEP_REST_SECONDS = 30.0
"""Seconds that a sweep leaves unused, so that it ends before the function is stopped."""
COUNTING_SECONDS = 3.0
"""Seconds between two counts of waiting trainings. A count is valid for 5 seconds."""


class JobFailed(Exception):
    """A job failed. The text is only the kind of the error, because the host logs this text."""


def handle(handler: str, container: Container, message: Mapping[str, Any], context: Any) -> None:
    """Run the job of a message and log the result.

    Raises:
        JobFailed: the job failed, so the queue must deliver the message again.
    """
    tracked = _tracked(context, message_id=message.get("messageId", ""))
    function = metrics.short_function(_function(context))
    traced = tracing.span(function)
    with tracked, traced as span, _written(message.get("attributes", {}), function):
        span.note(messaging__message__id=str(message.get("messageId", "")))
        delivery = int(message.get("attributes", {}).get("ApproximateReceiveCount", 1))
        kinds, default = HANDLED[handler]
        try:
            job = decode_job(message["body"], kinds, default)
        except UnknownJob as unknown:
            # A new delivery would not help: no handler of this queue knows the kind of the message.
            log.warning("unknown_job", job=unknown.kind)
            return
        kind = kind_of(job)
        log.add(**({"job": kind} if kind else {}))
        log.add(
            **{name: getattr(job, member) for member, name in IDS.items() if hasattr(job, member)}
        )
        run(container, job, partial(_remaining, context), delivery)


@contextmanager
def _tracked(context: Any, **ids: object) -> Iterator[None]:
    """Add the ids of an invocation to all log lines of the `with` block."""
    ids["invocation_id"] = getattr(context, "aws_request_id", "")
    with (
        log.bound(**{name: value for name, value in ids.items() if value}),
        metrics.cold_start(_function(context)),
    ):
        yield


@contextmanager
def _written(attributes: Mapping[str, Any], function: str) -> Iterator[None]:
    """Log the result, the duration and the waiting time of the job that the `with` block runs."""
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
    """Return the seconds until Lambda stops the function."""
    return float(context.get_remaining_time_in_millis()) / 1000


def _function(context: Any) -> str:
    return str(getattr(context, "function_name", ""))


def _receive(container: Container, notice: BucketNotice) -> None:
    """Record the files that a notification of the bucket lists."""
    for record in notice.records:
        found = record.s3.object
        container.upload_forms.receive(unquote_plus(found.key), found.etag)


# What runs each kind of job, given the services, the job, a function that returns the time left in
# seconds, and the number of the delivery.
_RUNS: Mapping[type[Struct], Callable[[Container, Any, Callable[[], float], int], None]] = {
    IngestJob: lambda c, job, _, delivery: c.ingest.run(job, delivery),
    EmbedJob: lambda c, *job: c.upload_parts.run(*job),
    FeaturesJob: lambda c, *job: c.upload_parts.run(*job),
    BatchJob: lambda c, job, _, delivery: c.batch_runs.run(job, delivery),
    LearnJob: lambda c, job, seconds, _: c.templates.run(job, seconds),
    TrainJob: lambda c, *job: c.training_runs.run(*job),
    TrainPartJob: lambda c, job, _, delivery: c.training_parts.run(job, delivery),
    DeleteJob: lambda c, job, *_: c.deletion_runs.run(job),
    SettleJob: lambda c, job, *_: c.allowances.settle(job),
    DeliverJob: lambda c, job, *_: c.deliveries.run(job),
    ExportJob: lambda c, *job: c.export_runs.run(*job),
    BucketNotice: lambda c, notice, *_: _receive(c, notice),
}
# For each handler, the kinds of job in its queues, and the kind of a message that names none of
# these.
HANDLED: Mapping[str, tuple[tuple[type[Struct], ...], type[Struct] | None]] = {
    "ingest": ((IngestJob, EmbedJob, FeaturesJob, BatchJob, LearnJob, TrainPartJob), None),
    "train": ((TrainJob,), TrainJob),
    # DeliverJob: sent by a version that had no separate queue for deliveries.
    "delete": ((DeleteJob, SettleJob, DeliverJob), DeleteJob),
    "deliver": ((DeliverJob,), None),
    "export": ((ExportJob,), ExportJob),
    "receive": ((BucketNotice,), BucketNotice),
}


def run(
    container: Container, job: Struct, remaining_seconds: Callable[[], float], delivery: int = 1
) -> None:
    """Run a job."""
    _RUNS[type(job)](container, job, remaining_seconds, delivery)


def run_sweep(container: Container, context: Any) -> None:
    """Run a sweep. Then, while many trainings wait, measure their number until the time is used.

    Raises:
        JobFailed: the sweep failed.
    """
    with _tracked(context):
        try:
            container.sweeping.run()
            while container.sweeping.count_places() and _remaining(context) > SWEEP_REST_SECONDS:
                time.sleep(COUNTING_SECONDS)
        except Exception as error:  # noqa: BLE001 - the outermost edge, as above
            log.error("sweep_failed", error)
            raise JobFailed(type(error).__name__) from None
