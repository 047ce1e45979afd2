"""Label names by id and by the fence under which they were given.

What a row holds for a fence is never changed once the dataset's row counts it, so names are kept in
memory once read, and every process shows a new name as soon as the dataset's row does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from chalicelib.domain.datasets.dataset import Dataset, DatasetView, Label, LabelCounts
from chalicelib.domain.datasets.label_names import NamesOfLabel, ids_by_name, normal_form
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.tables import LabelRow

# Names kept in memory before the cache starts anew.
_CACHE_LIMIT = 200_000

# Rows that one read may ask for.
_BATCH_KEYS = 100
# Former names of a label that are remembered, the latest ones.
MAX_FORMER = 100
# Reads that are under way at the same time.
_READS_AT_ONCE = 50


def owner_key(account_id: str, family: str) -> str:
    """Partition key of an account's datasets of one family."""
    return f"{account_id}#{family}"


@translate_errors
class LabelStore:
    """Reads and writes label rows."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()
        self._names: dict[tuple[int, int], NamesOfLabel] = {}

    def put(self, owner: str, dataset_id: int, names: Mapping[int, str]) -> None:
        """Write label rows; the same ids and names may be written again."""
        with LabelRow.batch_write() as batch:
            for label_id, name in names.items():
                batch.save(LabelRow(label_id, dataset_id=dataset_id, owner=owner, name=name))

    def rename(
        self, label: LabelCounts, name: str, fence: int, taken_over: Sequence[LabelCounts] = ()
    ) -> None:
        """Give a label a name, which shows once the dataset's row counts it under the fence.

        Args:
            label: the label as it is committed.
            name: its name from then on.
            fence: of the owner of the dataset.
            taken_over: labels that become this one; their names become former ones of it.

        Raises:
            LeaseLost: a later owner gave it a name, or it was deleted.
        """
        known = self.all_names(taken_over)
        more = [(fence, old) for found in known.values() for old in (*found.former, found.name)]
        row = _fresh(label.label_id)
        before = _entries(row)
        # What stands behind the committed fence came to nothing, unless a later owner wrote it.
        if any(given > fence for given, _ in before):
            raise LeaseLost
        kept = [entry for entry in before if entry[0] <= label.named]
        names = [*kept, *more, (fence, name)][-MAX_FORMER:]
        there = (
            LabelRow.names.does_not_exist() if row.names is None else LabelRow.names == row.names
        )
        if not try_update(row, [LabelRow.names.set(names)], there) and names != _entries(
            _fresh(label.label_id)
        ):
            raise LeaseLost

    def names(self, counts: Iterable[LabelCounts]) -> dict[int, str]:
        """Return the names of these labels; unknown ones are absent."""
        return {label_id: found.name for label_id, found in self.all_names(counts).items()}

    def all_names(self, counts: Iterable[LabelCounts]) -> dict[int, NamesOfLabel]:
        """Return the names of these labels with their former ones; unknown labels are absent."""
        wanted = [(c.label_id, c.named) for c in counts]
        found = {key: self._names.get(key) for key in wanted}
        missing = [key for key, names in found.items() if names is None]
        found |= self._read(missing)
        return {label_id: names for (label_id, _), names in found.items() if names is not None}

    def ids(self, dataset: Dataset) -> dict[str, int]:
        """Find the labels of a dataset by the normal form of their names, present and former."""
        return ids_by_name(self.all_names(dataset.counts))

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
                batch.delete(LabelRow(label_id))
        gone = frozenset(label_ids)
        self._names = {key: names for key, names in self._names.items() if key[0] not in gone}

    def view(self, dataset: Dataset) -> DatasetView:
        """Join a dataset with the names of its labels."""
        return self.views([dataset])[0]

    def views(self, datasets: Sequence[Dataset]) -> list[DatasetView]:
        """Join datasets with the names of their labels, in one read."""
        names = self.all_names(c for dataset in datasets for c in dataset.counts)
        return [DatasetView(dataset, _labels(dataset, names)) for dataset in datasets]

    def _read(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], NamesOfLabel]:
        """Read names into memory."""
        if not keys:
            return {}
        # What is dropped costs reads and nothing else.
        if len(self._names) > _CACHE_LIMIT:
            self._names = {}
        parts = [keys[start : start + _BATCH_KEYS] for start in range(0, len(keys), _BATCH_KEYS)]
        if len(parts) == 1:
            found = _read_names(keys)
        else:
            # A list of datasets with many labels asks for hundreds: not one after the other.
            found = {}
            with ThreadPoolExecutor(min(_READS_AT_ONCE, len(parts))) as readers:
                for names in readers.map(_read_names, parts):
                    found |= names
        self._names |= found
        return found


def _read_names(keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], NamesOfLabel]:
    fences = dict(keys)
    rows = LabelRow.batch_get([label_id for label_id, _ in keys], consistent_read=True)
    return {
        (int(row.label_id), fences[int(row.label_id)]): _names_at(row, fences[int(row.label_id)])
        for row in rows
    }


def _fresh(label_id: int) -> LabelRow:
    """Read a label's row.

    Raises:
        LeaseLost: it was deleted with its dataset.
    """
    try:
        return LabelRow.get(label_id, consistent_read=True)
    except LabelRow.DoesNotExist:
        raise LeaseLost from None


def _entries(row: LabelRow) -> list[tuple[int, str]]:
    return [(int(fence), str(name)) for fence, name in row.names or ()]


def _names_at(row: LabelRow, fence: int) -> NamesOfLabel:
    """Return the names that a label has under a fence."""
    names = [str(row.name), *(name for given, name in _entries(row) if given <= fence)]
    others = (name for name in names if normal_form(name) != normal_form(names[-1]))
    return NamesOfLabel(names[-1], tuple(dict.fromkeys(others)))


def _labels(dataset: Dataset, names: Mapping[int, NamesOfLabel]) -> tuple[Label, ...]:
    """Name the committed labels of a dataset; one whose row is being deleted is left out."""
    return tuple(
        Label(
            counts.label_id,
            dataset.dataset_id,
            names[counts.label_id].name,
            counts.total,
            names[counts.label_id].former,
        )
        for counts in dataset.counts
        if counts.label_id in names
    )
