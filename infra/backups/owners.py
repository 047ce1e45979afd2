"""Tells what of a backup belongs to nothing in it, and so could never be found or deleted.

A dump of a stack that goes on copies the files and rows of a dataset that was made after the
datasets had been copied.
"""

from __future__ import annotations

from collections.abc import Iterable

from infra.backups.tables import Item

DATASETS, MODELS = "datasets", "models"
_BY_ID = ("labels", "receipts")
_BY_SEQUENCE = "examples"


class Owners:
    """The datasets and models of a backup."""

    def __init__(self, datasets: Iterable[Item], models: Iterable[Item]) -> None:
        self._known = {
            DATASETS: {row["dataset_id"]["N"] for row in datasets},
            MODELS: {row["model_id"]["S"] for row in models},
        }

    def own_row(self, table: str, row: Item) -> bool:
        """Tell whether what a row belongs to is there."""
        if table in _BY_ID:
            return row["dataset_id"]["N"] in self._known[DATASETS]
        if table == _BY_SEQUENCE:
            return row["sequence"]["S"].split("#")[0] in self._known[DATASETS]
        return True

    def own_object(self, key: str) -> bool:
        """Tell whether what an object belongs to is there."""
        kind, _, rest = key.partition("/")
        return kind not in self._known or rest.partition("/")[0] in self._known[kind]
