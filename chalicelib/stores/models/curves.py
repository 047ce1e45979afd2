"""Learning curves in the bucket: blocks of 5 epochs, in one folder per run of a model.

A new epoch is visible after `flush`, which writes one small object. A resumed run replaces records
in place, so a reader never sees a curve become shorter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.models.model import Model
from chalicelib.stores.aws.objects import ArtifactStore, model_prefix

# Epochs per object. Few, because a record of 1,000 labels has 2 MB and a block is rewritten whole.
BLOCK_EPOCHS = 5

Record = dict[str, Any]


class CurveStore:
    """Reads and writes learning curves."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def page(self, model: Model, offset: int, count: int) -> ListPage[Record]:
        """Return a page of the learning curve of the model's latest run."""
        end = offset + count
        records: list[Record] = []
        for number in range(offset // BLOCK_EPOCHS, -(-end // BLOCK_EPOCHS)):
            block = self._artifacts.get_json(_key(model, number)) or []
            records += block
            if len(block) < BLOCK_EPOCHS:
                break
        first = offset % BLOCK_EPOCHS
        shown = records[first : first + count]
        has_more = len(records) > first + count
        if not has_more and len(shown) == count and end % BLOCK_EPOCHS == 0:
            has_more = bool(self._artifacts.keys(_key(model, end // BLOCK_EPOCHS)))
        return ListPage(tuple(shown), offset, has_more)

    def copy(self, model: Model, run: int) -> None:
        """Copy the learning curve of an earlier run to the current run of a model."""
        number = 0
        while block := self._artifacts.get_json(_key(replace(model, run=run), number)):
            self._artifacts.put_json(_key(model, number), block)
            number += 1

    def writer(self, model: Model, epochs: int = 0) -> CurveWriter:
        """Return a writer that continues the learning curve of a run after `epochs` epochs."""
        return CurveWriter(self._artifacts, model, epochs)


class CurveWriter:
    """Appends the records of one run to its learning curve."""

    def __init__(self, artifacts: ArtifactStore, model: Model, epochs: int) -> None:
        self._artifacts = artifacts
        self._model = model
        self.epochs = epochs
        self._block: list[Record] = self._read(epochs // BLOCK_EPOCHS)
        self._is_written = True

    @property
    def is_complete(self) -> bool:
        """Return whether all epochs before the first epoch of this writer are stored."""
        before, rest = divmod(self.epochs, BLOCK_EPOCHS)
        return len(self._block) >= rest and (
            before == 0 or len(self._read(before - 1)) == BLOCK_EPOCHS
        )

    def add(self, record: Record) -> None:
        """Append the next epoch's record. A block is written when it is full, or by `flush`."""
        place = self.epochs % BLOCK_EPOCHS
        if place == 0 and self.epochs:
            # Later records of an earlier attempt stay, so that no reader sees the curve shrink.
            self._block = self._read(self.epochs // BLOCK_EPOCHS)
        self._block[place : place + 1] = [record]
        self.epochs += 1
        self._is_written = False
        if place == BLOCK_EPOCHS - 1:
            self.flush()

    def flush(self) -> None:
        """Write all records that are not written yet."""
        if not self._is_written:
            number = (self.epochs - 1) // BLOCK_EPOCHS
            self._artifacts.put_json(_key(self._model, number), self._block)
            self._is_written = True

    def finish(self) -> None:
        """Write the remaining records, and delete all records after the last added record."""
        used = (self.epochs - 1) % BLOCK_EPOCHS + 1 if self.epochs else 0
        if len(self._block) > used:
            del self._block[used:]
            self._is_written = False
        self.flush()
        folder = _folder(self._model)
        last = _key(self._model, (self.epochs - 1) // BLOCK_EPOCHS)
        for key in self._artifacts.keys(folder):
            if key > last:
                self._artifacts.delete(key)

    def _read(self, number: int) -> list[Record]:
        return self._artifacts.get_json(_key(self._model, number)) or []


def _folder(model: Model) -> str:
    return f"{model_prefix(model.model_id)}curves/{model.run}/"


def _key(model: Model, number: int) -> str:
    """Return the key of a block. The keys sort in the order of the blocks."""
    return f"{_folder(model)}{number:05d}.json"
