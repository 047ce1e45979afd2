"""Reads the feature rows of images, and caches them in a file of limited size.

A row has the features of one view: the image itself or an augmented copy. A training reads all rows
once per epoch in random order. All rows have the same size and are stored in the bucket. Rows that
do not fit into the temporary file are read from the bucket one by one.
"""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict
from threading import Lock
from typing import BinaryIO

from chalicelib import log
from chalicelib.errors import TrainingFailed
from chalicelib.stores.aws.objects import ArtifactStore

# Combines the number of an image and of one of its views, see `row_key`.
RowKey = int
# Key of an object, and offset of the row in it, in bytes.
Place = tuple[str, int]
# Memory for the rows that were read from the bucket last, in bytes.
RECENT_BYTES = 64 * 1024**2


def row_key(number: int, view: int) -> RowKey:
    """Return the key of the feature row for the image `number` and the view number `view`."""
    return number << 16 | view


class FeatureRows:
    """Reads feature rows from a temporary file or the bucket. Threads may share an instance."""

    def __init__(self, artifacts: ArtifactStore, row_bytes: int, local_bytes: int) -> None:
        """Create an empty cache.

        A row has the size `row_bytes`. The temporary file has at most the size `local_bytes`.
        """
        self._artifacts = artifacts
        self._row_bytes = row_bytes
        self._free = local_bytes // row_bytes
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._slots: dict[RowKey, int] = {}
        self._places: dict[RowKey, Place] = {}
        self._recent: OrderedDict[RowKey, bytes] = OrderedDict()
        self._most_recent = max(1, RECENT_BYTES // row_bytes)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._slots) + len(self._places)

    def __contains__(self, key: RowKey) -> bool:
        return key in self._slots or key in self._places

    @property
    def has_space(self) -> bool:
        """Return whether the temporary file has space for another row."""
        return self._free > 0

    def close(self) -> None:
        """Delete the temporary file; no row can be read afterwards."""
        self._file.close()

    def add(self, key: RowKey, place: Place, row: memoryview | None) -> None:
        """Record where in the bucket a row is; write the row to the temporary file if it has space.

        `row` is None if the bytes of the row are not loaded.
        """
        if key in self:
            return
        if row is None or not self._write(len(self._slots), row):
            self._places[key] = place
        else:
            self._slots[key] = len(self._slots)

    def get(self, key: RowKey) -> bytes:
        """Return the bytes of a row; raise TrainingFailed if it was deleted from the bucket."""
        slot = self._slots.get(key)
        if slot is not None:
            return os.pread(self._file.fileno(), self._row_bytes, slot * self._row_bytes)
        with self._lock:
            if key in self._recent:
                self._recent.move_to_end(key)
                return self._recent[key]
        row = self._fetch(self._places[key])
        with self._lock:
            self._recent[key] = row
            while len(self._recent) > self._most_recent:
                self._recent.popitem(last=False)
        return row

    def _fetch(self, place: Place) -> bytes:
        row = self._artifacts.get_range(*place, self._row_bytes)
        if row is None or len(row) != self._row_bytes:
            raise TrainingFailed(
                "The features of an image disappeared while the training ran. Train again."
            )
        return row

    def _write(self, slot: int, row: memoryview) -> bool:
        """Write a row to the temporary file; return False if the disk has no space."""
        if not self._free:
            return False
        try:
            written = os.pwrite(self._file.fileno(), row, slot * self._row_bytes)
        except OSError as error:
            log.warning("no_room_for_features", rows=slot, cause=str(error))
            written = 0
        # The disk may be smaller than the settings say; rows that were written stay readable.
        is_whole = written == self._row_bytes
        self._free = self._free - 1 if is_whole else 0
        return is_whole
