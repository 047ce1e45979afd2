"""Backups: dump, verify and restore of a whole stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chalicelib.config import Settings
from chalicelib.container import Container
from chalicelib.domain.datasets.dataset import LANGUAGE, UPLOAD
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.models.model import TrainRequest
from chalicelib.errors import InvalidToken
from chalicelib.services.batches.requests import BatchOptions
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.tables import ExampleChunkRow, LabelRow
from infra.backup import main
from infra.backups import objects, tables
from infra.backups.dumping import Access, dump, dumped_names
from infra.backups.folder import MANIFEST, PIECES, BackupError, BackupFolder
from infra.backups.restoring import restore
from infra.local.aws.saved_data import SavedData
from infra.resources import provision, table_resources
from tests.builders import World, some_rows
from tests.conftest import MovableClock
from tests.fresh_aws import provide
from tests.full_disk import no_file_beyond


@pytest.fixture
def filled(clients: Clients, settings: Settings, clock: MovableClock) -> World:
    """A stack with an account, a dataset, its model, and everything that belongs to them."""
    world = World(settings, clock)
    world.model(world.dataset(some_rows({"book": 6, "cancel": 5})))
    return world


@pytest.fixture
def folder(tmp_path: Path) -> BackupFolder:
    """A folder for backups that does not exist yet."""
    return BackupFolder(tmp_path / "backup")


def contents(settings: Settings) -> dict[str, Any]:
    """Everything that a stack holds: rows by table, bytes and type by key."""
    clients = Clients(settings)
    found: dict[str, Any] = {}
    for table in table_resources(settings):
        rows = tables.scan(clients.dynamodb, table.name)
        found[table.name] = [content for content, _ in tables.pieces(rows, table.key_names)]
    listed = clients.s3.list_objects_v2(Bucket=settings.bucket).get("Contents", [])
    for entry in listed:
        answer = clients.s3.get_object(Bucket=settings.bucket, Key=entry["Key"])
        found[entry["Key"]] = (answer["Body"].read(), answer["ContentType"])
    return found


def check_whole(world: World) -> None:
    """Compare rows with the stored examples and artifacts, without leftovers."""
    stores, account_id = world.stores, world.account.account_id
    datasets = stores.datasets.of_account(account_id, LANGUAGE)
    for dataset in datasets:
        assert dataset.available, dataset
        found = list(stores.examples.read_all(dataset.dataset_id, UPLOAD, dataset.counts))
        assert len(found) == sum(count.count(UPLOAD) for count in dataset.counts) > 0
    for model in stores.models.of_account(account_id):
        assert model.status == "SUCCEEDED", model
        assert stores.model_files.artifact(model.model_id, model.version or "") is not None
    known = {str(dataset.dataset_id) for dataset in datasets}
    assert {row.sequence.split("#")[0] for row in world.rows(ExampleChunkRow)} <= known
    assert {str(row.dataset_id) for row in world.rows(LabelRow)} <= known
    assert {key.split("/")[1] for key in world.objects("datasets/")} <= known


def empty(settings: Settings) -> None:
    """Lose everything, and make tables, queues and bucket again."""
    provide(settings)


def test_batches_are_left_out_with_what_they_reserved(
    filled: World, settings: Settings, folder: BackupFolder
) -> None:
    """A restored stack has no batch and does not count its predictions."""
    [model] = filled.stores.models.of_account(filled.account.account_id)
    filled.answer(model.model_id, "book it")
    found = filled.container.stores.served_models.find(filled.account.account_id, model.model_id)
    sent = UploadSource(content=b"text\na\nb\n", file_name="t.csv")
    filled.container.batches.create(filled.account, "language", found, sent, BatchOptions())
    assert filled.container.allowances.predictions(filled.account).used == 3
    dump(settings, folder)
    empty(settings)
    restore(settings, folder)

    assert filled.container.allowances.predictions(filled.account).used == 1
    assert filled.container.batches.list(filled.account, LANGUAGE, 0, 10).items == ()
    assert filled.objects("batches/") == []


def test_a_restored_stack_is_the_dumped_one(
    filled: World, settings: Settings, folder: BackupFolder
):
    """Rows and objects come back equal, byte for byte."""
    before = contents(settings)
    dump(settings, folder)
    empty(settings)

    restore(settings, folder)

    assert contents(settings) == before
    assert any(key.startswith("datasets/") for key in before)


def test_a_second_dump_copies_only_what_changed(
    filled: World, settings: Settings, folder: BackupFolder
):
    """A second dump writes only changed data."""
    dump(settings, folder)
    first = {path: path.stat().st_mtime_ns for path in (folder.path / PIECES).glob("*/*")}
    filled.stores.artifacts.put("models/A/v1/artifact", b"new bytes")

    dump(settings, folder)

    second = {path: path.stat().st_mtime_ns for path in (folder.path / PIECES).glob("*/*")}
    assert first.items() <= second.items()
    assert len(second) == len(first) + 1


def test_what_has_not_changed_is_not_even_read(
    filled: World, settings: Settings, folder: BackupFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dump does not read tables without changes."""
    before, scan, scanned = dump(settings, folder), tables.scan, []
    label = next(scan(Clients(settings).dynamodb, f"{settings.name}-labels"))
    label["name"] = {"S": "renamed"}
    Clients(settings).dynamodb.put_item(TableName=f"{settings.name}-labels", Item=label)

    def note(dynamodb: Any, table: str) -> Iterator[tables.Item]:
        """Note the scan of a table."""
        scanned.append(table)
        return scan(dynamodb, table)

    monkeypatch.setattr(tables, "scan", note)
    monkeypatch.setattr(objects, "copy", None)
    asked: list[str] = []

    def has_changed(name: str) -> bool:
        """Note the question, and name one table."""
        asked.append(name)
        return name == f"{settings.name}-labels"

    after = dump(settings, folder, access=Access(has_changed=has_changed))

    assert scanned == [f"{settings.name}-labels"]
    assert set(asked) == dumped_names(settings)
    assert after.objects == before.objects
    assert [t for t in after.tables if after.tables[t] != before.tables[t]] == ["labels"]
    assert len(after.pieces() - before.pieces()) == 1
    folder.verify(after)


