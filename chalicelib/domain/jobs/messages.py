"""Queue messages: ids only."""

from __future__ import annotations

from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.jobs.deletion import Deletion
from chalicelib.domain.jobs.export import Export
from chalicelib.domain.jobs.webhook import Delivery
from chalicelib.domain.models.model import Model

Job = dict[str, object]
"""JSON members of a message; `job` tells the kind."""


def ingest_job(dataset: Dataset) -> Job:
    """Name the upload that is going on."""
    return _dataset_job("ingest", dataset, upload_id=dataset.upload_id)


def embed_job(dataset: Dataset, part: str) -> Job:
    """Name a part of an upload whose texts wait to be embedded."""
    return _dataset_job("embed", dataset, part=part)


def features_job(dataset: Dataset, part: str) -> Job:
    """Name a part of an upload whose pictures wait for their features."""
    return _dataset_job("features", dataset, part=part)


def train_job(model: Model) -> Job:
    """Name a training run."""
    return {
        "job": "train",
        "account_id": model.account_id,
        "model_id": model.model_id,
        "run": model.run,
        "is_paid": model.is_paid,
    }


def train_part_job(model: Model, part: str) -> Job:
    """Name a part of what a training run gave away under its fence."""
    return {
        "job": "train_part",
        "account_id": model.account_id,
        "model_id": model.model_id,
        "run": model.run,
        "fence": model.fence,
        "part": part,
    }


def delete_job(deletion: Deletion) -> Job:
    """Name a deletion."""
    return {"job": "delete", "account_id": deletion.account_id, "deletion_id": deletion.deletion_id}


def settle_job(account_id: str, kind: str, month: str, token: str, tries: int) -> Job:
    """Name a counted call whose outcome is not known, and how often it was tried to settle it."""
    return {
        "job": "settle",
        "account_id": account_id,
        "kind": kind,
        "month": month,
        "token": token,
        "tries": tries,
    }


def export_job(export: Export) -> Job:
    """Name an export."""
    return {"job": "export", "account_id": export.account_id, "export_id": export.export_id}


def batch_job(account_id: str, batch_id: str, part: int | None = None) -> Job:
    """Name a part of a batch; without one the step that is next: to prepare, to go on, to end."""
    job: Job = {"job": "batch", "account_id": account_id, "batch_id": batch_id}
    return job if part is None else {**job, "part": part}


def delivery_job(delivery: Delivery) -> Job:
    """Name a delivery to a webhook."""
    return {
        "job": "deliver",
        "account_id": delivery.account_id,
        "hook_id": delivery.hook_id,
        "key": delivery.key,
    }


def _dataset_job(kind: str, dataset: Dataset, **members: object) -> Job:
    return {
        "job": kind,
        "account_id": dataset.account_id,
        "family": dataset.family,
        "dataset_id": dataset.dataset_id,
        **members,
    }
