"""Dumps all tables and the bucket of a stack into a backup folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from infra.backups import objects, tables
from infra.backups.folder import BackupFolder, Manifest, StoredObject
from infra.resources import TableResource, table_resources

Progress = Callable[[str], None]
# Tables that describe changes to rows of other tables. They are read last, so that they are newer
# than those rows.
_LAST = ("deletions", "counters")
# Exports and batches can be requested again, so their rows and files are left out.
_LEFT_OUT = ("exports",)
# API keys are in no backup, so that a restore brings back no revoked key.
KEYS = "api-keys"
# Returns a context in which only the given clients can change data.
PauseWrites = Callable[[Clients], AbstractContextManager[Any]]

# Yields the pieces of a table, each with its number of rows.
ReadPieces = Callable[[Clients, TableResource], Iterable[tuple[bytes, int]]]
# Returns whether a table or the bucket, by its full name, may differ from the previous dump.
HasChanged = Callable[[str], bool]


def _no_pause(_: Clients) -> AbstractContextManager[Any]:
    return nullcontext()


def _scan_pieces(clients: Clients, table: TableResource) -> Iterable[tuple[bytes, int]]:
    return tables.pieces(tables.scan(clients.dynamodb, table.name), table.key_names)


@dataclass(frozen=True)
class Access:
    """The functions by which a dump pauses writes, finds changes and reads tables."""

    pause_writes: PauseWrites = _no_pause
    """Pauses other writes while the tables, and objects that are not copied yet, are read."""
    has_changed: HasChanged = lambda _: True
    """Returns whether a table or the bucket may have changed, given its full name.

    The dump does not read unchanged data again. It calls this function for the bucket before and
    during the pause of writes, and for tables only during the pause.
    """
    read_pieces: ReadPieces = _scan_pieces
    """Reads the rows of a table."""


_PLAIN = Access()


def dumped_names(settings: Settings, with_keys: bool = False) -> set[str]:
    """Return the full names of the tables and of the bucket that a dump copies."""
    return {settings.bucket, *(table.name for _, table in _in_order(settings, with_keys))}


def tables_by_name(settings: Settings) -> dict[str, TableResource]:
    """Return the tables of a stack by their short names."""
    # Without the stack's prefix, so that the rows can be restored into another stack.
    prefix = f"{settings.name}-"
    return {table.name.removeprefix(prefix): table for table in table_resources(settings)}


def dump(
    settings: Settings,
    folder: BackupFolder,
    progress: Progress = lambda _: None,
    access: Access = _PLAIN,
    with_keys: bool = False,
) -> Manifest:
    """Copy all tables and the bucket into a folder, except data that the latest dump already has.

    `progress` is called with lines for the user. `access` has the functions that read the stack. If
    `with_keys` is true, API keys are copied, too; a local stack needs them after a restart.

    Raises:
        BackupError: the folder has other files, or a damaged backup.
        OSError: the folder cannot be written; nothing of this dump is left in it.
    """
    # Without a pause, the copy is in a state that a crash could leave. Rows that make others
    # visible are read first, then the rows they name, then deletions and counters, and the bucket
    # last. So everything that a copied row names is in the copy, or a copied deletion removes it.
    before = folder.open_dump() or Manifest(settings.name, "")
    known, clients = _by_key(before.objects), Clients(settings)
    try:
        # Most bytes are copied before writes are paused, so that the pause is short.
        if access.has_changed(settings.bucket):
            known |= _by_key(objects.copy(clients.s3, settings.bucket, folder, known, progress))
        with access.pause_writes(clients):
            manifest = Manifest(settings.name, datetime.now(UTC).isoformat(timespec="seconds"))
            for short, table in _in_order(settings, with_keys):
                if short in before.tables and not access.has_changed(table.name):
                    manifest.tables[short] = before.tables[short]
                    manifest.rows[short] = before.rows[short]
                else:
                    pieces = access.read_pieces(clients, table)
                    manifest.set_table(short, [(folder.add(content), n) for content, n in pieces])
                progress(f"{table.name}: {manifest.rows[short]} rows")
            if access.has_changed(settings.bucket):
                known = _by_key(objects.copy(clients.s3, settings.bucket, folder, known))
            manifest.objects.extend(known.values())
        progress(f"{settings.bucket}: {len(manifest.objects)} objects")
        folder.switch(manifest)
    except BaseException:
        # Also on a full disk, which needs the space again.
        folder.discard_new()
        raise
    return manifest


def _by_key(items: Iterable[StoredObject]) -> dict[str, StoredObject]:
    return {item.key: item for item in items}


def _in_order(settings: Settings, with_keys: bool) -> list[tuple[str, TableResource]]:
    left_out = _LEFT_OUT if with_keys else (*_LEFT_OUT, KEYS)
    kept = (item for item in tables_by_name(settings).items() if item[0] not in left_out)
    return sorted(kept, key=lambda item: _LAST.count(item[0]))
