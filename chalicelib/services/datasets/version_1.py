"""Reads one example or adds a label, for calls that only version 1.0 of the API has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.domain.datasets.corrections import ExampleNotFound
from chalicelib.domain.datasets.dataset import DatasetView, Label
from chalicelib.domain.datasets.fields import checked_label
from chalicelib.domain.datasets.growth import check_changeable
from chalicelib.errors import LabelNotFound

if TYPE_CHECKING:
    from chalicelib.domain.accounts.account import Account
    from chalicelib.domain.accounts.usage import Allowances
    from chalicelib.domain.datasets.example import Example, ExampleView
    from chalicelib.stores.datasets.appends import AppendStore
    from chalicelib.stores.datasets.corrections import CorrectionStore
    from chalicelib.stores.datasets.example_views import ExampleViews
    from chalicelib.stores.datasets.labels import LabelStore


@dataclass(frozen=True, kw_only=True)
class VersionOneStores:
    """Stores used by `VersionOneService`."""

    appends: AppendStore
    corrections: CorrectionStore
    example_views: ExampleViews
    labels: LabelStore


class VersionOneService:
    """Reads single examples and adds labels, for clients of version 1.0."""

    def __init__(self, stores: VersionOneStores, allowances: Allowances) -> None:
        self._stores = stores
        self._allowances = allowances

    def find_example(self, view: DatasetView, example_id: int) -> Example:
        """Return an example of a dataset, or raise ExampleNotFound."""
        found = self._stores.corrections.find(view.dataset, [example_id])
        if example_id not in found:
            raise ExampleNotFound(example_id)
        return found[example_id][1]

    def show_example(self, account: Account, view: DatasetView, example: Example) -> ExampleView:
        """Return an example with its label and location; count the call against the monthly limit.

        Raises:
            ExampleQuotaExceeded: the monthly limit of calls that return examples is reached.
            DatasetNotFound: the dataset is being deleted.
        """
        with self._allowances.example_call(account):
            return self._stores.example_views.show_one(view.dataset, example)

    def add_label(self, view: DatasetView, name: str) -> Label:
        """Add a label without examples, or return the existing label of this name.

        Raises:
            InvalidParameter: the name is not allowed, or the dataset has the maximum number of
                labels.
            DatasetNotYetAvailable: an upload is in progress.
            DatasetBeingDeleted: the dataset is being deleted.
        """
        name = checked_label(name, view.dataset.type, "name")
        check_changeable(view.dataset)
        label_id, grown = self._stores.appends.add_label(view.dataset, name)
        label = self._stores.labels.view(grown).label(label_id)
        if label is None:
            raise LabelNotFound(label_id)
        return label
