"""The queues' door: hands each message to its service.

What a service raises goes back to the queue; services end their job for good themselves, when it
was refused or is out of attempts. A message that cannot be read is dropped with a log line.
See app.py, chalicelib/services/ingest.py, chalicelib/services/features.py and
chalicelib/services/training_runs.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_plus

from chalicelib import log
from chalicelib.container import Container


def run_ingest(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Read an upload, or turn a part of one into vectors.

    Raises:
        StorageUnavailable: the queue tries again.
    """
    if job.get("job") == "embed":
        container.embeddings.run_part(job)
    elif job.get("job") == "features":
        container.features.run_part(job, remaining_seconds)
    elif job.get("job") == "ingest":
        container.ingest.run(job)
    else:
        log.warning("unknown_job", job=job.get("job"))


def run_train(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Run a training.

    Raises:
        StorageUnavailable: the queue tries again.
    """
    container.training_runs.run(job, remaining_seconds)


def run_delete(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Run a deletion.

    Raises:
        StorageUnavailable: the queue tries again.
    """
    container.deletion_runs.run(job)


def run_receive(
    container: Container, job: dict[str, Any], remaining_seconds: Callable[[], float]
) -> None:
    """Note the files that a notification of the bucket names.

    Raises:
        StorageUnavailable: the queue tries again.
    """
    # The first notification after a set-up is a test without records.
    for record in job.get("Records", ()):
        found = record["s3"]["object"]
        container.incoming.receive(unquote_plus(found["key"]), str(found.get("eTag", "")))


def run_sweep(container: Container) -> None:
    """Send again what nobody works on.

    Raises:
        StorageUnavailable: the next sweep goes on.
    """
    container.sweeping.run()
