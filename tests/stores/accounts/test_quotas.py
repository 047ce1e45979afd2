"""A counter never exceeds its limit, and uncertain reservations count as used.

Calls follow each other here: the emulator loses updates of threads, which the tables of AWS and
of the local stack do not.
"""

from __future__ import annotations

import json
import logging
import random
import time
from datetime import UTC, datetime

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ReadTimeoutError
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID as ACCOUNT_ID

from chalicelib.domain.accounts.usage import EXAMPLES, PREDICTIONS, new_token
from chalicelib.domain.jobs.messages import SettleJob, decode_job
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.accounts import quotas
from chalicelib.stores.accounts.quotas import QuotaStore
from chalicelib.stores.aws.tables import QuotaRow
from chalicelib.stores.jobs.queues import Queues
from tests.quick_aws import make_requests

EXPIRES = datetime(2028, 1, 5, tzinfo=UTC)


@pytest.fixture
def queues(clients, settings) -> Queues:
    """The queues."""
    return Queues(settings, clients)


@pytest.fixture
def store(clients, queues) -> QuotaStore:
    """A store on an empty table."""
    return QuotaStore(clients, queues)


def reserve(store, kind=PREDICTIONS, month="2026-11", limit=3, account="1", token=None):
    """Reserve one call."""
    return store.reserve(account, kind, month, limit, EXPIRES, token or new_token())


def test_reserve_counts_to_the_limit_and_no_further(store):
    """Reservations return increasing numbers; at the limit None."""
    assert [reserve(store) for _ in range(5)] == [1, 2, 3, None, None]
    assert store.used("1", PREDICTIONS, "2026-11") == 3


def test_counters_are_separate(store):
    """Kinds, months and accounts are counted separately."""
    reserve(store)

    assert reserve(store, kind=EXAMPLES) == 1
    assert reserve(store, month="2026-12") == 1
    assert reserve(store, account="2") == 1
    assert store.used("3", PREDICTIONS, "2026-11") == 0


def test_lowered_limit_admits_nothing(store):
    """A limit below the used number, or of 0, admits no call."""
    reserve(store)
    reserve(store)

    assert reserve(store, limit=1) is None
    assert reserve(store, limit=0, account="2") is None


def test_release_uncounts_once(store):
    """A released call is subtracted once, even if it is released again."""
    token = new_token()
    reserve(store, token=token)
    reserve(store)

    for account in ("1", "1", "2"):
        assert store.release(account, PREDICTIONS, "2026-11", token)

    assert store.used("1", PREDICTIONS, "2026-11") == 1
    assert [reserve(store) for _ in range(3)] == [2, 3, None]
    assert store.used("2", PREDICTIONS, "2026-11") == 0


def test_tokens_do_not_pile_up(store):
    """Finished tokens, and those of crashed processes, are removed by later calls."""
    old = f"{int(time.time()) - 3_600:x}-00000000000{{}}"
    for side in "ab":
        reserve(store, limit=99, token=old.format(side))
    dice = random.Random(1)
    for _ in range(60):
        # The last digit chooses the set: one that gets all of thirty calls in a row is not cleared.
        token = f"{new_token()[:-1]}{dice.randrange(16):x}"
        reserve(store, limit=99, token=token)
        store.keep("1", PREDICTIONS, "2026-11", token)

    row = QuotaRow.get("1", "predictions#2026-11")
    left = {*(row.held_a or ()), *(row.held_b or ())}
    assert int(row.used) == 62
    assert len(left) < 30
    assert not left & {old.format("a"), old.format("b")}


