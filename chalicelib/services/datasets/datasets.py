"""Lists, reads and creates datasets."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.accounts.account import GLOBAL_ACCOUNT_ID, Account
from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.limits import MAX_LABELS
from chalicelib.domain.common.list_filters import EVERYTHING, ListFilter
from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.common.repeats import object_number
from chalicelib.domain.datasets.dataset import SUCCEEDED, Dataset, DatasetView, LabelCounts
from chalicelib.domain.datasets.fields import (
    checked_labels,
    checked_language,
    checked_name,
    checked_type,
)
from chalicelib.domain.datasets.label_descriptions import PARAMETER, LabelDescription
from chalicelib.errors import DatasetNotFound, InvalidParameter
from chalicelib.services.datasets.label_descriptions import (
    DatasetServiceStores as DatasetServiceStores,
)
from chalicelib.services.datasets.label_descriptions import LabelDescriptions
from chalicelib.stores.datasets.labels import owner_key


@dataclass(frozen=True)
class NewDataset:
    """Fields of a request to create a dataset."""

    name: str
    type: str | None = None
    language: str | None = None
    labels: str | None = None
    """Labels, separated by commas."""
    descriptions: tuple[LabelDescription, ...] = ()
    """Checked descriptions; they add labels that `labels` does not name."""


class DatasetService:
    """The datasets of an account."""

    def __init__(self, stores: DatasetServiceStores, clock: Clock) -> None:
        self._datasets = stores.datasets
        self._labels = stores.labels
        self._ids = stores.ids
        self._clock = clock
        self.descriptions = LabelDescriptions(stores)
        """The descriptions of labels."""

    def list(
        self,
        account_id: str,
        family: str,
        offset: int,
        count: int,
        wanted: ListFilter = EVERYTHING,
    ) -> ListPage[DatasetView]:
        """List the datasets of an account by id."""
        if wanted:
            ids = self._datasets.ids(account_id, family, wanted)
            found = self._datasets.find_many(account_id, family, ids[offset : offset + count])
            has_more = len(ids) > offset + count
        else:
            # A list without a filter is read by position: a far page skips the rows before it.
            found = self._datasets.page(account_id, family, offset, count + 1)
            has_more = len(found) > count
        return ListPage(tuple(self._labels.views(found[:count])), offset, has_more)

    def list_global(
        self, family: str, offset: int, count: int, wanted: ListFilter = EVERYTHING
    ) -> ListPage[DatasetView]:
        """List the global datasets of a family."""
        return self.list(GLOBAL_ACCOUNT_ID, family, offset, count, wanted)

    def get(self, account_id: str, family: str, dataset_id: int) -> DatasetView:
        """Read one dataset.

        Raises:
            DatasetNotFound: the account has no such dataset in this family.
        """
        dataset = self._datasets.find(account_id, family, dataset_id)
        if dataset is None:
            raise DatasetNotFound(dataset_id)
        return self._labels.view(dataset)

    def create(self, account: Account, family: str, fields: NewDataset) -> DatasetView:
        """Create a dataset without examples, available at once.

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
        # Names before the row: nothing is visible until the row lists the labels.
        self._labels.put(
            owner_key(account.account_id, family),
            dataset_id,
            names,
            {label_id: known.get(name, "") for label_id, name in names.items()},
        )
        now = self._clock()
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
        self._datasets.create(dataset)
        return self._labels.view(dataset)
