"""Finds an example by its digest without reading all examples.

The index of a long sequence of examples is one object in the bucket: a header, then the digest and
id of each example, sorted by digest. Digests are distributed evenly, so the position of an entry
can be estimated, and only a short range of the object is read. The entry stays valid if the example
moves within its label. Readers check that the example still exists. The header has the chunk layout
and the position up to which the index is complete. The layout that a correction writes also lists
the examples that the index does not contain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chalicelib.domain.datasets.example import Example
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix
from chalicelib.stores.examples.example_search import ExampleSearch, IdSearch
from chalicelib.stores.examples.examples import ExampleSequence, ExampleStore

# Up to this many examples are read directly; with more, the index is created or extended.
STEP = 100
_HEAD_BYTES = 24
_DIGEST_BYTES = 8
# The digest's first 8 bytes and an id of 8.
_ENTRY_BYTES = 16
# Digest and id.
Entry = tuple[bytes, int]


@dataclass(frozen=True)
class Known:
    """Describes which examples of one label and source the digest index contains."""

    entries: int
    """Number of entries in the index object; 0 if there is none."""
    end: int
    """Position up to which every example is in the object or in `unindexed`."""
    unindexed: tuple[Entry, ...] = ()
    """Examples before `end` that may be missing in the object."""


class DigestIndex:
    """Finds examples by digest. Lookups and uploads add to the index."""

    def __init__(self, examples: ExampleStore, artifacts: ArtifactStore) -> None:
        self._examples = examples
        self._artifacts = artifacts
        self._search = ExampleSearch(examples)

    def find(self, sequence: ExampleSequence, count: int, digest: bytes) -> Example | None:
        """Return the committed example with a digest, or None.

        The sequence has `count` committed examples. `digest` is the value of `Example.digest`.
        """
        return self.find_all(sequence, count, [digest]).get(digest)

    def find_all(
        self, sequence: ExampleSequence, count: int, digests: Sequence[bytes]
    ) -> dict[bytes, Example]:
        """Return the committed examples of a sequence whose digest is in `digests`, by digest."""
        # For many digests, reading all examples is cheaper than one lookup each.
        if count <= STEP or len(digests) > STEP:
            examples = self._examples.read(sequence, 0, count)
            wanted = frozenset(digests)
            # Reversed, so that the first of equal examples wins.
            return {e.digest: e for e in reversed(examples) if e.digest in wanted}
        known = self.get_known(sequence)
        behind = self._examples.read(sequence, known.end, count - known.end)
        new = (*known.unindexed, *((example.digest, example.example_id) for example in behind))
        if len(new) > STEP:
            self._add(sequence, count, new)
        ids = [number for digest, number in new if digest in digests]
        for digest in digests:
            ids += self._ids(sequence, known.entries, digest)
        sought = [IdSearch(sequence, count, number) for number in dict.fromkeys(ids)]
        # An entry has only a part of the digest, and the example may have been corrected since.
        found = (example for _, example in self._search.find(sought).values())
        return {example.digest: example for example in found if example.digest in digests}

    def get_known(self, sequence: ExampleSequence) -> Known:
        """Return which examples of a sequence are in the index."""
        head = self._artifacts.get_range(_key(sequence), 0, _HEAD_BYTES) or bytes(_HEAD_BYTES)
        entries, indexed_layout, end = (
            int.from_bytes(head[at : at + 8], "big") for at in range(0, _HEAD_BYTES, 8)
        )
        if indexed_layout == sequence.layout:
            return Known(entries, end)
        layout = self._examples.layout(sequence)
        if not layout.is_indexed:
            # Built before a correction: its positions mean nothing in this layout.
            return Known(0, 0)
        return Known(entries, layout.covered, layout.unindexed)

    def extend(self, sequence: ExampleSequence, start: int, entries: Sequence[Entry]) -> None:
        """Add committed examples to the index; do nothing if the index lacks earlier examples.

        `start` is the position, in the sequence, of the first example to add. `entries` has digest
        and id of each example, in order of position.
        """
        # Otherwise a later lookup extends the index.
        known = self.get_known(sequence)
        if known.end == start and not known.unindexed:
            self._add(sequence, start + len(entries), entries)

    def remove(self, sequence: ExampleSequence, entries: Iterable[Entry]) -> None:
        """Remove entries from the index of a sequence."""
        packed = {_packed(entry) for entry in entries}
        before = self._artifacts.get(_key(sequence))
        if before is None:
            return
        kept = [entry for entry in _entries(before) if entry not in packed]
        if len(kept) < len(_entries(before)):
            head = len(kept).to_bytes(8, "big") + before[8:_HEAD_BYTES]
            self._artifacts.put(_key(sequence), head + b"".join(kept))

    def _add(self, sequence: ExampleSequence, end: int, entries: Sequence[Entry]) -> None:
        """Add entries to the index, which is then complete up to position `end`."""
        before = self._artifacts.get(_key(sequence)) or b""
        grown = sorted({*_entries(before), *map(_packed, entries)})
        head = b"".join(number.to_bytes(8, "big") for number in (len(grown), sequence.layout, end))
        self._artifacts.put(_key(sequence), head + b"".join(grown))

    def _ids(self, sequence: ExampleSequence, count: int, digest: bytes) -> list[int]:
        """Return the ids of the indexed examples whose digests start like `digest`."""
        sought = digest[:_DIGEST_BYTES]
        # Digests are distributed evenly, so the value of one predicts its position.
        middle = int.from_bytes(sought, "big") * count >> 8 * _DIGEST_BYTES
        # Three standard deviations of the position, so that one read is nearly always enough.
        reach = 8 + math.ceil(1.5 * math.sqrt(count))
        while count:
            first, last = max(0, middle - reach), min(count, middle + reach)
            entries = self._range(sequence, first, last)
            begins = first == 0 or (entries and entries[0][:_DIGEST_BYTES] < sought)
            ends = last == count or (entries and entries[-1][:_DIGEST_BYTES] > sought)
            if not entries or (begins and ends):
                same = (entry for entry in entries if entry[:_DIGEST_BYTES] == sought)
                return [int.from_bytes(entry[_DIGEST_BYTES:], "big") for entry in same]
            reach *= 4
        return []

    def _range(self, sequence: ExampleSequence, first: int, last: int) -> list[bytes]:
        """Return the entries with numbers from `first` to `last`, excluding `last`."""
        start, length = _HEAD_BYTES + first * _ENTRY_BYTES, (last - first) * _ENTRY_BYTES
        content = self._artifacts.get_range(_key(sequence), start, length) or b""
        return [content[at : at + _ENTRY_BYTES] for at in range(0, len(content), _ENTRY_BYTES)]


def _packed(entry: Entry) -> bytes:
    digest, number = entry
    return digest[:_DIGEST_BYTES] + number.to_bytes(8, "big")


def _entries(content: bytes) -> list[bytes]:
    return [
        content[at : at + _ENTRY_BYTES] for at in range(_HEAD_BYTES, len(content), _ENTRY_BYTES)
    ]


def _key(sequence: ExampleSequence) -> str:
    folder = dataset_prefix(sequence.dataset_id)
    return f"{folder}digests/{sequence.source}-{sequence.label_id}.ids"
