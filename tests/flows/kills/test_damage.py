"""Damage on the disk: a running stack mends it, a start refuses it, a repair names it."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from infra.backups.folder import MANIFEST, PIECES, BackupError, BackupFolder
from infra.local.environment import ROOT
from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.killing import flip, has_saved, saved_at, wait
from tests.flows.world import csv_file, made_rows
from tests.local_stack import LocalStack


def pieces(stack: LocalStack) -> list[Path]:
    """The files of all pieces that are saved."""
    return sorted((stack.state.data / PIECES).glob("*/*"))


def named_pieces(stack: LocalStack) -> list[Path]:
    """The files of the pieces of the last save, which nothing writes anew that stays the same."""
    folder = BackupFolder(stack.state.data)
    manifest = folder.manifest()
    assert manifest is not None
    return [folder.path / PIECES / name[:2] / name for name in sorted(manifest.pieces())]


def is_whole(stack: LocalStack) -> bool:
    """Tell whether everything that is saved can be read."""
    folder = BackupFolder(stack.state.data)
    try:
        manifest = folder.manifest()
        if manifest is not None:
            folder.verify(manifest)
    except BackupError:
        return False
    return manifest is not None


def start_in_vain(stack: LocalStack) -> subprocess.CompletedProcess[str]:
    """Start the command as a user does, and return how it ended."""
    return subprocess.run(
        [sys.executable, "-m", "infra.local", "--bare"],
        cwd=ROOT,
        env=stack.given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_running_stack_mends_what_the_disk_damages(kept: LocalStack, kept_client: Client):
    """Flipped, cut and missing pieces and the manifest are written anew from memory, and said."""
    made = kept_client.dataset(csv_file(made_rows(60)))
    ended = time.time()
    wait(lambda: saved_at(kept) > ended)
    chance = random.Random(1)
    for number, path in enumerate(chance.sample(named_pieces(kept), 6)):
        (flip, Path.unlink, lambda path: path.write_bytes(b""))[number % 3](path)
    flip(kept.state.data / MANIFEST)

    wait(lambda: is_whole(kept))

    assert "written anew from memory" in kept.log()
    assert kept.pause() == 0
    kept.start()
    with Client(kept.url, kept_client.token) as after:
        assert after.get(f"{LANGUAGE}/datasets/{made['id']}").ok == made


def test_a_stop_mends_what_the_disk_damaged_last(kept: LocalStack, kept_client: Client):
    """A piece that is damaged right before the stop is whole after it."""
    kept_client.dataset(csv_file(made_rows(60)))
    wait(lambda: has_saved(kept) and len(pieces(kept)) > 8)
    kept.kill_worker("keeper", signal.SIGSTOP)
    for path in pieces(kept)[::2]:
        flip(path)

    assert kept.pause() == 0

    assert is_whole(kept)


def test_a_start_refuses_damage_and_a_repair_names_it(kept: LocalStack, kept_client: Client):
    """One clear line, status 1, nothing changed; --repair starts with the rest and keeps it all."""
    whole = kept_client.dataset(csv_file(made_rows(60)), name="whole one")
    torn = kept_client.dataset(csv_file(made_rows(90, seed=2)), name="torn one")
    token, data = kept_client.token, kept.state.data
    assert kept.pause() == 0
    manifest = BackupFolder(data).manifest()
    assert manifest is not None
    key = f"datasets/{torn['id']}/raw/"
    assert any(item.key.startswith(key) for item in manifest.objects)
    damage_rows_of(kept, torn["id"])
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}

    ended = start_in_vain(kept)

    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert str(data) in line
    assert "--repair" in line
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before
    kept.start("--repair")
    assert f"dataset {torn['id']} (torn one)" in kept.log()
    with Client(kept.url, token) as after:
        assert after.get(f"{LANGUAGE}/datasets/{whole['id']}").ok == whole
        assert after.get(f"{LANGUAGE}/datasets/{torn['id']}").status == 404
    assert kept.pause() == 0
    (copy,) = data.parent.glob("data.damaged-*")
    kept_files = {path for path in copy.rglob("*") if path.is_file()}
    assert {path.read_bytes() for path in kept_files} == set(before.values())
    kept.start()


def damage_rows_of(stack: LocalStack, dataset_id: int) -> None:
    """Damage a piece that holds examples of one dataset, and of no other."""
    folder = BackupFolder(stack.state.data)
    manifest = folder.manifest()
    assert manifest is not None
    for name in manifest.tables["examples"]:
        lines = folder.read(name).splitlines()
        if all(b'"%d#upload#' % dataset_id in line for line in lines):
            flip(folder.path / PIECES / name[:2] / name)
            return
    raise AssertionError("each piece has rows of several datasets")


def test_pieces_without_a_manifest_are_no_empty_stack(kept: LocalStack, kept_client: Client):
    """Without both manifests a start is refused; only a repair starts empty, and keeps them all."""
    kept_client.dataset(csv_file(made_rows(60)))
    assert kept.pause() == 0
    for manifest in kept.state.data.glob("manifest*"):
        manifest.unlink()
    names = {path.name for path in pieces(kept)}

    ended = start_in_vain(kept)

    assert ended.returncode == 1
    assert "no manifest" in ended.stderr
    kept.start("--repair")
    (copy,) = kept.state.data.parent.glob("data.damaged-*")
    assert {path.name for path in (copy / PIECES).glob("*/*")} == names
