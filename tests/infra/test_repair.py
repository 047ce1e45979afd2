"""Damaged backups: intact data is restored, losses are named, nothing is deleted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from chalicelib.config import Settings
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.models.model import TrainRequest
from chalicelib.errors import InvalidToken
from chalicelib.services.datasets.browsing import BrowsedList
from chalicelib.stores.aws.clients import Clients
from infra.backups.damage_scan import DamageScan
from infra.backups.dumping import dump
from infra.backups.folder import MANIFEST, PIECES, PREVIOUS, BackupError, BackupFolder, Manifest
from infra.backups.repairing import repair
from infra.backups.restoring import restore
from infra.local.aws.saved_data import SavedData
from infra.local.snapshots import repair_snapshot
from tests.builders import World, some_rows
from tests.conftest import MovableClock
from tests.full_size import size
from tests.infra.test_backup import check_whole, contents, empty


@pytest.fixture
def filled(clients: Clients, settings: Settings, clock: MovableClock) -> World:
    """A stack with two datasets, each with a model."""
    world = World(settings, clock)
    for label in ("book", "rebook"):
        world.model(world.dataset(some_rows({label: 6, "cancel": 5})))
    return world


@pytest.fixture
def folder(tmp_path: Path) -> BackupFolder:
    """A folder that keeps the dump before as well."""
    return BackupFolder(tmp_path / "data", keeps_previous=True)


def again(folder: BackupFolder) -> BackupFolder:
    """Open the same folder as another process does."""
    return BackupFolder(folder.path, keeps_previous=True)


def piece(folder: BackupFolder, name: str) -> Path:
    """Return the file of a piece."""
    return folder.path / PIECES / name[:2] / name


def flip(path: Path) -> None:
    """Damage a file in its middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def held(manifest: Manifest, name: str) -> str:
    """Describe the content of a backup file."""
    short = next((s for s, names in manifest.tables.items() if name in names), None)
    return short or next(item.key for item in manifest.objects if item.sha256 == name)


def cut(path: Path) -> None:
    """Truncate a file to zero bytes."""
    path.write_bytes(b"")


WAYS = (flip, Path.unlink, cut)


@pytest.mark.parametrize("first", range(size(1, 3)))
def test_whatever_piece_is_damaged_the_rest_comes_back(
    filled: World, settings: Settings, folder: BackupFolder, first: int
):
    """After damage to any file the repaired backup is consistent, and losses are reported.

    Each piece is damaged in one way here, and in every way in the long tier.
    """
    manifest = dump(settings, folder)
    saved = folder.path.with_name("saved")
    shutil.copytree(folder.path, saved)
    kept = 0
    for number, name in enumerate(sorted(manifest.pieces()), start=first):
        shutil.rmtree(folder.path)
        shutil.copytree(saved, folder.path)
        WAYS[number % len(WAYS)](piece(folder, name))
        copies: list[int] = []

        lost = repair(settings, again(folder), lambda: copies.append(1))  # noqa: B023 - run at once

        assert lost, held(manifest, name)
        email = filled.account.email
        assert held(manifest, name) != "accounts" or any(email in line for line in lost), lost
        assert copies == [1]
        empty(settings)
        restore(settings, again(folder))
        check_whole(filled)
        datasets = filled.stores.datasets.of_account(filled.account.account_id, LANGUAGE)
        kept += len(datasets)
        assert len(datasets) == 2 or any("dataset" in line for line in lost), lost
        assert filled.stores.ids.reserve("datasets") > 1_000_002
    # A damaged piece takes at most what it belongs to with it: both datasets stay mostly.
    assert kept > len(manifest.pieces())


def test_a_whole_backup_is_left_as_it_is(filled: World, settings: Settings, folder: BackupFolder):
    """A repair of an intact backup changes nothing."""
    dump(settings, folder)
    before = {path: path.stat().st_mtime_ns for path in folder.path.rglob("*")}

    assert repair(settings, again(folder), lambda: pytest.fail("nothing is to be kept")) is None

    assert {path: path.stat().st_mtime_ns for path in folder.path.rglob("*")} == before


