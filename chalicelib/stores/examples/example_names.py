"""Finds out whether a name is in use in a dataset, without reading all examples each time.

The digests of all names are collected once and cached in memory. A large index is also stored in
the bucket. Afterwards only new examples are read, until a correction changes the dataset.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

from chalicelib.domain.datasets.dataset import SOURCES, Dataset
from chalicelib.domain.datasets.example import CHUNK_EXAMPLES
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix
from chalicelib.stores.examples.examples import (
    ExampleRange,
    ExampleSequence,
    ExampleStore,
    batches,
    sequence_of,
)

# Bytes of a name's digest. With a million names, a check is wrong once in 10^13 times.
DIGEST_BYTES = 8
# Datasets whose names stay in memory; the largest possible dataset needs 8 MB.
KEPT_DATASETS = 8
# Member of the stored header; existing objects use this name.
_LAST_CORRECTION = "mended"
# New names in memory after which the index is written to the bucket again.
SAVE_NAMES = 5_000


@dataclass(frozen=True)
class _Index:
    """Digests of example names; `counts` has the number of indexed examples by sequence."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """Number of indexed examples by `source#label id`."""
    digests: bytes = b""
    """Digests of the names of the indexed examples, concatenated without order."""
    saved: int = 0
    """Number of digests in the copy of the index that is stored in the bucket."""
    last_correction: int = 0
    """Fence token of the last correction that the index takes into account."""

    @property
    def size(self) -> int:
        return len(self.digests) // DIGEST_BYTES

    def has(self, name: str) -> bool:
        digest = _digest(name)
        place = self.digests.find(digest)
        # A match that is not aligned spans two digests and does not count.
        while place % DIGEST_BYTES > 0 and place != -1:
            place = self.digests.find(digest, place + 1)
        return place != -1


class ExampleNames:
    """Checks whether an example of a dataset already has a name."""

    def __init__(self, examples: ExampleStore, artifacts: ArtifactStore) -> None:
        self._examples = examples
        self._artifacts = artifacts
        self._indexes: OrderedDict[int, _Index] = OrderedDict()
        self._lock = Lock()

    def prepare(self, dataset: Dataset) -> None:
        """Collect the names of all committed examples of a dataset, so that `has` is fast."""
        self._current(dataset)

    def has(self, dataset: Dataset, name: str) -> bool:
        """Return whether a committed example has the name. The caller holds the dataset's lease."""
        index = self._current(dataset)
        if index.size - index.saved >= SAVE_NAMES:
            # Only an owner writes the object, so that a deletion, which waits for owners, finds it.
            self._artifacts.put(_key(dataset.dataset_id), _dump(index))
            index = replace(index, saved=index.size)
            self._keep(dataset.dataset_id, index)
        return index.has(name)

    def _current(self, dataset: Dataset) -> _Index:
        """Return the index of a dataset, completed up to the last committed example."""
        index = self._indexes.get(dataset.dataset_id) or self._load(dataset.dataset_id)
        if index.last_correction != dataset.last_correction:
            # A correction may have removed or renamed any example, so the index starts over.
            index = _Index(last_correction=dataset.last_correction)
        for stretches in batches(_missing(dataset, index)):
            counts, digests = dict(index.counts), [index.digests]
            for stretch, found in zip(stretches, self._examples.read_many(stretches), strict=True):
                counts[_sequence_key(stretch.sequence)] = stretch.start + len(found)
                digests += [_digest(example.name) for example in found]
            index = replace(index, counts=counts, digests=b"".join(digests))
            self._keep(dataset.dataset_id, index)
        return index

    def _load(self, dataset_id: int) -> _Index:
        content = self._artifacts.get(_key(dataset_id))
        if content is None:
            return _Index()
        header, _, digests = content.partition(b"\n")
        counts = json.loads(header)
        last_correction = counts.pop(_LAST_CORRECTION, 0)
        return _Index(counts, digests, len(digests) // DIGEST_BYTES, last_correction)

    def _keep(self, dataset_id: int, index: _Index) -> None:
        with self._lock:
            self._indexes[dataset_id] = index
            self._indexes.move_to_end(dataset_id)
            while len(self._indexes) > KEPT_DATASETS:
                self._indexes.popitem(last=False)


def _missing(dataset: Dataset, index: _Index) -> Iterator[ExampleRange]:
    """Yield the ranges of committed examples that an index does not contain yet."""
    for counts in dataset.counts:
        for source in SOURCES:
            sequence = sequence_of(dataset.dataset_id, source, counts)
            start, end = index.counts.get(_sequence_key(sequence), 0), counts.count(source)
            while start < end:
                count = min(CHUNK_EXAMPLES - start % CHUNK_EXAMPLES, end - start)
                yield ExampleRange(sequence, start, count)
                start += count


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:DIGEST_BYTES]


def _sequence_key(sequence: ExampleSequence) -> str:
    return f"{sequence.source}#{sequence.label_id}"


def _key(dataset_id: int) -> str:
    return f"{dataset_prefix(dataset_id)}names"


def _dump(index: _Index) -> bytes:
    header = dict(index.counts) | (
        {_LAST_CORRECTION: index.last_correction} if index.last_correction else {}
    )
    return json.dumps(header).encode() + b"\n" + index.digests
