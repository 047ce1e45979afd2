"""Adds one example to a dataset: acquires the lease, writes the last chunk, commits the counts.

An image file is written under the same lease. The deletion of a dataset waits until the lease has
ended, so it deletes this file, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from chalicelib.domain.common.clock import Clock
from chalicelib.domain.datasets.dataset import FEEDBACK, Dataset, LabelCounts
from chalicelib.domain.datasets.example import Example, NewExample
from chalicelib.domain.datasets.growth import check_can_grow
from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.errors import ExampleNameTaken, LeaseLost
from chalicelib.stores.aws.counters import IdStore
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.datasets.contents import DatasetContents
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.labels import LabelStore, owner_key
from chalicelib.stores.datasets.leases import Addition, DatasetLeases, OwnedDataset
from chalicelib.stores.datasets.ownership import DatasetOwnership
from chalicelib.stores.examples.digest_index import DigestIndex
from chalicelib.stores.examples.example_names import ExampleNames
from chalicelib.stores.examples.example_search import ExamplePlaces
from chalicelib.stores.examples.examples import ExampleStore, sequence_of
from chalicelib.stores.examples.pictures import PictureStore
from chalicelib.stores.jobs.capacity import CapacityStore


class AppendStores(Protocol):
    """Stores used by `AppendStore`."""

    datasets: DatasetStore
    dataset_leases: DatasetLeases
    ownership: DatasetOwnership
    examples: ExampleStore
    digests: DigestIndex
    example_names: ExampleNames
    example_places: ExamplePlaces
    labels: LabelStore
    ids: IdStore
    pictures: PictureStore
    contents: DatasetContents
    capacity: CapacityStore


@translate_errors
class AppendStore:
    """Adds examples to datasets. Each addition acquires the lease of its dataset."""

    def __init__(self, stores: AppendStores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    def append(self, dataset: Dataset, new: NewExample) -> tuple[Example, Dataset]:
        """Add an example, unless its label and source already have an equal example.

        Returns:
            The new example or the equal example, and the dataset with its counts.

        Raises:
            DatasetNotYetAvailable: an upload is running.
            StorageUnavailable: other additions hold the lease of the dataset.
            DatasetBeingDeleted: the dataset is being deleted.
            InvalidParameter: the dataset has the maximum number of labels.
            TooLarge: the dataset has the maximum number of examples or bytes.
            TooManyOpen: the account stores too much.
            ExampleNameTaken: another example has this name, and names must be unique.
        """
        if new.needs_own_name:
            # Before the lease, because reading many names would make other writers wait.
            self._stores.example_names.prepare(dataset)
        is_added = False
        # Texts are so small that the daily recount is enough; images reserve their bytes first.
        if new.content:
            self._stores.capacity.reserve_bytes(dataset.account_id, new.size_bytes)
        try:
            example, grown, is_added = self._when_free(dataset, new)
        finally:
            if new.content and not is_added:
                self._stores.capacity.release_bytes(dataset.account_id, new.size_bytes)
        return example, grown

    def add_label(self, dataset: Dataset, name: str) -> tuple[int, Dataset]:
        """Add a label without examples, or return the existing label with this name.

        Returns:
            The id of the label, and the dataset with its new counts.

        Raises:
            DatasetNotYetAvailable: an upload is running.
            StorageUnavailable: other additions hold the lease of the dataset.
            DatasetBeingDeleted: the dataset is being deleted.
            InvalidParameter: the dataset has the maximum number of labels.
        """
        return self._stores.ownership.while_owned(dataset, lambda owned: self._label(owned, name))

    def _label(self, owned: OwnedDataset, name: str) -> tuple[int, Dataset]:
        """Add a label to a dataset whose lease is held."""
        dataset, leases = owned.dataset, self._stores.dataset_leases
        found = self._stores.labels.ids(dataset).get(normal_form(name))
        if found is not None:
            leases.release(dataset, owned.lease)
            return found, dataset
        check_can_grow(dataset, has_new_label=True)
        label_id = self._stores.ids.reserve("labels")
        counts = (*dataset.counts, LabelCounts(label_id))
        self._put_label(owned, label_id, name)
        try:
            leases.commit_names(dataset, owned.lease, counts)
        except LeaseLost:
            self._remove_leftovers(dataset, label_id)
            raise
        return label_id, replace(dataset, counts=counts)

    def _when_free(self, dataset: Dataset, new: NewExample) -> tuple[Example, Dataset, bool]:
        """Add an example once the lease is free. The last value is whether the example is new."""
        return self._stores.ownership.while_owned(
            dataset,
            lambda owned: self._append(owned, new),
            lambda current: check_can_grow(current, has_new_label=False),
        )

    def _append(self, owned: OwnedDataset, new: NewExample) -> tuple[Example, Dataset, bool]:
        counts, label_id = self._with_label(owned, new)
        existing = self._find(owned.dataset, new, counts, label_id)
        if existing is not None:
            self._stores.dataset_leases.release(owned.dataset, owned.lease)
            return existing, owned.dataset, False
        # Checked only now, because an existing example is returned from a full dataset, too.
        has_new_label = len(counts) > len(owned.dataset.counts)
        check_can_grow(owned.dataset, has_new_label=has_new_label)
        self._check_name(owned, new)
        if has_new_label:
            self._put_label(owned, label_id, new.label)
        try:
            example = self._write(owned, new, next(c for c in counts if c.label_id == label_id))
            counts = tuple(
                c.incremented(new.source) if c.label_id == label_id else c for c in counts
            )
            addition = _addition(owned.dataset, counts, new)
            self._stores.dataset_leases.commit_addition(owned.dataset, owned.lease, addition)
        except LeaseLost:
            self._remove_leftovers(owned.dataset, label_id)
            raise
        return example, replace(owned.dataset, counts=counts), True

    def _remove_leftovers(self, dataset: Dataset, label_id: int) -> None:
        if self._find_dataset(dataset) is None:
            # The data was written after the deletion had passed, so nothing else would remove it.
            self._stores.contents.delete(dataset.dataset_id, [label_id])

    def _find_dataset(self, dataset: Dataset) -> Dataset | None:
        key = dataset.account_id, dataset.family, dataset.dataset_id
        return self._stores.datasets.find(*key)

    def _with_label(
        self, owned: OwnedDataset, new: NewExample
    ) -> tuple[tuple[LabelCounts, ...], int]:
        """Add the example's label if it is missing; return all label counts and the label's id."""
        dataset = owned.dataset
        if new.label_id:
            return dataset.counts, new.label_id
        found = self._stores.labels.ids(dataset).get(normal_form(new.label))
        if found is not None:
            return dataset.counts, found
        label_id = self._stores.ids.reserve("labels")
        return (*dataset.counts, LabelCounts(label_id)), label_id

    def _put_label(self, owned: OwnedDataset, label_id: int, name: str) -> None:
        dataset = owned.dataset
        # The note comes before the row, so that a deletion always finds the row.
        self._stores.dataset_leases.note_labels(dataset, owned.lease, label_id)
        owner = owner_key(dataset.account_id, dataset.family)
        self._stores.labels.put(owner, dataset.dataset_id, {label_id: name})

    def _find(
        self, dataset: Dataset, new: NewExample, counts: Sequence[LabelCounts], label_id: int
    ) -> Example | None:
        """Return the committed example that equals `new`, including label and source, or None."""
        mine = next((c for c in counts if c.label_id == label_id), LabelCounts(label_id))
        sought = Example(0, new.name, self._clock(), picture=new.picture)
        sequence = sequence_of(dataset.dataset_id, new.source, mine)
        return self._stores.digests.find(sequence, mine.count(new.source), sought.digest)

    def _check_name(self, owned: OwnedDataset, new: NewExample) -> None:
        if new.needs_own_name and self._stores.example_names.has(owned.dataset, new.name):
            raise ExampleNameTaken(owned.dataset.dataset_id, new.name)

    def _write(self, owned: OwnedDataset, new: NewExample, counts: LabelCounts) -> Example:
        """Write the image of an example, and the last chunk with the example appended."""
        if new.content:
            self._stores.pictures.put(
                owned.dataset.dataset_id, new.picture, new.content, new.content_type
            )
        sequence = sequence_of(owned.dataset.dataset_id, new.source, counts)
        count = counts.count(new.source)
        start, number = self._stores.examples.layout(sequence).tail(count)
        tail = self._stores.examples.read(sequence, start, count - start)
        example = Example(
            self._stores.ids.reserve("examples"),
            new.name,
            self._clock(),
            counts.label_id,
            new.picture,
        )
        # Noted before the example: a note without an example only costs a lookup, but an example
        # without a note cannot be found.
        self._stores.example_places.note(owned.dataset.dataset_id, [example])
        # A chunk is one row, so it is rewritten; readers stop at the committed count.
        self._stores.examples.put_chunk(sequence, number, [*tail, example], owned.lease.fence)
        return example


def _addition(dataset: Dataset, counts: Sequence[LabelCounts], new: NewExample) -> Addition:
    is_feedback = new.source == FEEDBACK
    return Addition(
        counts=counts,
        duplicates=dataset.duplicates,
        words_upload=dataset.words_upload + (0 if is_feedback else new.words),
        words_feedback=dataset.words_feedback + (new.words if is_feedback else 0),
        bytes=dataset.bytes + new.size_bytes,
    )
