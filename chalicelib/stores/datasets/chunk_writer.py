"""Adds examples to the chunks of several labels at once, writing each chunk when it is full."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chalicelib.domain.datasets.dataset import UPLOAD, LabelCounts
from chalicelib.domain.datasets.example import CHUNK_EXAMPLES, Example
from chalicelib.stores.datasets.examples import ExampleSequence, ExampleStore


class ChunkWriter:
    """Writes behind the committed counts; nothing is visible until those are committed.

    Args:
        examples: where chunks are written.
        dataset_id: dataset of the examples.
        fence: of the owner's lease.
        counts: committed counts by label id, in label order.
        check: called before each write; raises when the writer must stop.
        source: `upload` or `feedback`.
    """

    def __init__(
        self,
        examples: ExampleStore,
        dataset_id: int,
        fence: int,
        counts: Mapping[int, LabelCounts],
        check: Callable[[], None],
        *,
        source: str = UPLOAD,
    ) -> None:
        self._examples = examples
        self._dataset_id = dataset_id
        self._fence = fence
        self._counts = dict(counts)
        self._check = check
        self._source = source
        self._open: dict[int, list[Example]] = {}

    def add(self, example: Example) -> None:
        """Append one example to those of its label.

        Raises:
            LeaseLost: another owner writes this dataset now.
        """
        label_id = example.label_id
        self._chunk(label_id).append(example)
        self._counts[label_id] = self._counts[label_id].grown(self._source)
        if len(self._open[label_id]) == CHUNK_EXAMPLES:
            self._put(label_id)

    def close(self) -> tuple[LabelCounts, ...]:
        """Write the chunks that are not full and return the counts to commit.

        Raises:
            LeaseLost: another owner writes this dataset now.
        """
        for label_id in list(self._open):
            self._put(label_id)
        return tuple(self._counts.values())

    def _chunk(self, label_id: int) -> list[Example]:
        """Return the open chunk of a label, with its committed examples."""
        if label_id not in self._open:
            count = self._counts[label_id].count(self._source)
            start = count - count % CHUNK_EXAMPLES
            tail = self._examples.read(self._sequence(label_id), start, count - start)
            self._open[label_id] = tail
        return self._open[label_id]

    def _put(self, label_id: int) -> None:
        """Write the open chunk of a label and start the next one."""
        chunk = self._open.pop(label_id)
        self._check()
        number = (self._counts[label_id].count(self._source) - 1) // CHUNK_EXAMPLES
        self._examples.put_chunk(self._sequence(label_id), number, chunk, self._fence)

    def _sequence(self, label_id: int) -> ExampleSequence:
        """Name the examples of a label that are added to."""
        return ExampleSequence(self._dataset_id, self._source, label_id)
