"""Loading saved data: rows are parsed at the first use of their table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from infra.backups import tables
from infra.backups.dumping import dump
from infra.backups.folder import PIECES, BackupError, BackupFolder, Manifest
from infra.local.aws.saved_data import SavedData
from infra.resources import table_resources
from tests.builders import World, some_rows
from tests.conftest import MovableClock
from tests.fresh_aws import provide
from tests.infra.test_backup import check_whole, contents

LARGE = 17 * 1024 * 1024
"""Size in bytes of an object that moto has in a file."""


@pytest.fixture
def filled(clients: Clients, settings: Settings, clock: MovableClock) -> World:
    """A stack with a dataset, its model, and a large object of the dataset."""
    world = World(settings, clock)
    made = world.dataset(some_rows({"book": 6, "cancel": 5}))
    world.model(made)
    large = bytes(range(256)) * (LARGE // 256)
    key = f"datasets/{made.dataset.dataset_id}/raw/large"
    clients.s3.put_object(Bucket=settings.bucket, Key=key, Body=large)
    return world


@pytest.fixture
def folder(tmp_path: Path) -> BackupFolder:
    """The folder of the saved data."""
    return BackupFolder(tmp_path / "data")


def marks(settings: Settings) -> dict[str, Any]:
    """Return ETag and time of each object, by which a save finds that it has not changed."""
    listed = Clients(settings).s3.list_objects_v2(Bucket=settings.bucket)["Contents"]
    return {one["Key"]: (one["ETag"], one["LastModified"], one["Size"]) for one in listed}


def started_again(settings: Settings, folder: BackupFolder) -> tuple[SavedData, Manifest]:
    """Save everything, lose it, and load what was saved."""
    manifest = dump(settings, folder)
    provide(settings)
    saved = SavedData(settings, folder)
    assert f"{len(manifest.objects)} objects" in saved.load()
    return saved, manifest


def test_a_stack_starts_with_all_that_was_saved(
    filled: World, settings: Settings, folder: BackupFolder
) -> None:
    """Rows, objects, their types, ETags and times are those of the previous run."""
    before, marked = contents(settings), marks(settings)

    saved, manifest = started_again(settings, folder)

    assert contents(settings) == before
    assert marks(settings) == marked
    assert saved.unread() == []
    check_whole(filled)
    written = {path: path.stat().st_mtime_ns for path in (folder.path / PIECES).glob("*/*")}
    again = dump(settings, BackupFolder(folder.path))
    assert again.objects == manifest.objects
    assert written == {path: path.stat().st_mtime_ns for path in written}


def test_a_table_is_parsed_at_its_first_use(
    filled: World, settings: Settings, folder: BackupFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read of one table parses its rows once, and no row of another table."""
    saved, _ = started_again(settings, folder)
    dynamodb, parsed = Clients(settings).dynamodb, []
    read_piece = tables.read_piece
    monkeypatch.setattr(tables, "read_piece", lambda piece: parsed.append(1) or read_piece(piece))
    names = {table.name for table in table_resources(settings)}
    assert set(saved.unread()) == names

    for _ in range(2):
        assert dynamodb.scan(TableName=f"{settings.name}-labels")["Count"] == 2

    assert set(saved.unread()) == names - {f"{settings.name}-labels"}
    assert 1 <= len(parsed) <= 2


def test_a_write_is_a_first_use(filled: World, settings: Settings, folder: BackupFolder) -> None:
    """A row written to an unread table is stored in addition to the saved ones."""
    started_again(settings, folder)
    name, dynamodb = f"{settings.name}-counters", Clients(settings).dynamodb

    dynamodb.put_item(TableName=name, Item={"name": {"S": "new"}, "value": {"N": "1"}})

    found = {row["name"]["S"] for row in tables.scan(dynamodb, name)}
    assert {"new", "datasets", "labels"} <= found


def test_rows_are_saved_from_memory_as_from_calls(
    filled: World, settings: Settings, folder: BackupFolder
) -> None:
    """Data files written from memory equal those of a table scan, for all types."""
    dynamodb, saved = Clients(settings).dynamodb, SavedData(settings, folder)
    inner = {"L": [{"S": "é"}, {"B": b"\0"}, {"M": {"set": {"BS": [b"b", b"a"]}}}]}
    row = {"name": {"S": "all"}, "value": {"N": "1.50"}, "yes": {"BOOL": True}, "list": inner}
    row |= {"texts": {"SS": ["b", "a"]}, "numbers": {"NS": ["2", "10"]}, "none": {"NULL": True}}
    dynamodb.put_item(TableName=f"{settings.name}-counters", Item=row)

    for table in table_resources(settings):
        scanned = list(tables.pieces(tables.scan(dynamodb, table.name), table.key_names))
        assert list(tables.unpack(saved.pieces(table.name))) == scanned


def test_damage_is_found_before_anything_is_used(
    filled: World, settings: Settings, folder: BackupFolder
) -> None:
    """A damaged file of a table that is not used yet refuses the start."""
    manifest = dump(settings, folder)
    provide(settings)
    name = manifest.tables["labels"][0]
    (folder.path / PIECES / name[:2] / name).write_bytes(b"")

    with pytest.raises(BackupError, match="sha256"):
        SavedData(settings, folder).load()


def test_rows_that_cannot_be_parsed_stay_unread(
    filled: World, settings: Settings, folder: BackupFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If parsing rows fails, the next use of the table parses all of them."""
    started_again(settings, folder)
    dynamodb, name = Clients(settings).dynamodb, f"{settings.name}-labels"
    with monkeypatch.context() as broken:
        broken.setattr(tables, "read_piece", _fail)
        with pytest.raises(BackupError):
            dynamodb.scan(TableName=name)

    assert dynamodb.scan(TableName=name)["Count"] == 2


def _fail(_: bytes) -> list[tables.Item]:
    raise BackupError("as asked")
