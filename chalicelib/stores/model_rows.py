"""Model rows to domain models and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from chalicelib.domain.clock import from_milliseconds, to_milliseconds
from chalicelib.domain.model import QUEUED, RUNNING, Model, TrainRequest, TrainStats
from chalicelib.stores.tables import ModelRow

DELETING = "DELETING"
"""Partition of the sparse index where models wait for their deletion."""


def open_key(status: str, is_paid: bool) -> str:
    """Partition of the sparse index that a model stands in while QUEUED or RUNNING."""
    if status == RUNNING:
        return RUNNING
    return f"{QUEUED}#{'paid' if is_paid else 'free'}"


def dump_request(request: TrainRequest) -> dict[str, Any]:
    """Return the JSON form of a request."""
    return asdict(request)


def new_row(model: Model) -> ModelRow:
    """Make the row of a model that was just asked for."""
    created_at = to_milliseconds(model.created_at)
    return ModelRow(
        model.account_id,
        model.model_id,
        name=model.name,
        dataset_id=model.dataset_id,
        family=model.family,
        type=model.type,
        language=model.language,
        status=model.status,
        created_at=created_at,
        updated_at=to_milliseconds(model.updated_at),
        request=dump_request(model.request),
        is_paid=model.is_paid,
        epochs=model.epochs,
        queued_at=created_at,
        nudged_at=created_at,
        open=open_key(model.status, model.is_paid),
    )


def load_model(row: ModelRow) -> Model:
    """Make the domain model of a row."""
    return Model(
        account_id=row.account_id,
        model_id=row.model_id,
        name=row.name,
        dataset_id=int(row.dataset_id),
        family=row.family,
        type=row.type,
        language=row.language,
        status=row.status,
        progress=float(row.progress),
        created_at=from_milliseconds(row.created_at),
        updated_at=from_milliseconds(row.updated_at),
        request=TrainRequest(**row.request),
        run=int(row.run),
        fence=int(row.fence),
        attempts=int(row.attempts),
        queued_at=None if row.queued_at is None else from_milliseconds(row.queued_at),
        is_paid=bool(row.is_paid),
        epochs=int(row.epochs),
        failure=row.failure or "",
        stats=None if row.stats is None else TrainStats(**row.stats),
        version=row.version or "",
        last_error=row.last_error or "",
    )
