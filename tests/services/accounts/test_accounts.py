"""Administrative changes are validated first, and every error names its remedy."""

from __future__ import annotations

import string
from datetime import timedelta

import pytest

from chalicelib.domain.accounts.account import PLANS
from chalicelib.errors import Conflict, InvalidParameter, NotFound
from chalicelib.formats.tokens.rsa_key import public_pem_of
from chalicelib.services.accounts.accounts import AccountService
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws.tables import AccountRow
from tests.administration import public_half

EMAIL = "ann@example.com"


@pytest.fixture
def service(clients, clock) -> AccountService:
    """A service on empty tables."""
    return AccountService(
        AccountStore(clients), RefreshTokenStore(clients), ApiKeyStore(clients), clock
    )


@pytest.fixture
def public_pem(private_pem) -> str:
    """An acceptable public key."""
    return public_half(private_pem)


def test_created_account_has_the_public_half_of_the_key(service, clock):
    """The private key is returned once; the account stores the public key."""
    made = service.create("Ann@Example.COM")

    account = made.account
    assert (account.email, account.plan, account.source) == (EMAIL, "STARTER", "HEROKU")
    assert (account.status, account.created_at) == ("ACTIVE", clock.now)
    assert public_pem_of(made.private_pem) == account.keys[-1].public_pem
    assert made.private_pem not in str(list(AccountRow.scan()))
    assert len(account.license_id) == 10
    assert set(account.license_id) <= set(string.ascii_letters)


def test_own_public_key_needs_no_private_one(service, public_pem):
    """With a public key in the request no private key is generated or returned."""
    made = service.create(EMAIL, public_pem=public_pem)

    assert made.private_pem is None
    assert [key.public_pem for key in made.account.keys] == [public_pem]


@pytest.mark.parametrize(
    "pem", ["", "x", "-----BEGIN PUBLIC KEY-----\nAA\n-----END PUBLIC KEY-----"]
)
def test_malformed_keys_are_refused(service, pem):
    """Anything but an RSA public key is refused before anything is written."""
    with pytest.raises(InvalidParameter, match="public key"):
        service.create(EMAIL, public_pem=pem)

    assert service.list_all() == ()


def test_address_is_taken_once(service, public_pem):
    """An address in use, in any case, is refused; the error names the command to use instead."""
    service.create(EMAIL, public_pem=public_pem)

    with pytest.raises(Conflict, match=r"reset-key ann@example\.com"):
        service.create("ANN@example.com", public_pem=public_pem)


@pytest.mark.parametrize(
    "email",
    ["", "ann", "@example.com", "ann@", "a@b@c", "a b@c", "a\n@c", "\ud800@c", "a" * 250 + "@b.cc"],
)
def test_malformed_addresses_are_refused(service, public_pem, email):
    """A malformed address is refused, and the text shows a valid one."""
    with pytest.raises(InvalidParameter, match=r"name@example\.com"):
        service.create(email, public_pem=public_pem)


@pytest.mark.parametrize(("source", "plan"), [(s, p) for s, plans in PLANS.items() for p in plans])
def test_every_plan_of_the_table_can_be_had(service, public_pem, source, plan):
    """Each pair of source and plan is accepted for new and existing accounts."""
    service.create(EMAIL, plan, source, public_pem)
    service.create("bob@example.com", public_pem=public_pem)

    changed = service.change_plan("bob@example.com", plan, source)

    assert changed.predictions_per_month == PLANS[source][plan]
    assert service.find(EMAIL).predictions_per_month == PLANS[source][plan]


@pytest.mark.parametrize(
    ("plan", "source"),
    [("PLATINUM", "HEROKU"), ("GOLD", "SALESFORCE"), ("STARTER", "AWS"), ("starter", "HEROKU")],
)
def test_other_plans_are_refused(service, public_pem, plan, source):
    """A plan that its source does not have is refused; the text lists the plans."""
    service.create("bob@example.com", public_pem=public_pem)

    with pytest.raises(InvalidParameter, match="SALESFORCE: STARTER, SFDC_1M_EDITION"):
        service.create(EMAIL, plan, source, public_pem)
    with pytest.raises(InvalidParameter, match="HEROKU: STARTER, BRONZE, SILVER, GOLD"):
        service.change_plan("bob@example.com", plan, source)


def test_plan_may_name_its_source_by_itself(service, public_pem):
    """Without a source, a plan is looked up in the account's current source, then in the other."""
    service.create(EMAIL, "STARTER", "SALESFORCE", public_pem)

    assert service.change_plan(EMAIL, "GOLD").source == "HEROKU"
    assert service.change_plan(EMAIL, "STARTER").source == "HEROKU"
    with pytest.raises(InvalidParameter):
        service.change_plan(EMAIL, "PLATINUM")


@pytest.mark.parametrize(
    "act",
    [
        lambda service: service.change_plan(EMAIL, "GOLD"),
        lambda service: service.set_example_calls(EMAIL, 5),
        lambda service: service.reset_key(EMAIL),
        lambda service: service.close(EMAIL),
    ],
    ids=["plan", "examples", "reset", "close"],
)
def test_unknown_account_is_named(service, act):
    """Every change of an unknown account is refused, and the text says how to list accounts."""
    with pytest.raises(NotFound, match=rf"{EMAIL}.*infra\.accounts list"):
        act(service)


def test_closed_account_is_only_closed_again(service, public_pem, clock):
    """A closed account cannot be changed, except for its deletion date; its address stays taken."""
    service.create(EMAIL, public_pem=public_pem)

    assert service.close(EMAIL).delete_after == clock.now + timedelta(days=30)
    assert service.close(EMAIL, 7).delete_after == clock.now + timedelta(days=7)
    with pytest.raises(NotFound):
        service.reset_key(EMAIL, public_pem=public_pem)
    with pytest.raises(NotFound):
        service.change_plan(EMAIL, "GOLD")
    with pytest.raises(Conflict):
        service.create(EMAIL, public_pem=public_pem)


def test_reset_keeps_old_keys_through_the_overlap_only(service, clock, public_pem):
    """An old key is valid until its own end or that of the new overlap, whichever is first."""
    service.create(EMAIL, public_pem=public_pem)
    service.reset_key(EMAIL, 600, public_pem)
    account = service.reset_key(EMAIL, 1200, public_pem).account

    ends = [None if k.expires_at is None else k.expires_at - clock.now for k in account.keys]
    assert ends == [timedelta(seconds=600), timedelta(seconds=1200), None]

    clock.advance(seconds=900)
    account = service.reset_key(EMAIL, 60, public_pem).account
    ends = [None if k.expires_at is None else k.expires_at - clock.now for k in account.keys]
    assert ends == [timedelta(seconds=60), timedelta(seconds=60), None]


@pytest.mark.parametrize("number", [-1, float("nan"), float("inf"), 10**10])
def test_numbers_out_of_range_are_refused(service, public_pem, number):
    """Negative, infinite and excessive durations and limits are refused by name."""
    service.create(EMAIL, public_pem=public_pem)

    with pytest.raises(InvalidParameter, match="overlap"):
        service.reset_key(EMAIL, number)
    with pytest.raises(InvalidParameter, match="keep"):
        service.close(EMAIL, number)
    with pytest.raises(InvalidParameter, match="calls"):
        service.set_example_calls(EMAIL, number)
