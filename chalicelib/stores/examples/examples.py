"""Stores examples in chunks of 100, by dataset, source and label.

A chunk is one compressed value, so that reading a page of 100 examples costs one read. The
dataset's row has the committed counts. A chunk may contain examples beyond these counts. Readers
ignore such examples, and the next writer overwrites them. chalicelib/stores/examples/layouts.py
maps positions to chunks.
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
from chalicelib.stores.examples.layouts import PLAIN, ChunkLayout, ChunkPart, load_layout

# A longer body is stored in the bucket, because a row may have 400 kB.
MAX_BODY_BYTES = 300_000
# BatchGetItem accepts no more keys.
_BATCH_KEYS = 100
Item = TypeVar("Item")
# From this number on, chunks are written in parallel, because a batch write has no conditions.
_MANY_CHUNKS = 50
_WRITES_AT_ONCE = 10
_KEPT_LAYOUTS = 2_000
_NOTED_AT_ONCE = 2_000


@dataclass(frozen=True)
class ExampleSequence:
    """The sequence of all examples with one label and source of a dataset."""

    dataset_id: int
    """Dataset of the examples."""
    source: str
    """`upload` or `feedback`."""
    label_id: int
    """Label of the examples."""
    layout: int = 0
    """Fence token of the correction that wrote the chunk layout; 0 without a correction."""

    @property
    def key(self) -> str:
        """Return the partition key of the chunks."""
        return f"{self.dataset_id}#{self.source}#{self.label_id}"


@dataclass(frozen=True)
class ExampleRange:
    """Consecutive committed examples of one label and source."""

    sequence: ExampleSequence
    """The label and source (sequence) of the examples."""
    start: int
    """Position of the first example, from 0."""
    count: int
    """Number of examples."""


def sequence_of(dataset_id: int, source: str, counts: LabelCounts) -> ExampleSequence:
    """Return the sequence of all examples with one source and the label of `counts`."""
    return ExampleSequence(dataset_id, source, counts.label_id, counts.layout(source))


@translate_errors
class ExampleStore:
    """Reads and writes chunks of examples."""

    def __init__(self, clients: Clients, artifacts: ArtifactStore) -> None:
        clients.bind_tables()
        self._artifacts = artifacts
        self._layouts: dict[ExampleSequence, ChunkLayout] = {}

    def put_chunk(
        self, sequence: ExampleSequence, number: int, examples: Sequence[Example], fence: int
    ) -> bytes:
        """Write one chunk, unless a worker with a higher fence token has already written it.

        Returns:
            The digests of the examples, concatenated.

        Raises:
            LeaseLost: a worker with a higher fence token has written the chunk.
        """
        row = ExampleChunkRow(sequence.key, number, size=len(examples), fence=fence)
        body = _dump(examples)
        if len(body) > MAX_BODY_BYTES:
            # The fence in the key keeps a stalled owner from replacing its successor's body.
            row.artifact = (
                f"{dataset_prefix(sequence.dataset_id)}chunks/"
                f"{sequence.source}-{sequence.label_id}-{number}-{fence}"
            )
            self._artifacts.put(row.artifact, body)
        else:
            row.body = body
        row.first = examples[0].example_id if examples else None
        row.digests = digests = b"".join(example.digest for example in examples)
        # A stalled owner must not overwrite its successor's chunk.
        free = ExampleChunkRow.fence.does_not_exist() | (ExampleChunkRow.fence <= fence)
        if not try_write(lambda: row.save(condition=free)):
            raise LeaseLost
        return digests

    def read(self, sequence: ExampleSequence, start: int, count: int) -> list[Example]:
        """Return `count` committed examples of a sequence, from position `start` on."""
        return self.read_many([ExampleRange(sequence, start, count)])[0]

    def read_many(self, stretches: Sequence[ExampleRange]) -> list[list[Example]]:
        """Read several ranges in batches; return a list of examples for each range, in order."""
        layouts = self._read_layouts(stretch.sequence for stretch in stretches)
        blocks = [
            # A missing layout was deleted with its dataset a moment ago.
            list(layouts.get(s.sequence, PLAIN).blocks(s.start, s.start + max(0, s.count)))
            for s in stretches
        ]
        keys = [
            (stretch.sequence.key, block.number)
            for stretch, parts in zip(stretches, blocks, strict=True)
            for block in parts
        ]
        chunks = self._chunks(list(dict.fromkeys(keys))) if keys else {}
        return [
            [example for block in parts for example in self._cut(stretch.sequence, block, chunks)]
            for stretch, parts in zip(stretches, blocks, strict=True)
        ]

    def read_all(
        self, dataset_id: int, source: str, counts: Iterable[LabelCounts]
    ) -> Iterator[Example]:
        """Yield all committed examples of a source, one label after the other."""
        for found in batches(self._all_blocks(dataset_id, source, counts)):
            chunks = self._chunks([(sequence.key, block.number) for sequence, block in found])
            for sequence, block in found:
                examples = self._examples(chunks[sequence.key, block.number], sequence.label_id)
                yield from examples[block.skip : block.skip + block.size]

    def digests(self, dataset_id: int, source: str, counts: Iterable[LabelCounts]) -> set[bytes]:
        """Return the digests of all committed examples of one source and the labels in `counts`."""
        digests: set[bytes] = set()
        for found in batches(self._all_blocks(dataset_id, source, counts)):
            chunks = self._chunks([(sequence.key, block.number) for sequence, block in found])
            for sequence, block in found:
                # Digests beyond the committed count are of additions that failed.
                packed = bytes(chunks[sequence.key, block.number].digests or b"")
                packed = packed[: (block.skip + block.size) * DIGEST_BYTES]
                digests.update(
                    packed[i : i + DIGEST_BYTES] for i in range(0, len(packed), DIGEST_BYTES)
                )
        return digests

    def layout(self, sequence: ExampleSequence) -> ChunkLayout:
        """Return the chunk layout of a sequence.

        Raises:
            LeaseLost: the dataset has changed since `sequence` was created, or is being deleted.
        """
        found = self._read_layouts([sequence]).get(sequence)
        if found is None:
            raise LeaseLost
        return found

    def put_layout(self, sequence: ExampleSequence, layout: ChunkLayout, fence: int) -> None:
        """Write a chunk layout. Readers use it once the dataset's row has the token `fence`."""
        row = ExampleChunkRow(sequence.key, -fence, size=layout.covered, fence=fence)
        # No condition, because only the owner of this fence writes under this number.
        row.body = layout.dump()
        row.save()

    def first_ids(self, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Return the id of each chunk's first example, by the chunk's key."""
        found: dict[tuple[str, int], int] = {}
        for part in batches(keys):
            wanted = ["sequence", "number", "first"]
            rows = ExampleChunkRow.batch_get(part, consistent_read=True, attributes_to_get=wanted)
            found |= {
                (row.sequence, int(row.number)): int(row.first)
                for row in rows
                if row.first is not None
            }
        # Chunks of older versions lack the attribute, so their examples are read.
        old = [key for key in keys if key not in found]
        for part in batches(old):
            for key, row in self._chunks(part).items():
                found[key] = self._examples(row, 0)[0].example_id
        return found

    def read_chunks(self, keys: Sequence[tuple[str, int]]) -> Iterator[Example]:
        """Yield all examples in chunks, committed or not. Keys of layouts are ignored."""
        for part in batches([key for key in keys if key[1] >= 0]):
            for (key, _), row in self._chunks(part).items():
                yield from self._examples(row, int(key.rpartition("#")[2]))

    def delete_chunks(self, keys: Sequence[tuple[str, int]]) -> None:
        """Delete chunks and layouts that no reader uses any more."""
        for part in batches(keys):
            rows = list(ExampleChunkRow.batch_get(part, consistent_read=True))
            self._artifacts.delete_keys(str(row.artifact) for row in rows if row.artifact)
            with ExampleChunkRow.batch_write() as batch:
                for row in rows:
                    batch.delete(row)

    def delete(self, sequences: Iterable[ExampleSequence]) -> None:
        """Delete all chunks of sequences, committed or not."""
        _delete_rows(sequence.key for sequence in sequences)

    def delete_notes(self, dataset_id: int) -> None:
        """Delete a dataset's rows of `ExamplePlaces`, `TraceStore` and `CorrectionReceipts`."""
        _delete_rows(key(dataset_id) for key in (places_key, traces_key, corrections_key))

    def _all_blocks(
        self, dataset_id: int, source: str, counts: Iterable[LabelCounts]
    ) -> Iterator[tuple[ExampleSequence, ChunkPart]]:
        wanted = [(sequence_of(dataset_id, source, c), c.count(source)) for c in counts]
        layouts = self._read_layouts(sequence for sequence, _ in wanted)
        for sequence, count in wanted:
            for block in layouts[sequence].blocks(0, count):
                yield sequence, block

    def _cut(
        self,
        sequence: ExampleSequence,
        block: ChunkPart,
        chunks: Mapping[tuple[str, int], ExampleChunkRow],
    ) -> list[Example]:
        row = chunks.get((sequence.key, block.number))
        examples = self._examples(row, sequence.label_id) if row else []
        return examples[block.skip : block.skip + block.size]

    def _read_layouts(
        self, sequences: Iterable[ExampleSequence]
    ) -> dict[ExampleSequence, ChunkLayout]:
        """Return the layouts of sequences. Layouts that are not cached are read and cached."""
        wanted = set(sequences)
        found = {one: self._layouts.get(one) if one.layout else PLAIN for one in wanted}
        missing = {(one.key, -one.layout): one for one, layout in found.items() if layout is None}
        for part in batches(missing):
            for row in ExampleChunkRow.batch_get(part, consistent_read=True):
                found[missing[row.sequence, int(row.number)]] = load_layout(row.body)
        known = {one: layout for one, layout in found.items() if layout is not None}
        if missing:
            # A written layout never changes, so it can be cached. The mapping is replaced, not
            # changed, because other threads read it.
            kept = self._layouts if len(self._layouts) < _KEPT_LAYOUTS else {}
            self._layouts = kept | {one: known[one] for one in missing.values() if one in known}
        return known

    def _chunks(self, keys: list[tuple[str, int]]) -> dict[tuple[str, int], ExampleChunkRow]:
        rows = ExampleChunkRow.batch_get(keys, consistent_read=True)
        return {(row.sequence, int(row.number)): row for row in rows}

    def _examples(self, row: ExampleChunkRow, label_id: int) -> list[Example]:
        body = row.body
        if body is None:
            body = self._artifacts.get(str(row.artifact))
        # A missing body was deleted with its dataset a moment ago.
        return _load(body or zlib.compress(b"[]"), label_id)


def places_key(dataset_id: int) -> str:
    """Return the partition key of the rows that map example ids to labels."""
    return f"{dataset_id}#places"


def traces_key(dataset_id: int) -> str:
    """Return the partition key of the records that list the data replaced by corrections."""
    # The stored key is older than the word correction.
    return f"{dataset_id}#mended"


def corrections_key(dataset_id: int) -> str:
    """Return the partition key of the receipts of corrections."""
    return f"{dataset_id}#corrections"


def _delete_rows(keys: Iterable[str]) -> None:
    # Only the keys are read, because bodies would make the reads slow.
    named = ["sequence", "number"]
    with ExampleChunkRow.batch_write() as batch:
        for key in keys:
            rows = ExampleChunkRow.query(key, consistent_read=True, attributes_to_get=named)
            for row in list(rows):
                batch.delete(row)


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Split items into lists that are short enough for one batch read from the table."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == _BATCH_KEYS:
            yield batch
            batch = []
    if batch:
        yield batch


def _dump(examples: Sequence[Example]) -> bytes:
    # Level 1 is fast, and texts compress well with it, too.
    rows = [_row(example) for example in examples]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 1)


