"""Mends datasets: new names for what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chalicelib.domain.datasets.dataset import DatasetView, Label
from chalicelib.domain.datasets.fields import checked_label, checked_name
from chalicelib.domain.datasets.growth import check_changeable
from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.errors import Conflict, DatasetBeingDeleted, LabelNotFound
from chalicelib.stores.datasets.leases import OwnedDataset

if TYPE_CHECKING:
    from chalicelib.stores.stores import Stores


class MendService:
    """Changes what a dataset holds; every change is one write of the dataset's row."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def rename_dataset(self, view: DatasetView, name: str) -> DatasetView:
        """Give a dataset another name.

        Raises:
            InvalidParameter: the name is not allowed.
            DatasetBeingDeleted: it is being deleted.
        """
        name = checked_name(name)
        if not self._stores.datasets.rename(view.dataset, name):
            raise DatasetBeingDeleted(view.dataset.dataset_id)
        dataset = view.dataset
        found = self._stores.datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
        return replace(view, dataset=found or dataset)

    def rename_label(self, view: DatasetView, label: Label, name: str) -> Label:
        """Give a label another name; what comes with the old one goes to it from then on.

        Raises:
            InvalidParameter: the name is not allowed.
            Conflict: another label bears it.
            LabelNotFound: the label was removed meanwhile.
            DatasetNotYetAvailable: an upload is going on.
            DatasetBeingDeleted: it is being deleted.
        """
        name = checked_label(name, view.dataset.type, "name")
        check_changeable(view.dataset)

        def rename(owned: OwnedDataset) -> Label:
            return self._rename(owned, label.label_id, name)

        return self._stores.ownership.while_owned(view.dataset, rename)

    def _rename(self, owned: OwnedDataset, label_id: int, name: str) -> Label:
        """Rename under the lease."""
        stores, dataset = self._stores, owned.dataset
        view = stores.labels.view(dataset)
        label = view.label(label_id)
        if label is None:
            raise LabelNotFound(label_id)
        same = (one for one in view.labels if normal_form(one.name) == normal_form(name))
        if any(one.label_id != label_id for one in same):
            raise Conflict(
                f"Dataset {dataset.dataset_id} has a label '{name}' already. Send its id as "
                "'mergeInto' to put both together.",
                code="label_exists",
            )
        if label.name == name:
            stores.dataset_leases.release(dataset, owned.lease)
            return label
        fence = owned.lease.fence
        counts = {c.label_id: c for c in dataset.counts}
        stores.labels.rename(counts[label_id], name, fence)
        counts[label_id] = replace(counts[label_id], named=fence)
        stores.dataset_leases.commit_names(dataset, owned.lease, tuple(counts.values()))
        renamed = stores.labels.view(replace(dataset, counts=tuple(counts.values())))
        return renamed.label(label_id) or label