def test_lost_rows_are_taken_from_the_dump_before(
    filled: World, settings: Settings, folder: BackupFolder
):
    """Lost rows are restored from the previous dump."""
    first = dump(settings, folder)
    filled.dataset(some_rows({"new": 4}))
    second = dump(settings, folder)
    assert {path.name for path in (folder.path / PIECES).glob("*/*")} == (
        first.pieces() | second.pieces()
    )
    for name in set(second.tables["counters"]) - set(first.tables["counters"]):
        flip(piece(folder, name))

    lost = repair(settings, again(folder), lambda: None)

    assert lost is not None
    assert [line.split(":")[0] for line in lost] == ["table counters"]
    assert first.created_at in lost[0]
    empty(settings)
    restore(settings, again(folder))
    check_whole(filled)
    assert filled.stores.ids.reserve("datasets") > 1_000_003


def test_what_was_deleted_leaves_with_the_second_dump(
    filled: World, settings: Settings, folder: BackupFolder
):
    """Deleted data stays in the previous dump and is gone after the next one."""
    filled.stores.artifacts.put("models/A/v1/artifact", b"bytes that go")
    dump(settings, folder)
    filled.stores.artifacts.delete("models/A/v1/artifact")

    def is_there() -> bool:
        return any(path.read_bytes() == b"bytes that go" for path in folder.path.rglob("*/??/*"))

    dump(settings, folder)
    assert is_there()
    assert folder.has_deleted_pieces()
    dump(settings, folder)
    assert not is_there()
    assert not folder.has_deleted_pieces()


def test_a_damaged_manifest_gives_way_to_the_one_before(
    filled: World, settings: Settings, folder: BackupFolder
):
    """With a damaged manifest the previous dump is restored, and the output says so."""
    first = dump(settings, folder)
    before = contents(settings)
    filled.dataset(some_rows({"new": 4}))
    dump(settings, folder)
    flip(folder.path / MANIFEST)

    lost = repair(settings, again(folder), lambda: None)

    assert lost is not None
    assert len(lost) == 1
    assert first.created_at in lost[0]
    empty(settings)
    restore(settings, again(folder))
    assert contents(settings) == before


def test_pieces_without_a_manifest_are_damage(
    filled: World, settings: Settings, folder: BackupFolder
):
    """Data files without a manifest are damage; a repair starts empty and deletes none."""
    manifest = dump(settings, folder)
    (folder.path / MANIFEST).unlink()
    (folder.path / PREVIOUS).unlink(missing_ok=True)
    empty(settings)
    with pytest.raises(BackupError, match="no manifest"):
        SavedData(settings, again(folder)).load()
    said: list[str] = []

    assert repair_snapshot(settings, again(folder), said.append)

    assert SavedData(settings, again(folder)).load() == ""
    (copy,) = folder.path.parent.glob("data.damaged-*")
    assert {path.name for path in (copy / PIECES).glob("*/*")} == manifest.pieces()
    assert str(copy) in said[-1]
    assert "everything" in said[0]


def test_a_repair_throws_nothing_away(filled: World, settings: Settings, folder: BackupFolder):
    """Damaged and unreferenced files are moved to a folder and not deleted."""
    manifest = dump(settings, folder)
    flip(piece(folder, manifest.tables["models"][0]))
    stray = piece(folder, "ab" * 32)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"of unknown origin")
    before = {
        path.relative_to(folder.path): path.read_bytes()
        for path in folder.path.rglob("*")
        if path.is_file()
    }

    assert repair_snapshot(settings, again(folder), lambda _: None)
    dump(settings, again(folder))
    dump(settings, again(folder))

    (copy,) = folder.path.parent.glob("data.damaged-*")
    assert {
        path.relative_to(copy): path.read_bytes() for path in copy.rglob("*") if path.is_file()
    } == before


def test_lost_things_are_reported_by_name(filled: World, settings: Settings, folder: BackupFolder):
    """A model whose file is damaged is named with its id, and the other one stays."""
    manifest = dump(settings, folder)
    item = next(item for item in manifest.objects if item.key.endswith("artifact.npz"))
    flip(piece(folder, item.sha256))
    shared = [other.key for other in manifest.objects if other.sha256 == item.sha256]

    lost = repair(settings, again(folder), lambda: None)

    named = [line for line in lost or () if line.startswith("model ")]
    assert len(named) == len(shared)
    for key in shared:
        assert any(key.split("/")[1] in line for line in named)