def _row(example: Example) -> list[object]:
    """Return the values of an example that a chunk stores: four values, or eight with a box."""
    row: list[object] = [
        example.example_id,
        to_milliseconds(example.created_at),
        example.name,
        example.picture,
    ]
    box = example.box
    return row if box is None else [*row, box.x, box.y, box.width, box.height]


def _load(body: bytes, label_id: int) -> list[Example]:
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
    """Writes new examples after the committed examples of a dataset; a commit makes them visible.

    Args:
        examples: store of the chunks.
        dataset_id: dataset of the examples.
        fence: fence token of the lease under which the examples are written.
        counts: committed counts by label id, in the order of the labels.
        check: called before each write; may raise an error to stop.
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
        # Called with lists of examples that are about to be written.
        self.note: Callable[[Sequence[Example]], object] = len
        self._unnoted: list[Example] = []
        self._open: dict[int, list[Example]] = {}
        # Digest and id of the added examples, by label id, for the index of digests.
        self.added: dict[int, list[tuple[bytes, int]]] = {}

    def add(self, example: Example) -> None:
        """Append an example to the examples of its label.

        Raises:
            LeaseLost: another writer has written to the dataset.
        """
        label_id = example.label_id
        self._unnoted.append(example)
        if len(self._unnoted) == _NOTED_AT_ONCE:
            self._note_rest()
        self._chunk(label_id).append(example)
        self._counts[label_id] = self._counts[label_id].incremented(self._source)
        if len(self._open[label_id]) == CHUNK_EXAMPLES:
            self._put(label_id)

    def close(self) -> tuple[LabelCounts, ...]:
        """Write the remaining examples; return the label counts that the caller must commit.

        Raises:
            LeaseLost: another writer has written to the dataset.
        """
        self._note_rest()
        open_labels = list(self._open)
        if len(open_labels) < _MANY_CHUNKS:
            for label_id in open_labels:
                self._put(label_id)
        else:
            with ThreadPoolExecutor(_WRITES_AT_ONCE) as writers:
                # The first error is raised, and writes that have not started are cancelled.
                for _ in writers.map(self._put, open_labels):
                    pass
        return tuple(self._counts.values())

    def _note_rest(self) -> None:
        if self._unnoted:
            self._check()
            self.note(self._unnoted)
            self._unnoted = []

    def _chunk(self, label_id: int) -> list[Example]:
        if label_id not in self._open:
            count = self._counts[label_id].count(self._source)
            sequence = self._sequence(label_id)
            start, _ = self._examples.layout(sequence).tail(count)
            # The last chunk is filled first, so that small uploads do not leave many small chunks.
            self._open[label_id] = self._examples.read(sequence, start, count - start)
        return self._open[label_id]

    def _put(self, label_id: int) -> None:
        chunk = self._open.pop(label_id)
        self._check()
        sequence, last = self._sequence(label_id), self._counts[label_id].count(self._source) - 1
        # The chunk of the last example, because after a full chunk `tail` returns the next one.
        start, number = self._examples.layout(sequence).tail(last)
        self._examples.put_chunk(sequence, number, chunk, self._fence)
        # The index of digests has the examples that were committed before.
        added = chunk[max(0, self._committed[label_id] - start) :]
        self.added.setdefault(label_id, []).extend((e.digest, e.example_id) for e in added)

    def _sequence(self, label_id: int) -> ExampleSequence:
        return sequence_of(self._dataset_id, self._source, self._counts[label_id])
