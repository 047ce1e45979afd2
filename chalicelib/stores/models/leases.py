"""Leases of training runs, and the writes of the workers that hold them.

Every write requires that the row still has the run and fence token of the lease. So a worker that
stalled for longer than its lease cannot publish anything after another worker has acquired the run.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.lease import longest_lease
from chalicelib.domain.models.model import FAILED, OPEN, RUNNING, SUCCEEDED, Model, TrainStats
from chalicelib.domain.models.model_version import KeptVersions, ModelVersion, dump_versions
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.moments import lease_is_over
from chalicelib.stores.aws.rows import refresh
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.models.models import dump_request, load_model, open_key
from chalicelib.stores.models.serving import row_versions, unchanged_versions


@dataclass(frozen=True)
class RunEnding:
    """Values that are stored with the new version at the end of a successful run."""

    stats: TrainStats
    in_use: frozenset[str] = frozenset()
    """Folders of versions that must not be removed, because a batch or export uses them."""


@translate_errors
class ModelLeases:
    """Acquires, renews, pauses and ends leases of training runs.

    `renew`, `report`, `succeed` and `fail` raise LeaseLost if another worker owns the run.
    """

    def __init__(self, clients: Clients, clock: Clock, settings: Settings) -> None:
        clients.bind_tables()
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)
        self._kept_versions = settings.kept_versions

    def acquire(self, account_id: str, model_id: str, run: int) -> Model | None:
        """Acquire a run and set it RUNNING; None if it has ended or another worker owns it."""
        row = ModelRow(account_id, model_id)
        owner = secrets.token_hex(8)
        now = to_milliseconds(self._clock())
        actions: list[Action] = [
            ModelRow.status.set(RUNNING),
            ModelRow.lease_until.set(now + self._milliseconds),
            ModelRow.lease_owner.set(owner),
            # Locks out the previous owner, which may still work without knowing that it lost.
            ModelRow.fence.add(1),
            ModelRow.attempts.add(1),
            ModelRow.updated_at.set(now),
            ModelRow.open.set(open_key(RUNNING, False)),
        ]
        # A late message of an earlier run must not start the retraining.
        is_open = (ModelRow.run == run) & ModelRow.status.is_in(*OPEN)
        free = is_open & lease_is_over(ModelRow.lease_until, now, self._longest)
        is_taken = try_update(row, actions, free)
        # If an earlier try of this write succeeded, the attempt must not be counted twice.
        if not is_taken and (not refresh(row) or row.lease_owner != owner):
            return None
        return load_model(row)

    def renew(self, model: Model) -> None:
        """Extend the lease of a run."""
        until = to_milliseconds(self._clock()) + self._milliseconds
        self._write(model, [ModelRow.lease_until.set(until)])

    def report(self, model: Model, progress: float, epochs: int) -> None:
        """Store the finished epochs of a run, and its progress (0 to 1) if it has increased."""
        actions: list[Action] = [ModelRow.epochs.set(epochs)]
        # A resumed run starts below the progress that users have seen, which must not decrease.
        if progress > model.progress:
            actions.append(ModelRow.progress.set(round(progress, 4)))
        self._write(model, actions)

    def succeed(self, model: Model, version: ModelVersion, ending: RunEnding) -> list[ModelVersion]:
        """End a run as SUCCEEDED, and add its version to the model.

        The version is served, unless its attribute `not_served_because` is set.

        Returns:
            The versions that were removed from the list, because the model has too many.
        """
        row = ModelRow(model.account_id, model.model_id)
        # Another version may be served or deleted meanwhile; then the list is read again.
        while True:
            before = self._owned_versions(row, model)
            if any(one.folder == version.folder for one in before.items):
                return []  # an earlier try of this write succeeded
            if row.status != RUNNING:
                raise LeaseLost
            served = row.version if version.not_served_because else version.folder
            # The version served until now also stays stored, so that users can return to it.
            in_use = {*ending.in_use, served, row.version}
            after = before.with_new(version, in_use, self._kept_versions)
            actions: list[Action] = [
                ModelRow.status.set(SUCCEEDED),
                ModelRow.progress.set(1),
                ModelRow.epochs.set(ending.stats.last_epoch),
                ModelRow.version.set(served),
                ModelRow.versions.set(dump_versions(after)),
                ModelRow.stats.set(asdict(ending.stats)),
                ModelRow.failure.remove(),
                *self._ended(),
            ]
            if model.request.imported is not None:
                # The values of an imported model are known only after its archive was read.
                actions += [
                    ModelRow.type.set(model.type),
                    ModelRow.language.set(model.language),
                    ModelRow.request.set(dump_request(model.request)),
                ]
            condition = self._owned(model) & unchanged_versions(row)
            if try_update(row, actions, condition):
                folders = {one.folder for one in after.items}
                return [one for one in before.items if one.folder not in folders]

    def _owned_versions(self, row: ModelRow, model: Model) -> KeptVersions:
        """Return the versions in a run's row; raise LeaseLost if another worker owns the run."""
        if not refresh(row) or (row.run, row.fence) != (model.run, model.fence):
            raise LeaseLost
        return row_versions(row)

    def fail(self, model: Model, message: str) -> None:
        """End a run as FAILED. The served version stays the same."""
        actions: list[Action] = [
            ModelRow.status.set(FAILED),
            ModelRow.failure.set(message),
            *self._ended(),
        ]
        self._write(model, actions, ModelRow.status == FAILED)

    def fail_attempt(self, model: Model, error: str) -> None:
        """Store the error of a failed attempt. The next attempt starts when the lease has ended."""
        # The lease stays, so that a short outage of the storage does not use up all attempts.
        row = ModelRow(model.account_id, model.model_id)
        try_update(row, [ModelRow.last_error.set(error[:500])], self._owned(model))

    def return_to_queue(
        self, model: Model, turn: int, served_seconds: float, pause_seconds: float = 0.0
    ) -> bool:
        """Put an unfinished run into the queue again.

        Args:
            model: the run, whose lease this worker holds.
            turn: number that orders the run in its queue.
            served_seconds: time that workers have spent on the run.
            pause_seconds: time in which no worker may resume the run, because its parts are being
                computed.

        Returns:
            False if another worker owns the run.
        """
        actions: list[Action] = [
            ModelRow.lease_until.set(self._paused_until(pause_seconds)),
            # An interrupted run is not a failed attempt.
            ModelRow.attempts.set(max(0, model.attempts - 1)),
            ModelRow.turn.set(turn),
            ModelRow.served_seconds.set(round(served_seconds, 3)),
            # The caller sends its message now, so the sweep must not send another one at once.
            ModelRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        return try_update(ModelRow(model.account_id, model.model_id), actions, self._owned(model))

    def pause_lease(self, model: Model, seconds: float, progress: float = 0.0) -> bool:
        """Change how long a paused run waits for its parts; return False if the run is not paused.

        Args:
            model: the run, with the fence token of the worker that paused it.
            seconds: time from now in which no worker may resume the run; 0 ends the pause.
            progress: progress of the run; ignored if it would decrease.
        """
        actions: list[Action] = [
            ModelRow.lease_until.set(self._paused_until(seconds)),
            ModelRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        if progress > model.progress:
            actions.append(ModelRow.progress.set(round(progress, 4)))
        waits = self._owned(model)
        if seconds:
            # If the last part has ended the pause meanwhile, a new pause would block the message
            # that it sent.
            waits &= ModelRow.lease_until > 0
        return try_update(ModelRow(model.account_id, model.model_id), actions, waits)

    def _paused_until(self, seconds: float) -> int:
        return to_milliseconds(self._clock()) + round(1000 * seconds) if seconds else 0

    def uncount_attempt(self, model: Model) -> None:
        """Stop counting the current attempt, because its worker lost the lease and did not fail."""
        taken = (ModelRow.run == model.run) & (ModelRow.fence > model.fence)
        # The current owner has counted itself, so at least that attempt stays.
        counted = taken & (ModelRow.status == RUNNING) & (ModelRow.attempts > 1)
        row = ModelRow(model.account_id, model.model_id)
        try_update(row, [ModelRow.attempts.add(-1)], counted)

    def _write(self, model: Model, actions: list[Action], again: Condition | None = None) -> None:
        """Change the row under the lease; raise LeaseLost if another worker owns the run.

        `again` is a condition that is true if an earlier attempt at this write has succeeded.
        """
        row = ModelRow(model.account_id, model.model_id)
        if not try_update(row, actions, self._owned(model, again)):
            raise LeaseLost

    def _owned(self, model: Model, again: Condition | None = None) -> Condition:
        running: Condition = ModelRow.status == RUNNING
        if again is not None:
            running = running | again
        owned: Condition = (ModelRow.run == model.run) & (ModelRow.fence == model.fence) & running
        return owned

    def _ended(self) -> list[Action]:
        return [
            ModelRow.updated_at.set(to_milliseconds(self._clock())),
            ModelRow.lease_until.set(0),
            ModelRow.last_error.remove(),
            ModelRow.open.remove(),
        ]
