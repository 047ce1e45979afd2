"""The local stack's data survives a stop and a kill."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from infra.backups.folder import PIECES, BackupFolder
from infra.local.snapshots import control
from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.conftest import ENVIRONMENT, SavedState
from tests.flows.kills.killing import ROUNDS, saved_at, wait, wait_for_moment, wait_for_saves
from tests.flows.load import Journal, Load, complaints, losses, settle
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack

SAVE_SECONDS = 1.0


@pytest.fixture
def busy(closed_network: None) -> Iterator[LocalStack]:
    """A stack for five callers at once that saves its data every second."""
    environment = {
        **ENVIRONMENT,
        "PRESAGE_SAVE_SECONDS": str(SAVE_SECONDS),
        # Five callers leave a worker little time for its heartbeats; losing a lease is allowed.
        "PRESAGE_LEASE_SECONDS": "3",
        "PRESAGE_MAX_ATTEMPTS": "100",
    }
    with LocalStack(arguments=("--bare",), environment=environment) as running:
        yield running


def again(stack: LocalStack, client: Client) -> Client:
    """Restart the stack on another port; return the same caller."""
    client.close()
    stack.start()
    return Client(stack.url, client.token)


def has_settled(data: Path) -> bool:
    """Return whether the latest save and the folder have the same files, none of them newer."""
    folder = BackupFolder(data)
    previous, last = folder.previous(), folder.manifest()
    assert last is not None
    files = {path.name for path in (data / PIECES).glob("*/*")}
    return previous is not None and previous.pieces() <= last.pieces() == files


def listed(client: Client, dataset_id: int) -> int:
    """Count the examples on a dataset's pages."""
    return len(client.items(f"{LANGUAGE}/datasets/{dataset_id}/examples", source="all"))


def test_a_stop_loses_nothing(saving: LocalStack, saving_client: Client, saved_state: SavedState):
    """Everything acknowledged before Ctrl-C exists after the next start."""
    made = saved_state.second

    assert saving_client.get(f"{LANGUAGE}/datasets/{made['id']}").ok == made
    with closing(Client(saving.url, saved_state.api_key)) as program:
        assert program.get("/v2/whoami").ok["scope"] == "all"
    assert listed(saving_client, made["id"]) == 90
    assert saving_client.dataset(csv_file(made_rows(20)))["id"] > made["id"]


def test_only_what_changed_is_read_and_written(
    saving: LocalStack, saving_client: Client, saved_state: SavedState
) -> None:
    """Tables are read only when they are used, and a stop writes only tables that have changed."""
    data, examples = saving.state.data, f"{saving.settings.name}-examples"
    assert examples in control(saving.settings, "GET")["unread"]
    # What was deleted before the fixture's stop leaves with one more save.
    wait(lambda: has_settled(data))
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*") if path.is_file()}

    assert saving.pause() == 0

    assert before == {path: path.stat().st_mtime_ns for path in data.rglob("*") if path.is_file()}
    client, saved = again(saving, saving_client), BackupFolder(data).manifest()
    assert listed(client, saved_state.first["id"]) == 60
    assert examples not in control(saving.settings, "GET")["unread"]
    assert saving.pause() == 0
    after = BackupFolder(data).manifest()
    assert saved is not None
    assert after is not None
    assert after.objects == saved.objects
    changed = {short for short, names in after.tables.items() if names != saved.tables[short]}
    # A call for a page of examples is counted.
    assert changed == {"quotas"}
    client.close()
    saving.start()


@pytest.mark.timeout(240 + 3 * 90 * ROUNDS)
def test_a_kill_under_load_loses_only_the_last_moments(busy: LocalStack, tmp_path: Path):
    """After kill -9 everything answered before the latest save exists and is consistent."""
    chance = random.Random(4)
    client = World(busy, tmp_path).caller("GOLD", example_calls=1_000_000)
    trained = int(client.dataset(csv_file(made_rows(24)))["id"])
    made = client.json("POST", f"{LANGUAGE}/datasets", {"name": "home", "type": "text-intent"})
    home, journal = int(made.ok["id"]), Journal()
    for number in range(3 * ROUNDS):
        if number >= ROUNDS and journal.has_all:
            break
        load = Load(client, home, trained, journal)
        wait_for_saves(busy, SAVE_SECONDS)
        wait_for_moment(lambda: journal.has_all, chance, 0.0, 3.0)
        busy.crash()
        load.end()
        saved = saved_at(busy)
        client = again(busy, client)
        journal.remove_after(saved)
        settle(client, busy)

        assert losses(client, journal, home) == [], number
        assert complaints(client, busy) == [], number
    client.close()
    assert journal.has_all
