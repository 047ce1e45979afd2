"""Finds the labels that an example may have, given its id, without searching all labels.

There is one row per 500 ids, with pairs of an id and a label. A pair may be outdated, so readers
check it. A pair is written before its example is committed, and stays if the commit fails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pynamodb.expressions.update import Action

from chalicelib.domain.datasets.example import Example
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import ExampleChunkRow
from chalicelib.stores.examples.examples import batches, places_key

# Ids per row, which is 10 kB if all of them belong to one dataset.
BLOCK_IDS = 500


@translate_errors
class ExamplePlaces:
    """Stores and finds the labels that examples may have."""

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
        """Return the ids of the labels that each of these examples may have, by example id."""
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
