"""Predictions and example calls are counted exactly, in their month."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Allowances, Usage
from chalicelib.domain.common.clock import date_text
from chalicelib.domain.models.model import ServedModel
from chalicelib.errors import ExampleQuotaExceeded, PredictionQuotaExceeded
from chalicelib.stores.accounts.quotas import QuotaStore
from chalicelib.stores.aws.tables import QuotaRow
from chalicelib.stores.jobs.queues import Queues
from chalicelib.web.records import describe
from chalicelib.web.records.service_records import PlanRecord

MODEL = ServedModel("M", "text-intent", "SUCCEEDED", "r1-1")


@pytest.fixture
def allowances(clients, settings, clock) -> Allowances:
    """The usage service on empty tables."""
    return Allowances(QuotaStore(clients, Queues(settings, clients)), clock, 30)


def predict(allowances: Allowances, account: Account) -> Usage:
    """Reserve a prediction."""
    with allowances.prediction(account, MODEL) as usage:
        return usage


def list_examples(allowances: Allowances, account: Account) -> None:
    """Reserve a call that returns examples."""
    with allowances.example_call(account):
        return


def an_account(account_id="108", plan="STARTER", source="HEROKU", example_calls=None) -> Account:
    """Return an account that is not stored."""
    return Account(
        account_id=account_id,
        email="ann@example.com",
        plan=plan,
        source=source,
        status="ACTIVE",
        keys=(),
        license_id="kQ2mTzXwPa",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        example_calls_per_month=example_calls,
    )


def use(count, kind="predictions", month="2026-11"):
    """Set the number of counted calls."""
    QuotaRow("108", f"{kind}#{month}", used=count).save()


def test_snapshot_agrees_with_reservations(allowances):
    """Each prediction counts one; reading the usage counts nothing."""
    assert allowances.predictions(an_account()).remaining == 2000

    reserved = predict(allowances, an_account())

    assert (reserved.used, reserved.limit, reserved.remaining) == (1, 2000, 1999)
    assert reserved == allowances.predictions(an_account())


def test_last_prediction_is_admitted_and_the_next_is_not(allowances, clock):
    """The 2,000th prediction of a month is accepted, the 2,001st refused with the reset time."""
    clock.now = datetime(2024, 3, 31, 23, 59, 0, 500_000, tzinfo=UTC)
    use(1999, month="2024-03")

    assert predict(allowances, an_account()).remaining == 0
    with pytest.raises(PredictionQuotaExceeded) as refusal:
        predict(allowances, an_account())

    assert refusal.value.message == (
        "You've reached the maximum number of predictions for the current calendar month: "
        "2000 of 2000 used on plan STARTER. The count starts again on 2024-04-01 00:00:00 UTC; "
        "a larger plan lifts the limit."
    )
    assert refusal.value.retry_after_seconds == 60
    assert allowances.predictions(an_account()).used == 2000


def test_smaller_plan_reports_the_actual_usage(allowances):
    """After a change to a smaller plan the error has both numbers, and none is negative."""
    use(7000)

    with pytest.raises(PredictionQuotaExceeded, match="7000 of 2000 used on plan STARTER"):
        predict(allowances, an_account())
    assert allowances.predictions(an_account()).remaining == 0
    assert predict(allowances, an_account(plan="BRONZE")).used == 7001


def test_each_month_starts_at_zero(allowances, clock):
    """The count restarts at the first moment of the next month."""
    use(2000)
    clock.now = datetime(2026, 12, 1, tzinfo=UTC)

    assert predict(allowances, an_account()).used == 1


def test_release_uses_the_month_of_the_reservation(allowances, clock):
    """A prediction that fails after midnight is released in the month in which it was counted."""
    clock.now = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)

    def fail_after_midnight():
        with allowances.prediction(an_account(), MODEL):
            clock.advance(seconds=2)
            predict(allowances, an_account())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_midnight()

    assert allowances.predictions(an_account()).used == 1
    assert QuotaRow.get("108", "predictions#2026-11").used == 0


def test_example_calls_have_their_own_count(allowances):
    """Thirty example calls are accepted; the error of the next one has the reset time."""
    for _ in range(30):
        list_examples(allowances, an_account())

    with pytest.raises(ExampleQuotaExceeded) as refusal:
        list_examples(allowances, an_account())

    assert refusal.value.message == (
        "You've used all 30 calls of this month that return examples. "
        "The count starts again on 2026-12-01 00:00:00 UTC."
    )
    assert refusal.value.retry_after_seconds == 9 * 86400 + 14 * 3600 + 30 * 60
    assert allowances.predictions(an_account()).used == 0


def test_failed_example_call_is_not_counted(allowances):
    """A call that returned no examples does not count."""
    account = an_account(example_calls=1)
    with pytest.raises(ZeroDivisionError), allowances.example_call(account):
        raise ZeroDivisionError

    list_examples(allowances, account)

    assert QuotaRow.get("108", "examples#2026-11").used == 1


@pytest.mark.parametrize(("own", "limit"), [(None, 30), (31, 31), (0, 0)])
def test_account_may_have_its_own_limit(allowances, own, limit):
    """An individual limit of example calls, even zero, overrides that of the service."""
    account = an_account(example_calls=own)

    for _ in range(limit):
        list_examples(allowances, account)

    with pytest.raises(ExampleQuotaExceeded, match=f"all {limit} calls"):
        list_examples(allowances, account)


def test_record_is_that_of_the_contract(allowances):
    """The usage call returns plan, month and counts; its id is constant for a month."""
    use(10)
    account = an_account(source="SALESFORCE")
    found = describe.usage(account, allowances.predictions(account))

    assert (found.id, found.organization_id) == ("108202611", "108")
    assert found.plan_data == [PlanRecord("STARTER", 1, "SALESFORCE")]
    assert found.starts_at == date_text(datetime(2026, 11, 1, tzinfo=UTC))
    assert found.ends_at == date_text(datetime(2026, 12, 1, tzinfo=UTC))
    assert found.license_id == "kQ2mTzXwPa"
    counts = (found.predictions_used, found.predictions_remaining, found.predictions_max)
    assert counts == (10, 1990, 2000)


def test_counters_are_kept_for_more_than_a_year(allowances, clock):
    """A month's counter expires after about fourteen months."""
    predict(allowances, an_account())

    expires_at = QuotaRow.get("108", "predictions#2026-11").expires_at
    assert 400 <= (expires_at - clock.now.timestamp()) / 86400 <= 430
