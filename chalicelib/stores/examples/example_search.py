"""Finds examples by their ids where only label and source are known: ids ascend within these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.datasets.example import CHUNK_EXAMPLES, Example
from chalicelib.stores.examples.examples import ExampleRange, ExampleSequence, ExampleStore


@dataclass
class SoughtExample:
    """An example that may stand in a sequence; the search narrows its blocks of 100 positions."""

    sequence: ExampleSequence
    """Where it may be."""
    count: int
    """How many examples are committed there."""
    example_id: int
    """Its id."""

    def __post_init__(self) -> None:
        """Begin with every block."""
        self._first, self._last = 0, -(-self.count // CHUNK_EXAMPLES) - 1

    @property
    def is_open(self) -> bool:
        """Tell whether there is a block left to look at."""
        return self._first <= self._last

    @property
    def middle(self) -> ExampleRange:
        """The block to be looked at next."""
        start = (self._first + self._last) // 2 * CHUNK_EXAMPLES
        return ExampleRange(self.sequence, start, min(CHUNK_EXAMPLES, self.count - start))

    def narrow(self, examples: Sequence[Example]) -> Example | None:
        """Look at the block in the middle; return the example if it is there."""
        middle = (self._first + self._last) // 2
        if examples and self.example_id > examples[-1].example_id:
            self._first = middle + 1
        elif examples and self.example_id < examples[0].example_id:
            self._last = middle - 1
        else:
            self._last = self._first - 1
        return next((e for e in examples if e.example_id == self.example_id), None)


class ExampleSearch:
    """Looks for many examples side by side: each round of reads halves what is left of all."""

    def __init__(self, examples: ExampleStore) -> None:
        self._examples = examples

    def find(self, sought: Sequence[SoughtExample]) -> dict[int, tuple[ExampleSequence, Example]]:
        """Find examples, by id, with the sequences that hold them; others are not there."""
        found: dict[int, tuple[ExampleSequence, Example]] = {}
        left = list(sought)
        while left := [one for one in left if one.is_open and one.example_id not in found]:
            blocks = list(dict.fromkeys(one.middle for one in left))
            read = dict(zip(blocks, self._examples.read_many(blocks), strict=True))
            for one in left:
                example = one.narrow(read[one.middle])
                if example is not None:
                    found[example.example_id] = one.sequence, example
        return found
