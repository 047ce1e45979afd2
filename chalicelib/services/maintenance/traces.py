"""Deletes data that was replaced by corrections of a dataset, including removed examples.

The data is deleted once no reader and no earlier training can use it. Every step may be repeated.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.datasets.dataset import DELETION_PENDING, SOURCES, Dataset
from chalicelib.domain.datasets.example import Example, text_digest
from chalicelib.domain.datasets.windows import split_texts
from chalicelib.domain.models.redaction import without_some
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix
from chalicelib.stores.datasets.corrections import CLEARED_AFTER_SECONDS
from chalicelib.stores.datasets.traces import LeftTraces, TraceStore, committed
from chalicelib.stores.examples.examples import ExampleSequence, ExampleStore

if TYPE_CHECKING:
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.datasets.leases import DatasetLeases
    from chalicelib.stores.examples.digest_index import DigestIndex
    from chalicelib.stores.examples.example_search import ExamplePlaces
    from chalicelib.stores.examples.parts import PartStore
    from chalicelib.stores.examples.pictures import PictureStore
    from chalicelib.stores.jobs.capacity import CapacityStore
    from chalicelib.stores.jobs.guards import GuardStore
    from chalicelib.stores.models.versions import ModelCards

# Pause before the next attempt when something is still in use, in seconds.
WAIT_SECONDS = 60
# Seconds after a correction from which on no new adjustment may delay the deletion of the old data.
OVERDUE_SECONDS = 600
# Enough of a file of vectors to hold the digests of a few thousand examples.
_HEAD_BYTES = 65_536


@dataclass(frozen=True, kw_only=True)
class TraceServiceStores:
    """Stores used by `TraceService`."""

    artifacts: ArtifactStore
    dataset_leases: DatasetLeases
    datasets: DatasetStore
    digests: DigestIndex
    example_places: ExamplePlaces
    examples: ExampleStore
    guards: GuardStore
    model_cards: ModelCards
    parts: PartStore
    pictures: PictureStore
    capacity: CapacityStore
    traces: TraceStore


class TraceService:
    """Deletes data that was replaced by corrections of a dataset."""

    def __init__(self, stores: TraceServiceStores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    def clear(self, account_id: str, family: str, dataset_id: int) -> int:
        """Delete data that was replaced by corrections of a dataset, once no reader needs it.

        Nothing is done if the dataset was deleted, because the deletion removes all of its files.

        Returns:
            The seconds until the next attempt; 0 if nothing is left to delete.
        """
        dataset = self._stores.datasets.find(account_id, family, dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            return 0
        noted = self._stores.traces.all(dataset_id)
        chain = committed(noted, dataset.last_correction)
        ready = self._ready(dataset, chain)
        if ready and not self._clear(dataset, ready):
            return WAIT_SECONDS
        open_rows = len(self._remove_uncommitted(dataset, noted, chain))
        return WAIT_SECONDS if open_rows or len(ready) < len(chain) else 0

    def is_overdue(self, dataset: Dataset) -> bool:
        """Return whether replaced data should have been deleted more than OVERDUE_SECONDS ago."""
        chain = committed(self._stores.traces.all(dataset.dataset_id), dataset.last_correction)
        long_ago = to_milliseconds(self._clock()) - OVERDUE_SECONDS * 1000
        return any(one.at < long_ago for one in self._ready(dataset, chain))

    def _ready(self, dataset: Dataset, chain: list[LeftTraces]) -> list[LeftTraces]:
        """Return the corrections at the start of `chain` whose replaced data is not in use."""
        now = to_milliseconds(self._clock())
        oldest = self._stores.guards.oldest(dataset)
        ready = []
        for one in chain:
            until = one.at + CLEARED_AFTER_SECONDS * 1000
            if until > now or (oldest is not None and oldest <= until):
                break
            ready.append(one)
        return ready

    def _remove_uncommitted(
        self, dataset: Dataset, traces: list[LeftTraces], chain: list[LeftTraces]
    ) -> list[LeftTraces]:
        """Delete the records of corrections that can never be committed any more.

        Return the records of other uncommitted corrections, which may still be running.
        """
        known = {one.fence for one in chain}
        others = [one for one in traces if one.fence not in known]
        for one in others:
            if one.fence < dataset.fence:
                self._stores.traces.delete(dataset.dataset_id, one.fence)
        waiting = [one for one in others if one.fence >= dataset.fence]
        if waiting and (owned := self._stores.dataset_leases.acquire_addition(dataset)):
            # Raises the fence, so that a stalled worker cannot commit any more.
            self._stores.dataset_leases.release(dataset, owned.lease)
        return waiting

    def _clear(self, dataset: Dataset, ready: list[LeftTraces]) -> bool:
        """Delete the data that corrections replaced; return False if the dataset is in use."""
        stores, number = self._stores, dataset.dataset_id
        gone = {i for one in ready for i in one.traces.gone}
        changed = gone | {i for one in ready for i in one.traces.replaced}
        chunks = [key for one in ready for key in one.traces.chunks]
        old = [e for e in stores.examples.read_chunks(chunks) if e.example_id in changed]
        if old and not self._remove_vectors(dataset, old):
            return False
        if changed:
            names = {example.name for example in old}
            if not self._remove_from_cards(dataset, changed, names):
                return False
            for source in SOURCES:
                for label_id in {example.label_id for example in old}:
                    sequence = ExampleSequence(number, source, label_id)
                    entries = [(e.digest, e.example_id) for e in old if e.label_id == label_id]
                    stores.digests.remove(sequence, entries)
            stores.example_places.remove(number, gone)
        stores.examples.delete_chunks(chunks)
        for one in ready:
            stores.traces.delete(number, one.fence)
        return True

    def _remove_vectors(self, dataset: Dataset, old: list[Example]) -> bool:
        """Delete images or vectors of the examples `old`; return False if the dataset is in use."""
        pictures = {example.picture for example in old if example.picture}
        if pictures:
            return self._remove_images(dataset, pictures)
        texts = {example.name for example in old}
        for part in self._stores.parts.waiting(dataset.dataset_id):
            items = self._stores.parts.items(part) or []
            if not texts.isdisjoint(items):
                self._stores.parts.replace(part, [item for item in items if item not in texts])
        # A long text has vectors of its windows, which also contain its words.
        read = {text_digest(window) for window in split_texts(texts).windows}
        self._remove_embeddings(dataset, read | {example.digest for example in old})
        return True

    def _remove_embeddings(self, dataset: Dataset, digests: Collection[bytes]) -> None:
        """Remove the stored vectors of texts with these digests. They are recomputed if needed."""
        from chalicelib.engines.text.encoding.embedding_shards import dump_shard, load_shard

        artifacts = self._stores.artifacts
        for key in artifacts.keys(f"{dataset_prefix(dataset.dataset_id)}embeddings/"):
            head = artifacts.get_range(key, 0, _HEAD_BYTES) or b""
            if not any(digest in head for digest in digests):
                continue
            held, vectors = load_shard(artifacts.get(key) or head)
            kept = [place for place, digest in enumerate(held) if digest not in digests]
            if kept:
                artifacts.put(
                    key,
                    dump_shard([held[place] for place in kept], vectors[kept].astype("float32")),
                )
            else:
                artifacts.delete(key)

    def _remove_images(self, dataset: Dataset, pictures: set[str]) -> bool:
        """Delete unused images and their features; return False if the dataset is in use."""
        stores, number = self._stores, dataset.dataset_id
        # A running training reads the images until its end.
        if stores.guards.oldest(dataset) is not None:
            return False
        # Without the lease, an upload that is read meanwhile could refer to a deleted image.
        owned = stores.dataset_leases.acquire_addition(dataset)
        if owned is None:
            return False
        try:
            unused = set(pictures)
            for source in SOURCES:
                for example in stores.examples.read_all(number, source, owned.dataset.counts):
                    unused.discard(example.picture)
            size_bytes = sum(stores.pictures.size(number, digest) for digest in unused)
            stores.pictures.delete(number, unused)
            digests = [bytes.fromhex(digest) for digest in unused]
            for key in stores.artifacts.keys(f"{dataset_prefix(number)}features/"):
                head = stores.artifacts.get_range(key, 0, _HEAD_BYTES) or b""
                if any(digest in head for digest in digests):
                    stores.artifacts.delete(key)
            left = max(0, owned.dataset.bytes - size_bytes)
            stores.dataset_leases.commit_bytes(dataset, owned.lease, left)
        except BaseException:
            stores.dataset_leases.release(dataset, owned.lease)
            raise
        stores.capacity.release_bytes(dataset.account_id, size_bytes)
        return True

    def _remove_from_cards(self, dataset: Dataset, ids: set[int], names: set[str]) -> bool:
        """Remove examples from cards, reports and curves; return False if a card is being copied.

        `ids` are the ids of the examples, and `names` their texts or file names. While an
        adjustment copies a card, the copy may still contain the examples.
        """

        def change(document: Any) -> Any:
            return without_some(document, ids, names)

        cards = self._stores.model_cards
        return cards.change_all(dataset.account_id, dataset.dataset_id, change)
