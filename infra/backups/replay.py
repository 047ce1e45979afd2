"""Keeps deletions and counters valid across a restore.

Datasets and models with a deletion record are restored hidden, and their deletion jobs start again.
So the service's own deletion removes all their data, for example texts in model cards. The periodic
sweep sends the jobs.
"""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.domain.jobs.deletion import DATASET, MODEL, QUEUED
from chalicelib.stores.jobs.deletions import OPEN
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
        """Return whether the dataset of a label, receipt or example is in the backup.

        Rows of other tables are always accepted: the result is True.
        """
        if table in _BY_ID:
            return row["dataset_id"]["N"] in self._known[DATASETS]
        if table == _BY_SEQUENCE:
            return row["sequence"]["S"].split("#")[0] in self._known[DATASETS]
        return True

    def own_object(self, key: str) -> bool:
        """Return True unless an object belongs to a dataset or model that the backup lacks."""
        kind, _, rest = key.partition("/")
        return kind not in self._known or rest.partition("/")[0] in self._known[kind]


DELETIONS, COUNTERS = "deletions", "counters"
# Tables whose rows a restore never deletes: they protect what happened after the backup.
KEPT = (DELETIONS, COUNTERS)
_PENDING = "DELETION_PENDING"


class Deleted:
    """The deletion records of a backup and of the stack into which the backup is restored."""

    def __init__(self, records: Iterable[Item]) -> None:
        by_key = {(row["account_id"]["S"], row["deletion_id"]["S"]): row for row in records}
        self._objects = {(row["kind"]["S"], row["object_id"]["S"]) for row in by_key.values()}
        self.records = [_reset_job(row) for row in by_key.values()]

    def as_restored(self, table: str, row: Item) -> Item:
        """Return a row as a restore writes it; a deleted dataset or model is marked as deleted."""
        # The new stack has no message for an open job, so the next sweep has to send one.
        if "open" in row:
            row = {**row, "nudged_at": {"N": "0"}}
        if table == "quotas" and "batches" in row:
            return _without_batches(row)
        if table == "datasets" and (DATASET, row["dataset_id"]["N"]) in self._objects:
            return {**row, "status": {"S": _PENDING}, "available": {"BOOL": False}}
        if table == "models" and (MODEL, row["model_id"]["S"]) in self._objects:
            return {**row, "deleted": {"BOOL": True}}
        return row


def _without_batches(row: Item) -> Item:
    """Remove the reserved predictions of batches from a row, because batches are not backed up."""
    reserved = sum(int(entry.rpartition("#")[2]) for entry in row["batches"]["SS"])
    left = {name: value for name, value in row.items() if name != "batches"}
    return {**left, "used": {"N": str(int(row["used"]["N"]) - reserved)}}


def highest_counters(rows: Iterable[Item]) -> list[Item]:
    """Return one row for each counter, with its highest value, so that no id is reused."""
    # If an id were reused, the deletion record of its first owner would also delete the second one.
    # Other attributes, such as the beginnings of pages, are only valid in the saved stack.
    found: dict[str, Item] = {}
    for saved in rows:
        row = {"name": saved["name"], "value": saved["value"]}
        name = row["name"]["S"]
        if name not in found or int(row["value"]["N"]) > int(found[name]["value"]["N"]):
            found[name] = row
    return list(found.values())


def _reset_job(row: Item) -> Item:
    """Return a deletion record as it is before its job starts."""
    zero = {"N": "0"}
    return {
        **row,
        "status": {"S": QUEUED},
        "progress": zero,
        "lease_until": zero,
        "nudged_at": zero,
        "open": {"S": OPEN},
    }