def test_tokens_are_removed_ten_at_once(clients, store):
    """Finished tokens are removed in batches, by at most one call in ten."""
    deletions: list[bool] = []

    def note(params, **_):
        deletions.append("DELETE" in json.loads(params["body"])["UpdateExpression"])

    events = clients.dynamodb_once.meta.events
    events.register("before-call.dynamodb.UpdateItem", note)
    for number in range(60):
        # Tokens of both sets in turn.
        token = f"{new_token()[:-1]}{number % 2}"
        reserve(store, limit=99, token=token)
        store.keep("1", PREDICTIONS, "2026-11", token)
    events.unregister("before-call.dynamodb.UpdateItem", note)

    assert 1 <= sum(deletions) <= 6


def test_rows_expire(store):
    """A counter row has an expiry time in seconds since 1970."""
    reserve(store)

    assert int(EXPIRES.timestamp()) == QuotaRow.get("1", "predictions#2026-11").expires_at


def test_date_is_written_once(clients, queues, store):
    """Each process writes the expiry only with its first call in a row."""
    written: list[bool] = []

    def note(params, **_):
        written.append("SET" in json.loads(params["body"])["UpdateExpression"])

    events = clients.dynamodb_once.meta.events
    events.register("before-call.dynamodb.UpdateItem", note)
    for month in ("2026-11", "2026-11", "2026-12", "2026-11"):
        reserve(store, month=month)
    reserve(QuotaStore(clients, queues))
    events.unregister("before-call.dynamodb.UpdateItem", note)

    assert written == [True, False, True, False, True]


def test_throttled_write_is_repeated(clients, store, monkeypatch):
    """A throttled write is repeated and counts once."""
    answer = throttle(clients, monkeypatch, times=3)

    assert reserve(store) == 1
    assert len(answer) == 4
    assert store.used("1", PREDICTIONS, "2026-11") == 1


def test_throttled_for_long_is_certainly_not_counted(clients, store, monkeypatch, caplog):
    """A call that is only ever throttled is a 503 and is certainly not counted."""
    throttle(clients, monkeypatch, times=99)

    with caplog.at_level(logging.WARNING, "presage"), pytest.raises(StorageUnavailable):
        reserve(store)

    assert caplog.messages == []
    monkeypatch.undo()
    assert store.used("1", PREDICTIONS, "2026-11") == 0


def test_lost_answer_is_resolved_by_reading_the_row(clients, store, monkeypatch):
    """If the answer of a counted call is lost, the retry finds it and counts it once."""
    token = new_token()
    calls = break_after_call(clients, monkeypatch, times=1)

    assert reserve(store, token=token) == 1

    assert len(calls) >= 2
    break_after_call(clients, monkeypatch, times=1)
    assert store.release("1", PREDICTIONS, "2026-11", token)
    assert store.used("1", PREDICTIONS, "2026-11") == 0


def test_first_try_does_not_look_for_itself(clients, store, monkeypatch):
    """Only a retry checks whether its token is already in the row; the call counts once."""
    calls = break_after_call(clients, monkeypatch, times=1)

    assert [reserve(store), reserve(store)] == [1, 2]

    sent = [json.loads(call.body).get("ConditionExpression", "") for call in calls]
    assert ["contains" in condition for condition in sent if condition] == [False, True, False]


def test_lost_answer_at_the_limit_is_not_a_refusal(clients, store, monkeypatch):
    """The last call of a month is not refused if the response of its write is lost."""
    break_after_call(clients, monkeypatch, times=1)

    assert reserve(store, limit=1) == 1
    assert reserve(store, limit=1) is None


def settle_jobs(clients, settings):
    """Receive the settlement jobs with their delays in seconds."""
    queue = get_backend("sqs")[ACCOUNT_ID][settings.region].queues[f"{settings.name}-delete"]
    found = [
        (
            decode_job(message.body, [SettleJob]),
            round((message.delayed_until - message.sent_timestamp) / 1000),
        )
        for message in queue._messages
    ]
    queue._messages.clear()
    return found


