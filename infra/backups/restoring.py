"""Restores a backup into a stack.

The whole backup is verified before anything is written. Rows that make other rows visible are
written last, so that an interrupted restore shows nothing incomplete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from infra.backups import objects, replay, tables
from infra.backups.dumping import KEYS, tables_by_name
from infra.backups.folder import BackupError, BackupFolder, Manifest, StoredObject
from infra.backups.replay import DATASETS, MODELS, Owners
from infra.backups.tables import Item
from infra.resources import TableResource

Progress = Callable[[str], None]
# Tables whose rows make rows of other tables visible.
_LAST = ("models", "datasets", "deletions", "accounts")


class Restored:
    """The rows and objects that a restore writes. Some rows differ from the rows in the backup."""

    def __init__(
        self,
        manifest: Manifest,
        saved_rows: Callable[[str], Iterable[Item]],
        rows: Mapping[str, list[Item]],
    ) -> None:
        """Read the rows that decide how other rows are restored.

        Args:
            manifest: manifest of the backup.
            saved_rows: returns the saved rows of a table, given its short name.
            rows: rows of the stack that a restore does not delete, by table (`replay.KEPT`).
        """
        self._saved_rows = saved_rows
        self._owners = Owners(*(saved_rows(short) for short in (DATASETS, MODELS)))
        rows = {short: [*rows[short], *saved_rows(short)] for short in replay.KEPT}
        self._deleted = replay.Deleted(rows[replay.DELETIONS])
        self._merged = {
            replay.DELETIONS: self._deleted.records,
            replay.COUNTERS: replay.highest_counters(rows[replay.COUNTERS]),
        }
        self.objects: list[StoredObject] = [
            item for item in manifest.objects if self._owners.own_object(item.key)
        ]

    def rows(self, short: str) -> Iterator[Item]:
        """Yield the rows to write into a table, given the table's short name."""
        rows = self._merged[short] if short in self._merged else self._saved_rows(short)
        for row in rows:
            if self._owners.own_row(short, row):
                yield self._deleted.as_restored(short, row)


def restore(
    settings: Settings,
    folder: BackupFolder,
    is_replacing: bool = False,
    progress: Progress = lambda _: None,
) -> Manifest:
    """Write a backup into the existing tables and the bucket of a stack.

    Data that was deleted after the backup stays deleted, because the stack's deletion records stay
    and their jobs run again. Each counter gets the higher value of backup and stack. Rows and
    objects whose dataset or model is not in the backup are left out.

    Args:
        settings: names of the tables and the bucket, and the endpoint of AWS.
        folder: the backup folder.
        is_replacing: whether to delete existing data first.
        progress: called with lines for the user.

    Raises:
        BackupError: the backup is incomplete, or the stack has data that may not be replaced.
    """
    manifest = _verified_manifest(folder)
    clients = Clients(settings)
    resources = tables_by_name(settings)
    check_names(manifest, resources)
    if not is_replacing:
        _check_empty(clients, settings, resources.values())
    kept = {name: list(tables.scan(clients.dynamodb, resources[name].name)) for name in replay.KEPT}
    if is_replacing:
        _clear(clients, settings, resources)
    restored = Restored(manifest, lambda short: _rows(folder, manifest, short), kept)
    objects.put_all(clients.s3, settings.bucket, folder, restored.objects)
    progress(f"{settings.bucket}: {len(restored.objects)} objects")
    for short in _in_order(resources):
        count = tables.write(clients.dynamodb, resources[short].name, restored.rows(short))
        progress(f"{resources[short].name}: {count} rows")
    return manifest


def _verified_manifest(folder: BackupFolder) -> Manifest:
    """Read the whole backup to verify it, and return its manifest."""
    manifest = folder.manifest()
    if manifest is None:
        raise BackupError(f"{folder.path} holds no backup.")
    folder.verify(manifest)
    # The saved data of a local stack has API keys too, which are not restored.
    manifest.tables.pop(KEYS, None)
    return manifest


def _rows(folder: BackupFolder, manifest: Manifest, short: str) -> Iterable[Item]:
    for name in manifest.tables.get(short, ()):
        yield from tables.read_piece(folder.read(name))


def _in_order(resources: Mapping[str, TableResource]) -> list[str]:
    return [*(name for name in resources if name not in _LAST), *_LAST]


def check_names(manifest: Manifest, resources: Mapping[str, TableResource]) -> None:
    """Raise BackupError if this version does not know a table of the backup."""
    unknown = sorted(set(manifest.tables) - set(resources))
    if unknown:
        raise BackupError(
            f"The backup has tables that this version does not know: {', '.join(unknown)}; "
            "restore it with the version that wrote it."
        )


def _check_empty(clients: Clients, settings: Settings, tables: Iterable[TableResource]) -> None:
    for table in tables:
        if clients.dynamodb.scan(TableName=table.name, Limit=1)["Items"]:
            raise BackupError(
                f"The table {table.name} has rows; restore into an empty stack, or replace "
                "everything that is there by --replace."
            )
    if next(objects.found(clients.s3, settings.bucket), None) is not None:
        raise BackupError(
            f"The bucket {settings.bucket} has objects; restore into an empty stack, or replace "
            "everything that is there by --replace."
        )


def _clear(clients: Clients, settings: Settings, resources: Mapping[str, TableResource]) -> None:
    """Delete rows and objects, first the rows that make other rows visible.

    Deletion records and counters are not deleted.
    """
    # Deletions and counters stay, so that a restore that was interrupted can be repeated.
    order = {name: place for place, name in enumerate(reversed(_LAST))}
    cleared = [short for short in resources if short not in replay.KEPT]
    for short in sorted(cleared, key=lambda short: order.get(short, len(order))):
        name, keys = resources[short].name, resources[short].key_names
        rows = list(tables.scan(clients.dynamodb, name))
        tables.delete(clients.dynamodb, name, rows, keys)
    objects.delete_all(clients.s3, settings.bucket)
