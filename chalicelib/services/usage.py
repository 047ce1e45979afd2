"""Monthly allowances: what is left, taking one call, giving it back. Spec: Limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.config import Settings
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Usage, month_key, month_start, next_month_start
from chalicelib.domain.common.clock import Clock
from chalicelib.errors import ExampleQuotaExceeded, PredictionQuotaExceeded
from chalicelib.stores.accounts.quotas import EXAMPLES, PREDICTIONS, QuotaStore

KEPT_AFTER_RESET = timedelta(days=400)
"""How long a month's counter is kept after its end: more than a year to look back on."""


@dataclass(frozen=True)
class UsageFacts:
    """What the usage call tells of the present month. Contract section 4, Usage."""

    usage_id: str
    """Decimal number that stays the same for an account and a month."""
    organization_id: str
    """The account's id."""
    starts_at: datetime
    """First moment of the month."""
    ends_at: datetime
    """First moment of the next month."""
    plan: str
    """Name of the plan."""
    amount: int
    """How many such plans the account has: always one."""
    source: str
    """HEROKU or SALESFORCE."""
    license_id: str
    """Ten letters."""
    usage: Usage
    """Predictions of the month."""


class UsageService:
    """Counts predictions and calls that return examples."""

    def __init__(self, quotas: QuotaStore, clock: Clock, settings: Settings) -> None:
        self._quotas = quotas
        self._clock = clock
        self._settings = settings

    def predictions(self, account: Account) -> Usage:
        """Tell how many predictions of this month are used."""
        return self._predictions(account, self._clock())

    def facts(self, account: Account) -> UsageFacts:
        """Gather what the usage call answers."""
        usage = self.predictions(account)
        return UsageFacts(
            usage_id=f"{account.account_id}{usage.starts_at:%Y%m}",
            organization_id=account.account_id,
            starts_at=usage.starts_at,
            ends_at=usage.resets_at,
            plan=account.plan,
            amount=1,
            source=account.source,
            license_id=account.license_id,
            usage=usage,
        )

    def reserve_prediction(self, account: Account) -> Usage:
        """Count one prediction before it is made.

        Raises:
            PredictionQuotaExceeded: the plan's predictions of this month are used up.
        """
        now, limit = self._clock(), account.predictions_per_month
        usage = self._reserve(account, PREDICTIONS, limit, now)
        if usage is None:
            usage = self._predictions(account, now)
            raise PredictionQuotaExceeded(
                "You've reached the maximum number of predictions for the current calendar month: "
                f"{usage.used} of {limit} used on plan {account.plan}. The count starts again on "
                f"{_reset_text(usage.resets_at)}; a larger plan lifts the limit.",
                _seconds(usage.resets_at - now),
            )
        return usage

    def give_back_prediction(self, account: Account, usage: Usage) -> bool:
        """Take back a prediction that could not be made, in the month it was counted in.

        Args:
            account: who called.
            usage: what `reserve_prediction` returned.

        Returns:
            False when it is not known whether it is still counted.
        """
        return self._quotas.give_back(account.account_id, PREDICTIONS, month_key(usage.starts_at))

    def reserve_example_call(self, account: Account) -> Usage:
        """Count one call that returns examples before it is answered.

        Raises:
            ExampleQuotaExceeded: the calls of this month are used up.
        """
        now, limit = self._clock(), self._example_limit(account)
        usage = self._reserve(account, EXAMPLES, limit, now)
        if usage is None:
            resets_at = next_month_start(now)
            raise ExampleQuotaExceeded(
                f"You've used all {limit} calls of this month that return examples. "
                f"The count starts again on {_reset_text(resets_at)}.",
                _seconds(resets_at - now),
            )
        return usage

    def give_back_example_call(self, account: Account, usage: Usage) -> None:
        """Take back a call that returned no examples, in the month it was counted in.

        Args:
            account: who called.
            usage: what `reserve_example_call` returned.
        """
        self._quotas.give_back(account.account_id, EXAMPLES, month_key(usage.starts_at))

    def _predictions(self, account: Account, now: datetime) -> Usage:
        """Read the predictions of the month that `now` lies in."""
        used = self._quotas.used(account.account_id, PREDICTIONS, month_key(now))
        return _usage(account.predictions_per_month, used, now)

    def _reserve(self, account: Account, kind: str, limit: int, now: datetime) -> Usage | None:
        """Count one call in the month that `now` lies in; None when the limit is reached."""
        used = self._quotas.reserve(
            account.account_id,
            kind,
            month_key(now),
            limit,
            next_month_start(now) + KEPT_AFTER_RESET,
        )
        return None if used is None else _usage(limit, used, now)

    def _example_limit(self, account: Account) -> int:
        """Calls that return examples: the account's own number, or the service's."""
        own = account.example_calls_per_month
        return self._settings.example_calls_per_month if own is None else own


def _usage(limit: int, used: int, now: datetime) -> Usage:
    """Make the snapshot of the month that `now` lies in."""
    return Usage(limit, used, month_start(now), next_month_start(now))


def _seconds(duration: timedelta) -> int:
    """Whole seconds to wait, at least one."""
    return max(1, math.ceil(duration.total_seconds()))


def _reset_text(moment: datetime) -> str:
    """Write the reset date for a person."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
