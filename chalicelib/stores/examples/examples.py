"""Examples in chunks of 100 by dataset, source and label.

A chunk is one compressed value, so that a page of 100 costs one read. Committed counts lie in
the dataset's row: a chunk may hold examples beyond them, which no reader sees and the next
writer overwrites. Which chunk a position lies in: chalicelib/stores/examples/layouts.py
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

# Longest body that lies in the row; a longer one lies in the bucket.
MAX_BODY_BYTES = 300_000
_BATCH_KEYS = 100  # BatchGetItem takes no more.
Item = TypeVar("Item")
# So many are written side by side: each is a conditional write, which no batch can hold.
_MANY_CHUNKS = 50
_WRITES_AT_ONCE = 10
_KEPT_LAYOUTS = 2_000
_NOTED_AT_ONCE = 2_000


@dataclass(frozen=True)
class ExampleSequence:
    """The examples of one label and source of a dataset."""

    dataset_id: int
    """Dataset of the examples."""
    source: str
    """`upload` or `feedback`."""
    label_id: int
    """Label of the examples."""
    layout: int = 0
    """Fence of the correction that laid them out; 0 if position // 100 is the chunk."""

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


def sequence_of(dataset_id: int, source: str, counts: LabelCounts) -> ExampleSequence:
    """Name the examples of one source that a label's counts count."""
    return ExampleSequence(dataset_id, source, counts.label_id, counts.layout(source))


