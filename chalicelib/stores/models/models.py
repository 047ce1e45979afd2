"""Reads the rows of models, and writes the changes of state that requests cause."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.common.clock import Clock, from_milliseconds, to_milliseconds
from chalicelib.domain.common.paging import ListFilter, ListPage
from chalicelib.domain.common.repeats import mark
from chalicelib.domain.models.model import (
    OPEN,
    QUEUED,
    RUNNING,
    Model,
    TrainRequest,
    TrainStats,
)
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update, try_write
from chalicelib.stores.aws.moments import is_announced_before, lease_is_over
from chalicelib.stores.aws.rows import find_row, load, refresh
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.models.serving import row_versions

# Number of trainings at the front of a queue that a worker reads to find the next one.
FRONT = 50
# Maximum number of waiting trainings per queue for which one sweep sends messages again.
ANNOUNCED_AT_ONCE = 500
_HIDDEN = ModelRow.deleted == True  # noqa: E712 - a PynamoDB condition
# True of a new hidden row until SweepService starts to delete it.
_UNCLAIMED = (ModelRow.status == QUEUED) & (ModelRow.nudged_at == ModelRow.created_at)


@translate_errors
class ModelStore:
    """Reads models, and changes their state by single conditional writes.

    Times of arguments are in milliseconds since 1970.
    """

    def __init__(self, clients: Clients, clock: Clock) -> None:
        clients.bind_tables()
        self._clock = clock

    def create(self, model: Model, *, is_hidden: bool = False) -> None:
        """Store a new model as QUEUED.

        A model with `is_hidden` is hidden until `show` is called. If `show` is never called,
        SweepService deletes the model with its files.
        """
        row = new_row(model)
        if is_hidden:
            row.deleted, row.open = True, DELETING
        # The id is random, so a refusal means that an earlier try of this write succeeded, or that
        # another attempt at the call has made the model visible. Its hidden row is replaced.
        free = ModelRow.model_id.does_not_exist() | (_HIDDEN & _UNCLAIMED)
        try_write(lambda: row.save(condition=free))

    def show(self, model: Model) -> None:
        """Make a hidden new model visible.

        Raises:
            StorageUnavailable: SweepService is deleting the model, or a later attempt at the call
                has replaced the row.
        """
        row = ModelRow(model.account_id, model.model_id)
        is_ours = ModelRow.nudged_at == to_milliseconds(model.created_at)
        actions: list[Action] = [
            ModelRow.deleted.set(False),
            ModelRow.open.set(open_key(QUEUED, model.is_paid)),
            ModelRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        if try_update(row, actions, _HIDDEN & is_ours):
            return
        # An earlier try of this write may have made the model visible.
        if self.find(model.account_id, model.model_id) is None:
            raise StorageUnavailable

    def find(self, account_id: str, model_id: str) -> Model | None:
        """Return a model of an account; None if it does not exist or is being deleted."""
        row = find_row(ModelRow, account_id, model_id)
        return None if row is None or row.deleted else load_model(row)

    def of_dataset(self, account_id: str, dataset_id: int) -> list[Model]:
        """Return the models of a dataset, in order of creation time and id."""
        rows = ModelRow.dataset_index.query(dataset_id)
        models = [load_model(r) for r in rows if r.account_id == account_id and not r.deleted]
        return sorted(models, key=lambda model: (model.created_at, model.model_id))

    def of_account(self, account_id: str) -> list[Model]:
        """Return all models of an account, except those being deleted."""
        rows = ModelRow.query(account_id, consistent_read=True)
        return [load_model(row) for row in rows if not row.deleted]

    def page(self, account_id: str, query: ListFilter, offset: int, count: int) -> ListPage[Model]:
        """Return a page of an account's models, in order of creation time and id."""
        # Only what filter and order need is read of all rows, and then the rows of the page.
        members = ["model_id", "name", "status", "created_at", "deleted"]
        rows = ModelRow.query(account_id, consistent_read=True, attributes_to_get=members)
        creations = sorted(
            (int(row.created_at), str(row.model_id))
            for row in rows
            if not row.deleted and query.keeps(row.name, row.status)
        )
        keys = [(account_id, model_id) for _, model_id in creations[offset : offset + count]]
        rows_by_id = {row.model_id: row for row in ModelRow.batch_get(keys, consistent_read=True)}
        found = (rows_by_id[key] for _, key in keys if key in rows_by_id)
        # Between the two reads a training may start or end, or a model may be renamed or deleted.
        models = (
            load_model(row)
            for row in found
            if not row.deleted and query.keeps(row.name, row.status)
        )
        return ListPage(tuple(models), offset, len(creations) > offset + count)

    def running(self) -> list[Model]:
        """Return all unfinished trainings that have started, even if no worker runs them now."""
        return [load_model(row) for row in ModelRow.open_index.query(RUNNING)]

    def count_open(self) -> dict[str, int]:
        """Return the number of trainings by status (QUEUED or RUNNING), over all accounts."""
        waiting = sum(ModelRow.open_index.count(open_key(QUEUED, paid)) for paid in (True, False))
        return {QUEUED: waiting, RUNNING: ModelRow.open_index.count(RUNNING)}

    def queued(self, is_paid: bool) -> list[Model]:
        """Return the first waiting trainings of a queue, in the order in which they start."""
        rows = ModelRow.open_index.query(open_key(QUEUED, is_paid), limit=FRONT)
        return [load_model(row) for row in rows]

    def requeue(
        self, model: Model, request: TrainRequest, is_paid: bool, turn: int
    ) -> Model | None:
        """Queue a retraining as the next run; return None if the model is busy or deleted."""
        now = to_milliseconds(self._clock())
        run = model.run + 1
        token = secrets.token_hex(8)
        actions: list[Action] = [
            ModelRow.status.set(QUEUED),
            ModelRow.run.set(run),
            ModelRow.request.set(dump_request(request)),
            ModelRow.progress.set(0),
            ModelRow.epochs.set(0),
            ModelRow.attempts.set(0),
            ModelRow.lease_until.set(0),
            ModelRow.lease_owner.set(token),
            ModelRow.turn.set(turn),
            ModelRow.accepted_at.set(now),
            ModelRow.served_seconds.set(0),
            ModelRow.updated_at.set(now),
            ModelRow.nudged_at.set(now),
            ModelRow.is_paid.set(is_paid),
            ModelRow.failure.remove(),
            ModelRow.stats.remove(),
            ModelRow.last_error.remove(),
            ModelRow.open.set(open_key(QUEUED, is_paid)),
            ModelRow.mark.set(keyed) if (keyed := mark()) else ModelRow.mark.remove(),
        ]
        idle = ~ModelRow.status.is_in(*OPEN) & (ModelRow.run == model.run)
        # The run in the condition refuses one of two simultaneous retrainings.
        free = idle & (ModelRow.deleted == False)  # noqa: E712 - a PynamoDB condition
        row = ModelRow(model.account_id, model.model_id)
        if try_update(row, actions, free):
            return load_model(row)
        # Only this call uses the token, so an earlier try of this write succeeded.
        return load_model(row) if refresh(row) and row.lease_owner == token else None

    def cancel(self, model: Model) -> bool:
        """Delete a QUEUED model that no worker owns, because its request failed.

        The row stays if SweepService is deleting the model, or if another attempt at the call wrote
        the row.

        Returns:
            Whether the model does not exist any more.
        """
        row = ModelRow(model.account_id, model.model_id)
        unowned = (ModelRow.status == QUEUED) & (ModelRow.attempts == 0)
        unowned &= ModelRow.created_at == to_milliseconds(model.created_at)
        unowned &= ~_HIDDEN | _UNCLAIMED
        if try_write(lambda: row.delete(condition=unowned)):
            return True
        return self.find(model.account_id, model.model_id) is None

    def start_deletion(self, model: Model) -> bool:
        """Hide a model from all calls; return False if the model is QUEUED or RUNNING."""
        row = ModelRow(model.account_id, model.model_id)
        idle = ModelRow.model_id.exists() & ~ModelRow.status.is_in(*OPEN)
        actions: list[Action] = [
            ModelRow.deleted.set(True),
            ModelRow.open.set(DELETING),
            ModelRow.turn.set(to_milliseconds(self._clock())),
            ModelRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        if try_update(row, actions, idle):
            return True
        return self.find(model.account_id, model.model_id) is None

    def is_hidden(self, account_id: str, model_id: str) -> bool:
        """Return whether a model is hidden, because it is new or is being deleted."""
        row = find_row(ModelRow, account_id, model_id)
        return row is not None and bool(row.deleted)

    def is_unfinished(self, account_id: str, model_id: str) -> bool:
        """Return whether a hidden model is still being created, so that it was never visible."""
        row = find_row(ModelRow, account_id, model_id)
        # A hidden model that is QUEUED was never visible: only visible models leave the queue, and
        # a queued model cannot be deleted.
        return row is not None and row.status == QUEUED

    def delete(self, account_id: str, model_id: str) -> int:
        """Delete the row of a model; return the size of its versions in bytes."""
        row = ModelRow(account_id, model_id)
        if not refresh(row):
            return 0
        # Of two simultaneous deletions, only one may release the bytes.
        is_deleted = try_write(lambda: row.delete(condition=ModelRow.model_id.exists()))
        return row_versions(row).bytes if is_deleted else 0

    def claim_lost(self, dead_before: int, announced_before: int) -> list[Model]:
        """Return trainings whose message seems to be lost, so that the caller sends a new message.

        The current time is stored in each row, so that a simultaneous sweep returns other models.

        Args:
            dead_before: time in milliseconds since 1970. A training whose worker died is returned
                if its last message was sent before this time.
            announced_before: the corresponding time for a waiting training. A message that was sent
                later may still be in the queue.
        """
        now = to_milliseconds(self._clock())
        died = (ModelRow.lease_until > 0) & lease_is_over(ModelRow.lease_until, now)
        silent = is_announced_before(ModelRow.nudged_at, announced_before, now)
        unheeded = is_announced_before(ModelRow.nudged_at, dead_before, now)
        # A training that yielded has no lease, and is treated like trainings that have not started.
        lost = (died & unheeded) | (silent & (ModelRow.lease_until == 0))
        lost_rows = ModelRow.open_index.query(RUNNING, filter_condition=lost)
        claimed = self._claim(lost_rows, lost & (ModelRow.status == RUNNING))
        for key in (open_key(QUEUED, True), open_key(QUEUED, False)):
            # The query has no limit, because a limit also counts rows that the filter leaves out.
            rows = ModelRow.queued_index.query(key, filter_condition=silent)
            front = [row for row, _ in zip(rows, range(ANNOUNCED_AT_ONCE), strict=False)]
            claimed += self._claim(front, silent & (ModelRow.status == QUEUED))
        return claimed

    def claim_hidden(self, older_than: int) -> list[Model]:
        """Return models whose deletion makes no progress, so that the caller resends the jobs.

        The current time is stored in each row, so that a simultaneous sweep returns other models.

        Models whose last message was sent after `older_than` are not returned.
        """
        now = to_milliseconds(self._clock())
        stale = is_announced_before(ModelRow.nudged_at, older_than, now)
        hidden = stale & _HIDDEN
        return self._claim(ModelRow.open_index.query(DELETING, filter_condition=stale), hidden)

    def _claim(self, rows: Iterable[ModelRow], condition: Condition) -> list[Model]:
        """Set `nudged_at` to now in the rows that meet a condition; return the rows' models."""
        actions: list[Action] = [ModelRow.nudged_at.set(to_milliseconds(self._clock()))]
        # Read completely first, because changed rows would move within the index.
        return [load_model(row) for row in list(rows) if try_update(row, actions, condition)]


# Index partition of models that wait for their deletion.
DELETING = "DELETING"


def open_key(status: str, is_paid: bool) -> str:
    """Return the partition key of a model in the index of open models."""
    if status == RUNNING:
        return RUNNING
    return f"{QUEUED}#{'paid' if is_paid else 'free'}"


def dump_request(request: TrainRequest) -> dict[str, Any]:
    """Return a training request in the form in which a row stores it."""
    stored = asdict(request)
    # Older versions, which may read the row after a roll-back, do not know the member.
    if stored["imported"] is None:
        del stored["imported"]
    return stored


def new_row(model: Model) -> ModelRow:
    """Return the row of a new model."""
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
        heeds_rate=model.heeds_rate,
        epochs=model.epochs,
        turn=model.turn,
        accepted_at=created_at,
        nudged_at=created_at,
        open=open_key(model.status, model.is_paid),
    )


def load_model(row: ModelRow) -> Model:
    """Return the model of a row."""
    # Rows of versions without turns have their queueing time in place of the turn.
    queued_at = row.accepted_at or row.turn
    return load(
        Model,
        row,
        request=TrainRequest(**row.request),
        queued_at=None if queued_at is None else from_milliseconds(queued_at),
        stats=None if row.stats is None else TrainStats(**row.stats),
        versions=row_versions(row),
    )
