"""Links with a token: they are used only when the user agrees to the account that they name."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

TEXTS = "".join(f"text number {i},{'one' if i % 2 else 'two'}\n" for i in range(20)).encode()


@pytest.fixture
def pair(newcomer):
    """Two accounts, the first one with a dataset."""
    first, second = newcomer(), newcomer()
    return first, second, first.upload(TEXTS, name="first.csv").ok()


def email_of(caller) -> str:
    """Return the email address of an account."""
    return caller.get("/v2/whoami").ok()["email"]


def open_link(console, caller) -> None:
    """Open a link with a token, and wait for its question."""
    console.page.goto(f"{console.live.url}/console#token={caller.token}")
    expect(console.page.get_by_role("heading", name=email_of(caller))).to_be_visible()


def calls_as(console, caller):
    """Wait for a list of datasets, and check whose token it was asked with."""
    with console.page.expect_response("**/v2/language/datasets?*") as waited:
        console.go("models")
        console.go("datasets")
    assert waited.value.request.headers["authorization"] == f"Bearer {caller.token}"


def test_a_link_signs_in_only_after_a_yes(console, owner):
    """The question names the account; Enter means no, and nothing was called with the token."""
    open_link(console, owner)
    page = console.page
    assert owner.token not in page.url
    expect(page.get_by_role("button", name="No")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Account email")).to_be_visible()
    expect(page.locator("nav")).to_have_count(0)
    open_link(console, owner)
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_text("shop").first).to_be_visible()
    assert console.errors == []


def test_a_link_switches_accounts_only_after_a_yes(console, pair):
    """It asks with both names; no keeps account and page, yes shows the other account."""
    first, second, dataset = pair
    page, place = console.page, f"#/dataset/language/{dataset['id']}"
    console.enter(first, place.removeprefix("#/"))
    page.wait_for_selector(".item .text")
    open_link(console, second)
    question = f"Switch from {email_of(first)} to {email_of(second)}?"
    expect(page.get_by_role("heading", name=question)).to_be_visible()
    expect(page.get_by_role("button", name="No")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.endswith(place)
    expect(page.locator(".item .text").first).to_be_visible()
    calls_as(console, first)

    open_link(console, second)
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_text("Welcome")).to_be_visible()
    calls_as(console, second)


def test_a_link_with_a_bad_token_changes_nothing(console, owner):
    """The page says that the link has expired, there is no yes, and the session stays."""
    console.enter(owner)
    console.page.goto(f"{console.live.url}/console#token=nonsense")
    expect(console.page.get_by_text("This link has expired")).to_be_visible()
    expect(console.page.get_by_role("button", name="Yes")).to_have_count(0)
    console.page.get_by_role("button", name="Stay signed in").click()
    calls_as(console, owner)
    console.errors.clear()  # the browser reports the 401


def test_an_expired_link_offers_another_way_in(console, live):
    """Without a session an expired link leads to the sign-in form."""
    console.page.goto(f"{live.url}/console#token=nonsense")
    console.page.get_by_role("button", name="Sign in another way").click()
    expect(console.page.get_by_label("Account email")).to_be_focused()
    console.errors.clear()  # the browser reports the 401


def test_the_placeholder_disappears(console, owner):
    """After a link has signed in, the page has one main area, without the sign-in placeholder."""
    console.enter(owner)
    expect(console.page.locator("main")).to_have_count(1)
    expect(console.page.locator(".sign-in")).to_have_count(0)


@pytest.mark.parametrize("fragment", ["/%E0%A4%A", "/dataset/%", "/toString", "token=", "&=%"])
def test_a_malformed_fragment_leaves_the_page_usable(console, owner, fragment):
    """What cannot be decoded, or names no page, shows the datasets or an error, never nothing."""
    console.page.goto(f"{console.live.url}/console#{fragment}")
    expect(console.page.get_by_label("Account email")).to_be_visible()
    console.enter(owner)
    console.page.evaluate("fragment => { location.hash = fragment }", fragment)
    expect(console.page.locator("nav")).to_be_visible()
    expect(console.page.get_by_role("link", name="Models")).to_be_visible()
    console.errors.clear()  # a dataset without an id is refused


def test_a_repeated_write_has_one_key(console, pair):
    """A POST that was answered with 503 is repeated with the same `Idempotency-Key`."""
    first, _, dataset = pair
    keys = []

    def refuse_once(route) -> None:
        """Answer the first try with 503."""
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) > 1:
            route.continue_()
        else:
            route.fulfill(status=503, headers={"Retry-After": "1"}, body="{}")

    console.page.route("**/corrections", refuse_once)
    console.enter(first, f"dataset/language/{dataset['id']}")
    console.page.wait_for_selector(".item .text")
    console.press("2")
    console.page.wait_for_selector("text=Saved")
    assert len(keys) == 2
    assert keys[0] == keys[1]
    with console.page.expect_response("**/corrections"):
        console.press("2")
    assert keys[2] != keys[0]
    console.errors.clear()  # the browser reports the 503


def test_a_write_is_not_repeated_for_another_account(console, pair):
    """A change that waits for its repetition ends when the account is switched."""
    first, second, dataset = pair
    tries = []

    def refuse(route) -> None:
        """Answer each try with 503."""
        tries.append(route.request.headers["authorization"])
        route.fulfill(status=503, headers={"Retry-After": "5"}, body="{}")

    console.page.route("**/corrections", refuse)
    console.enter(first, f"dataset/language/{dataset['id']}")
    console.page.wait_for_selector(".item .text")
    with console.page.expect_response("**/corrections"):
        console.press("2")
    open_link(console, second)
    console.page.get_by_role("button", name="Yes").click()
    expect(console.page.get_by_text("Welcome")).to_be_visible()
    console.page.wait_for_timeout(9_000)  # longer than the pauses before the next tries
    assert set(tries) == {f"Bearer {first.token}"}
    console.errors.clear()  # the browser reports the 503
