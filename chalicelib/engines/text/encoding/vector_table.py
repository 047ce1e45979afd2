"""Collects the vectors of distinct texts, from stored shards or from an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.datasets.example import text_digest

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Singles


class VectorTable:
    """The vectors of distinct texts. They are filled in as they are loaded or computed."""

    def __init__(self, texts: Sequence[str], dimensions: int) -> None:
        self._texts: dict[bytes, str] = {}
        self._rows = [text_digest(text) for text in texts]
        for digest, text in zip(self._rows, texts, strict=True):
            self._texts.setdefault(digest, text)
        self._places = {digest: place for place, digest in enumerate(self._texts)}
        self._vectors = np.zeros((len(self._texts), dimensions), np.float16)
        self._is_filled = np.zeros(len(self._texts), bool)
        self.filled = 0

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def requested(self) -> int:
        """Return the number of requested texts; equal texts count separately."""
        return len(self._rows)

    def fill(self, digests: Sequence[bytes], vectors: Array) -> None:
        """Store the vectors of texts with these digests; ignore texts that were not requested."""
        found = [(self._places[d], i) for i, d in enumerate(digests) if d in self._places]
        if found:
            places, sources = np.array(found).T
            self._vectors[places] = vectors[sources]
            self._is_filled[places] = True
            self.filled = int(self._is_filled.sum())

    def missing(self, count: int) -> list[str]:
        """Return at most `count` texts without a vector: the last ones, in requested order."""
        # From the end, because the ingest computes the same texts from the beginning.
        empty = set(np.flatnonzero(~self._is_filled)[-count:].tolist())
        return [text for place, text in enumerate(self._texts.values()) if place in empty]

    def vectors(self) -> Singles:
        """Return one row for each requested text, float32, shape (texts, dims)."""
        return self.rows(0, len(self._rows))

    def rows(self, first: int, last: int) -> Singles:
        """Return the vectors of requested texts `first` to `last` - 1, float32, (texts, dims)."""
        # Only a range is converted to float32, which saves memory.
        places = np.array([self._places[digest] for digest in self._rows[first:last]], np.int64)
        rows: Singles = self._vectors[places].astype(np.float32)
        return rows


class JoinedTables:
    """Reads the vector tables of several datasets like one table, one dataset after the other."""

    def __init__(self, tables: Sequence[VectorTable]) -> None:
        self._tables = tables
        self._ends = np.cumsum([table.requested for table in tables]).tolist()

    def rows(self, first: int, last: int) -> Singles:
        """Return vectors, float32, of texts `first` to `last` - 1, numbered across all tables."""
        parts = []
        for table, end in zip(self._tables, self._ends, strict=True):
            start = end - table.requested
            # A table without texts has no vectors to look up.
            if first < end and last > start:
                parts.append(table.rows(max(first, start) - start, min(last, end) - start))
        if not parts:
            return self._tables[0].rows(0, 0)
        return np.concatenate(parts) if len(parts) != 1 else parts[0]
