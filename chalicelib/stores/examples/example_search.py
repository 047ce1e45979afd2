"""Finds examples in a sequence by id. Within a sequence, ids are in ascending order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.datasets.example import Example
from chalicelib.stores.examples.examples import ExampleRange, ExampleSequence, ExampleStore
from chalicelib.stores.examples.layouts import ChunkPart


@dataclass(frozen=True)
class SoughtExample:
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

    def find(self, sought: Sequence[SoughtExample]) -> dict[int, tuple[ExampleSequence, Example]]:
        """Return examples by id, with their sequences. Ids that are not found are left out."""
        places = self.places(sought)
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

    def places(self, sought: Sequence[SoughtExample]) -> dict[SoughtExample, tuple[int, ChunkPart]]:
        """Return the chunk whose range of ids includes each example, which need not exist.

        Returns:
            For each sought example, the position of the chunk's first example, and the chunk.
                Examples of empty sequences are left out.
        """
        blocks = self._blocks(sought)
        left = {one: (0, len(blocks[one.sequence]) - 1) for one in sought if one.count > 0}
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
        self, sought: Sequence[SoughtExample]
    ) -> dict[ExampleSequence, list[tuple[int, ChunkPart]]]:
        """Return the chunks of each sequence, each with the position of its first example."""
        found: dict[ExampleSequence, list[tuple[int, ChunkPart]]] = {}
        for one in sought:
            if one.sequence not in found and one.count > 0:
                start, placed = 0, []
                for block in self._examples.layout(one.sequence).blocks(0, one.count):
                    placed.append((start, block))
                    start += block.size
                found[one.sequence] = placed
        return found


def _middle(ends: tuple[int, int]) -> int:
    return (ends[0] + ends[1] + 1) // 2
