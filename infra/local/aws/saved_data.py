"""Loads the saved data of a previous run into moto, in this process.

All files are read and verified at the start, so that damage is found early. If the disk damages a
file later, the file can be rewritten from memory. The rows of a table are parsed when the table is
first used; until then, only their bytes are in memory. Check this module with each new version of
moto.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table
from moto.s3 import notifications
from moto.s3.models import FakeKey, s3_backends

from chalicelib.config import Settings
from infra.backups import replay, tables
from infra.backups.dumping import tables_by_name
from infra.backups.folder import BackupError, BackupFolder, Manifest, StoredObject
from infra.backups.restoring import Restored, check_names
from infra.backups.tables import Item
from infra.local.aws.item_calls import wire
from infra.local.events import ACCOUNT

# Reading and hashing release Python's lock, so threads work at the same time.
_THREADS = 4
# Number of objects whose bytes are read at the same time.
_PAGE = 100

ReadRows = Callable[[], Iterable[Item]]


class UnreadTable(Table):
    """A table whose saved rows have not been parsed; its first use makes it an ordinary table."""

    saved_rows: ReadRows

    def _parsed(self) -> Any:
        # All rows are parsed before the first change, so that an error leaves the table unchanged.
        rows, ordinary = list(self.saved_rows()), cast(Any, self)
        del ordinary.saved_rows
        ordinary.__class__ = Table
        for row in rows:
            ordinary.put_item(row, overwrite=True)
        return ordinary.items

    # Replaces the attribute of moto's class.
    items: Any = property(_parsed)


class SavedData:
    """The saved data that is loaded at the start of this run."""

    def __init__(self, settings: Settings, folder: BackupFolder) -> None:
        self._settings = settings
        self._folder = folder
        self.seal = ""
        """Digest of the loaded manifest; empty when none is loaded."""

    def load(self) -> str:
        """Load the data into the new tables and the bucket; return a line for the user.

        The line is empty when nothing was saved. The caller must hold the locks.

        Raises:
            BackupError: the saved data is damaged.
        """
        began, manifest = time.monotonic(), self._folder.manifest()
        if manifest is None and not self._folder.is_empty():
            raise BackupError(f"{self._folder.path} has no manifest, its parts cannot be restored.")
        if manifest is None or not manifest.tables:
            return ""
        resources = tables_by_name(self._settings)
        check_names(manifest, resources)
        with ThreadPoolExecutor(_THREADS) as threads:
            saved = self._read_pieces(manifest, threads)
            restored = Restored(
                manifest, partial(_parse, saved), {name: [] for name in replay.KEPT}
            )
            self._put_objects(restored.objects, threads)
        found = dynamodb_backends[ACCOUNT][self._settings.region].tables
        for short, resource in resources.items():
            table: Any = found[resource.name]
            table.saved_rows = partial(_rows, restored, saved, short)
            table.__class__ = UnreadTable
        self.seal = self._folder.seal()
        return (
            f"the data of {manifest.created_at} is restored: {sum(manifest.rows.values())} rows, "
            f"{len(restored.objects)} objects, {time.monotonic() - began:.1f} s"
        )

    def unread(self) -> list[str]:
        """Return the names of the tables whose rows have not been parsed."""
        found = dynamodb_backends[ACCOUNT][self._settings.region].tables
        return [name for name, table in found.items() if isinstance(table, UnreadTable)]

    def pieces(self, name: str) -> bytes:
        """Return the rows of a table as a backup stores them; `name` is the table's full name.

        A scan through DynamoDB's API would take many times as long. The caller must
        hold the lock.
        """
        table: Any = dynamodb_backends[ACCOUNT][self._settings.region].tables[name]
        groups = table.items.values()
        rows = (
            row for rows in groups for row in (rows.values() if table.has_range_key else [rows])
        )
        texts = (json.dumps(row.to_json()["Attributes"], default=wire) for row in rows)
        keys = table.table_key_attrs
        return tables.pack(tables.pieces((tables.from_wire(text) for text in texts), keys))

    def _read_pieces(
        self, manifest: Manifest, threads: ThreadPoolExecutor
    ) -> dict[str, list[bytes]]:
        return {
            short: list(threads.map(self._folder.read, names))
            for short, names in manifest.tables.items()
        }

    def _put_objects(self, items: Sequence[StoredObject], threads: ThreadPoolExecutor) -> None:
        """Store all objects as they were saved, with ETag and time, and notify the queues."""
        backend = s3_backends[ACCOUNT]["aws"]
        bucket = backend.get_bucket(self._settings.bucket)
        for start in range(0, len(items), _PAGE):
            page = items[start : start + _PAGE]
            made = [_make_key(backend, bucket.name, item) for item in page]
            for key in threads.map(self._fill, made, page):
                created = notifications.S3NotificationEvent.OBJECT_CREATED_PUT_EVENT
                notifications.send_event(ACCOUNT, created, bucket, key)

    def _fill(self, key: FakeKey, item: StoredObject) -> FakeKey:
        """Write the bytes of an object; moto moves the bytes of a large object to a file."""
        for block in self._folder.blocks(item.sha256):
            key._value_buffer.write(block)
        key.contentsize = item.size
        return key


def _make_key(backend: Any, bucket: str, item: StoredObject) -> FakeKey:
    """Create an empty object with the saved attributes, so that the next save sees no change."""
    etag = item.etag.strip('"')
    key: FakeKey = backend.put_object(bucket, item.key, b"", etag=etag, disable_notification=True)
    key.last_modified = datetime.fromisoformat(item.modified).astimezone(UTC).replace(tzinfo=None)
    key.set_metadata({"Content-Type": item.content_type})
    return key


def _parse(saved: Mapping[str, list[bytes]], short: str) -> Iterator[Item]:
    for piece in saved.get(short, ()):
        yield from tables.read_piece(piece)


def _rows(restored: Restored, saved: dict[str, list[bytes]], short: str) -> Iterator[Item]:
    """Yield the rows of a table, and release the memory of its pieces at the end."""
    yield from restored.rows(short)
    saved.pop(short, None)