def test_unknown_reservation_is_settled_by_a_worker(clients, settings, store, monkeypatch, lines):
    """If the outcome is unknown the call is a 503, and a worker releases it after 15 seconds.

    A function stands still once it has answered, so the job is another's, from 15 seconds on.
    """
    calls = break_after_call(clients, monkeypatch, times=len(quotas.PAUSES) + 1)

    with pytest.raises(StorageUnavailable):
        reserve(store)

    assert len(calls) == len(quotas.PAUSES) + 1
    assert store.used("1", PREDICTIONS, "2026-11") == 1
    [(job, hidden)] = settle_jobs(clients, settings)
    assert hidden == 15
    for _ in range(2):
        store.settle(job)
    assert store.used("1", PREDICTIONS, "2026-11") == 0
    assert settle_jobs(clients, settings) == []
    unknown, settled, again = (line for line in lines() if "kind" in line)
    assert unknown["event"] == "quota_reservation_unknown"
    assert (settled["outcome"], settled["account"], settled["month"]) == (
        "given_back",
        "1",
        "2026-11",
    )
    assert again["token"] == settled["token"]


def test_unknown_outcome_is_tried_for_less_than_a_minute(
    clients, settings, store, monkeypatch, lines
):
    """A table that stays unreachable is retried for less than a minute, then logged as unknown."""
    token = new_token()
    reserve(store, token=token)
    throttle(clients, monkeypatch, times=1_000)
    assert not store.release("1", PREDICTIONS, "2026-11", token)

    waits = []
    while found := settle_jobs(clients, settings):
        [(job, hidden)] = found
        waits.append(hidden)
        store.settle(job)

    assert waits == [15, 10, 10, 10]
    assert [line["outcome"] for line in lines() if line["event"] == "settlement"] == ["unknown"]


def test_unknown_outcome_is_settled_here_where_no_queue_answers(
    clients, queues, store, monkeypatch, lines
):
    """Without a queue the process itself releases the call once the table answers."""
    monkeypatch.setattr(quotas, "SETTLE_SECONDS", (0.2, 0.2))

    def refuse(*_: object) -> None:
        raise StorageUnavailable

    monkeypatch.setattr(queues, "send", refuse)
    token = new_token()
    reserve(store, token=token)
    throttle(clients, monkeypatch, times=len(quotas.PAUSES) + 1)

    assert not store.release("1", PREDICTIONS, "2026-11", token)

    wait_until(lambda: store.used("1", PREDICTIONS, "2026-11") == 0)
    wait_until(lambda: lines()[-1]["event"] == "settlement")
    assert lines()[-1]["outcome"] == "given_back"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Replace the pauses between retries by none."""
    monkeypatch.setattr(quotas, "PAUSES", (0.0,) * 5)


def wait_until(holds, seconds=60):
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def throttle(clients, monkeypatch, times):
    """Throttle a number of quota calls; return all calls."""
    make_requests(clients.dynamodb_once)
    endpoint = clients.dynamodb_once._endpoint
    answer, calls = endpoint._get_response, []

    def refuse(request, operation_model, context):
        """Answer as a throttled table does."""
        calls.append(request)
        if len(calls) > times:
            return answer(request, operation_model, context)
        error = {"Code": "ProvisionedThroughputExceededException", "Message": "slow down"}
        parsed = {"Error": error, "ResponseMetadata": {"HTTPStatusCode": 400}}
        return (AWSResponse(request.url, 400, {}, None), parsed), None

    monkeypatch.setattr(endpoint, "_get_response", refuse)
    return calls


def break_after_call(clients, monkeypatch, times):
    """Lose the responses of a number of quota calls; return all calls."""
    make_requests(clients.dynamodb_once)
    endpoint = clients.dynamodb_once._endpoint
    answer, calls = endpoint._get_response, []

    def lose(request, operation_model, context):
        """Make the call, then fail like a broken connection."""
        calls.append(request)
        given = answer(request, operation_model, context)
        if len(calls) > times:
            return given
        return None, ReadTimeoutError(endpoint_url=request.url)

    monkeypatch.setattr(endpoint, "_get_response", lose)
    return calls
