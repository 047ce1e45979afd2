"""Sends jobs to the queues. Messages contain only ids."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.jobs.messages import Job, encode_job
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors

INGEST = "ingest"
EMBED = "embed"
TRAIN_PAID = "train-paid"
TRAIN_FREE = "train-free"
DELETE = "delete"
EXPORT = "export"
DELIVER = "deliver"
# The bucket sends a message to this queue when a file has arrived.
INCOMING = "incoming"


def queue_name(settings: Settings, short: str) -> str:
    """Return the full name of a queue in SQS, given its short name such as `ingest`."""
    return f"{settings.name}-{short}"


@contextmanager
def retried_by_sweep(job: str, **ids: str | int) -> Iterator[None]:
    """Log an error of the queue instead of raising it, because SweepService sends the job later.

    The log line contains `ids`, and `job`: the kind of the job that the `with` block sends.
    """
    try:
        yield
    except StorageUnavailable:
        # The request has succeeded, because the sweep finds the row and sends the job again.
        log.warning("enqueue_failed", job=job, **ids)


@translate_errors
class Queues:
    """Sends jobs to all queues."""

    def __init__(self, settings: Settings, clients: Clients) -> None:
        self._settings = settings
        self._clients = clients
        self._urls: dict[str, str] = {}

    def send(self, short: str, job: Job, delay_seconds: int = 0) -> None:
        """Send one job.

        `short` is the queue's short name: INGEST, EMBED, TRAIN_PAID, TRAIN_FREE, DELETE, EXPORT or
        DELIVER. Workers can receive the message after `delay_seconds`, 0 to 900.
        """
        self._clients.sqs.send_message(
            QueueUrl=self._url(short), MessageBody=encode_job(job), DelaySeconds=delay_seconds
        )

    def _url(self, short: str) -> str:
        # A queue's URL never changes, and looking it up costs a call.
        if short not in self._urls:
            name = queue_name(self._settings, short)
            self._urls[short] = self._clients.sqs.get_queue_url(QueueName=name)["QueueUrl"]
        return self._urls[short]
