"""Damaged files: a running stack rewrites them, a start refuses them, a repair reports losses."""

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
from tests.flows.kills.conftest import SavedState
from tests.flows.kills.killing import flip_byte, saved_at, wait
from tests.flows.world import csv_file, made_rows
from tests.local_stack import LocalStack


def pieces(stack: LocalStack) -> list[Path]:
    """List the files of all saved data."""
    return sorted((stack.state.data / PIECES).glob("*/*"))


def named_pieces(stack: LocalStack) -> list[Path]:
    """List the files that the latest save refers to; unchanged ones are not rewritten."""
    folder = BackupFolder(stack.state.data)
    manifest = folder.manifest()
    assert manifest is not None
    return [folder.path / PIECES / name[:2] / name for name in sorted(manifest.pieces())]


def is_whole(stack: LocalStack) -> bool:
    """Return whether all saved data can be read."""
    folder = BackupFolder(stack.state.data)
    try:
        manifest = folder.manifest()
        if manifest is not None:
            folder.verify(manifest)
    except BackupError:
        return False
    return manifest is not None


def start_in_vain(stack: LocalStack) -> subprocess.CompletedProcess[str]:
    """Run the start command as a user does, and return its exit status and output."""
    return subprocess.run(
        [sys.executable, "-m", "infra.local", "--bare"],
        cwd=ROOT,
        env=stack.given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_running_stack_rewrites_what_the_disk_damages(saving: LocalStack, saving_client: Client):
    """Flipped, truncated and missing data files and the manifest are rewritten and reported."""
    made = saving_client.dataset(csv_file(made_rows(60, seed=3)))
    ended = time.time()
    wait(lambda: saved_at(saving) > ended)
    chance = random.Random(1)
    for number, path in enumerate(chance.sample(named_pieces(saving), 6)):
        (flip_byte, Path.unlink, lambda path: path.write_bytes(b""))[number % 3](path)
    flip_byte(saving.state.data / MANIFEST)

    wait(lambda: is_whole(saving))

    assert "rewritten from memory" in saving.log()
    assert saving.pause() == 0
    saving.start()
    with Client(saving.url, saving_client.token) as after:
        assert after.get(f"{LANGUAGE}/datasets/{made['id']}").ok == made


def test_a_stop_rewrites_what_the_disk_damaged_last(saving: LocalStack):
    """A file damaged just before the stop is intact after it."""
    saving.kill_worker("keeper", signal.SIGSTOP)
    for path in pieces(saving)[::2]:
        flip_byte(path)

    assert saving.pause() == 0

    assert is_whole(saving)


def test_a_start_refuses_damage_and_a_repair_names_it(stopped: LocalStack, saved_state: SavedState):
    """A start reports damage in one line, status 1, no change; --repair starts, deletes nothing."""
    whole, torn, data = saved_state.first, saved_state.second, stopped.state.data
    manifest = BackupFolder(data).manifest()
    assert manifest is not None
    key = f"datasets/{torn['id']}/raw/"
    assert any(item.key.startswith(key) for item in manifest.objects)
    damage_rows_of(stopped, torn["id"])
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}

    ended = start_in_vain(stopped)

    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert str(data) in line
    assert "--repair" in line
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before
    stopped.start("--repair")
    assert f"dataset {torn['id']} (second one)" in stopped.log()
    with Client(stopped.url, saved_state.token) as after:
        assert after.get(f"{LANGUAGE}/datasets/{whole['id']}").ok == whole
        assert after.get(f"{LANGUAGE}/datasets/{torn['id']}").status == 404
    assert stopped.pause() == 0
    (copy,) = data.parent.glob("data.damaged-*")
    copied = {path for path in copy.rglob("*") if path.is_file()}
    assert {path.read_bytes() for path in copied} == set(before.values())
    stopped.start()


def damage_rows_of(stack: LocalStack, dataset_id: int) -> None:
    """Damage a file that holds examples of one dataset and of no other."""
    folder = BackupFolder(stack.state.data)
    manifest = folder.manifest()
    assert manifest is not None
    for name in manifest.tables["examples"]:
        lines = folder.read(name).splitlines()
        if all(b'"%d#upload#' % dataset_id in line for line in lines):
            flip_byte(folder.path / PIECES / name[:2] / name)
            return
    raise AssertionError("each piece has rows of several datasets")


def test_pieces_without_a_manifest_are_not_an_empty_stack(stopped: LocalStack):
    """Without both manifests a start is refused; a repair starts empty and deletes no file."""
    for manifest in stopped.state.data.glob("manifest*"):
        manifest.unlink()
    names = {path.name for path in pieces(stopped)}

    ended = start_in_vain(stopped)

    assert ended.returncode == 1
    assert "no manifest" in ended.stderr
    stopped.start("--repair")
    (copy,) = stopped.state.data.parent.glob("data.damaged-*")
    assert {path.name for path in (copy / PIECES).glob("*/*")} == names