def test_a_version_without_its_file_is_not_listed(
    filled: World, settings: Settings, folder: BackupFolder
) -> None:
    """A version that is not served and lost its artifact is reported, and cannot be served."""
    view = filled.dataset(some_rows({"a": 7, "b": 6}))
    model = filled.model(view)
    # Equal artifacts would be one piece of the backup.
    [item] = filled.container.browsing.browse(filled.account, view, BrowsedList(), 0, 1).items
    filled.container.corrections.remove_example(view, item.example.example_id)
    filled.container.training.retrain(filled.account, model, TrainRequest())
    filled.work()
    manifest = dump(settings, folder)
    lost_key = f"models/{model.model_id}/{model.version}/artifact.npz"
    flip(piece(folder, next(o.sha256 for o in manifest.objects if o.key == lost_key)))

    lost = repair(settings, again(folder), lambda: None)

    assert f"model {model.model_id}: version 1" in (lost or ())
    empty(settings)
    restore(settings, again(folder))
    found = filled.container.models.get(model.account_id, model.model_id)
    assert [one.number for one in found.versions.items] == [2]
    assert found.version != model.version


def test_a_dump_writes_damaged_pieces_again(
    filled: World, settings: Settings, folder: BackupFolder
):
    """Damaged files are found by reading and written again from memory."""
    manifest = dump(settings, folder)
    scan = DamageScan(folder)
    assert scan.check_next(10**9, 60.0) == []
    broken = sorted(manifest.pieces())
    for place, name in enumerate(broken):
        (flip, Path.unlink)[place % 2](piece(folder, name))

    found = scan.check_next(10**9, 60.0)
    dump(settings, folder)

    assert len(found) == len(broken)
    again(folder).verify(manifest)
    assert scan.check_next(10**9, 60.0) == []


def test_damage_scan_reads_a_little_at_a_time(
    filled: World, settings: Settings, folder: BackupFolder
):
    """Each step of the damage scan reads a bounded amount, and all files are covered."""
    manifest = dump(settings, folder)
    names = sorted(manifest.pieces())
    largest = max(folder.size(name) for name in names)
    flip(piece(folder, max(names, key=folder.size)))
    scan = DamageScan(folder)
    read: list[str] = []
    check = folder.check

    def noted(name: str, from_disk: bool = False, must_end: Any = lambda: False) -> None:
        read.append(name)
        check(name, from_disk, must_end)

    folder.check = noted

    turns = 0
    while not scan.check_next(largest, 60.0):
        turns += 1
        assert turns < len(names)
    read.clear()
    assert scan.check_next(1, 60.0, may_exceed=False) == []
    assert read == []
    scan.check_next(largest, 60.0, may_exceed=False)
    assert 0 < sum(folder.size(name) for name in read) <= largest
    read.clear()
    scan.check_next(10**9, 60.0, must_end=lambda: True)
    assert len(read) == 1


def test_a_damaged_manifest_is_seen_and_replaced(
    filled: World, settings: Settings, folder: BackupFolder
):
    """A manifest that changes under a running stack is noticed; the next dump writes it again."""
    dump(settings, folder)
    assert folder.has_whole_manifest()
    flip(folder.path / MANIFEST)
    assert not folder.has_whole_manifest()

    manifest = dump(settings, folder)

    assert folder.has_whole_manifest()
    again(folder).verify(manifest)
    assert again(folder).manifest() == manifest


def test_repair_brings_no_former_api_key_back(
    filled: World, folder: BackupFolder, settings: Settings
) -> None:
    """A key revoked after the previous dump is not restored."""
    keys = filled.container.api_keys
    key, secret = keys.create(filled.account, "revoked")
    dump(settings, folder, with_keys=True)
    keys.revoke(key)
    keys.create(filled.account, "other")
    dump(settings, folder, with_keys=True)
    manifest = folder.manifest()
    assert manifest is not None
    for name in manifest.tables["api-keys"]:
        flip(piece(folder, name))

    assert repair(settings, again(folder), lambda: None)

    empty(settings)
    SavedData(settings, again(folder)).load()
    assert keys.of_account(filled.account) == ()
    with pytest.raises(InvalidToken):
        keys.find_caller(secret)


def test_previous_dump_alone_has_no_api_keys(
    filled: World, folder: BackupFolder, settings: Settings
) -> None:
    """Restoring the previous dump restores no API keys."""
    keys = filled.container.api_keys
    key, _ = keys.create(filled.account, "revoked")
    dump(settings, folder, with_keys=True)
    keys.revoke(key)
    dump(settings, folder, with_keys=True)
    (folder.path / MANIFEST).unlink()

    assert repair(settings, again(folder), lambda: None)

    empty(settings)
    SavedData(settings, again(folder)).load()
    assert filled.stores.accounts.get(filled.account.account_id)
    assert keys.of_account(filled.account) == ()