@translate_errors
class ExampleStore:
    """Reads and writes chunks."""

    def __init__(self, clients: Clients, artifacts: ArtifactStore) -> None:
        clients.bind_tables()
        self._artifacts = artifacts
        self._layouts: dict[ExampleSequence, ChunkLayout] = {}

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
            # With the fence in its name, a stalled owner cannot replace its successor's body
            # either.
            row.artifact = (
                f"{dataset_prefix(sequence.dataset_id)}chunks/"
                f"{sequence.source}-{sequence.label_id}-{number}-{fence}"
            )
            self._artifacts.put(row.artifact, body)
        else:
            row.body = body
        row.first = examples[0].example_id if examples else None
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
        layouts = self._read_layouts(stretch.sequence for stretch in stretches)
        blocks = [
            # A layout that is gone was deleted with its dataset a moment ago.
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
        """Read every committed example of a source, label by label, in order."""
        for found in batches(self._all_blocks(dataset_id, source, counts)):
            chunks = self._chunks([(sequence.key, block.number) for sequence, block in found])
            for sequence, block in found:
                examples = self._examples(chunks[sequence.key, block.number], sequence.label_id)
                yield from examples[block.skip : block.skip + block.size]

    def digests(self, dataset_id: int, source: str, counts: Iterable[LabelCounts]) -> set[bytes]:
        """Collect the digests of the committed texts of these labels and one source."""
        digests: set[bytes] = set()
        for found in batches(self._all_blocks(dataset_id, source, counts)):
            chunks = self._chunks([(sequence.key, block.number) for sequence, block in found])
            for sequence, block in found:
                # Behind the committed count lies what came to nothing.
                packed = bytes(chunks[sequence.key, block.number].digests or b"")
                packed = packed[: (block.skip + block.size) * DIGEST_BYTES]
                digests.update(
                    packed[i : i + DIGEST_BYTES] for i in range(0, len(packed), DIGEST_BYTES)
                )
        return digests

    def layout(self, sequence: ExampleSequence) -> ChunkLayout:
        """Return where the examples of a sequence lie.

        Raises:
            LeaseLost: the dataset was changed since, or is being deleted.
        """
        found = self._read_layouts([sequence]).get(sequence)
        if found is None:
            raise LeaseLost
        return found

    def put_layout(self, sequence: ExampleSequence, layout: ChunkLayout, fence: int) -> None:
        """Write a layout, which counts once the dataset's row names its fence."""
        row = ExampleChunkRow(sequence.key, -fence, size=layout.covered, fence=fence)
        # Needs no condition: only the owner of this fence writes under this number.
        row.body = layout.dump()
        row.save()

    def first_ids(self, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Return the id of the first example of each of these chunks."""
        found: dict[tuple[str, int], int] = {}
        for part in batches(keys):
            wanted = ["sequence", "number", "first"]
            rows = ExampleChunkRow.batch_get(part, consistent_read=True, attributes_to_get=wanted)
            found |= {
                (row.sequence, int(row.number)): int(row.first)
                for row in rows
                if row.first is not None
            }
        # Chunks of an earlier version do not tell.
        old = [key for key in keys if key not in found]
        for part in batches(old):
            for key, row in self._chunks(part).items():
                found[key] = self._examples(row, 0)[0].example_id
        return found

    def read_chunks(self, keys: Sequence[tuple[str, int]]) -> Iterator[Example]:
        """Read all that chunks hold, whatever is committed of it; layouts hold none."""
        for part in batches([key for key in keys if key[1] >= 0]):
            for (key, _), row in self._chunks(part).items():
                yield from self._examples(row, int(key.rpartition("#")[2]))

    def delete_chunks(self, keys: Sequence[tuple[str, int]]) -> None:
        """Delete chunks and layouts that nobody reads any more."""
        for part in batches(keys):
            rows = list(ExampleChunkRow.batch_get(part, consistent_read=True))
            self._artifacts.delete_keys(str(row.artifact) for row in rows if row.artifact)
            with ExampleChunkRow.batch_write() as batch:
                for row in rows:
                    batch.delete(row)

    def delete(self, sequences: Iterable[ExampleSequence]) -> None:
        """Delete every chunk row of sequences, committed or not."""
        _delete_rows(sequence.key for sequence in sequences)

    def delete_notes(self, dataset_id: int) -> None:
        """Delete what is noted of a dataset's examples beside their chunks."""
        _delete_rows(key(dataset_id) for key in (places_key, traces_key, corrections_key))

    def _all_blocks(
        self, dataset_id: int, source: str, counts: Iterable[LabelCounts]
    ) -> Iterator[tuple[ExampleSequence, ChunkPart]]:
        """List the blocks of whole sequences."""
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
        """Take a block out of the chunks that were read."""
        row = chunks.get((sequence.key, block.number))
        examples = self._examples(row, sequence.label_id) if row else []
        return examples[block.skip : block.skip + block.size]

    def _read_layouts(
        self, sequences: Iterable[ExampleSequence]
    ) -> dict[ExampleSequence, ChunkLayout]:
        """Return the layouts of sequences; those that are read stay in memory."""
        wanted = set(sequences)
        found = {one: self._layouts.get(one) if one.layout else PLAIN for one in wanted}
        missing = {(one.key, -one.layout): one for one, layout in found.items() if layout is None}
        for part in batches(missing):
            for row in ExampleChunkRow.batch_get(part, consistent_read=True):
                found[missing[row.sequence, int(row.number)]] = load_layout(row.body)
        known = {one: layout for one, layout in found.items() if layout is not None}
        if missing:
            # Never changed once they are written. A new mapping, for other threads read the old
            # one.
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
        # A body that is gone was deleted with its dataset a moment ago.
        return _load(body or zlib.compress(b"[]"), label_id)


def places_key(dataset_id: int) -> str:
    """Partition key of the rows that tell the labels of examples by id."""
    return f"{dataset_id}#places"


def traces_key(dataset_id: int) -> str:
    """Return the partition key of the data that corrections replaced."""
    # The stored key is older than the word correction.
    return f"{dataset_id}#mended"


def corrections_key(dataset_id: int) -> str:
    """Return the partition key of the receipts of corrections."""
    return f"{dataset_id}#corrections"


def _delete_rows(keys: Iterable[str]) -> None:
    """Delete the rows of partitions in as few calls as there may be; their bodies are not read."""
    named = ["sequence", "number"]
    with ExampleChunkRow.batch_write() as batch:
        for key in keys:
            rows = ExampleChunkRow.query(key, consistent_read=True, attributes_to_get=named)
            for row in list(rows):
                batch.delete(row)


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
        self.note: Callable[[Sequence[Example]], object] = len
        """Takes examples that are about to be written, many at a time."""
        self._unnoted: list[Example] = []
        self._open: dict[int, list[Example]] = {}
        self.added: dict[int, list[tuple[bytes, int]]] = {}
        """Digest and id of what was added, by label id."""

    def add(self, example: Example) -> None:
        """Append one example to those of its label.

        Raises:
            LeaseLost: another owner writes this dataset now.
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
        """Write the chunks that are not full and return the counts to commit.

        Raises:
            LeaseLost: another owner writes this dataset now.
        """
        self._note_rest()
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
            # A chunk that is not full is filled up first, or small uploads would leave many small
            # ones.
            self._open[label_id] = self._examples.read(sequence, start, count - start)
        return self._open[label_id]

    def _put(self, label_id: int) -> None:
        chunk = self._open.pop(label_id)
        self._check()
        sequence, last = self._sequence(label_id), self._counts[label_id].count(self._source) - 1
        # Of the last example: behind a chunk that is just full the next one begins.
        start, number = self._examples.layout(sequence).tail(last)
        self._examples.put_chunk(sequence, number, chunk, self._fence)
        # What was committed before is no news to the index of digests.
        added = chunk[max(0, self._committed[label_id] - start) :]
        self.added.setdefault(label_id, []).extend((e.digest, e.example_id) for e in added)

    def _sequence(self, label_id: int) -> ExampleSequence:
        return sequence_of(self._dataset_id, self._source, self._counts[label_id])
