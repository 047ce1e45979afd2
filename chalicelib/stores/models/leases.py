"""Ownership of a training run, and the publications that its owner makes.

Every write is conditional on the run and the fence, so a worker that was stalled past its lease
publishes nothing once another has taken the run.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.config import Settings
from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.jobs.lease import longest_lease
from chalicelib.domain.models.model import FAILED, OPEN, RUNNING, SUCCEEDED, Model, TrainStats
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.moments import lease_is_over
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.models.models import load_model, open_key


@translate_errors
class ModelLeases:
    """Takes, renews and ends the ownership of a training run."""

    def __init__(self, clients: Clients, clock: Clock, settings: Settings) -> None:
        clients.bind_tables()
        self._clock = clock
        self._milliseconds = round(settings.lease_seconds * 1000)
        self._longest = longest_lease(self._milliseconds)

    def acquire(self, account_id: str, model_id: str, run: int) -> Model | None:
        """Own a run and set it RUNNING; None when it is done, gone, or owned by another."""
        row = ModelRow(account_id, model_id)
        owner = secrets.token_hex(8)
        now = to_milliseconds(self._clock())
        actions: list[Action] = [
            ModelRow.status.set(RUNNING),
            ModelRow.lease_until.set(now + self._milliseconds),
            ModelRow.lease_owner.set(owner),
            # Shuts out the owner before, who may still be at work, and does not know that it lost.
            ModelRow.fence.add(1),
            ModelRow.attempts.add(1),
            ModelRow.updated_at.set(now),
            ModelRow.open.set(open_key(RUNNING, False)),
        ]
        # A message of an earlier run, delivered late, must not start the retraining.
        is_open = (ModelRow.run == run) & ModelRow.status.is_in(*OPEN)
        free = is_open & lease_is_over(ModelRow.lease_until, now, self._longest)
        if not try_update(row, actions, free):
            # A repeated call must not count another attempt; it meets its own first write here.
            try:
                row.refresh(consistent_read=True)
            except ModelRow.DoesNotExist:
                return None
            if row.lease_owner != owner:
                return None
        return load_model(row)

    def renew(self, model: Model) -> None:
        """Keep the ownership for another lease.

        Raises:
            LeaseLost: another worker owns the run.
        """
        until = to_milliseconds(self._clock()) + self._milliseconds
        self._write(model, [ModelRow.lease_until.set(until)])

    def report(self, model: Model, progress: float, epochs: int) -> None:
        """Show how far the run has come; a progress below the shown one is left out.

        Raises:
            LeaseLost: another worker owns the run.
        """
        actions: list[Action] = [ModelRow.epochs.set(epochs)]
        # A run that is taken up again begins below what was shown; a progress never goes back.
        if progress > model.progress:
            actions.append(ModelRow.progress.set(round(progress, 4)))
        self._write(model, actions)

    def succeed(self, model: Model, version: str, stats: TrainStats) -> None:
        """Publish a version: from now on it predicts.

        Raises:
            LeaseLost: another worker owns the run.
        """
        actions: list[Action] = [
            ModelRow.status.set(SUCCEEDED),
            ModelRow.progress.set(1),
            ModelRow.epochs.set(stats.last_epoch),
            ModelRow.version.set(version),
            ModelRow.stats.set(asdict(stats)),
            ModelRow.failure.remove(),
            *self._ended(),
        ]
        # A version names its run and fence, so a repeated call meets nobody's end but its own.
        self._write(model, actions, ModelRow.version == version)

    def fail(self, model: Model, message: str) -> None:
        """End the run as FAILED; the last successful version goes on predicting.

        Raises:
            LeaseLost: another worker owns the run.
        """
        actions: list[Action] = [
            ModelRow.status.set(FAILED),
            ModelRow.failure.set(message),
            *self._ended(),
        ]
        self._write(model, actions, ModelRow.status == FAILED)

    def fail_attempt(self, model: Model, error: str) -> None:
        """Remember what broke this attempt; the next one begins when the lease has ended.

        So a storage that is out of reach for a moment does not use up the attempts at once.
        """
        row = ModelRow(model.account_id, model.model_id)
        try_update(row, [ModelRow.last_error.set(error[:500])], self._owned(model))

    def put_back(
        self, model: Model, turn: int, served_seconds: float, pause_seconds: float = 0.0
    ) -> bool:
        """Give a run that is not finished back to the queue, where it has another turn.

        Args:
            model: the run that is owned; that it goes on later is no failed attempt.
            turn: its new number in its lane.
            served_seconds: how long it was worked on in all.
            pause_seconds: how long nobody may take it up, for it waits for its parts.

        Returns:
            False when another worker owns it.
        """
        actions: list[Action] = [
            ModelRow.lease_until.set(self._paused_until(pause_seconds)),
            ModelRow.attempts.set(max(0, model.attempts - 1)),
            ModelRow.turn.set(turn),
            ModelRow.served_seconds.set(round(served_seconds, 3)),
            # The caller sends its message now: the sweep must not send a second one at once.
            ModelRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        return try_update(ModelRow(model.account_id, model.model_id), actions, self._owned(model))

    def pause_lease(self, model: Model, seconds: float, progress: float = 0.0) -> bool:
        """Let a run wait so long for its parts, 0: no longer; False when it does not wait any more.

        Args:
            model: with the fence of who put it back.
            seconds: until when nobody may take it up, from now.
            progress: shown when it is above what is shown.
        """
        actions: list[Action] = [
            ModelRow.lease_until.set(self._paused_until(seconds)),
            ModelRow.nudged_at.set(to_milliseconds(self._clock())),
        ]
        if progress > model.progress:
            actions.append(ModelRow.progress.set(round(progress, 4)))
        waits = self._owned(model)
        if seconds:
            # Whoever did the last part meanwhile has woken it, and its message would find it lent.
            waits &= ModelRow.lease_until > 0
        return try_update(ModelRow(model.account_id, model.model_id), actions, waits)

    def _paused_until(self, seconds: float) -> int:
        return to_milliseconds(self._clock()) + round(1000 * seconds) if seconds else 0

    def discount(self, model: Model) -> None:
        """Take an attempt back that ended because its lease was lost: nothing had broken."""
        taken = (ModelRow.run == model.run) & (ModelRow.fence > model.fence)
        # The owner of now has counted itself: at least that attempt stays.
        counted = taken & (ModelRow.status == RUNNING) & (ModelRow.attempts > 1)
        row = ModelRow(model.account_id, model.model_id)
        try_update(row, [ModelRow.attempts.add(-1)], counted)

    def _write(self, model: Model, actions: list[Action], again: Condition | None = None) -> None:
        """Write under the lease; `again` recognises the end that a first try has written."""
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
