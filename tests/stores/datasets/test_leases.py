"""Ownership of a dataset's row: exclusive, fenced, and idempotent for its owner."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, Dataset, LabelCounts
from chalicelib.errors import LeaseLost
from chalicelib.stores.aws.tables import DatasetRow
from chalicelib.stores.datasets.leases import Addition, OwnedDataset
from tests.builders import World, some_rows

ADDITION = Addition((LabelCounts(10_001, 3),), 0, 3, 0, 9)


@pytest.fixture
def dataset(world: World) -> Dataset:
    """A dataset that is UPLOADING."""
    return world.upload(some_rows({"a": 3})).dataset


def _take(world: World, dataset: Dataset) -> OwnedDataset | None:
    """Acquire the upload's job."""
    return world.stores.dataset_leases.acquire_upload(
        dataset.account_id, LANGUAGE, dataset.dataset_id, dataset.upload_id
    )


def test_lease_is_taken_once(world: World, dataset: Dataset) -> None:
    """A job has one owner until its lease ends."""
    first = _take(world, dataset)
    assert first is not None
    assert _take(world, dataset) is None

    world.clock.advance(seconds=50)
    world.stores.dataset_leases.renew(dataset, first.lease)
    world.clock.advance(seconds=50)
    assert _take(world, dataset) is None
    world.clock.advance(seconds=11)
    second = _take(world, dataset)

    assert second is not None
    assert (second.lease.fence, second.lease.attempts) == (first.lease.fence + 1, 2)


def test_failed_attempt_is_followed_when_its_lease_has_ended(
    world: World, dataset: Dataset
) -> None:
    """A retry after a failure waits for the lease to end; a continuation starts at once."""
    first = _take(world, dataset)
    assert first is not None
    world.stores.dataset_leases.fail_attempt(first, "it broke")
    assert _take(world, dataset) is None
    world.clock.advance(seconds=61)
    second = _take(world, dataset)
    assert second is not None
    assert (second.lease.last_error, second.lease.attempts) == ("it broke", 2)

    world.stores.dataset_leases.return_to_queue(second)
    third = _take(world, dataset)

    assert third is not None
    assert third.lease.attempts == 2


def test_stalled_owner_writes_nothing(world: World, dataset: Dataset) -> None:
    """Every write of an owner that lost its lease is refused."""
    first = _take(world, dataset)
    assert first is not None
    world.clock.advance(minutes=2)
    second = _take(world, dataset)
    assert second is not None
    leases, before = world.stores.dataset_leases, world.rows(DatasetRow)[0].attribute_values
    writes: list[Callable[[], None]] = [
        lambda: leases.renew(dataset, first.lease),
        lambda: leases.put_upload(dataset, first.lease, first.upload),
        lambda: leases.note_labels(dataset, first.lease, 1),
        lambda: leases.commit_upload(dataset, first.lease, ADDITION),
        lambda: leases.commit_addition(dataset, first.lease, ADDITION),
        lambda: leases.fail_upload(first, "late"),
    ]

    for write in writes:
        with pytest.raises(LeaseLost):
            write()
    leases.fail_attempt(first, "late")
    leases.return_to_queue(first)
    leases.release(dataset, first.lease)

    assert before == world.rows(DatasetRow)[0].attribute_values


def test_end_may_be_written_again_but_not_changed(world: World, dataset: Dataset) -> None:
    """An owner may repeat its commit but cannot turn it into a failure."""
    owned = _take(world, dataset)
    assert owned is not None
    leases = world.stores.dataset_leases

    leases.commit_upload(dataset, owned.lease, ADDITION)
    leases.commit_upload(dataset, owned.lease, ADDITION)
    with pytest.raises(LeaseLost):
        leases.fail_upload(owned, "too late")
    with pytest.raises(LeaseLost):
        leases.renew(dataset, owned.lease)

    found = world.stores.datasets.find(dataset.account_id, LANGUAGE, dataset.dataset_id)
    assert found is not None
    assert (found.status, found.total) == ("SUCCEEDED", 3)
    assert _take(world, dataset) is None


def test_deletion_ends_ownership(world: World, dataset: Dataset) -> None:
    """After DELETE the owner of an upload cannot commit."""
    owned = _take(world, dataset)
    assert owned is not None
    assert world.stores.datasets.start_deletion(dataset)

    with pytest.raises(LeaseLost):
        world.stores.dataset_leases.commit_upload(dataset, owned.lease, ADDITION)
    assert _take(world, dataset) is None


def test_deletion_knows_all_label_ids(world: World, dataset: Dataset) -> None:
    """A deletion finds all label ids that may have a row, committed or not."""
    world.work()
    view = world.stores.labels.view(dataset)
    found = world.stores.datasets.find(dataset.account_id, LANGUAGE, dataset.dataset_id)
    assert found is not None
    [committed] = found.counts
    owned = world.stores.dataset_leases.acquire_addition(found)
    assert owned is not None
    world.stores.dataset_leases.note_labels(found, owned.lease, 77)
    world.stores.dataset_leases.note_labels(found, owned.lease, 78)

    assert world.stores.datasets.label_ids(found) == {committed.label_id, 77, 78}
    assert view.labels == ()
