"""Tests of settings in the console: webhooks and API keys."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.live import Caller


def test_webhook_is_created_tested_and_deleted(console, newcomer):
    """The secret is shown once; test, rotation, disabling and deletion work."""
    tricks = console.live.tricks
    caller, page = newcomer(), console.page
    console.enter(caller, "settings")
    page.get_by_role("link", name="Webhooks").click()
    expect(page.get_by_text("There are no webhooks.")).to_be_visible()

    page.get_by_label("URL").fill(tricks.url("/honest"))
    page.get_by_label("quota.80").check()
    page.get_by_role("button", name="Create webhook").click()
    first = page.locator("pre").inner_text()
    assert first.startswith("whsec_")
    [hook] = caller.get("/v2/webhooks").ok()["data"]
    assert "quota.80" in hook["events"]
    page.get_by_role("button", name="I have saved it").click()
    expect(page.get_by_text(first)).to_have_count(0)

    page.get_by_role("button", name="Send a test").click()
    row = page.get_by_role("row", name="webhook.test")
    expect(row).to_contain_text("Delivered")
    expect(row).to_contain_text("200")

    page.get_by_role("button", name="Rotate secret").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate secret").click()
    expect(page.locator("pre")).not_to_have_text(first)
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_text("Disabled", exact=True)).to_be_visible()
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_text("Enabled", exact=True)).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("There are no webhooks.")).to_be_visible()
    assert caller.get("/v2/webhooks").ok()["data"] == []


def test_refusals_are_shown(console, newcomer):
    """A delivery shows the response of its URL, and an invalid URL is refused."""
    tricks = console.live.tricks
    caller, page = newcomer(), console.page
    made = caller.json(
        "POST", "/v2/webhooks", {"url": tricks.url("/missing"), "events": ["batch.done"]}
    )
    console.enter(caller, "settings/webhooks")
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_role("row", name="webhook.test")).to_contain_text("404")

    page.get_by_label("URL").fill("ftp://files.example.test/")
    page.get_by_role("button", name="Create webhook").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert [one["id"] for one in caller.get("/v2/webhooks").ok()["data"]] == [made.ok()["id"]]
    console.errors.clear()  # the browser reports the refused call


def test_an_api_key_is_created_shown_once_and_revoked(console, newcomer):
    """The secret works, is in no storage or address, and is gone after the page is left."""
    caller, page = newcomer(), console.page
    console.enter(caller, "settings")
    page.get_by_label("Name").fill("web shop")
    page.get_by_label("Scope").select_option("predict")
    page.get_by_role("button", name="Create API key").click()
    secret = page.locator("pre").inner_text()
    assert secret.startswith("pk_")
    program = Caller(caller.url, secret, caller.account_id)
    assert program.get("/v2/apiusage").ok()
    stored = page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])")
    assert secret not in stored + page.url
    expect(page.get_by_role("row", name="web shop")).to_contain_text("Predictions only")
    console.go("datasets")
    console.go("settings")
    expect(page.get_by_role("row", name="web shop")).to_be_visible()
    expect(page.locator("pre")).to_have_count(0)
    page.get_by_role("button", name="Revoke web shop").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("There are no API keys.")).to_be_visible()
    assert caller.get("/v2/keys").ok()["data"] == []


def test_an_api_key_as_a_token_is_not_stored(console, newcomer):
    """Who signs in with an API key signs in again after a reload."""
    caller, page = newcomer(), console.page
    key = caller.json("POST", "/v2/keys", {"name": "page"}).ok()["secret"]
    page.goto(f"{console.live.url}/console")
    page.get_by_role("button", name="Token").click()
    page.get_by_label("Token").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Welcome")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0
    page.reload()
    expect(page.get_by_label("Account email")).to_be_visible()
