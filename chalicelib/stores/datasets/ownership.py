"""Allows only the holder of a dataset's lease to change an available dataset."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.datasets.growth import check_changeable
from chalicelib.errors import DatasetNotFound, LeaseLost, ServiceError, StorageUnavailable
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.leases import DatasetLeases, OwnedDataset

# Longest wait for other writers of the same dataset.
WAIT_SECONDS = 15.0
_LONGEST_PAUSE_SECONDS = 0.1
Done = TypeVar("Done")


@translate_errors
class DatasetOwnership:
    """Runs changes of a dataset one after the other."""

    def __init__(self, datasets: DatasetStore, leases: DatasetLeases) -> None:
        self._datasets = datasets
        self._leases = leases

    def while_owned(
        self,
        dataset: Dataset,
        change: Callable[[OwnedDataset], Done],
        check: Callable[[Dataset], None] = check_changeable,
        wait_seconds: float = WAIT_SECONDS,
    ) -> Done:
        """Run `change` under the lease of a dataset, as soon as the lease is free.

        Args:
            dataset: the dataset.
            change: receives the dataset and its lease, and ends the lease if the change succeeds.
            check: called while the lease is not free; raises an error to stop waiting, for
                example because the dataset is being deleted.
            wait_seconds: maximum time to wait for other writers, in seconds.

        Raises:
            DatasetNotFound: the dataset was deleted.
            StorageUnavailable: other writers still hold the lease.
        """
        deadline = time.monotonic() + wait_seconds
        while True:
            owned = self._leases.acquire_addition(dataset)
            if owned is not None:
                try:
                    return change(owned)
                # Another owner or a deletion came first; the row read below says which.
                except LeaseLost:
                    owned = None
                except ServiceError:
                    self._release(owned)
                    raise
            current = self._datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
            if current is None:
                raise DatasetNotFound(dataset.dataset_id)
            # Waiting is useless during an upload, which may take minutes, or a deletion.
            check(current)
            if time.monotonic() > deadline:
                raise StorageUnavailable
            # Random and not growing, so that a writer that has waited for long has the same chance
            # as a new one.
            time.sleep(random.uniform(0, _LONGEST_PAUSE_SECONDS))

    def _release(self, owned: OwnedDataset) -> None:
        try:
            self._leases.release(owned.dataset, owned.lease)
        except StorageUnavailable:
            # The lease expires anyway, and the caller's error is the one to report.
            return
