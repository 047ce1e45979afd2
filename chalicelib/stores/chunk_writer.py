"""Adds examples to the chunks of several labels at once, writing each chunk when it is full."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from chalicelib.domain.dataset import UPLOAD, LabelCounts
from chalicelib.domain.example import CHUNK_EXAMPLES, Example
from chalicelib.stores.examples import ExampleSequence, ExampleStore


class ChunkWriter:
    """Writes behind the committed counts; nothing is visible until those are committed.

    Args:
        examples: where chunks are written.
        dataset_id: dataset of the examples.
        fence: of the owner's lease.
        counts: committed counts by label id, in label order.
        check: called before each write; raises when the writer must stop.
    """

    def __init__(
        self,
        examples: ExampleStore,
        dataset_id: int,
        fence: int,
        counts: Mapping[int, LabelCounts],
        check: Callable[[], None],
    ) -> None:
        self._examples = examples
        self._dataset_id = dataset_id
        self._fence = fence
        self._counts = dict(counts)
        self._check = check
        self._open: dict[int, list[Example]] = {}

    def add(self, label_id: int, example_id: int, text: str, created_at: datetime) -> None:
        """Append one text to the upload examples of a label.

        Raises:
            LeaseLost: another owner writes this dataset now.
            StorageUnavailable: a chunk may not have been written.
        """
        chunk = self._chunk(label_id)
        chunk.append(Example(example_id, text, created_at, label_id))
        counts = self._counts[label_id]
        self._counts[label_id] = replace(counts, upload=counts.upload + 1)
        if len(chunk) == CHUNK_EXAMPLES:
            self._put(label_id)

    def close(self) -> tuple[LabelCounts, ...]:
        """Write the chunks that are not full and return the counts to commit.

        Raises:
            LeaseLost: another owner writes this dataset now.
            StorageUnavailable: a chunk may not have been written.
        """
        for label_id in list(self._open):
            self._put(label_id)
        return tuple(self._counts.values())

    def _chunk(self, label_id: int) -> list[Example]:
        """Return the open chunk of a label, with its committed examples."""
        if label_id not in self._open:
            count = self._counts[label_id].upload
            start = count - count % CHUNK_EXAMPLES
            tail = self._examples.read(self._sequence(label_id), start, count - start)
            self._open[label_id] = tail
        return self._open[label_id]

    def _put(self, label_id: int) -> None:
        """Write the open chunk of a label and start the next one."""
        chunk = self._open.pop(label_id)
        self._check()
        number = (self._counts[label_id].upload - 1) // CHUNK_EXAMPLES
        self._examples.put_chunk(self._sequence(label_id), number, chunk, self._fence)

    def _sequence(self, label_id: int) -> ExampleSequence:
        """Name the upload examples of a label."""
        return ExampleSequence(self._dataset_id, UPLOAD, label_id)
