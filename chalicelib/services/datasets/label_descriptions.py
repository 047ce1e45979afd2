"""Describes labels of a dataset, and adds labels without examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.domain.common.limits import MAX_LABELS
from chalicelib.domain.datasets.dataset import DatasetView, LabelCounts
from chalicelib.domain.datasets.growth import check_changeable
from chalicelib.domain.datasets.label_descriptions import PARAMETER, LabelDescription
from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.errors import DatasetNotFound, InvalidParameter
from chalicelib.stores.datasets.labels import owner_key
from chalicelib.stores.datasets.leases import OwnedDataset

if TYPE_CHECKING:
    from chalicelib.stores.aws.counters import IdStore
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.datasets.labels import LabelStore
    from chalicelib.stores.datasets.leases import DatasetLeases
    from chalicelib.stores.datasets.ownership import DatasetOwnership


@dataclass(frozen=True, kw_only=True)
class DatasetServiceStores:
    """The stores that `DatasetService` and `LabelDescriptions` use."""

    dataset_leases: DatasetLeases
    datasets: DatasetStore
    ids: IdStore
    labels: LabelStore
    ownership: DatasetOwnership


class LabelDescriptions:
    """The descriptions of labels."""

    def __init__(self, stores: DatasetServiceStores) -> None:
        self._stores = stores

    def list(self, view: DatasetView) -> list[LabelDescription]:
        """Return all labels of a dataset; those without a description have an empty one."""
        known = self._stores.labels.descriptions([label.label_id for label in view.labels])
        return [
            LabelDescription(label.name, known.get(label.label_id, ""), label.examples)
            for label in view.labels
        ]

    def replace(self, view: DatasetView, sent: Sequence[LabelDescription]) -> DatasetView:
        """Replace the descriptions of the named labels, and add labels that do not exist.

        Raises:
            InvalidParameter: the dataset would have too many labels.
            DatasetNotYetAvailable: an upload is in progress.
            DatasetBeingDeleted: the dataset is being deleted.
        """
        check_changeable(view.dataset)
        dataset, stores = view.dataset, self._stores
        stores.ownership.while_owned(dataset, lambda owned: self._replace(owned, sent))
        found = stores.datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
        if found is None:
            raise DatasetNotFound(dataset.dataset_id)
        return stores.labels.view(found)

    def _replace(self, owned: OwnedDataset, sent: Sequence[LabelDescription]) -> None:
        stores, dataset = self._stores, owned.dataset
        known = stores.labels.ids(dataset)
        new = [one for one in sent if normal_form(one.name) not in known]
        labels = len(dataset.counts) + len(new)
        if labels > MAX_LABELS:
            raise InvalidParameter(
                PARAMETER,
                f"the dataset would have {labels:,} labels, the limit is {MAX_LABELS:,}; name "
                "fewer new ones.",
            )
        old = [one for one in sent if normal_form(one.name) in known]
        stores.labels.describe({known[normal_form(one.name)]: one.description for one in old})
        if not new:
            stores.dataset_leases.release(dataset, owned.lease)
            return
        first = stores.ids.reserve("labels", len(new))
        ids = {first + place: one for place, one in enumerate(new)}
        # The note comes before the rows, so that a deletion always finds them.
        stores.dataset_leases.note_labels(dataset, owned.lease, first, len(new))
        stores.labels.put(
            owner_key(dataset.account_id, dataset.family),
            dataset.dataset_id,
            {label_id: one.name for label_id, one in ids.items()},
            {label_id: one.description for label_id, one in ids.items()},
        )
        counts = (*dataset.counts, *(LabelCounts(label_id) for label_id in ids))
        stores.dataset_leases.commit_names(dataset, owned.lease, counts)
