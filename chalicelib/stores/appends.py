"""Adds one text to a dataset: own the row, write the tail chunk, commit the counts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chalicelib.domain.clock import Clock
from chalicelib.domain.dataset import FEEDBACK, UPLOAD, Dataset, LabelCounts
from chalicelib.domain.example import CHUNK_EXAMPLES, Example, text_digest
from chalicelib.domain.growth import check_can_grow
from chalicelib.domain.words import count_words
from chalicelib.errors import (
    DatasetNotFound,
    DatasetNotYetAvailable,
    LeaseLost,
    ServiceError,
    StorageUnavailable,
)
from chalicelib.stores.dataset_leases import Addition, DatasetLeases, OwnedDataset
from chalicelib.stores.datasets import DatasetStore
from chalicelib.stores.examples import ExampleSequence, ExampleStore
from chalicelib.stores.ids import IdStore
from chalicelib.stores.labels import LabelStore, owner_key
from chalicelib.stores.trouble import store

WAIT_SECONDS = 8.0
"""Longest wait for other additions to the same dataset."""


@dataclass(frozen=True)
class NewText:
    """A text to add; `label_id` 0 makes a label of the name `label`."""

    text: str
    """The text."""
    label: str
    """Label name."""
    label_id: int
    """Label of the dataset, or 0."""
    source: str
    """`upload` or `feedback`."""


@store
class AppendStore:
    """Serialises the additions to one dataset by the lease of its row."""

    def __init__(
        self,
        datasets: DatasetStore,
        leases: DatasetLeases,
        examples: ExampleStore,
        labels: LabelStore,
        ids: IdStore,
        clock: Clock,
    ) -> None:
        self._datasets = datasets
        self._leases = leases
        self._examples = examples
        self._labels = labels
        self._ids = ids
        self._clock = clock

    def append(self, dataset: Dataset, new: NewText) -> tuple[Example, Dataset]:
        """Add a text, or find the equal one that the label has already.

        Returns:
            The example, and the dataset with its new counts.

        Raises:
            DatasetNotYetAvailable: an upload or other additions keep it busy.
            DatasetBeingDeleted: it is being deleted.
            InvalidParameter: it has as many labels as are allowed.
            TooLarge: it is full.
            StorageUnavailable: the outcome is not known; a repetition finds what was added.
        """
        deadline = time.monotonic() + WAIT_SECONDS
        pause = 0.01
        while True:
            owned = self._leases.take_addition(dataset)
            if owned is not None:
                try:
                    return self._append(owned, new)
                except LeaseLost:
                    owned = None
                except ServiceError:
                    self._give_back(owned)
                    raise
            current = self._datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
            if current is None:
                raise DatasetNotFound(dataset.dataset_id)
            check_can_grow(current, has_new_label=False)
            if time.monotonic() > deadline:
                raise DatasetNotYetAvailable
            time.sleep(pause)
            pause = min(0.2, pause * 1.5)

    def _append(self, owned: OwnedDataset, new: NewText) -> tuple[Example, Dataset]:
        """Add under the lease."""
        counts, label_id = self._with_label(owned, new)
        found = self._find(owned.dataset, new, counts, label_id)
        if found is not None:
            self._leases.release(owned.dataset, owned.lease)
            return found, owned.dataset
        has_new_label = len(counts) > len(owned.dataset.counts)
        check_can_grow(owned.dataset, has_new_label=has_new_label)
        if has_new_label:
            self._put_label(owned, label_id, new.label)
        example = self._write(owned, new, next(c for c in counts if c.label_id == label_id))
        counts = tuple(_grown(c, new.source) if c.label_id == label_id else c for c in counts)
        addition = _addition(owned.dataset, counts, new)
        self._leases.commit_addition(owned.dataset, owned.lease, addition)
        return example, replace(owned.dataset, counts=counts)

    def _with_label(self, owned: OwnedDataset, new: NewText) -> tuple[tuple[LabelCounts, ...], int]:
        """Return the counts with the text's label among them, under a new id when it is new."""
        dataset = owned.dataset
        if new.label_id:
            return dataset.counts, new.label_id
        names = self._labels.names(c.label_id for c in dataset.counts)
        for label_id, name in names.items():
            if name == new.label:
                return dataset.counts, label_id
        label_id = self._ids.reserve("labels")
        return (*dataset.counts, LabelCounts(label_id)), label_id

    def _put_label(self, owned: OwnedDataset, label_id: int, name: str) -> None:
        """Write a new label's name, where the dataset's deletion finds it."""
        dataset = owned.dataset
        self._leases.note_label(dataset, owned.lease, label_id)
        owner = owner_key(dataset.account_id, dataset.family)
        self._labels.put(owner, dataset.dataset_id, {label_id: name})

    def _find(
        self, dataset: Dataset, new: NewText, counts: Sequence[LabelCounts], label_id: int
    ) -> Example | None:
        """Find the same text among the committed ones of its label and source."""
        mine = [c for c in counts if c.label_id == label_id]
        digest = text_digest(new.text)
        if digest not in self._examples.digests(dataset.dataset_id, new.source, mine):
            return None
        examples = self._examples.read_all(dataset.dataset_id, new.source, mine)
        return next((e for e in examples if e.name == new.text), None)

    def _write(self, owned: OwnedDataset, new: NewText, counts: LabelCounts) -> Example:
        """Write the tail chunk with the text behind the committed ones."""
        sequence = ExampleSequence(owned.dataset.dataset_id, new.source, counts.label_id)
        count = counts.count(new.source)
        start = count - count % CHUNK_EXAMPLES
        tail = self._examples.read(sequence, start, count - start)
        example = Example(self._ids.reserve("examples"), new.text, self._clock(), counts.label_id)
        number = start // CHUNK_EXAMPLES
        self._examples.put_chunk(sequence, number, [*tail, example], owned.lease.fence)
        return example

    def _give_back(self, owned: OwnedDataset) -> None:
        """End the lease after a failure; when that fails too, it ends by itself."""
        try:
            self._leases.release(owned.dataset, owned.lease)
        except StorageUnavailable:
            return


def _grown(counts: LabelCounts, source: str) -> LabelCounts:
    """Count one more example."""
    if source == UPLOAD:
        return replace(counts, upload=counts.upload + 1)
    return replace(counts, feedback=counts.feedback + 1)


def _addition(dataset: Dataset, counts: Sequence[LabelCounts], new: NewText) -> Addition:
    """Sum up the totals with one more text."""
    words = count_words(new.text, dataset.language)
    is_feedback = new.source == FEEDBACK
    return Addition(
        counts=counts,
        duplicates=dataset.duplicates,
        words_upload=dataset.words_upload + (0 if is_feedback else words),
        words_feedback=dataset.words_feedback + (words if is_feedback else 0),
        bytes=dataset.bytes + len(new.text.encode("utf-8", "surrogatepass")),
    )
