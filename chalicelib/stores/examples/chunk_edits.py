"""Writes new chunks when examples are removed, changed or added.

A chunk layout lists the chunks of a label. Readers see new chunks as soon as the dataset's row
names the new layout.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from chalicelib.domain.datasets.example import CHUNK_EXAMPLES, Example
from chalicelib.stores.examples.digest_index import STEP, DigestIndex, Entry
from chalicelib.stores.examples.example_search import ExampleSearch, IdSearch
from chalicelib.stores.examples.examples import (
    ExampleRange,
    ExampleSequence,
    ExampleStore,
    batches,
)
from chalicelib.stores.examples.layouts import ChunkLayout

_WRITES_AT_ONCE = 10
# A layout lists at most this many digests that the index lacks; with more, the index is rebuilt.
_MOST_UNINDEXED = 5 * STEP


@dataclass
class SequenceEdit:
    """The changes to the examples of one label and source."""

    sequence: ExampleSequence
    """The label and source, with the chunk layout before the edit."""
    count: int
    """Number of committed examples."""
    removed: set[int] = field(default_factory=set)
    """Ids of examples to remove."""
    added: list[Example] = field(default_factory=list)
    """Examples to add, in any order. A changed example is removed and added under the same id."""
    dead: list[tuple[str, int]] = field(default_factory=list)
    """Keys of the chunks and layouts that the edit replaces, to be deleted later."""

    @property
    def new_count(self) -> int:
        """Return the number of examples after the edit."""
        return self.count - len(self.removed) + len(self.added)


class _ParallelWriter:
    """Writes chunks in parallel. The end of the `with` block waits until all are written."""

    def __init__(
        self,
        writers: ThreadPoolExecutor,
        put_chunk: Callable[[ExampleSequence, int, Sequence[Example]], None],
    ) -> None:
        self._writers = writers
        self._put_chunk = put_chunk
        self._waiting: list[Future[None]] = []

    def __enter__(self) -> _ParallelWriter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            self.wait()
        for one in self._waiting:
            one.cancel()

    def put(
        self, sequence: ExampleSequence, number: int, examples: Sequence[Example]
    ) -> list[tuple[int, int]]:
        """Write examples in chunks of about equal size, numbered from `number` on.

        Returns:
            The number and size of each chunk.
        """
        ordered = sorted(examples, key=lambda example: example.example_id)
        count = -(-len(ordered) // CHUNK_EXAMPLES)
        written: list[tuple[int, int]] = []
        for place in range(count):
            # Chunks of equal size instead of full ones, so that later edits rarely split one.
            part = ordered[place * len(ordered) // count : (place + 1) * len(ordered) // count]
            put = self._writers.submit(self._put_chunk, sequence, number + place, part)
            self._waiting.append(put)
            written.append((number + place, len(part)))
        return written

    def wait(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            one.result()


class ChunkEditor:
    """Writes the chunks and layouts of edits."""

    def __init__(self, examples: ExampleStore, digests: DigestIndex) -> None:
        self._examples = examples
        self._digests = digests
        self._search = ExampleSearch(examples)

    def write(self, edits: Sequence[SequenceEdit], fence: int, check: Callable[[], None]) -> None:
        """Write the new chunks and layouts of edits.

        The keys of the replaced chunks are added to the list `dead` of each edit. `fence` is the
        fence token of the lease under which the dataset is changed. `check` is called often, and
        may raise an error to stop.

        Raises:
            LeaseLost: another writer has written to the dataset.
        """
        touched = self._touched(edits)

        def put_chunk(sequence: ExampleSequence, number: int, part: Sequence[Example]) -> None:
            check()
            self._examples.put_chunk(sequence, number, part, fence)

        # Two pools, because edits wait for chunks and would otherwise block each other.
        with (
            ThreadPoolExecutor(_WRITES_AT_ONCE, thread_name_prefix="correction") as editors,
            ThreadPoolExecutor(_WRITES_AT_ONCE, thread_name_prefix="chunks") as writers,
        ):

            def write(edit: SequenceEdit) -> None:
                with _ParallelWriter(writers, put_chunk) as puts:
                    layout = self._layout(edit, touched[edit.sequence], puts)
                # Last, so that a layout never names a chunk that is not written.
                check()
                self._examples.put_layout(edit.sequence, layout, fence)

            for _ in editors.map(write, edits):
                pass

    def _touched(self, edits: Sequence[SequenceEdit]) -> dict[ExampleSequence, dict[int, set[int]]]:
        """Return the ids of the examples that the edits change, by sequence and chunk number."""
        sought = [
            IdSearch(edit.sequence, edit.count, number)
            for edit in edits
            for number in edit.removed | {example.example_id for example in edit.added}
        ]
        found: dict[ExampleSequence, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for one, (_, part) in self._search.places(sought).items():
            found[one.sequence][part.number].add(one.example_id)
        return found

    def _layout(
        self, edit: SequenceEdit, changed_places: dict[int, set[int]], puts: _ParallelWriter
    ) -> ChunkLayout:
        """Write the changed chunks of one edit; return the new layout of the sequence."""
        sequence = edit.sequence
        before = self._examples.layout(sequence)
        start, number = before.tail(edit.count)
        # The last chunk's number is in use only if the chunk has examples.
        free = number + (edit.count > start)
        added = {example.example_id: example for example in edit.added}
        chunks: list[tuple[int, int]] = []
        for parts in batches(_placed(before, edit.count)):
            changed = [place for place in parts if place[1] in changed_places]
            ranges = [ExampleRange(sequence, first, size) for first, _, size in changed]
            read = dict(zip(changed, self._examples.read_many(ranges), strict=True))
            for place in parts:
                if place not in read:
                    chunks.append(place[1:])
                    continue
                # A new number, so that readers of the old layout still find the old chunk.
                edit.dead.append((sequence.key, place[1]))
                kept = [e for e in read[place] if e.example_id not in edit.removed]
                # Inserted by id, because readers search a sequence by binary search over ids.
                kept += [added[i] for i in changed_places[place[1]] if i in added]
                chunks += puts.put(sequence, free, kept)
                free += -(-len(kept) // CHUNK_EXAMPLES)
            puts.wait()
        if edit.count == 0:
            chunks = puts.put(sequence, free, edit.added)
            free += len(chunks)
        if sequence.layout:
            edit.dead.append((sequence.key, -sequence.layout))
        return ChunkLayout(tuple(chunks), free, *self._unindexed(edit))

    def _unindexed(self, edit: SequenceEdit) -> tuple[bool, tuple[Entry, ...]]:
        """Return whether the digest index stays valid after an edit, and the entries it lacks."""
        if edit.count <= STEP or len(edit.added) > _MOST_UNINDEXED:
            return False, ()
        known = self._digests.get_known(edit.sequence)
        if edit.count - known.end > STEP:
            return False, ()
        behind = self._examples.read(edit.sequence, known.end, edit.count - known.end)
        before = (*known.unindexed, *((e.digest, e.example_id) for e in behind))
        entries = (
            *(entry for entry in before if entry[1] not in edit.removed),
            *((e.digest, e.example_id) for e in edit.added),
        )
        return (True, entries) if len(entries) <= _MOST_UNINDEXED else (False, ())


def _placed(layout: ChunkLayout, count: int) -> list[tuple[int, int, int]]:
    """Return for each chunk the position of the first example, the chunk's number and its size."""
    placed, position = [], 0
    for part in layout.blocks(0, count):
        placed.append((position, part.number, part.size))
        position += part.size
    return placed
