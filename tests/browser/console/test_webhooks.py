"""Tests of webhooks in the console: create, test, disable and delete."""

from __future__ import annotations

from playwright.sync_api import expect


def test_webhook_is_created_tested_and_deleted(console, newcomer):
    """The secret is shown once; test, rotation, disabling and deletion work."""
    tricks = console.live.tricks
    caller, page = newcomer(), console.page
    console.enter(caller, "usage")
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
    console.enter(caller, "webhooks")
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_role("row", name="webhook.test")).to_contain_text("404")

    page.get_by_label("URL").fill("ftp://files.example.test/")
    page.get_by_role("button", name="Create webhook").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert [one["id"] for one in caller.get("/v2/webhooks").ok()["data"]] == [made.ok()["id"]]
    console.errors.clear()  # the browser reports the refused call
