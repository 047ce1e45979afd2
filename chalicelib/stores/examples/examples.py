"""Examples in chunks of 100 by dataset, source and label; position // 100 is the chunk.

A chunk is one compressed value, so that a page of 100 costs one read. Committed counts lie in
the dataset's row: a chunk may hold examples beyond them, which no reader sees and the next
writer overwrites.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from chalicelib.domain.common.clock import from_milliseconds, to_milliseconds
from chalicelib.domain.datasets.dataset import UPLOAD, LabelCounts
from chalicelib.domain.datasets.example import CHUNK_EXAMPLES, DIGEST_BYTES, Example
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_write
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix
from chalicelib.stores.aws.tables import ExampleChunkRow

MAX_BODY_BYTES = 300_000
"""Longest body that lies in the row; a longer one lies in the bucket."""
_BATCH_KEYS = 100  # BatchGetItem takes no more.
Item = TypeVar("Item")
_MANY_CHUNKS = 50
"""So many are written side by side: each is a conditional write, which no batch can hold."""
_WRITES_AT_ONCE = 10


@dataclass(frozen=True)
class ExampleSequence:
    """The examples of one label and source of a dataset."""

    dataset_id: int
    """Dataset of the examples."""
    source: str
    """`upload` or `feedback`."""
    label_id: int
    """Label of the examples."""

    @property
    def key(self) -> str:
        """Partition key of the chunks."""
        return f"{self.dataset_id}#{self.source}#{self.label_id}"


@dataclass(frozen=True)
class ExampleRange:
    """Neighbouring examples of one sequence; whoever asks knows that they are committed."""

    sequence: ExampleSequence
    """Where they are."""
    start: int
    """Position of the first, from 0."""
    count: int
    """How many."""

    @property
    def chunks(self) -> range:
        """Numbers of the chunks that hold them."""
        end = self.start + max(0, self.count)
        return range(self.start // CHUNK_EXAMPLES, -(-end // CHUNK_EXAMPLES))


@translate_errors
class ExampleStore:
    """Reads and writes chunks."""

    def __init__(self, clients: Clients, artifacts: ArtifactStore) -> None:
        clients.bind_tables()
        self._artifacts = artifacts

    def put_chunk(
        self, sequence: ExampleSequence, number: int, examples: Sequence[Example], fence: int
    ) -> bytes:
        """Write one chunk whole, unless a later owner of the dataset has written it.

        Returns:
            The digests of its examples, one after the other.

        Raises:
            LeaseLost: a later owner wrote this chunk.
        """
        row = ExampleChunkRow(sequence.key, number, size=len(examples), fence=fence)
        body = _dump(examples)
        if len(body) > MAX_BODY_BYTES:
            row.artifact = (
                f"{dataset_prefix(sequence.dataset_id)}chunks/"
                f"{sequence.source}-{sequence.label_id}-{number}-{fence}"
            )
            self._artifacts.put(row.artifact, body)
        else:
            row.body = body
        row.digests = digests = b"".join(example.digest for example in examples)
        # A stalled owner must not overwrite what its successor has written.
        free = ExampleChunkRow.fence.does_not_exist() | (ExampleChunkRow.fence <= fence)
        if not try_write(lambda: row.save(condition=free)):
            raise LeaseLost
        return digests

    def read(self, sequence: ExampleSequence, start: int, count: int) -> list[Example]:
        """Read examples by position within a sequence; the caller knows how many there are."""
        return self.read_many([ExampleRange(sequence, start, count)])[0]

    def read_many(self, stretches: Sequence[ExampleRange]) -> list[list[Example]]:
        """Read several stretches at once, each as a list of its own, in their order."""
        keys = [(s.sequence.key, number) for s in stretches for number in s.chunks if s.count > 0]
        chunks = self._chunks(list(dict.fromkeys(keys))) if keys else {}
        return [self._cut(stretch, chunks) for stretch in stretches]

    def read_all(
        self, dataset_id: int, source: str, counts: Iterable[LabelCounts]
    ) -> Iterator[Example]:
        """Read every committed example of a source, label by label, in order."""
        committed_counts = [
            (ExampleSequence(dataset_id, source, c.label_id), c.count(source), c.label_id)
            for c in counts
        ]
        for keys in batches(_chunk_keys(committed_counts)):
            chunks = self._chunks([key for key, _, _ in keys])
            for key, label_id, committed in keys:
                yield from self._examples(chunks[key], label_id)[:committed]

    def digests(self, dataset_id: int, source: str, counts: Iterable[LabelCounts]) -> set[bytes]:
        """Collect the digests of the committed texts of these labels and one source."""
        wanted = [
            (ExampleSequence(dataset_id, source, c.label_id), c.count(source), c.label_id)
            for c in counts
        ]
        digests: set[bytes] = set()
        for keys in batches(_chunk_keys(wanted)):
            chunks = self._chunks([key for key, _, _ in keys])
            for key, _, committed in keys:
                # Behind the committed count lies what came to nothing.
                packed = bytes(chunks[key].digests or b"")[: committed * DIGEST_BYTES]
                digests.update(
                    packed[i : i + DIGEST_BYTES] for i in range(0, len(packed), DIGEST_BYTES)
                )
        return digests

    def delete(self, sequence: ExampleSequence) -> None:
        """Delete every chunk row of a sequence, committed or not."""
        rows = list(ExampleChunkRow.query(sequence.key, consistent_read=True))
        with ExampleChunkRow.batch_write() as batch:
            for row in rows:
                batch.delete(row)

    def _cut(
        self, stretch: ExampleRange, chunks: Mapping[tuple[str, int], ExampleChunkRow]
    ) -> list[Example]:
        """Take a stretch out of the chunks that were read."""
        if stretch.count <= 0:
            return []
        examples: list[Example] = []
        for number in stretch.chunks:
            row = chunks.get((stretch.sequence.key, number))
            examples += self._examples(row, stretch.sequence.label_id) if row else []
        skip = stretch.start % CHUNK_EXAMPLES
        return examples[skip : skip + stretch.count]

    def _chunks(self, keys: list[tuple[str, int]]) -> dict[tuple[str, int], ExampleChunkRow]:
        rows = ExampleChunkRow.batch_get(keys, consistent_read=True)
        return {(row.sequence, int(row.number)): row for row in rows}

    def _examples(self, row: ExampleChunkRow, label_id: int) -> list[Example]:
        body = row.body
        if body is None:
            body = self._artifacts.get(str(row.artifact))
        # A body that is gone was deleted with its dataset a moment ago.
        return _load(body or zlib.compress(b"[]"), label_id)


def _chunk_keys(
    wanted: Iterable[tuple[ExampleSequence, int, int]],
) -> Iterator[tuple[tuple[str, int], int, int]]:
    for sequence, count, label_id in wanted:
        for number in range(-(-count // CHUNK_EXAMPLES)):
            committed = min(CHUNK_EXAMPLES, count - number * CHUNK_EXAMPLES)
            yield (sequence.key, number), label_id, committed


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Group chunks, or keys of chunks, by what one read may ask for."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == _BATCH_KEYS:
            yield batch
            batch = []
    if batch:
        yield batch


def _dump(examples: Sequence[Example]) -> bytes:
    """Pack examples; level 1 is fast and texts shrink well all the same."""
    rows = [_row(example) for example in examples]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 1)


def _row(example: Example) -> list[object]:
    """List what a chunk holds of an example; only a box needs more than four members."""
    row: list[object] = [
        example.example_id,
        to_milliseconds(example.created_at),
        example.name,
        example.picture,
    ]
    box = example.box
    return row if box is None else [*row, box.x, box.y, box.width, box.height]


def _load(body: bytes, label_id: int) -> list[Example]:
    """Unpack examples."""
    return [
        Example(
            example_id,
            name,
            from_milliseconds(created_at),
            label_id,
            picture,
            Box(*sides) if sides else None,
        )
        for example_id, created_at, name, picture, *sides in json.loads(zlib.decompress(body))
    ]


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
        self._committed = {i: c.count(source) for i, c in counts.items()}
        self._check = check
        self._source = source
        self._open: dict[int, list[Example]] = {}
        self.added: dict[int, bytearray] = {}
        """Digests of what was added, one after the other, by label id."""

    def add(self, example: Example) -> None:
        """Append one example to those of its label.

        Raises:
            LeaseLost: another owner writes this dataset now.
        """
        label_id = example.label_id
        self._chunk(label_id).append(example)
        self._counts[label_id] = self._counts[label_id].incremented(self._source)
        if len(self._open[label_id]) == CHUNK_EXAMPLES:
            self._put(label_id)

    def close(self) -> tuple[LabelCounts, ...]:
        """Write the chunks that are not full and return the counts to commit.

        Raises:
            LeaseLost: another owner writes this dataset now.
        """
        open_labels = list(self._open)
        if len(open_labels) < _MANY_CHUNKS:
            for label_id in open_labels:
                self._put(label_id)
        else:
            with ThreadPoolExecutor(_WRITES_AT_ONCE) as writers:
                # The first that fails is raised, and those that have not begun are left out.
                for _ in writers.map(self._put, open_labels):
                    pass
        return tuple(self._counts.values())

    def _chunk(self, label_id: int) -> list[Example]:
        if label_id not in self._open:
            count = self._counts[label_id].count(self._source)
            start = count - count % CHUNK_EXAMPLES
            tail = self._examples.read(self._sequence(label_id), start, count - start)
            self._open[label_id] = tail
        return self._open[label_id]

    def _put(self, label_id: int) -> None:
        chunk = self._open.pop(label_id)
        self._check()
        number = (self._counts[label_id].count(self._source) - 1) // CHUNK_EXAMPLES
        digests = self._examples.put_chunk(self._sequence(label_id), number, chunk, self._fence)
        old = max(0, self._committed[label_id] - number * CHUNK_EXAMPLES)
        self.added.setdefault(label_id, bytearray()).extend(digests[old * DIGEST_BYTES :])

    def _sequence(self, label_id: int) -> ExampleSequence:
        return ExampleSequence(self._dataset_id, self._source, label_id)
