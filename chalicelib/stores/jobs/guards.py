"""Guard entries protect datasets from deletion, and count each account's open trainings.

An entry is written before the row of its model, and removed after the run has ended. If a process
dies in between, the entry remains. So an entry is valid only for a minute, or while its model is
QUEUED or RUNNING.
"""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.models.model import OPEN, QUEUED, Model
from chalicelib.domain.models.training import (
    guard_model_id,
    guard_moment,
    is_left_over,
    new_guard,
)
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.models.models import ModelStore


class GuardStore:
    """Adds, checks and removes guard entries, each of which stands for an open training."""

    def __init__(
        self, accounts: AccountStore, datasets: DatasetStore, models: ModelStore, clock: Clock
    ) -> None:
        self._accounts = accounts
        self._datasets = datasets
        self._models = models
        self._clock = clock

    def new(self, model_id: str) -> str:
        """Return a new guard entry for a run that is about to be queued."""
        return new_guard(model_id, self._now())

    def add_to_account(self, account_id: str, entry: str, limit: int) -> bool:
        """Add an entry to an account; return False if the account is at its limit of trainings."""
        if self._accounts.add_training(account_id, entry, limit):
            return True
        entries = self._accounts.training(account_id)
        stale = self._left_over(account_id, entries)
        if not stale:
            return False
        self._accounts.remove_training(account_id, stale)
        return self._accounts.add_training(account_id, entry, limit)

    def guarding(self, dataset: Dataset) -> tuple[str, str] | None:
        """Return a training that protects a dataset from deletion; remove stale entries.

        Returns:
            Model id and status of the training; None if no training protects the dataset.
        """
        current = self._datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
        entries = current.training if current else frozenset()
        stale = self._left_over(dataset.account_id, entries)
        self._datasets.remove_training(dataset, stale)
        for entry in sorted(entries - stale):
            model_id = guard_model_id(entry)
            model = self._models.find(dataset.account_id, model_id)
            # A young entry without an open model belongs to a call that is about to queue it.
            is_open = model is not None and model.status in OPEN
            return model_id, model.status if model is not None and is_open else QUEUED
        return None

    def oldest(self, dataset: Dataset) -> int | None:
        """Return when a dataset's oldest open training was requested (ms since 1970), or None."""
        if self.guarding(dataset) is None:
            return None
        current = self._datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
        entries = current.training if current else frozenset()
        return min(map(guard_moment, entries), default=None)

    def remove(self, account_id: str, dataset: Dataset | None, entries: Iterable[str]) -> None:
        """Remove entries from an account and a dataset. Missing entries are ignored."""
        entries = list(entries)
        if dataset is not None:
            self._datasets.remove_training(dataset, entries)
        self._accounts.remove_training(account_id, entries)

    def of_run(self, model: Model) -> frozenset[str]:
        """Return the guard entries of a model's current run, to be removed when the run ends."""
        # Called before the run ends: afterwards, a retraining may add an entry that must stay.
        dataset = self._datasets.find(model.account_id, model.family, model.dataset_id)
        entries = self._accounts.training(model.account_id)
        entries |= dataset.training if dataset else frozenset()
        return frozenset(e for e in entries if guard_model_id(e) == model.model_id)

    def release(self, model: Model, entries: frozenset[str]) -> None:
        """Remove the entries of an ended run from its account and its dataset."""
        dataset = self._datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is not None:
            self._datasets.remove_training(dataset, entries)
        self._accounts.remove_training(model.account_id, entries)

    def _left_over(self, account_id: str, entries: Iterable[str]) -> frozenset[str]:
        entries = list(entries)
        models = {guard_model_id(entry) for entry in entries}
        found = (self._models.find(account_id, model_id) for model_id in models)
        rows = {m.model_id: m for m in found if m is not None}
        open_models = [m.model_id for m in rows.values() if m.status in OPEN]
        moments = {
            model_id: to_milliseconds(m.updated_at)
            for model_id, m in rows.items()
            if model_id not in open_models
        }
        now = self._now()
        return frozenset(e for e in entries if is_left_over(e, open_models, now, moments))

    def _now(self) -> int:
        return to_milliseconds(self._clock())
