"""Kills at the worst moments: full disk, damaged files, repair, first start."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from infra.backups.folder import MANIFEST, PIECES, BackupFolder
from infra.local.environment import ROOT
from infra.local.state import SECRET_FILE, State
from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.conftest import SavedState
from tests.flows.kills.killing import (
    ROUNDS,
    flip_byte,
    limit_saves,
    saved_at,
    wait,
    wait_for_moment,
    wait_for_saves,
)
from tests.flows.load import Journal, Load, complaints, losses, settle
from tests.flows.world import csv_file, made_rows
from tests.local_stack import LocalStack

MOST_BYTES = 4_000
"""Size of the largest file that a full disk takes; every save has a larger one."""
DAMAGED = ("datasets", "examples", "labels", "models")
"""Tables whose pieces are damaged; without its account no caller could read the others."""
TOKEN_WRITER = """
import sys
from pathlib import Path
from infra.local.state import SECRET_FILE, State
state = State(Path(sys.argv[1]))
print("begun", flush=True)
while True:
    (state.folder / SECRET_FILE).unlink(missing_ok=True)
    state.token_secret()
"""
REPAIRER = """
import sys
from pathlib import Path
from chalicelib.config import Settings
from infra.backups.folder import BackupFolder
from infra.local.snapshots import repair_snapshot
folder = BackupFolder(Path(sys.argv[1]), keeps_previous=True)
print("begun", flush=True)
sys.exit(not repair_snapshot(Settings(), folder, lambda line: None))
"""


def begin(script: str, folder: Path) -> subprocess.Popen[str]:
    """Start a script and return once it has started its work."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def kill(process: subprocess.Popen[str], after: float) -> int:
    """Kill a process after some seconds, unless it has ended; return its exit status."""
    time.sleep(after)
    process.kill()
    with process:
        return process.wait(30)


class Callers:
    """Callers that change a stack that is killed repeatedly, and the answers they got."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.journal = Journal()
        self._trained = int(client.dataset(csv_file(made_rows(24)))["id"])
        sent = {"name": "home", "type": "text-intent"}
        self.home = int(client.json("POST", f"{LANGUAGE}/datasets", sent).ok["id"])

    def load(self) -> Load:
        """Start threads that change data."""
        return Load(self.client, self.home, self._trained, self.journal)


@pytest.mark.timeout(300 + 120 * ROUNDS)
def test_a_kill_on_a_full_disk_loses_only_what_was_not_saved(
    saving: LocalStack, saving_client: Client
):
    """A kill while saves fail loses nothing that an earlier save contains."""
    chance, callers, client = random.Random(5), Callers(saving_client), saving_client

    def reports_unsaved() -> bool:
        return "unsaved" in callers.client.get("/v2/health").ok

    for number in range(ROUNDS):
        load = callers.load()
        wait_for_saves(saving, 1.0)
        limit_saves(saving, MOST_BYTES)
        wait(reports_unsaved)
        wait_for_moment(reports_unsaved, chance, 0.0, 2.0)
        if number % 2:
            limit_saves(saving, resource.RLIM_INFINITY)
            wait(lambda: not reports_unsaved())
        saving.crash()
        load.end()
        manifest = BackupFolder(saving.state.data).manifest()
        assert manifest is not None
        callers.journal.remove_after(saved_at(saving))
        client.close()
        saving.start()
        client = callers.client = Client(saving.url, client.token)
        settle(client, saving)

        assert losses(client, callers.journal, callers.home) == [], number
        assert complaints(client, saving) == [], number
    client.close()
    assert saving.pause() == 0
    assert not list(saving.state.data.glob("draft-*"))


@pytest.mark.timeout(300 + 120 * ROUNDS)
def test_a_kill_after_damage_tears_nothing(saving: LocalStack, saving_client: Client):
    """After damage and kill -9 a start succeeds, or is refused and succeeds with a repair."""
    chance, client, repairs = random.Random(6), saving_client, 0
    for number in range(ROUNDS):
        callers = Callers(client)
        load = callers.load()
        wait_for_saves(saving, 1.0)
        manifest = BackupFolder(saving.state.data).manifest()
        assert manifest is not None
        names = sorted({name for table in DAMAGED for name in manifest.tables[table]})
        names += sorted({item.sha256 for item in manifest.objects})
        for name in chance.sample(names, 3):
            path = saving.state.data / PIECES / name[:2] / name
            if path.exists():
                flip_byte(path)
        time.sleep(chance.uniform(0.0, 1.5))
        saving.crash()
        load.end()
        callers.journal.remove_after(saved_at(saving))
        client.close()
        is_repaired = start_or_repair(saving)
        repairs += is_repaired
        client = Client(saving.url, client.token)
        settle(client, saving)

        assert is_repaired or losses(client, callers.journal, callers.home) == [], number
        assert complaints(client, saving, is_repaired) == [], number
    client.close()
    assert ROUNDS < 10 or repairs
    assert len(list(saving.state.folder.glob("data.damaged-*"))) == repairs


def start_or_repair(stack: LocalStack) -> bool:
    """Start a stack, with a repair if it refuses; return whether a repair was needed."""
    refusal = ""
    try:
        stack.start()
    except RuntimeError as refused:
        refusal = str(refused)
    if not refusal:
        return False
    assert "ARGS=--repair" in refusal
    assert "Traceback" not in refusal
    stack.start("--repair")
    assert "lost: " in stack.log()
    return True


def test_a_repair_that_is_killed_is_made_again(saved_state: SavedState, tmp_path: Path):
    """After a killed repair the next repair gives the same result; no file is deleted."""
    damaged = tmp_path / "damaged"
    shutil.copytree(State(saved_state.folder).data, damaged)
    manifest = BackupFolder(damaged).manifest()
    assert manifest is not None
    for name in manifest.tables["examples"][:2]:
        flip_byte(damaged / PIECES / name[:2] / name)
    before = {path.name for path in (damaged / PIECES).glob("*/*")}
    chance, results = random.Random(7), set()
    for number in range(1 + ROUNDS):
        data = tmp_path / str(number) / "data"
        shutil.copytree(damaged, data)
        if number:
            kill(begin(REPAIRER, data), chance.uniform(0.0, 0.15))
        assert (
            subprocess.run(
                [sys.executable, "-c", REPAIRER, str(data)],
                cwd=ROOT,
                capture_output=True,
                check=False,
            ).returncode
            == 0
        )
        folder = BackupFolder(data)
        repaired = folder.manifest()
        assert repaired is not None
        folder.verify(repaired)
        results.add((data / MANIFEST).read_bytes())
        left = {path.name for path in data.parent.glob(f"data*/{PIECES}/*/*")}
        assert before <= left
    assert len(results) == 1


def test_a_signing_key_is_whole_whenever_the_power_goes(tmp_path: Path):
    """Killed while it is created, a signing key is either complete or absent."""
    chance, state = random.Random(8), State(tmp_path)
    for _ in range(2 * ROUNDS):
        assert kill(begin(TOKEN_WRITER, tmp_path), chance.uniform(0.0, 0.1)) == -signal.SIGKILL

        assert not state.has_broken_secret()
        state.check_space()
        assert {path.name for path in tmp_path.iterdir()} <= {SECRET_FILE}
