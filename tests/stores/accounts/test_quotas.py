"""A counter never passes its limit, and what is unknown counts as used.

Calls follow each other here: the emulator loses updates of threads, which the tables of AWS and
of the local stack do not.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

import pytest
from botocore.exceptions import ReadTimeoutError

from chalicelib.domain.accounts.usage import EXAMPLES, PREDICTIONS
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.accounts.quotas import QuotaStore
from chalicelib.stores.aws.tables import QuotaRow

EXPIRES = datetime(2028, 1, 5, tzinfo=UTC)


@pytest.fixture
def store(clients) -> QuotaStore:
    """A store on an empty table."""
    return QuotaStore(clients)


def reserve(store, kind=PREDICTIONS, month="2026-11", limit=3, account="1"):
    """Count one call."""
    return store.reserve(account, kind, month, limit, EXPIRES)


def test_reserve_counts_to_the_limit_and_no_further(store):
    """Each reservation returns its own number; at the limit there is none."""
    assert [reserve(store) for _ in range(5)] == [1, 2, 3, None, None]
    assert store.used("1", PREDICTIONS, "2026-11") == 3


def test_counters_are_separate(store):
    """Kind, month and account each have their own count."""
    reserve(store)

    assert reserve(store, kind=EXAMPLES) == 1
    assert reserve(store, month="2026-12") == 1
    assert reserve(store, account="2") == 1
    assert store.used("3", PREDICTIONS, "2026-11") == 0


def test_lowered_limit_admits_nothing(store):
    """A limit below what is used, or of nothing at all, admits no call."""
    reserve(store)
    reserve(store)

    assert reserve(store, limit=1) is None
    assert reserve(store, limit=0, account="2") is None


def test_give_back_takes_one_back_and_never_below_zero(store):
    """A call that is given back is free again; there is no credit beyond that."""
    reserve(store)

    store.give_back("1", PREDICTIONS, "2026-11")
    store.give_back("1", PREDICTIONS, "2026-11")
    store.give_back("2", PREDICTIONS, "2026-11")

    assert store.used("1", PREDICTIONS, "2026-11") == 0
    assert [reserve(store) for _ in range(4)] == [1, 2, 3, None]
    assert store.used("2", PREDICTIONS, "2026-11") == 0


def test_rows_expire(store):
    """A counter carries the time, in seconds since 1970, after which it disappears."""
    reserve(store)

    assert int(EXPIRES.timestamp()) == QuotaRow.get("1", "predictions#2026-11").expires_at


def test_unknown_reservation_is_an_error_and_is_logged(clients, store, monkeypatch, caplog):
    """When the answer is lost the caller gets a 503, the call is made once, and it is logged."""
    calls = break_after_call(clients, monkeypatch)

    with caplog.at_level(logging.WARNING, "presage"), pytest.raises(StorageUnavailable):
        reserve(store)

    assert len(calls) == 1
    assert json.loads(caplog.messages[0])["event"] == "quota_reservation_unknown"
    monkeypatch.undo()
    assert store.used("1", PREDICTIONS, "2026-11") == 1


def test_unknown_give_back_is_swallowed_and_logged(clients, store, monkeypatch, caplog):
    """A give-back whose answer is lost is made once, and the caller's own error goes first."""
    reserve(store)
    calls = break_after_call(clients, monkeypatch)

    with caplog.at_level(logging.WARNING, "presage"):
        store.give_back("1", PREDICTIONS, "2026-11")

    assert len(calls) == 1
    assert json.loads(caplog.messages[0])["event"] == "quota_give_back_unknown"


def break_after_call(clients, monkeypatch):
    """Let every call of the quota client be done and its answer be lost; returns the calls."""
    endpoint = clients.dynamodb_once._endpoint
    answer, calls = endpoint._get_response, []

    def lose(request, operation_model, context):
        """Do the call, then fail as a connection does that broke."""
        calls.append(request)
        answer(request, operation_model, context)
        return None, ReadTimeoutError(endpoint_url=request.url)

    monkeypatch.setattr(endpoint, "_get_response", lose)
    return calls
