"""Deletion records only move forward."""

from __future__ import annotations

from chalicelib.domain.jobs.deletion import DATASET, MODEL, QUEUED, RUNNING, SUCCEEDED, deletion_of
from chalicelib.stores.aws.clients import Clients
from tests.builders import World


def test_record_is_made_once(world: World) -> None:
    """Creating a record again returns the open one, and reopens a completed one."""
    deletions = world.stores.deletions
    deletion = deletion_of("1", DATASET, "7", "language")

    assert deletions.create(deletion) == deletion
    assert deletion.status == QUEUED
    deletions.acquire("1", deletion.deletion_id)
    assert deletions.create(deletion).status == RUNNING
    deletions.finish(deletion)

    assert deletions.create(deletion).status == QUEUED
    found = deletions.find("1", deletion.deletion_id)
    assert found is not None
    assert found.status == QUEUED
    assert deletions.find("2", deletion.deletion_id) is None


def test_record_of_a_model_holds_no_empty_text(world: World, clients: Clients) -> None:
    """The record of a model omits the family instead of storing an empty text."""
    deletion = deletion_of("1", MODEL, "MYMODEL")
    world.stores.deletions.create(deletion)

    items = clients.dynamodb.scan(TableName="presage-deletions")["Items"]
    assert [name for item in items for name, value in item.items() if value == {"S": ""}] == []
    assert world.stores.deletions.find("1", deletion.deletion_id) == deletion


def test_progress_never_falls(world: World) -> None:
    """A report below the shown progress is ignored, and a finished record stays."""
    deletions = world.stores.deletions
    deletion = deletions.create(deletion_of("1", DATASET, "7", "language"))
    shown = []
    taken = deletions.acquire("1", deletion.deletion_id)
    assert taken is not None
    assert taken.status == RUNNING
    assert 0 < taken.progress < 1
    assert deletions.acquire("1", deletion.deletion_id) is None
    for progress in (0.5, 0.2, 0.9):
        deletions.report(deletion, progress)
        found = deletions.find("1", deletion.deletion_id)
        shown.append(found and found.progress)
    deletions.finish(deletion)
    deletions.report(deletion, 0.95)
    deletions.release(deletion)

    done = deletions.find("1", deletion.deletion_id)
    assert shown == [0.5, 0.5, 0.9]
    assert done is not None
    assert (done.status, done.progress) == (SUCCEEDED, 1)
    assert deletions.acquire("1", deletion.deletion_id) is None


def test_nudge_claims_unassigned_deletions(world: World) -> None:
    """An old record without an owner is claimed by exactly one sweep."""
    deletions = world.stores.deletions
    deletion = deletions.create(deletion_of("1", DATASET, "7", "language"))
    created = round(world.clock.now.timestamp() * 1000)

    assert deletions.claim_stale(created) == []
    deletions.acquire("1", deletion.deletion_id)
    world.clock.advance(seconds=30)
    assert deletions.claim_stale(created + 1) == []
    world.clock.advance(seconds=31)

    assert [found.deletion_id for found in deletions.claim_stale(created + 1)] == [
        deletion.deletion_id
    ]
    assert deletions.claim_stale(created + 1) == []
