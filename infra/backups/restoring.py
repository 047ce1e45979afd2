"""Restores a backup into a stack.

The whole backup is verified before anything is written. Rows that make others visible are written
last, so that an interrupted restore shows nothing incomplete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from infra.backups import objects, replay, tables
from infra.backups.dumping import KEYS
from infra.backups.folder import BackupError, BackupFolder, Manifest
from infra.backups.replay import DATASETS, MODELS, Owners
from infra.resources import TableResource, table_resources

Progress = Callable[[str], None]
# Tables whose rows make the others' visible.
_LAST = ("models", "datasets", "deletions", "accounts")


def restore(
    settings: Settings,
    folder: BackupFolder,
    is_replacing: bool = False,
    progress: Progress = lambda _: None,
    with_keys: bool = False,
) -> Manifest:
    """Write a backup into the existing tables and the bucket of a stack.

    Data that was deleted after the backup stays deleted, because the stack's deletion records stay
    and their jobs run again. Counters of the stack stay if they are higher. Rows and objects whose
    dataset or model is not in the backup are left out.

    Args:
        settings: names and endpoint.
        folder: the backup folder.
        is_replacing: whether to delete existing data first.
        progress: called with lines for the user.
        with_keys: whether to restore API keys, which only the saved data of a stack has.

    Raises:
        BackupError: the backup is incomplete, or the stack has data that may not be replaced.
    """
    manifest = _verified_manifest(folder, with_keys)
    clients = Clients(settings)
    resources = {_short(table, settings): table for table in table_resources(settings)}
    _check_names(manifest, resources)
    if not is_replacing:
        _check_empty(clients, settings, resources.values())
    kept = {name: list(tables.scan(clients.dynamodb, resources[name].name)) for name in replay.KEPT}
    if is_replacing:
        _clear(clients, settings, resources.values())
    owners = Owners(*(_rows(folder, manifest, short) for short in (DATASETS, MODELS)))
    owned = [item for item in manifest.objects if owners.own_object(item.key)]
    objects.put_all(clients.s3, settings.bucket, folder, owned)
    progress(f"{settings.bucket}: {len(owned)} objects")
    for short in replay.KEPT:
        kept[short] += _rows(folder, manifest, short)
    deleted = replay.Deleted(kept[replay.DELETIONS])
    counters = replay.highest_counters(kept[replay.COUNTERS])
    merged = {replay.DELETIONS: deleted.records, replay.COUNTERS: counters}
    for short in _in_order(resources):
        rows = merged[short] if short in merged else _rows(folder, manifest, short)
        changed = (deleted.as_restored(short, row) for row in rows if owners.own_row(short, row))
        count = tables.write(clients.dynamodb, resources[short].name, changed)
        progress(f"{resources[short].name}: {count} rows")
    return manifest


def _verified_manifest(folder: BackupFolder, with_keys: bool) -> Manifest:
    """Return what a backup holds, after reading all of it."""
    manifest = folder.manifest()
    if manifest is None:
        raise BackupError(f"{folder.path} holds no backup.")
    folder.verify(manifest)
    if not with_keys:
        # The folder may be the saved data of a stack, which has keys.
        manifest.tables.pop(KEYS, None)
    return manifest


def _rows(folder: BackupFolder, manifest: Manifest, short: str) -> Iterable[tables.Item]:
    for name in manifest.tables.get(short, ()):
        yield from tables.read_piece(folder.read(name))


def _in_order(resources: Mapping[str, TableResource]) -> list[str]:
    return [*(name for name in resources if name not in _LAST), *_LAST]


def _check_names(manifest: Manifest, resources: Mapping[str, TableResource]) -> None:
    unknown = sorted(set(manifest.tables) - set(resources))
    if unknown:
        raise BackupError(
            f"The backup has tables that this version does not know: {', '.join(unknown)}; "
            "restore it with the version that wrote it."
        )


def _check_empty(clients: Clients, settings: Settings, found: Iterable[TableResource]) -> None:
    for table in found:
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


def _clear(clients: Clients, settings: Settings, found: Iterable[TableResource]) -> None:
    """Delete rows and objects; rows that make others visible first."""
    # Deletions and counters stay, so that a restore that was interrupted can be repeated.
    order = {name: place for place, name in enumerate(reversed(_LAST))}
    cleared = [table for table in found if _short(table, settings) not in replay.KEPT]
    for table in sorted(cleared, key=lambda table: order.get(_short(table, settings), len(order))):
        keys = table.key_names
        rows = list(tables.scan(clients.dynamodb, table.name))
        tables.delete(clients.dynamodb, table.name, rows, keys)
    objects.delete_all(clients.s3, settings.bucket)


def _short(table: TableResource, settings: Settings) -> str:
    return table.name.removeprefix(f"{settings.name}-")
