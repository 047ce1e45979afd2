"""Changes an available dataset under the lease of its row, one writer after the other."""

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

# Longest wait for others who change the same dataset.
WAIT_SECONDS = 15.0
_LONGEST_PAUSE_SECONDS = 0.1
Done = TypeVar("Done")


@translate_errors
class DatasetOwnership:
    """Lets those who change a dataset wait for each other."""

    def __init__(self, datasets: DatasetStore, leases: DatasetLeases) -> None:
        self._datasets = datasets
        self._leases = leases

    def while_owned(
        self,
        dataset: Dataset,
        deed: Callable[[OwnedDataset], Done],
        check: Callable[[Dataset], None] = check_changeable,
        wait_seconds: float = WAIT_SECONDS,
    ) -> Done:
        """Do something once nobody else changes the dataset; the deed ends the lease itself.

        Args:
            dataset: whose row is owned meanwhile.
            deed: takes the owned dataset as it is then.
            check: refuses a dataset that will not be free for this.
            wait_seconds: longest wait for others.

        Raises:
            DatasetNotFound: it was deleted.
            StorageUnavailable: others keep it busy.
        """
        deadline = time.monotonic() + wait_seconds
        while True:
            owned = self._leases.acquire_addition(dataset)
            if owned is not None:
                try:
                    return deed(owned)
                # Another owner or a deletion came first: the row says which.
                except LeaseLost:
                    owned = None
                except ServiceError:
                    self._give_back(owned)
                    raise
            current = self._datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
            if current is None:
                raise DatasetNotFound(dataset.dataset_id)
            # An upload may take minutes and a deletion gives nothing back: not worth the wait.
            check(current)
            if time.monotonic() > deadline:
                raise StorageUnavailable
            # Drawn, so that who has waited for long has the same chance as who comes now.
            time.sleep(random.uniform(0, _LONGEST_PAUSE_SECONDS))

    def _give_back(self, owned: OwnedDataset) -> None:
        """End the lease after a failure; when that fails too, it ends by itself."""
        try:
            self._leases.release(owned.dataset, owned.lease)
        except StorageUnavailable:
            return
