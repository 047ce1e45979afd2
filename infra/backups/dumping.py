"""Dumps a stack: all tables and the bucket, as one set of files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import Any

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from infra.backups import objects, tables
from infra.backups.folder import BackupFolder, Manifest
from infra.resources import TableResource, table_resources

Progress = Callable[[str], None]
_LAST = ("deletions", "counters")
# Exports and batches, which can be asked for again; their files are left out too.
_LEFT_OUT = ("exports",)
# Returns a context in which only the given clients can change data.
PauseWrites = Callable[[Clients], AbstractContextManager[Any]]


def _moving(_: Clients) -> AbstractContextManager[Any]:
    return nullcontext()


def dump(
    settings: Settings,
    folder: BackupFolder,
    progress: Progress = lambda _: None,
    pause_writes: PauseWrites = _moving,
) -> Manifest:
    """Copy every table and the bucket into a folder; what has not changed is not copied again.

    The copy of a running stack is in the state that a crash leaves. Rows that make others visible
    are read first, then the rows they name, then deletions and counters of ids, and the bucket
    last. So everything that a copied row names is in the copy, or a copied deletion removes the
    rest. Rows and files without an owner in the copy are not restored, running jobs begin again,
    and no id is used twice.

    Args:
        settings: names and endpoint.
        folder: the backup folder.
        progress: takes lines for the user.
        pause_writes: pauses other writes while tables and the last objects are read.

    Raises:
        BackupError: the folder holds something else or a damaged backup.
        OSError: the folder cannot be written; nothing of this dump is left in it.
    """
    before = folder.open_dump()
    known = {item.key: item for item in before.objects} if before else {}
    clients = Clients(settings)
    try:
        # Most bytes are copied before the stack must stand still.
        early = objects.copy(clients.s3, settings.bucket, folder, known, progress)
        known |= {item.key: item for item in early}
        with pause_writes(clients):
            manifest = Manifest(settings.name, datetime.now(UTC).isoformat(timespec="seconds"))
            for table in _in_order(settings):
                _dump_table(clients.dynamodb, folder, manifest, table, settings)
                progress(f"{table.name}: {manifest.rows[_short(table, settings)]} rows")
            manifest.objects.extend(objects.copy(clients.s3, settings.bucket, folder, known))
        progress(f"{settings.bucket}: {len(manifest.objects)} objects")
        folder.switch(manifest)
    except BaseException:
        folder.discard_new()
        raise
    return manifest


def _in_order(settings: Settings) -> list[TableResource]:
    """Return the tables, those last that tell what became of the others' rows."""
    kept = (t for t in table_resources(settings) if _short(t, settings) not in _LEFT_OUT)
    return sorted(kept, key=lambda table: _LAST.count(_short(table, settings)))


def _dump_table(
    dynamodb: Any,
    folder: BackupFolder,
    manifest: Manifest,
    table: TableResource,
    settings: Settings,
) -> None:
    names: list[str] = []
    rows = 0
    keys = table.key_names
    for content, count in tables.pieces(tables.scan(dynamodb, table.name), keys):
        names.append(folder.add(content))
        rows += count
    manifest.tables[_short(table, settings)] = names
    manifest.rows[_short(table, settings)] = rows


def _short(table: TableResource, settings: Settings) -> str:
    """Name of a table without the stack's prefix, so that another stack can take its rows."""
    return table.name.removeprefix(f"{settings.name}-")
