"""Models: reading, and the states that requests bring about. See stores/model_leases.py."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.clock import Clock, to_milliseconds
from chalicelib.domain.model import OPEN, QUEUED, RUNNING, Model, ServedModel, TrainRequest
from chalicelib.stores.clients import Clients
from chalicelib.stores.model_rows import DELETING, dump_request, load_model, new_row, open_key
from chalicelib.stores.tables import ModelRow
from chalicelib.stores.trouble import applied, store, updated

SERVED_MEMBERS = ("model_id", "type", "status", "version", "deleted")
"""Attributes that a prediction reads."""


@store
class ModelStore:
    """Reads models and changes their state by single conditional writes."""

    def __init__(self, clients: Clients, clock: Clock) -> None:
        self._clients = clients
        self._clock = clock

    def create(self, model: Model) -> None:
        """Write a new model as QUEUED.

        Raises:
            StorageUnavailable: it may not have been written.
        """
        self._clients.bind_tables()
        row = new_row(model)
        # The id is random, so a refusal means that a repeated call met its own first write.
        applied(lambda: row.save(condition=ModelRow.model_id.does_not_exist()))

    def find(self, account_id: str, model_id: str) -> Model | None:
        """Find a model of an account that is not deleted.

        Raises:
            StorageUnavailable: the table did not answer.
        """
        self._clients.bind_tables()
        try:
            row = ModelRow.get(account_id, model_id, consistent_read=True)
        except ModelRow.DoesNotExist:
            return None
        return None if row.deleted else load_model(row)

    def find_served(self, account_id: str, model_id: str) -> ServedModel | None:
        """Find what a prediction needs to know of a model; a few members of its row.

        Raises:
            StorageUnavailable: the table did not answer.
        """
        self._clients.bind_tables()
        try:
            row = ModelRow.get(
                account_id, model_id, consistent_read=True, attributes_to_get=list(SERVED_MEMBERS)
            )
        except ModelRow.DoesNotExist:
            return None
        if row.deleted:
            return None
        return ServedModel(model_id, row.type, row.status, row.version or "")

    def of_dataset(self, account_id: str, dataset_id: int) -> list[Model]:
        """Return the models of a dataset by creation, then id.

        Raises:
            StorageUnavailable: the table did not answer.
        """
        self._clients.bind_tables()
        rows = ModelRow.dataset_index.query(dataset_id)
        models = [load_model(r) for r in rows if r.account_id == account_id and not r.deleted]
        return sorted(models, key=lambda model: (model.created_at, model.model_id))

    def of_account(self, account_id: str) -> list[Model]:
        """Return every model of an account that is not deleted.

        Raises:
            StorageUnavailable: the table did not answer.
        """
        self._clients.bind_tables()
        rows = ModelRow.query(account_id, consistent_read=True)
        return [load_model(row) for row in rows if not row.deleted]

    def queued_before(self, model: Model) -> int:
        """Count the trainings of all accounts that stand in front in the queue.

        Raises:
            StorageUnavailable: the table did not answer.
        """
        self._clients.bind_tables()
        queued_at = to_milliseconds(model.queued_at or model.created_at)
        earlier = ModelRow.queued_at < queued_at
        count = ModelRow.open_index.count(open_key(QUEUED, model.is_paid), earlier)
        if not model.is_paid:
            count += ModelRow.open_index.count(open_key(QUEUED, True))
        return count

    def requeue(self, model: Model, request: TrainRequest, is_paid: bool) -> Model | None:
        """Queue a retraining under the next run; None when the model is busy or gone.

        Raises:
            StorageUnavailable: the outcome is not known.
        """
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
            ModelRow.queued_at.set(now),
            ModelRow.updated_at.set(now),
            ModelRow.nudged_at.set(now),
            ModelRow.is_paid.set(is_paid),
            ModelRow.failure.remove(),
            ModelRow.stats.remove(),
            ModelRow.last_error.remove(),
            ModelRow.open.set(open_key(QUEUED, is_paid)),
        ]
        idle = ~ModelRow.status.is_in(*OPEN) & (ModelRow.run == model.run)
        free = idle & (ModelRow.deleted == False)  # noqa: E712 - a PynamoDB condition
        row = self._row(model)
        if applied(lambda: row.update(actions, condition=free)):
            return load_model(row)
        try:
            row.refresh(consistent_read=True)
        except ModelRow.DoesNotExist:
            return None
        # A repeated call that met its own first write; nobody else knows the token.
        return load_model(row) if row.lease_owner == token else None

    def cancel(self, model: Model) -> bool:
        """Remove a model that is still QUEUED and unowned, when its request failed halfway.

        Raises:
            StorageUnavailable: it may still be there.
        """
        row = self._row(model)
        unowned = (ModelRow.status == QUEUED) & (ModelRow.attempts == 0)
        if applied(lambda: row.delete(condition=unowned)):
            return True
        return self.find(model.account_id, model.model_id) is None

    def start_deletion(self, model: Model) -> bool:
        """Hide a model from every route; False when it is QUEUED or RUNNING.

        Raises:
            StorageUnavailable: the outcome is not known.
        """
        row = self._row(model)
        idle = ModelRow.model_id.exists() & ~ModelRow.status.is_in(*OPEN)
        actions: list[Action] = [
            ModelRow.deleted.set(True),
            ModelRow.open.set(DELETING),
            ModelRow.queued_at.set(to_milliseconds(self._clock())),
            ModelRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        if applied(lambda: row.update(actions, condition=idle)):
            return True
        return self.find(model.account_id, model.model_id) is None

    def is_hidden(self, account_id: str, model_id: str) -> bool:
        """Tell whether a model's deletion was requested and has not finished.

        Raises:
            StorageUnavailable: the table did not answer.
        """
        self._clients.bind_tables()
        try:
            return bool(ModelRow.get(account_id, model_id, consistent_read=True).deleted)
        except ModelRow.DoesNotExist:
            return False

    def delete(self, account_id: str, model_id: str) -> None:
        """Delete the row; a missing one is fine.

        Raises:
            StorageUnavailable: it may still be there.
        """
        self._clients.bind_tables()
        ModelRow(account_id, model_id).delete()

    def nudge_open(self, older_than: int) -> list[Model]:
        """Claim trainings that nobody owns and that were not nudged since a moment.

        Args:
            older_than: milliseconds since 1970.

        Returns:
            Models whose training job must be sent again.

        Raises:
            StorageUnavailable: the table did not answer.
        """
        keys = (open_key(QUEUED, True), open_key(QUEUED, False), RUNNING)
        return self._nudge(keys, older_than, ModelRow.status.is_in(*OPEN))

    def nudge_hidden(self, older_than: int) -> list[Model]:
        """Claim models whose deletion was requested and not nudged since a moment.

        Args:
            older_than: milliseconds since 1970.

        Returns:
            Models whose deletion job must be sent again.

        Raises:
            StorageUnavailable: the table did not answer.
        """
        is_hidden = ModelRow.deleted == True  # noqa: E712 - a PynamoDB condition
        return self._nudge((DELETING,), older_than, is_hidden)

    def _nudge(self, keys: Sequence[str], older_than: int, condition: Condition) -> list[Model]:
        """Claim models of some partitions of the sparse index."""
        self._clients.bind_tables()
        now = to_milliseconds(self._clock())
        stale = (ModelRow.nudged_at < older_than) & (ModelRow.lease_until < now) & condition
        claimed = []
        for key in keys:
            for row in list(ModelRow.open_index.query(key)):
                actions: list[Action] = [ModelRow.nudged_at.set(now)]
                if updated(row, actions, stale):
                    claimed.append(load_model(row))
        return claimed

    def _row(self, model: Model) -> ModelRow:
        """Make a row handle with the model's key."""
        self._clients.bind_tables()
        return ModelRow(model.account_id, model.model_id)
