"""Accounts, their plans and their public keys. Spec: Limits; contract sections 2 and 4."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.accounts.api_key import ApiKey
    from chalicelib.domain.models.model import ServedModel

# Monthly predictions by source and plan. Spec: Limits, Plan tiers.
PLANS: dict[str, dict[str, int]] = {
    "HEROKU": {"STARTER": 2_000, "BRONZE": 10_000, "SILVER": 250_000, "GOLD": 1_000_000},
    "SALESFORCE": {"STARTER": 2_000, "SFDC_1M_EDITION": 1_000_000},
}

ACTIVE = "ACTIVE"
CLOSED = "CLOSED"
# Owner of the global datasets. It has no key, so no token can be issued for it.
GLOBAL_ACCOUNT_ID = "GLOBAL"


@dataclass(frozen=True)
class AccountKey:
    """A public key of an account. It verifies the assertions that the account signs."""

    key_id: str
    """Random id of the key. A token stores the id of the key that signed its request."""
    public_pem: str
    expires_at: datetime | None = None
    """When a replaced key stops being accepted; None for the current key."""

    def is_valid(self, now: datetime) -> bool:
        """Return whether the key has not expired. Tokens of an expired key are not valid."""
        return self.expires_at is None or now < self.expires_at


@dataclass(frozen=True)
class Account:
    """The owner of datasets, models and usage."""

    account_id: str
    """Number of the account as a string; answers call it `organizationId`."""
    email: str
    """Email address in lower case; usually the subject of signed assertions."""
    plan: str
    source: str
    status: str
    """ACTIVE or CLOSED."""
    keys: tuple[AccountKey, ...]
    # `source` is HEROKU or SALESFORCE, see PLANS.
    license_id: str
    """Ten characters that identify the account's license, returned by the usage call."""
    created_at: datetime
    delete_after: datetime | None = None
    """When a closed account's data is deleted."""
    example_calls_per_month: int | None = None
    """Monthly limit of calls that return examples; None for the limit in the settings."""

    @property
    def predictions_per_month(self) -> int:
        """Return how many predictions a month the plan allows."""
        return PLANS[self.source][self.plan]

    @property
    def is_paid(self) -> bool:
        """Return whether the plan is paid. Its trainings run before trainings of free plans."""
        return self.plan != "STARTER"

    def key(self, key_id: str, now: datetime) -> AccountKey | None:
        """Return the account's key with this id if it is still accepted, otherwise None."""
        for key in self.keys:
            if key.key_id == key_id and key.is_valid(now):
                return key
        return None


@dataclass(frozen=True)
class ApiCaller:
    """The account that makes a call, the API key of the call, and the model that the call names."""

    account: Account
    model: ServedModel | None = None
    """The model that the call names; None if the account has no such model, or if the model was
    not looked up."""
    key: ApiKey | None = None
    """The API key of the call; None for an access token."""
