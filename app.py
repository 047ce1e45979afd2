"""The deployed application: HTTP routes from declarations, queue handlers, a scheduled sweep.

Nothing is read or created at import. Chalice deploys only handlers of this file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from chalice.app import CloudWatchEvent, SQSEvent

from chalicelib.config import Settings
from chalicelib.routes import OPERATIONS
from chalicelib.web.app import PresageApp

if TYPE_CHECKING:
    from chalicelib.container import Container


def make_container() -> Container:
    """Create the container of services, with settings from the environment variables."""
    from chalicelib import log
    from chalicelib.container import Container

    log.capture_libraries()
    return Container(Settings.from_environment(os.environ))


app = PresageApp("presage", OPERATIONS, make_container)


def _run(handler: str, event: SQSEvent) -> None:
    """Pass each message of an event to its handler in chalicelib/workers.py."""
    from chalicelib import workers

    for record in event:
        workers.handle(handler, app.container, record.to_dict(), event.context)


@app.on_sqs_message(queue="presage-ingest", batch_size=1, name="ingest_upload")
def ingest_upload(event: SQSEvent) -> None:
    """Read an upload into examples."""
    _run("ingest", event)


@app.on_sqs_message(queue="presage-embed", batch_size=1, name="embed_texts")
def embed_texts(event: SQSEvent) -> None:
    """Compute vectors, features or answers for one part of an upload, a training or a batch."""
    _run("ingest", event)


@app.on_sqs_message(queue="presage-train-paid", batch_size=1, name="train_paid")
def train_paid(event: SQSEvent) -> None:
    """Train a model of a paid plan."""
    _run("train", event)


@app.on_sqs_message(queue="presage-train-free", batch_size=1, name="train_free")
def train_free(event: SQSEvent) -> None:
    """Train a model of a free plan."""
    _run("train", event)


@app.on_sqs_message(queue="presage-delete", batch_size=1, name="delete_object")
def delete_object(event: SQSEvent) -> None:
    """Delete a dataset or model."""
    _run("delete", event)


@app.on_sqs_message(queue="presage-export", batch_size=1, name="export_dataset")
def export_dataset(event: SQSEvent) -> None:
    """Export a dataset or a model to a file."""
    _run("export", event)


@app.on_sqs_message(queue="presage-deliver", batch_size=1, name="deliver_event")
def deliver_event(event: SQSEvent) -> None:
    """Deliver an event to a webhook. The queue is separate, because receivers may be slow."""
    _run("deliver", event)


@app.on_sqs_message(queue="presage-incoming", batch_size=1, name="receive_upload")
def receive_upload(event: SQSEvent) -> None:
    """Record that a file has arrived in the bucket."""
    _run("receive", event)


@app.schedule("rate(1 minute)", name="sweep")
def sweep(event: CloudWatchEvent) -> None:
    """Resend abandoned jobs, end deletions, and delete the data of closed accounts."""
    from chalicelib.workers import run_sweep

    run_sweep(app.container, event.context)
