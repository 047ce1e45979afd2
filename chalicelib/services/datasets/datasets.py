"""Lists, reads and creates datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.domain.accounts.account import GLOBAL_ACCOUNT_ID, Account
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.limits import MAX_LABELS
from chalicelib.domain.common.paging import EVERYTHING, ListFilter, ListPage
from chalicelib.domain.common.repeats import began_at, object_number
from chalicelib.domain.datasets.dataset import SUCCEEDED, Dataset, DatasetView, LabelCounts
from chalicelib.domain.datasets.fields import (
    checked_labels,
    checked_language,
    checked_name,
    checked_type,
)
from chalicelib.domain.datasets.growth import check_changeable
from chalicelib.domain.datasets.label_descriptions import PARAMETER, LabelDescription
from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.errors import DatasetNotFound, InvalidParameter
from chalicelib.stores.datasets.labels import LabelStore, owner_key
from chalicelib.stores.datasets.leases import DatasetLeases, OwnedDataset

if TYPE_CHECKING:
    from chalicelib.stores.aws.counters import IdStore
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.datasets.ownership import DatasetOwnership


@dataclass(frozen=True)
class NewDataset:
    """Fields of a request to create a dataset."""

    name: str
    type: str | None = None
    language: str | None = None
    labels: str | None = None
    """Names of labels, separated by commas."""
    descriptions: tuple[LabelDescription, ...] = ()
    """Checked descriptions. A described label is created even if `labels` does not list it."""


@dataclass(frozen=True, kw_only=True)
class DatasetServiceStores:
    """Stores used by `DatasetService` and `LabelDescriptions`."""

    dataset_leases: DatasetLeases
    datasets: DatasetStore
    ids: IdStore
    labels: LabelStore
    ownership: DatasetOwnership


class LabelDescriptions:
    """Reads and changes the descriptions of labels."""

    def __init__(self, stores: DatasetServiceStores) -> None:
        self._stores = stores

    def list(self, view: DatasetView) -> list[LabelDescription]:
        """Return all labels of a dataset with their descriptions, which may be empty."""
        known = self._stores.labels.descriptions([label.label_id for label in view.labels])
        return [
            LabelDescription(label.name, known.get(label.label_id, ""), label.examples)
            for label in view.labels
        ]

    def replace(self, view: DatasetView, descriptions: Sequence[LabelDescription]) -> DatasetView:
        """Set the descriptions of labels, and create labels that do not exist.

        Raises:
            InvalidParameter: the dataset would have too many labels.
            DatasetNotYetAvailable: an upload is running.
            DatasetBeingDeleted: the dataset is being deleted.
        """
        check_changeable(view.dataset)
        dataset, stores = view.dataset, self._stores
        stores.ownership.while_owned(dataset, lambda owned: self._replace(owned, descriptions))
        found = stores.datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
        if found is None:
            raise DatasetNotFound(dataset.dataset_id)
        return stores.labels.view(found)

    def _replace(self, owned: OwnedDataset, descriptions: Sequence[LabelDescription]) -> None:
        stores, dataset = self._stores, owned.dataset
        known = stores.labels.ids(dataset)
        new = [one for one in descriptions if normal_form(one.name) not in known]
        labels = len(dataset.counts) + len(new)
        if labels > MAX_LABELS:
            raise InvalidParameter(
                PARAMETER,
                f"the dataset would have {labels:,} labels, the limit is {MAX_LABELS:,}; name "
                "fewer new ones.",
            )
        old = [one for one in descriptions if normal_form(one.name) in known]
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


class DatasetService:
    """Lists, reads and creates the datasets of an account."""

    def __init__(self, stores: DatasetServiceStores, clock: Clock) -> None:
        self._datasets = stores.datasets
        self._labels = stores.labels
        self._ids = stores.ids
        self._clock = clock
        self.descriptions = LabelDescriptions(stores)
        """Reads and changes the descriptions of labels."""

    def list(
        self,
        account_id: str,
        family: str,
        offset: int,
        count: int,
        query: ListFilter = EVERYTHING,
    ) -> ListPage[DatasetView]:
        """List an account's datasets that `query` matches, by ascending id."""
        if query:
            ids = self._datasets.ids(account_id, family, query)
            page = self._datasets.find_many(account_id, family, ids[offset : offset + count])
            # Between the two reads, a worker may finish an upload, or a dataset may be renamed.
            found = [one for one in page if query.keeps(one.name, one.status)]
            return ListPage(tuple(self._labels.views(found)), offset, len(ids) > offset + count)
        # A list without a filter is read by position: a far page skips the rows before it.
        rows = self._datasets.page(account_id, family, offset, count + 1)
        found = [one for one in rows[:count] if not one.is_unfinished]
        hidden = len(rows[:count]) - len(found)
        return ListPage(tuple(self._labels.views(found)), offset, len(rows) > count, hidden)

    def list_global(
        self, family: str, offset: int, count: int, query: ListFilter = EVERYTHING
    ) -> ListPage[DatasetView]:
        """List the global datasets of a family that `query` matches."""
        return self.list(GLOBAL_ACCOUNT_ID, family, offset, count, query)

    def get(self, account_id: str, family: str, dataset_id: int) -> DatasetView:
        """Return a dataset of the account and family, or raise DatasetNotFound."""
        dataset = self._datasets.find(account_id, family, dataset_id)
        if dataset is None:
            raise DatasetNotFound(dataset_id)
        return self._labels.view(dataset)

    def create(self, account: Account, family: str, fields: NewDataset) -> DatasetView:
        """Create a dataset without examples. The dataset is available at once.

        Raises:
            BadRequest: a field is not allowed.
        """
        dataset_type = checked_type(family, fields.type)
        labels = checked_labels(fields.labels, dataset_type)
        known = {one.name: one.description for one in fields.descriptions}
        labels = tuple(dict.fromkeys((*labels, *known)))
        if len(labels) > MAX_LABELS:
            raise InvalidParameter(
                PARAMETER, f"there are {len(labels)} labels, the limit is {MAX_LABELS}; send fewer."
            )
        name = checked_name(fields.name)
        language = checked_language(family, fields.language)
        # A repeated call with an idempotency key uses the id of its first attempt.
        dataset_id = object_number() or self._ids.reserve("datasets")
        first_label = self._ids.reserve("labels", len(labels)) if labels else 0
        names = {first_label + i: label for i, label in enumerate(labels)}
        now = began_at(self._clock())
        dataset = Dataset(
            account_id=account.account_id,
            family=family,
            dataset_id=dataset_id,
            name=name,
            type=dataset_type,
            language=language,
            status=SUCCEEDED,
            available=True,
            created_at=now,
            updated_at=now,
            counts=tuple(LabelCounts(label_id) for label_id in names),
        )
        self._datasets.reserve(dataset)
        self._labels.put(
            owner_key(account.account_id, family),
            dataset_id,
            names,
            {label_id: known.get(name, "") for label_id, name in names.items()},
        )
        return self._labels.view(self._datasets.finish(dataset))
