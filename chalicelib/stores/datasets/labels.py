"""The names and descriptions of labels.

A rename stores a new name together with the fence token of the rename. The new name is visible once
the dataset's row has this token, and stored names never change. So names can be cached, and every
process shows a new name as soon as it reads the dataset's row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

from pynamodb.expressions.update import Action

from chalicelib.domain.datasets.dataset import Dataset, DatasetView, Label, LabelCounts
from chalicelib.domain.datasets.label_names import NamesOfLabel, ids_by_name, normal_form
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.rows import find_row
from chalicelib.stores.aws.tables import LabelRow

# Maximum number of cached names; above it, the cache is emptied.
_CACHE_LIMIT = 200_000

# DynamoDB accepts no more keys in one batch read.
_BATCH_KEYS = 100
# Number of latest names of a label that its row stores, in addition to the original name.
MAX_FORMER = 100
# Batch reads that run at the same time.
_READS_AT_ONCE = 50
# Updates of descriptions that run at the same time.
_WRITES_AT_ONCE = 10


def owner_key(account_id: str, family: str) -> str:
    """Return the partition key of an account's datasets of one family."""
    return f"{account_id}#{family}"


@translate_errors
class LabelStore:
    """Reads and writes the rows of labels."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()
        self._names: dict[tuple[int, int], NamesOfLabel] = {}

    def put(
        self,
        owner: str,
        dataset_id: int,
        names: Mapping[int, str],
        descriptions: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Write the rows of new labels, with names and descriptions by label id. Idempotent."""
        with LabelRow.batch_write() as batch:
            for label_id, name in names.items():
                row = LabelRow(label_id, dataset_id=dataset_id, owner=owner, name=name)
                # DynamoDB stores no empty text, so a label without a description has no member.
                row.description = descriptions.get(label_id) or None
                batch.save(row)

    def descriptions(self, label_ids: Sequence[int]) -> dict[int, str]:
        """Return descriptions by label id. Labels without a description are left out."""
        rows = LabelRow.batch_get(list(label_ids), consistent_read=True) if label_ids else ()
        return {int(row.label_id): str(row.description) for row in rows if row.description}

    def describe(self, descriptions: Mapping[int, str]) -> None:
        """Replace descriptions, given by label id; "" removes a description. Idempotent.

        Raises:
            LeaseLost: a label was deleted.
        """

        def write(item: tuple[int, str]) -> bool:
            label_id, text = item
            member = LabelRow.description
            action = member.set(text) if text else member.remove()
            return try_update(LabelRow(label_id), [action], LabelRow.name.exists())

        if not descriptions:
            return
        with ThreadPoolExecutor(min(_WRITES_AT_ONCE, len(descriptions))) as writers:
            if not all(list(writers.map(write, descriptions.items()))):
                raise LeaseLost

    def rename(
        self, label: LabelCounts, name: str, fence: int, merged: Sequence[LabelCounts] = ()
    ) -> None:
        """Add a new name to a label. The name is visible once the dataset's row has `fence`.

        `fence` is the fence token of the correction that renames the label. All names of the labels
        in `merged` become former names of this label.

        Raises:
            LeaseLost: a later correction has renamed the label, or the label was deleted.
        """
        known = self.all_names(merged)
        more = [(fence, old) for found in known.values() for old in (*found.former, found.name)]
        row = _read_row(label.label_id)
        before = _entries(row)
        # A higher fence belongs to a later owner, so this correction has lost the lease.
        if any(given > fence for given, _ in before):
            raise LeaseLost
        # Entries above the committed fence were never committed.
        kept = [entry for entry in before if entry[0] <= label.name_fence]
        names = [*kept, *more, (fence, name)][-MAX_FORMER:]
        there = (
            LabelRow.names.does_not_exist() if row.names is None else LabelRow.names == row.names
        )
        actions: list[Action] = [LabelRow.names.set(names)]
        # A merge target without a description gets the description of a merged label.
        inherited = "" if row.description else self._first_description(merged)
        if inherited:
            actions.append(LabelRow.description.set(inherited))
        if not try_update(row, actions, there) and names != _entries(_read_row(label.label_id)):
            raise LeaseLost

    def _first_description(self, merged: Sequence[LabelCounts]) -> str:
        return next(iter(self.descriptions([c.label_id for c in merged]).values()), "")

    def names(self, counts: Iterable[LabelCounts]) -> dict[int, str]:
        """Return names by label id; unknown labels are left out."""
        return {label_id: found.name for label_id, found in self.all_names(counts).items()}

    def all_names(self, counts: Iterable[LabelCounts]) -> dict[int, NamesOfLabel]:
        """Return present and former names by label id; unknown labels are left out."""
        wanted = [(c.label_id, c.name_fence) for c in counts]
        found = {key: self._names.get(key) for key in wanted}
        missing = [key for key, names in found.items() if names is None]
        found |= self._read(missing)
        return {label_id: names for (label_id, _), names in found.items() if names is not None}

    def ids(self, dataset: Dataset) -> dict[str, int]:
        """Map the present and former names of a dataset's labels, in normal form, to label ids."""
        return ids_by_name(self.all_names(dataset.counts))

    def dataset_id(self, owner: str, label_id: int) -> int | None:
        """Return the id of a label's dataset; None if the owner has no such label."""
        row = find_row(LabelRow, label_id)
        return int(row.dataset_id) if row and row.owner == owner else None

    def delete(self, label_ids: Sequence[int]) -> None:
        """Delete the rows of labels. Missing rows are ignored."""
        with LabelRow.batch_write() as batch:
            for label_id in label_ids:
                batch.delete(LabelRow(label_id))
        gone = frozenset(label_ids)
        self._names = {key: names for key, names in self._names.items() if key[0] not in gone}

    def view(self, dataset: Dataset) -> DatasetView:
        """Return a dataset with the names of its labels."""
        return self.views([dataset])[0]

    def views(self, datasets: Sequence[Dataset]) -> list[DatasetView]:
        """Return datasets with the names of their labels."""
        # One read for all labels is faster than one for each dataset.
        names = self.all_names(c for dataset in datasets for c in dataset.counts)
        return [DatasetView(dataset, _labels(dataset, names)) for dataset in datasets]

    def _read(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], NamesOfLabel]:
        if not keys:
            return {}
        # Dropped names are read again when they are needed.
        if len(self._names) > _CACHE_LIMIT:
            self._names = {}
        parts = [keys[start : start + _BATCH_KEYS] for start in range(0, len(keys), _BATCH_KEYS)]
        if len(parts) == 1:
            found = _read_names(keys)
        else:
            # A list of datasets with many labels may need hundreds of reads.
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


def _read_row(label_id: int) -> LabelRow:
    """Return the row of a label; raise LeaseLost if it was deleted with its dataset."""
    row = find_row(LabelRow, label_id)
    if row is None:
        raise LeaseLost
    return row


def _entries(row: LabelRow) -> list[tuple[int, str]]:
    return [(int(fence), str(name)) for fence, name in row.names or ()]


def _names_at(row: LabelRow, fence: int) -> NamesOfLabel:
    """Return the present and former names of a label, as of the correction with token `fence`."""
    names = [str(row.name), *(name for given, name in _entries(row) if given <= fence)]
    others = (name for name in names if normal_form(name) != normal_form(names[-1]))
    return NamesOfLabel(names[-1], tuple(dict.fromkeys(others)))


def _labels(dataset: Dataset, names: Mapping[int, NamesOfLabel]) -> tuple[Label, ...]:
    """Return the committed labels of a dataset with their names."""
    # A label whose row is being deleted has no name and is left out.
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
