"""Reports the usage of the current month. Spec: Limits; contract section 4, Usage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import (
    Allowances,
    Usage,
)


@dataclass(frozen=True)
class UsageFacts:
    """The usage of the current month."""

    usage_id: str
    """Id of the record: digits that depend only on account and month."""
    organization_id: str
    starts_at: datetime
    """First moment of the month."""
    ends_at: datetime
    """First moment of the next month."""
    plan: str
    amount: int
    """Number of plans of the account: always 1."""
    source: str
    """HEROKU or SALESFORCE."""
    license_id: str
    """Ten letters that identify the account's plan."""
    usage: Usage


class UsageService:
    """Reports how many predictions an account has made this month."""

    def __init__(self, allowances: Allowances) -> None:
        self._allowances = allowances

    def facts(self, account: Account) -> UsageFacts:
        """Return the plan of an account and its predictions of this month."""
        usage = self._allowances.predictions(account)
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
