"""Batch predictions are reserved within the limit and released once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.jobs.batch import Batch
from chalicelib.stores.accounts.batch_quotas import BatchQuotaStore
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.tables import QuotaRow

NOW = datetime(2026, 11, 24, tzinfo=UTC)
BATCH = Batch(
    batch_id="B1",
    account_id="1",
    family="language",
    name="b",
    model_id="M",
    model_version="r1-1",
    kind="intent",
    format="jsonl",
    source={},
    created_at=NOW,
    updated_at=NOW,
    expires_at=NOW,
    total=30,
    month="2026-11",
)


@pytest.fixture
def store(clients: Clients) -> BatchQuotaStore:
    """The store, on an empty table."""
    return BatchQuotaStore(clients)


def used() -> int:
    """Read the counter."""
    return int(QuotaRow.get("1", "predictions#2026-11", consistent_read=True).used)


def test_repeated_calls_count_once(store: BatchQuotaStore) -> None:
    """A repeated reservation, and a repeated settlement, count once."""
    assert [store.reserve(BATCH, 40, NOW) for _ in range(2)] == [(30, 0), (30, 0)]
    assert used() == 30
    assert [store.settle(BATCH, 12) for _ in range(2)] == [30, 0]
    assert used() == 12


def test_all_or_none(store: BatchQuotaStore) -> None:
    """A batch beyond the quota is refused whole; a partial one takes the rest."""
    store.reserve(BATCH, 100, NOW)
    second = replace(BATCH, batch_id="B2")
    assert store.reserve(second, 59, NOW) == (0, 30)
    assert store.reserve(replace(second, is_partial=True), 59, NOW) == (29, 30)
    assert store.reserve(replace(second, batch_id="B3", is_partial=True), 59, NOW) == (0, 59)
    assert used() == 59


def test_simultaneous_counts_are_respected(
    store: BatchQuotaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reservation that conflicts with simultaneous ones is retried with the remaining quota."""
    update = QuotaRow.update

    def after_another(row: QuotaRow, **given: object) -> object:
        monkeypatch.setattr(QuotaRow, "update", update)
        update(QuotaRow("1", "predictions#2026-11"), actions=[QuotaRow.used.add(25)])
        return update(row, **given)

    monkeypatch.setattr(QuotaRow, "update", after_another)
    assert store.reserve(replace(BATCH, is_partial=True), 40, NOW) == (15, 25)
    assert used() == 40
