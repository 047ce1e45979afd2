"""Tests of the usage page and of exports."""

from __future__ import annotations

import calendar

import pytest
from playwright.sync_api import expect

from tests.live import SHOP
from tests.pictures import draw, make_zip


def test_predictions_and_batches_are_shown(console, owner, live):
    """Used and remaining predictions are shown, and batches with their results."""
    [model] = owner.get("/v2/language/models").ok()["data"]
    sent = (("modelId", model["modelId"].encode(), None), ("name", b"asked", None))
    texts = ("data", b"text\nwhere is my parcel\n", "asked.csv")
    made = owner.form("POST", "/v2/language/batches", *sent, texts).ok()
    sent = (("modelId", b"GeneralImageClassifier", None), ("name", b"seen", None))
    pictures = ("data", make_zip({"a.png": draw()}), "seen.zip")
    seen = owner.form("POST", "/v2/vision/batches", *sent, pictures).ok()
    for family, one in (("language", made), ("vision", seen)):
        path = f"/v2/{family}/batches/{one['id']}"
        assert owner.wait(path, "status", "QUEUED", "RUNNING")["status"] == "SUCCEEDED"
    page = console.page
    # Earlier reservations may still be released, so the page is compared with what it received.
    with page.expect_response("**/v2/apiusage") as received:
        console.enter(owner, "usage")
    for name in ("asked", "seen"):
        row = page.get_by_role("row", name=name)
        expect(row).to_contain_text("1 of 1, 0 failed")
        answer = page.request.get(row.get_by_role("link").get_attribute("href"))
        assert answer.ok
        assert b"probabilities" in answer.body()
    month = received.value.json()["data"][0]
    assert month["predictionsUsed"] >= 2
    expect(page.get_by_text(f"{month['predictionsRemaining']:,} left")).to_be_visible()


@pytest.mark.browser_context_args(timezone_id="America/Los_Angeles")
def test_month_begins_on_its_first_day(console, owner):
    """The days of a month are in UTC, also for a browser west of it."""
    with console.page.expect_response("**/v2/apiusage") as received:
        console.enter(owner, "usage")
    year, month, _ = received.value.json()["data"][0]["startsAt"].split("-")
    first = f"{calendar.month_abbr[int(month)]} 1, {year}"
    expect(console.page.get_by_text(f"{first} to ")).to_be_visible()


def test_export_is_downloaded(console, newcomer):
    """The exported file contains every example."""
    caller, page = newcomer(), console.page
    dataset = caller.upload(SHOP, name="shop.csv").ok()
    console.enter(caller, f"dataset/language/{dataset['id']}/export")
    page.get_by_role("button", name="Export").click()
    link = page.get_by_role("link", name="Download 12 examples")
    with page.expect_download() as download:
        link.click()
    lines = download.value.path().read_bytes().splitlines()
    assert len([line for line in lines if b"parcel" in line]) == 6
