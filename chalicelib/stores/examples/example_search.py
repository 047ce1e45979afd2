"""Finds examples by id. First finds the labels that an example may have, then its chunk.

A sequence has the examples of one label and source, in ascending order of their ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pynamodb.expressions.update import Action

from chalicelib.domain.datasets.example import Example
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import ExampleChunkRow
from chalicelib.stores.examples.examples import (
    ExampleRange,
    ExampleSequence,
    ExampleStore,
    batches,
    places_key,
)
from chalicelib.stores.examples.layouts import ChunkPart


@dataclass(frozen=True)
class IdSearch:
    """An example id to look for in one sequence."""

    sequence: ExampleSequence
    """The sequence to search."""
    count: int
    """Number of committed examples of the sequence."""
    example_id: int
    """Id of the example."""


class ExampleSearch:
    """Finds many examples at once by binary searches. One batch read advances all searches."""

    def __init__(self, examples: ExampleStore) -> None:
        self._examples = examples

    def find(self, searches: Sequence[IdSearch]) -> dict[int, tuple[ExampleSequence, Example]]:
        """Return examples by id, with their sequences. Ids that are not found are left out."""
        places = self.places(searches)
        wanted: dict[ExampleRange, list[int]] = {}
        for one, (start, block) in places.items():
            stretch = ExampleRange(one.sequence, start, block.size)
            wanted.setdefault(stretch, []).append(one.example_id)
        found: dict[int, tuple[ExampleSequence, Example]] = {}
        read = self._examples.read_many(list(wanted))
        for (stretch, ids), examples in zip(wanted.items(), read, strict=True):
            held = {example.example_id: example for example in examples}
            found |= {number: (stretch.sequence, held[number]) for number in ids if number in held}
        return found

    def places(self, searches: Sequence[IdSearch]) -> dict[IdSearch, tuple[int, ChunkPart]]:
        """Find, for each search, the only chunk that can contain the example.

        Returns:
            For each search, the position of the chunk's first example, and the chunk. Searches in
                empty sequences are left out.
        """
        blocks = self._blocks(searches)
        left = {one: (0, len(blocks[one.sequence]) - 1) for one in searches if one.count > 0}
        firsts: dict[tuple[str, int], int] = {}
        while any(first < last for first, last in left.values()):
            middles = {
                one: (one.sequence.key, blocks[one.sequence][_middle(ends)][1].number)
                for one, ends in left.items()
                if ends[0] < ends[1]
            }
            firsts |= self._examples.first_ids(
                [key for key in dict.fromkeys(middles.values()) if key not in firsts]
            )
            for one, key in middles.items():
                first, last = left[one]
                is_behind = key in firsts and firsts[key] <= one.example_id
                middle = _middle((first, last))
                left[one] = (middle, last) if is_behind else (first, middle - 1)
        return {one: blocks[one.sequence][first] for one, (first, _) in left.items()}

    def _blocks(
        self, searches: Sequence[IdSearch]
    ) -> dict[ExampleSequence, list[tuple[int, ChunkPart]]]:
        """Return the chunks of each sequence, and the position of each chunk's first example."""
        found: dict[ExampleSequence, list[tuple[int, ChunkPart]]] = {}
        for one in searches:
            if one.sequence not in found and one.count > 0:
                start, placed = 0, []
                for block in self._examples.layout(one.sequence).blocks(0, one.count):
                    placed.append((start, block))
                    start += block.size
                found[one.sequence] = placed
        return found


def _middle(ends: tuple[int, int]) -> int:
    return (ends[0] + ends[1] + 1) // 2


# Ids per row, which is 10 kB if all of them belong to one dataset.
BLOCK_IDS = 500


@translate_errors
class ExamplePlaces:
    """Stores and finds the labels that examples may have.

    There is one row per 500 ids, with pairs of an id and a label. A pair may be outdated, so
    readers check it. A pair is written before its example is committed, and stays if the commit
    fails.
    """

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def note(self, dataset_id: int, examples: Iterable[Example]) -> None:
        """Store the label of each example."""
        pairs = defaultdict(set)
        for example in examples:
            pair = f"{example.example_id}:{example.label_id}"
            pairs[example.example_id // BLOCK_IDS].add(pair)
        for block, added in pairs.items():
            actions: list[Action] = [ExampleChunkRow.places.add(added)]
            ExampleChunkRow(places_key(dataset_id), block).update(actions)

    def find(self, dataset_id: int, ids: Sequence[int]) -> Mapping[int, set[int]]:
        """Return, for each example id, the ids of the labels that the example may have."""
        found: dict[int, set[int]] = {number: set() for number in ids}
        blocks = sorted({number // BLOCK_IDS for number in ids})
        for part in batches((places_key(dataset_id), block) for block in blocks):
            for row in ExampleChunkRow.batch_get(part, consistent_read=True):
                for number, label_id in _pairs(row):
                    if number in found:
                        found[number].add(label_id)
        return found

    def remove(self, dataset_id: int, ids: Iterable[int]) -> None:
        """Delete the stored labels of deleted examples."""
        gone = frozenset(ids)
        blocks = sorted({number // BLOCK_IDS for number in gone})
        for part in batches((places_key(dataset_id), block) for block in blocks):
            for row in list(ExampleChunkRow.batch_get(part, consistent_read=True)):
                pairs = {f"{i}:{label_id}" for i, label_id in _pairs(row) if i in gone}
                if pairs:
                    row.update([ExampleChunkRow.places.delete(pairs)])


def _pairs(row: ExampleChunkRow) -> Iterable[tuple[int, int]]:
    for pair in row.places or ():
        number, _, label_id = pair.partition(":")
        yield int(number), int(label_id)
