"""Finds an equal example among many without reading them: digests beside the dataset, in order.

Committed examples never change and new ones stand behind them, so an index of the first ones stays
true for ever. It is one object for each label and source that has many: a count, then an entry for
each example, sorted by digest. Digests are spread evenly, so an entry stands where its digest says,
give or take a few hundred entries, and one short range of the object holds it.
"""

from __future__ import annotations

import math

from chalicelib.domain.datasets.example import DIGEST_BYTES, Example
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix
from chalicelib.stores.examples.examples import ExampleSequence, ExampleStore

STEP = 100
"""So many examples are read one by one; an index is made, or grows, when there are more."""
_HEAD_BYTES = 8
_DIGEST_BYTES = 8
_ENTRY_BYTES = 12
"""The digest's first 8 bytes and a position of 4."""


class DigestIndex:
    """Looks examples up by digest; grows where it is asked, and after uploads."""

    def __init__(self, examples: ExampleStore, artifacts: ArtifactStore) -> None:
        self._examples = examples
        self._artifacts = artifacts

    def find(self, sequence: ExampleSequence, count: int, digest: bytes) -> Example | None:
        """Find the example of a digest among the committed ones of a sequence.

        Args:
            sequence: label and source.
            count: how many are committed.
            digest: as `Example.digest`.
        """
        indexed = self._count(sequence) if count > STEP else 0
        for position in self._positions(sequence, indexed, digest):
            # The entry holds a part of the digest only; and a dataset may be gone by now.
            for example in self._examples.read(sequence, position, 1):
                if example.digest == digest:
                    return example
        behind = self._examples.read(sequence, indexed, count - indexed)
        if len(behind) > STEP:
            self.extend(sequence, indexed, b"".join(example.digest for example in behind))
        return next((example for example in behind if example.digest == digest), None)

    def extend(self, sequence: ExampleSequence, start: int, digests: bytes) -> None:
        """Add examples that are committed where the index ends; elsewhere a later call does.

        Args:
            sequence: label and source.
            start: position of the first.
            digests: of all from there on, one after the other.
        """
        before = self._artifacts.get(_key(sequence)) or bytes(_HEAD_BYTES)
        if int.from_bytes(before[:_HEAD_BYTES], "big") != start:
            return
        old = memoryview(before)[_HEAD_BYTES:]
        known = [bytes(old[at : at + _ENTRY_BYTES]) for at in range(0, len(old), _ENTRY_BYTES)]
        places = range(0, len(digests), DIGEST_BYTES)
        new = (
            digests[at : at + _DIGEST_BYTES] + number.to_bytes(4, "big")
            for number, at in enumerate(places, start)
        )
        grown = sorted([*known, *new])
        head = len(grown).to_bytes(_HEAD_BYTES, "big")
        self._artifacts.put(_key(sequence), head + b"".join(grown))

    def _count(self, sequence: ExampleSequence) -> int:
        """Return how many examples the index holds."""
        head = self._artifacts.get_range(_key(sequence), 0, _HEAD_BYTES)
        return int.from_bytes(head or b"", "big")

    def _positions(self, sequence: ExampleSequence, count: int, digest: bytes) -> list[int]:
        """Return where examples of a digest stand, as far as the index tells."""
        sought = digest[:_DIGEST_BYTES]
        middle = int.from_bytes(sought, "big") * count >> 8 * _DIGEST_BYTES
        # Three standard deviations of where the entry may stand; seldom more are needed.
        reach = 8 + math.ceil(1.5 * math.sqrt(count))
        while count:
            first, last = max(0, middle - reach), min(count, middle + reach)
            entries = self._entries(sequence, first, last)
            begins = first == 0 or (entries and entries[0][:_DIGEST_BYTES] < sought)
            ends = last == count or (entries and entries[-1][:_DIGEST_BYTES] > sought)
            if not entries or (begins and ends):
                same = (entry for entry in entries if entry[:_DIGEST_BYTES] == sought)
                return [int.from_bytes(entry[_DIGEST_BYTES:], "big") for entry in same]
            reach *= 4
        return []

    def _entries(self, sequence: ExampleSequence, first: int, last: int) -> list[bytes]:
        """Read the entries from one place to another."""
        start, length = _HEAD_BYTES + first * _ENTRY_BYTES, (last - first) * _ENTRY_BYTES
        content = self._artifacts.get_range(_key(sequence), start, length) or b""
        return [content[at : at + _ENTRY_BYTES] for at in range(0, len(content), _ENTRY_BYTES)]


def _key(sequence: ExampleSequence) -> str:
    folder = dataset_prefix(sequence.dataset_id)
    return f"{folder}digests/{sequence.source}-{sequence.label_id}"
