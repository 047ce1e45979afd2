"""After the clock jumps by two hours calls are accepted within 5 seconds and no work is lost."""

from __future__ import annotations

import pytest

from chalicelib.domain.accounts.rates import RATES
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.jobs.deletion import DATASET, deletion_of
from chalicelib.errors import LeaseLost
from chalicelib.stores.accounts.in_flight import DOCUMENTS
from chalicelib.stores.aws.tables import DatasetRow, KeyRow, ModelRow
from chalicelib.stores.jobs.queues import DELETE, EXPORT, INGEST, TRAIN_FREE
from tests.builders import World, some_rows
from tests.services.accounts.token_world import World as TokenWorld

ROWS = some_rows({"book": 5, "cancel": 5})
OPERATIONS = 20
JUMPS = pytest.mark.parametrize("hours", [-2, 2])


def jump(world: World | TokenWorld, hours: float) -> None:
    """Set the clock back or forward, and let 5 seconds pass."""
    world.clock.advance(hours=hours, seconds=5)


@JUMPS
@pytest.mark.parametrize("cost", sorted(RATES["STARTER"]))
def test_rates_admit_calls(world: World, hours: int, cost: str) -> None:
    """An account that used up its burst may make 20 calls, in this process and in a new one."""
    rates = world.container.rates
    for _ in range(100 * RATES[world.account.plan][cost]):
        rates.check(world.account, cost)
    jump(world, hours)

    for process in (world, world.another()):
        for _ in range(OPERATIONS):
            process.container.rates.check(world.account, cost)


@JUMPS
def test_dead_workers_jobs_are_done(world: World, hours: int) -> None:
    """Jobs whose workers died before the jump finish: upload, training, export and deletion."""
    view, gone = world.dataset(ROWS), world.dataset(ROWS)
    account_id, stores = world.account.account_id, world.stores
    uploaded, model = world.upload(ROWS).dataset, world.train(view).model
    export = world.container.exports.create(world.account, view, "csv", "upload")
    world.container.deletions.delete_dataset(world.account, LANGUAGE, gone.dataset.dataset_id)
    deletion = deletion_of(account_id, DATASET, str(gone.dataset.dataset_id), LANGUAGE)
    world.messages()
    assert stores.dataset_leases.acquire_upload(
        account_id, LANGUAGE, uploaded.dataset_id, uploaded.upload_id
    )
    assert stores.model_leases.acquire(account_id, model.model_id, 1)
    assert stores.exports.acquire(account_id, export.export_id)
    assert stores.deletions.acquire(account_id, deletion.deletion_id)
    jump(world, hours)

    world.container.sweeping.run()
    waiting = world.messages()
    assert {queue for queue, _ in waiting} >= {INGEST, TRAIN_FREE, EXPORT, DELETE}
    for message in waiting:
        world.deliver(message)
    world.work()

    assert {row.status for row in world.rows(DatasetRow)} == {"SUCCEEDED"}
    assert {row.status for row in world.rows(ModelRow)} == {"SUCCEEDED"}
    assert world.container.exports.get(view, export.export_id).status == "SUCCEEDED"
    assert world.container.deletions.get(account_id, deletion.deletion_id).status == "SUCCEEDED"


@JUMPS
def test_running_worker_keeps_its_job(world: World, hours: int) -> None:
    """An owner that renews its lease after the jump keeps it; until then another may take it."""
    uploaded, leases = world.upload(ROWS).dataset, world.stores.dataset_leases
    names = (world.account.account_id, LANGUAGE, uploaded.dataset_id, uploaded.upload_id)
    first = leases.acquire_upload(*names)
    assert first is not None
    jump(world, hours)
    leases.renew(uploaded, first.lease)
    assert leases.acquire_upload(*names) is None

    jump(world, hours)
    second = leases.acquire_upload(*names)

    assert second is not None
    with pytest.raises(LeaseLost):
        leases.renew(uploaded, first.lease)


@JUMPS
def test_keys_and_places_become_free(world: World, hours: int) -> None:
    """Crashed processes block neither a repeated call nor 20 documents after the jump."""
    answers, account_id = world.stores.idempotency, world.account.account_id
    running = [world.stores.in_flight.running(account_id, DOCUMENTS) for _ in range(12)]
    for one in running:
        one.__enter__()  # and never left, as by a process that died
    first = answers.claim(account_id, "key", "request", lambda: 7)
    jump(world, hours)

    again = answers.claim(account_id, "key", "request", lambda: 8)
    assert (again.object_id, again.number, again.attempt) == (first.object_id, 7, 2)
    for _ in range(OPERATIONS):
        with world.stores.in_flight.running(account_id, DOCUMENTS):
            pass


@JUMPS
def test_rows_live_on_by_the_new_clock(world: World, hours: int) -> None:
    """Rows written after the jump expire as usual, and earlier ones stay readable."""
    answers, account_id = world.stores.idempotency, world.account.account_id
    first = answers.claim(account_id, "old", "request", lambda: 1)
    jump(world, hours)
    answers.claim(account_id, "new", "request", lambda: 2)
    ends = {row.key: int(row.expires_at) for row in world.rows(KeyRow)}

    assert ends["key#new"] == int(world.clock().timestamp()) + 25 * 3600
    assert answers.claim(account_id, "old", "request", lambda: 3).object_id == first.object_id


@JUMPS
def test_tokens_are_given_out_and_accepted(
    clients, clock, settings, private_pem, other_private_pem, hours: int
) -> None:
    """After the jump assertions, refresh tokens and earlier access tokens are accepted."""
    world = TokenWorld(clients, clock, settings, private_pem, other_private_pem)
    day = 24 * 3600
    granted = world.tokens.grant_assertion(world.sign(exp=world.now + day), "offline")
    jump(world, hours)

    owner = world.tokens.find_caller(granted.access_token).account
    assert owner.account_id == world.account.account_id
    for _ in range(OPERATIONS):
        for new in (world.grant(), world.tokens.grant_refresh(granted.refresh_token)):
            world.tokens.find_caller(new.access_token)
