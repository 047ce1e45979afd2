"""Accounts, their plans and their public keys. Spec: Limits; contract sections 2 and 4."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.models.model import ServedModel

# Monthly predictions by source and plan. Spec: Limits, Plan tiers.
PLANS: dict[str, dict[str, int]] = {
    "HEROKU": {"STARTER": 2_000, "BRONZE": 10_000, "SILVER": 250_000, "GOLD": 1_000_000},
    "SALESFORCE": {"STARTER": 2_000, "SFDC_1M_EDITION": 1_000_000},
}

ACTIVE = "ACTIVE"
CLOSED = "CLOSED"
# Owner of the global data sets; no key, no token.
GLOBAL_ACCOUNT_ID = "GLOBAL"


@dataclass(frozen=True)
class AccountKey:
    """A public key that verifies the account's assertions."""

    key_id: str
    """Random id; access and refresh tokens remember which key they came from."""
    public_pem: str
    """RSA public key, PEM."""
    expires_at: datetime | None = None
    """When a replaced key stops being accepted; None while it is the current one."""

    def is_valid(self, now: datetime) -> bool:
        """Return whether assertions and tokens of this key are still accepted."""
        return self.expires_at is None or now < self.expires_at


@dataclass(frozen=True)
class Account:
    """Who calls: owns datasets, models and usage."""

    account_id: str
    """Decimal number as a string; the `organizationId` of answers."""
    email: str
    """Lower case; the usual subject of assertions."""
    plan: str
    """Name of the plan."""
    source: str
    """HEROKU or SALESFORCE: which plan family."""
    status: str
    """ACTIVE or CLOSED."""
    keys: tuple[AccountKey, ...]
    """Public keys, the current one last."""
    license_id: str
    """Ten characters shown by the usage call."""
    created_at: datetime
    """When the account was made."""
    delete_after: datetime | None = None
    """When a closed account's data is deleted."""
    example_calls_per_month: int | None = None
    """Raises the service's limit of example-returning calls for this account."""

    @property
    def predictions_per_month(self) -> int:
        """Monthly predictions of the plan."""
        return PLANS[self.source][self.plan]

    @property
    def is_paid(self) -> bool:
        """Return whether trainings go ahead of those of free plans."""
        return self.plan != "STARTER"

    def key(self, key_id: str, now: datetime) -> AccountKey | None:
        """Find a key that is still accepted."""
        for key in self.keys:
            if key.key_id == key_id and key.is_valid(now):
                return key
        return None


@dataclass(frozen=True)
class ApiCaller:
    """An account, with what was read beside it."""

    account: Account
    """Who calls."""
    model: ServedModel | None = None
    """The account's model that the call names; None where it was not read, or there is none."""
