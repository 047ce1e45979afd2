"""Learning curves in the bucket: blocks of 5 epochs, a folder for each run of a model.

An epoch is visible as soon as it is added, and costs one small write however long the curve is.
A run that is taken up again replaces records in their places, so a reader never sees a curve
become shorter.
"""

from __future__ import annotations

from typing import Any

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.models.model import Model
from chalicelib.stores.aws.objects import ArtifactStore, model_prefix

# Epochs of one object. With 1,000 labels a record has 2 MB, and a block is rewritten whole.
BLOCK_EPOCHS = 5

Record = dict[str, Any]


class CurveStore:
    """Reads and writes learning curves."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def page(self, model: Model, offset: int, count: int) -> ListPage[Record]:
        """Read some records of the model's last run; none before its first epoch."""
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

    def writer(self, model: Model, epochs: int = 0) -> CurveWriter:
        """Go on with a run's curve after so many epochs, which must be there."""
        return CurveWriter(self._artifacts, model, epochs)


class CurveWriter:
    """Adds the records of one run, one after the other."""

    def __init__(self, artifacts: ArtifactStore, model: Model, epochs: int) -> None:
        self._artifacts = artifacts
        self._model = model
        self.epochs = epochs
        self._block: list[Record] = self._read(epochs // BLOCK_EPOCHS)
        self._is_written = True

    @property
    def is_whole(self) -> bool:
        """Tell whether the records of the epochs that went before are there."""
        before, rest = divmod(self.epochs, BLOCK_EPOCHS)
        return len(self._block) >= rest and (
            before == 0 or len(self._read(before - 1)) == BLOCK_EPOCHS
        )

    def add(self, record: Record) -> None:
        """Take the next epoch's record; a block that is full is written."""
        place = self.epochs % BLOCK_EPOCHS
        if place == 0 and self.epochs:
            # What an earlier attempt wrote stays behind: no reader sees the curve shrink.
            self._block = self._read(self.epochs // BLOCK_EPOCHS)
        self._block[place : place + 1] = [record]
        self.epochs += 1
        self._is_written = False
        if place == BLOCK_EPOCHS - 1:
            self.flush()

    def flush(self) -> None:
        """Write what was added."""
        if not self._is_written:
            number = (self.epochs - 1) // BLOCK_EPOCHS
            self._artifacts.put_json(_key(self._model, number), self._block)
            self._is_written = True

    def finish(self) -> None:
        """Write what was added, and remove what an earlier attempt has written beyond it."""
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
    """Place of a block; blocks sort by their number."""
    return f"{_folder(model)}{number:05d}.json"
