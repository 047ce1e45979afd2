"""Label names by id; rows are never changed, so names are kept in memory once read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from chalicelib.domain.datasets.dataset import Dataset, DatasetView, Label
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import LabelRow

_CACHE_LIMIT = 200_000
"""Names kept in memory before the cache starts anew."""

_BATCH_KEYS = 100
"""Rows that one read may ask for."""
_READS_AT_ONCE = 50
"""Reads that are under way at the same time."""


def owner_key(account_id: str, family: str) -> str:
    """Partition key of an account's datasets of one family."""
    return f"{account_id}#{family}"


@translate_errors
class LabelStore:
    """Reads and writes label rows."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()
        self._names: dict[int, str] = {}

    def put(self, owner: str, dataset_id: int, names: Mapping[int, str]) -> None:
        """Write label rows; the same ids and names may be written again."""
        with LabelRow.batch_write() as batch:
            for label_id, name in names.items():
                batch.save(LabelRow(label_id, dataset_id=dataset_id, owner=owner, name=name))

    def names(self, label_ids: Iterable[int]) -> dict[int, str]:
        """Return the names of these labels; unknown ids are absent."""
        wanted = list(label_ids)
        found = {i: self._names.get(i) for i in wanted}
        missing = [label_id for label_id, name in found.items() if name is None]
        found |= self._read(missing)
        return {label_id: name for label_id, name in found.items() if name is not None}

    def dataset_id(self, owner: str, label_id: int) -> int | None:
        """Find the dataset that a label belongs to, or None when it is not the owner's."""
        try:
            row = LabelRow.get(label_id, consistent_read=True)
        except LabelRow.DoesNotExist:
            return None
        return int(row.dataset_id) if row.owner == owner else None

    def delete(self, label_ids: Sequence[int]) -> None:
        """Delete label rows; missing ones are fine."""
        with LabelRow.batch_write() as batch:
            for label_id in label_ids:
                self._names.pop(label_id, None)
                batch.delete(LabelRow(label_id))

    def view(self, dataset: Dataset) -> DatasetView:
        """Join a dataset with the names of its labels."""
        return self.views([dataset])[0]

    def views(self, datasets: Sequence[Dataset]) -> list[DatasetView]:
        """Join datasets with the names of their labels, in one read."""
        names = self.names(c.label_id for dataset in datasets for c in dataset.counts)
        return [DatasetView(dataset, _labels(dataset, names)) for dataset in datasets]

    def _read(self, label_ids: list[int]) -> dict[int, str]:
        """Read names into memory."""
        if not label_ids:
            return {}
        # Labels are never changed, so dropping all of them costs reads and nothing else.
        if len(self._names) > _CACHE_LIMIT:
            self._names.clear()
        parts = [
            label_ids[start : start + _BATCH_KEYS]
            for start in range(0, len(label_ids), _BATCH_KEYS)
        ]
        if len(parts) == 1:
            self._names |= _read_names(label_ids)
        else:
            # A list of datasets with many labels asks for hundreds: not one after the other.
            with ThreadPoolExecutor(min(_READS_AT_ONCE, len(parts))) as readers:
                for names in readers.map(_read_names, parts):
                    self._names |= names
        return {i: self._names[i] for i in label_ids if i in self._names}


def _read_names(label_ids: Sequence[int]) -> dict[int, str]:
    rows = LabelRow.batch_get(label_ids, consistent_read=True)
    return {int(row.label_id): str(row.name) for row in rows}


def _labels(dataset: Dataset, names: Mapping[int, str]) -> tuple[Label, ...]:
    """Name the committed labels of a dataset; one whose row is being deleted is left out."""
    return tuple(
        Label(counts.label_id, dataset.dataset_id, names[counts.label_id], counts.total)
        for counts in dataset.counts
        if counts.label_id in names
    )
