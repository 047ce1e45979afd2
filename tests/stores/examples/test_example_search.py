"""Finding examples by id among the chunks of labels."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.example import Example
from chalicelib.stores.examples.example_search import ExampleSearch, IdSearch
from chalicelib.stores.examples.examples import ExampleSequence
from tests.builders import World


@pytest.mark.parametrize("size", [0, 1, 100, 101, 730])
def test_every_example_is_found_and_no_other(world: World, size: int) -> None:
    """Ids at each position of a label are found; ids in between, before and after are not."""
    sequence, empty = ExampleSequence(7, "upload", 1), ExampleSequence(7, "feedback", 1)
    examples = [Example(10 + 3 * n, f"text {n}", world.clock(), 1) for n in range(size)]
    for start in range(0, size, 100):
        part = examples[start : start + 100]
        world.stores.examples.put_chunk(sequence, start // 100, part, 1)
    uncommitted = max(0, size - 1)

    found = ExampleSearch(world.stores.examples).find(
        [
            IdSearch(place, count, example_id)
            for place, count in ((sequence, uncommitted), (empty, 0))
            for example_id in range(5, 20 + 3 * size)
        ]
    )

    assert found == {e.example_id: (sequence, e) for e in examples[:uncommitted]}