def test_a_dump_removes_what_nothing_names(filled: World, settings: Settings, folder: BackupFolder):
    """A dump removes data that no row refers to, and stray files."""
    filled.stores.artifacts.put("models/A/v1/artifact", b"bytes that go")
    dump(settings, folder)
    (folder.path / "draft-left-by-a-kill").write_bytes(b"half")
    filled.stores.artifacts.delete("models/A/v1/artifact")

    manifest = dump(settings, folder)

    kept = {path.name for path in (folder.path / PIECES).glob("*/*")}
    assert kept == manifest.pieces()
    assert not list(folder.path.glob("draft-*"))


def test_a_full_disk_leaves_the_dump_before(
    filled: World, settings: Settings, folder: BackupFolder
):
    """A dump that cannot be written completely leaves the folder unchanged."""
    dump(settings, folder)
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    filled.dataset(some_rows({"new": 4}))
    filled.stores.artifacts.put("models/A/v1/small", b"fits")
    filled.stores.artifacts.put("models/A/v1/artifact", bytes(100_000))

    with no_file_beyond(50_000), pytest.raises(OSError, match="too large"):
        dump(settings, folder)

    assert {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()} == before


def test_a_flipped_byte_is_found_before_anything_is_written(
    filled: World, settings: Settings, folder: BackupFolder
):
    """A damaged file is named before anything is restored."""
    dump(settings, folder)
    piece = max((folder.path / PIECES).glob("*/*"), key=lambda path: path.stat().st_size)
    content = bytearray(piece.read_bytes())
    content[len(content) // 2] ^= 1
    piece.write_bytes(content)
    empty(settings)
    before = contents(settings)

    with pytest.raises(BackupError, match=piece.name):
        restore(settings, folder)

    assert contents(settings) == before


def test_a_changed_manifest_is_refused(filled: World, settings: Settings, folder: BackupFolder):
    """An edited, truncated or foreign manifest is refused with the remedy."""
    dump(settings, folder)
    path = folder.path / MANIFEST
    whole = path.read_text()
    for text, problem in (
        (whole.replace('"presage"', '"other"', 1), "damaged"),
        (whole[:200], "damaged"),
        (whole.replace('"format": 1', '"format": 9', 1), "format 9"),
    ):
        path.write_text(text)
        with pytest.raises(BackupError, match=problem):
            folder.manifest()


def test_a_stack_with_data_is_not_overwritten(
    filled: World, settings: Settings, folder: BackupFolder
):
    """A restore over existing data is refused unless replacing was requested."""
    dump(settings, folder)
    before = contents(settings)
    filled.stores.artifacts.put("models/B/v1/artifact", b"made after the dump")

    with pytest.raises(BackupError, match="--replace"):
        restore(settings, folder)
    restore(settings, folder, is_replacing=True)

    assert contents(settings) == before


def test_another_stack_takes_the_rows(filled: World, settings: Settings, folder: BackupFolder):
    """A backup can be restored to a stack with other table and bucket names."""
    dump(settings, folder)
    other = replace(settings, name="moved", bucket="moved-data")
    provision(other)

    restore(other, folder)

    rows = [list(there.values()) for there in (contents(settings), contents(other))]
    assert rows[0] == rows[1]


def test_what_was_deleted_after_the_dump_stays_deleted(
    filled: World, settings: Settings, folder: BackupFolder
):
    """A dataset deleted after the dump is hidden at once after a restore, and deleted again."""
    view = filled.dataset(some_rows({"gone": 6, "left": 5}))
    account, dataset_id = filled.account, view.dataset.dataset_id
    dump(settings, folder)
    deletion = filled.container.deletions.delete_dataset(account, LANGUAGE, dataset_id)
    filled.work()

    restore(settings, folder, is_replacing=True)

    again = filled.another()
    assert again.get(view).dataset.status_message == "DELETION_PENDING"
    assert again.container.deletions.get("1", deletion.deletion_id).status == "QUEUED"
    filled.clock.advance(minutes=10)
    again.settle()
    assert not again.traces(dataset_id)


def test_no_id_is_given_out_twice(filled: World, settings: Settings, folder: BackupFolder):
    """A deletion after the dump does not affect a dataset created after the restore."""
    dump(settings, folder)
    gone = filled.dataset(some_rows({"gone": 6, "left": 5}))
    filled.container.deletions.delete_dataset(filled.account, LANGUAGE, gone.dataset.dataset_id)
    filled.work()

    restore(settings, folder, is_replacing=True)

    again = filled.another()
    fresh = again.dataset(some_rows({"new": 6, "left": 5}))
    filled.clock.advance(minutes=10)
    again.settle()
    assert fresh.dataset.dataset_id > gone.dataset.dataset_id
    assert again.get(fresh).dataset.available


def test_a_restore_that_broke_off_is_begun_again(
    filled: World, settings: Settings, folder: BackupFolder, monkeypatch: pytest.MonkeyPatch
):
    """If a restore is interrupted, the next one still applies deletions made since the dump."""
    view = filled.dataset(some_rows({"gone": 6, "left": 5}))
    dump(settings, folder)
    filled.container.deletions.delete_dataset(filled.account, LANGUAGE, view.dataset.dataset_id)
    filled.work()

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("infra.backups.objects.put_all", die)
        with pytest.raises(KeyboardInterrupt):
            restore(settings, folder, is_replacing=True)
    restore(settings, folder, is_replacing=True)

    assert filled.another().get(view).dataset.status_message == "DELETION_PENDING"


class Meanwhile:
    """A progress that does something as soon as a table has been copied."""

    def __init__(self, table: str, act: Callable[[], object]) -> None:
        self._table, self._act = table, act

    def __call__(self, line: str) -> None:
        """Look at a line of progress."""
        if line.startswith(f"{self._table}:"):
            self._act()


@pytest.mark.parametrize("table", ["quotas", "datasets", "examples", "models"])
def test_a_dump_of_a_stack_that_moves_contradicts_nothing(
    filled: World, settings: Settings, folder: BackupFolder, table: str
):
    """A dump during changes restores to a consistent stack."""
    old = filled.dataset(some_rows({"old": 6, "left": 5}))
    model = filled.model(old)
    doomed = filled.dataset(some_rows({"gone": 6, "left": 5}))
    waiting = filled.upload(some_rows({"waiting": 6, "left": 5}))
    fresh: list[int] = []

    def change() -> None:
        """Upload, read what waits, train again and delete."""
        fresh.append(filled.dataset(some_rows({"fresh": 6, "left": 5})).dataset.dataset_id)
        filled.container.training.retrain(filled.account, model, TrainRequest(epochs=4))
        filled.container.deletions.delete_dataset(
            filled.account, LANGUAGE, doomed.dataset.dataset_id
        )
        filled.work()

    dump(settings, folder, Meanwhile(f"{settings.name}-{table}", change))
    empty(settings)
    restore(settings, folder)

    again = filled.another()
    filled.clock.advance(minutes=10)
    again.settle()
    made = again.dataset(some_rows({"made": 6, "left": 5}))
    check_whole(again)
    assert again.get(waiting).dataset.available
    assert made.dataset.dataset_id > fresh[0]


def test_a_folder_with_other_files_is_not_touched(settings: Settings, tmp_path: Path):
    """A dump into a folder that is not a backup is refused."""
    (tmp_path / "holiday.txt").write_text("mine")

    with pytest.raises(BackupError, match="other files"):
        dump(settings, BackupFolder(tmp_path))


def test_the_command_says_what_is_wrong_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Without a stack, and without a backup, the command fails with the remedy."""
    nothing = {"PRESAGE_STATE_DIR": str(tmp_path)}

    assert main(["dump", str(tmp_path / "b")], nothing) == 1
    assert "make run" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "b")], nothing) == 1
    assert "holds no backup" in capsys.readouterr().err


def test_backup_has_no_api_keys(filled: World, folder: BackupFolder, settings: Settings) -> None:
    """A backup contains no API keys, and a restore removes existing ones."""
    keys = filled.container.api_keys
    key, secret = keys.create(filled.account, "shop")
    dump(settings, folder)

    files = [file.read_bytes() for file in folder.path.rglob("*") if file.is_file()]
    assert files
    assert all(key.digest.encode() not in content for content in files)
    assert "api-keys" not in folder.manifest().tables
    restore(settings, folder, is_replacing=True)
    assert keys.of_account(filled.account) == ()
    with pytest.raises(InvalidToken):
        keys.find_caller(secret)


def test_saved_data_of_a_stack_has_its_api_keys(
    filled: World, folder: BackupFolder, settings: Settings
) -> None:
    """The stack's own saved data has its API keys; a restore of it has none."""
    _, secret = filled.container.api_keys.create(filled.account, "shop")
    dump(settings, folder, with_keys=True)

    empty(settings)
    SavedData(settings, folder).load()
    restarted = Container(settings, filled.clock)
    assert restarted.api_keys.find_caller(secret)
    restore(settings, folder, is_replacing=True)
    with pytest.raises(InvalidToken):
        restarted.api_keys.find_caller(secret)
