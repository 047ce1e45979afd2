"""Groups boxes by image in a temporary file, because datasets store boxes by label."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from chalicelib.domain.documents.picture import Box
from chalicelib.formats.exports.archives import ExportedBox


@dataclass(frozen=True)
class BoxGroup:
    """An image, its file name and its boxes."""

    picture: str
    """Digest of the file, 32 hex digits."""
    name: str
    """File name."""
    boxes: tuple[ExportedBox, ...]
    """Boxes of the image, in the order of the dataset."""


class BoxGroups:
    """Groups boxes by image, in the order of each image's first box. Use in a `with` block."""

    def __init__(self) -> None:
        self._file = tempfile.NamedTemporaryFile(suffix=".sqlite")  # noqa: SIM115 - closed below
        self._rows = sqlite3.connect(self._file.name)
        self._rows.execute("PRAGMA journal_mode = OFF")
        self._rows.execute("PRAGMA synchronous = OFF")
        self._rows.execute("PRAGMA temp_store = FILE")
        self._rows.execute(
            "CREATE TABLE boxes (place INTEGER PRIMARY KEY, picture, name, label, x, y, w, h)"
        )

    def __enter__(self) -> BoxGroups:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._rows.close()
        self._file.close()

    def fill(self, boxes: Iterable[tuple[str, str, int, Box]]) -> None:
        """Add boxes in dataset order, each as (image digest, file name, label index, box)."""
        rows = (
            (picture, name, label, box.x, box.y, box.width, box.height)
            for picture, name, label, box in boxes
        )
        self._rows.executemany(
            "INSERT INTO boxes (picture, name, label, x, y, w, h) VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def __iter__(self) -> Iterator[BoxGroup]:
        rows = self._rows.execute(
            "SELECT picture, name, label, x, y, w, h FROM boxes JOIN (SELECT picture AS p, "
            "name AS n, min(place) AS first FROM boxes GROUP BY picture, name) "
            "ON picture = p AND name = n ORDER BY first, place"
        )
        for (picture, name), group in groupby(rows, key=lambda row: row[:2]):
            boxes = tuple(ExportedBox(row[2], Box(*row[3:])) for row in group)
            yield BoxGroup(picture, name, boxes)
