"""Adds one example to a dataset: own the row, write the tail chunk, commit the counts.

A picture file is written under the same lease, so that the deletion of the dataset, which waits for
writers, finds it.
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
from chalicelib.stores.examples.example_places import ExamplePlaces
from chalicelib.stores.examples.examples import ExampleStore, sequence_of
from chalicelib.stores.examples.pictures import PictureStore
from chalicelib.stores.jobs.capacity import CapacityStore


class AppendStores(Protocol):
    """What additions are written with: the container's stores."""

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
    """Serialises the additions to one dataset by the lease of its row."""

    def __init__(self, stores: AppendStores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    def append(self, dataset: Dataset, new: NewExample) -> tuple[Example, Dataset]:
        """Add an example, or find the equal one that the label has already in its source.

        Returns:
            The example, and the dataset with its new counts.

        Raises:
            DatasetNotYetAvailable: an upload is going on.
            StorageUnavailable: other additions keep it busy.
            DatasetBeingDeleted: it is being deleted.
            InvalidParameter: it has as many labels as are allowed.
            TooLarge: it is full.
            TooManyOpen: the account stores as much as is allowed.
            ExampleNameTaken: another example has the name, and this one needs its own.
        """
        if new.needs_own_name:
            # Before the lease is taken: to read many names would keep others waiting.
            self._stores.example_names.prepare(dataset)
        is_added = False
        # A text is small and counted now and then; a picture file must find room.
        if new.content:
            self._stores.capacity.reserve_bytes(dataset.account_id, new.size_bytes)
        try:
            example, grown, is_added = self._when_free(dataset, new)
        finally:
            if new.content and not is_added:
                self._stores.capacity.release_bytes(dataset.account_id, new.size_bytes)
        return example, grown

    def _when_free(self, dataset: Dataset, new: NewExample) -> tuple[Example, Dataset, bool]:
        """Add once nobody else changes the dataset; False beside an equal one that is there."""
        return self._stores.ownership.while_owned(
            dataset,
            lambda owned: self._append(owned, new),
            lambda current: check_can_grow(current, has_new_label=False),
        )

    def _append(self, owned: OwnedDataset, new: NewExample) -> tuple[Example, Dataset, bool]:
        """Add under the lease."""
        counts, label_id = self._with_label(owned, new)
        existing = self._find(owned.dataset, new, counts, label_id)
        if existing is not None:
            self._stores.dataset_leases.release(owned.dataset, owned.lease)
            return existing, owned.dataset, False
        # Only now: an example that is there already is an answer in a full dataset too.
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
            self._clear_up(owned.dataset, label_id)
            raise
        return example, replace(owned.dataset, counts=counts), True

    def _clear_up(self, dataset: Dataset, label_id: int) -> None:
        if self._find_dataset(dataset) is None:
            # Written while the deletion went by: nobody else would remove it.
            self._stores.contents.delete(dataset.dataset_id, [label_id])

    def _find_dataset(self, dataset: Dataset) -> Dataset | None:
        """Read a dataset again; None when it was deleted."""
        key = dataset.account_id, dataset.family, dataset.dataset_id
        return self._stores.datasets.find(*key)

    def _with_label(
        self, owned: OwnedDataset, new: NewExample
    ) -> tuple[tuple[LabelCounts, ...], int]:
        """Return the counts with the example's label among them, under a new id when it is new."""
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
        # First the note, then the row, so that the dataset's deletion finds it in any case.
        self._stores.dataset_leases.note_label(dataset, owned.lease, label_id)
        owner = owner_key(dataset.account_id, dataset.family)
        self._stores.labels.put(owner, dataset.dataset_id, {label_id: name})

    def _find(
        self, dataset: Dataset, new: NewExample, counts: Sequence[LabelCounts], label_id: int
    ) -> Example | None:
        """Find the same text or picture among the committed ones of its label and source."""
        mine = next((c for c in counts if c.label_id == label_id), LabelCounts(label_id))
        sought = Example(0, new.name, self._clock(), picture=new.picture)
        sequence = sequence_of(dataset.dataset_id, new.source, mine)
        return self._stores.digests.find(sequence, mine.count(new.source), sought.digest)

    def _check_name(self, owned: OwnedDataset, new: NewExample) -> None:
        """Refuse a name that is in use where each must be there once."""
        if new.needs_own_name and self._stores.example_names.has(owned.dataset, new.name):
            raise ExampleNameTaken(owned.dataset.dataset_id, new.name)

    def _write(self, owned: OwnedDataset, new: NewExample, counts: LabelCounts) -> Example:
        """Write the picture, then the tail chunk with the example behind the committed ones."""
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
        # Noted first: a note too many is only looked up in vain, an example without one is lost.
        self._stores.example_places.note(owned.dataset.dataset_id, [example])
        # A chunk is one row, so its tail is written anew; readers stop at the committed count.
        self._stores.examples.put_chunk(sequence, number, [*tail, example], owned.lease.fence)
        return example


def _addition(dataset: Dataset, counts: Sequence[LabelCounts], new: NewExample) -> Addition:
    """Sum up the totals with one more example."""
    is_feedback = new.source == FEEDBACK
    return Addition(
        counts=counts,
        duplicates=dataset.duplicates,
        words_upload=dataset.words_upload + (0 if is_feedback else new.words),
        words_feedback=dataset.words_feedback + (new.words if is_feedback else 0),
        bytes=dataset.bytes + new.size_bytes,
    )
