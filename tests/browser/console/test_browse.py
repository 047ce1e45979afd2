"""Tests of browsing examples: filters, selection, labelling, removal and scrolling."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.console.test_session import two_labels
from tests.live import SHOP, UPLOAD

TEXTS = 100_000
MOST_ITEMS = 60
"""Most rows in the page at the same time."""
MOST_WAIT_MS = 100
REMOVAL_MS = 10_000
SCROLL = """async (seconds) => {
  const list = document.querySelector('.list'), gaps = [], began = performance.now();
  let last = began, most = 0;
  for (;;) {
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    gaps.push(now - last);
    last = now;
    most = Math.max(most, document.querySelectorAll('.item').length);
    const share = (now - began) / 1000 / seconds;
    if (share > 1) return { gaps, most };
    list.scrollTop = share * (list.scrollHeight - list.clientHeight);
  }
}"""


@pytest.fixture
def shop(newcomer):
    """An account and its dataset of twelve uploaded texts and one from feedback."""
    caller = newcomer()
    dataset = caller.upload(SHOP, name="shop.csv").ok()
    model = caller.train(dataset["id"]).ok()["modelId"]
    assert caller.trained(model)["status"] == "SUCCEEDED"
    said = {"modelId": model, "document": "the lamp came broken", "expectedLabel": "refund"}
    caller.json("POST", "/v2/language/feedback", said).ok()
    return caller, dataset


def test_examples_are_found(console, shop):
    """The filters by text, label and source show exactly the matching examples."""
    caller, dataset = shop
    page, items = console.page, console.page.locator(".item .text")
    labels = page.locator(".filters select").first
    console.enter(caller, f"dataset/language/{dataset['id']}")
    expect(page.get_by_text("12 examples")).to_be_visible()
    page.get_by_label("Find", exact=True).fill("parcel number 3")
    expect(items).to_have_text(["where is parcel number 3"])
    page.get_by_label("Find", exact=True).fill("")
    expect(page.get_by_text("12 examples")).to_be_visible()
    labels.select_option(label="delivery")
    expect(items).to_have_count(6)
    expect(page.locator(".item .chip").get_by_text("refund")).to_have_count(0)
    labels.select_option(label="All")
    page.get_by_label("Source").select_option(label="Feedback")
    expect(items).to_have_text(["the lamp came broken"])
    page.get_by_label("Source").select_option(label="All")
    expect(page.get_by_text("13 examples")).to_be_visible()


def test_many_are_labelled_at_once(console, shop):
    """Space selects several, a number key labels all of them, and one key undoes that."""
    caller, dataset = shop
    page, path = console.page, f"/v2/language/datasets/{dataset['id']}"
    console.enter(caller, f"dataset/language/{dataset['id']}")
    page.wait_for_selector(".item .text")
    number = 1 + [one["name"] for one in dataset["labelSummary"]["labels"]].index("refund")
    console.press(*["Space"] * 4)
    expect(page.get_by_text("4 selected")).to_be_visible()
    console.press(str(number))
    page.wait_for_selector("text=Saved")
    [done] = caller.get(f"{path}/corrections").ok()["data"]
    assert done["moved"] == 4
    console.press("u")
    expect(page.locator(".item .chip").get_by_text("delivery")).to_have_count(6)


def test_removal_is_sent_after_ten_seconds(console, shop):
    """A removal can be undone for ten seconds before it is sent."""
    caller, dataset = shop
    page, path = console.page, f"/v2/language/datasets/{dataset['id']}"
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    page.clock.install()
    console.enter(caller, f"dataset/language/{dataset['id']}")
    page.wait_for_selector(".item .text")
    console.press("x")
    expect(page.get_by_text("1 removed")).to_be_visible()
    page.clock.fast_forward(REMOVAL_MS - 2_000)
    assert sent == []
    assert caller.get(path).ok()["totalExamples"] == 13
    with page.expect_response("**/corrections") as answer:
        page.clock.fast_forward(2_000)
    assert answer.value.ok
    assert caller.get(path).ok()["totalExamples"] == 12


def test_flagged_labels_are_kept_by_a_key(console, newcomer):
    """Flagged examples are reviewed; the key "s" keeps a label, so nothing changes."""
    caller, page = newcomer(), console.page
    wrong = SHOP.replace(b"parcel number 2,delivery", b"parcel number 2,refund")
    dataset = caller.upload(wrong, name="shop.csv").ok()
    model = caller.train(dataset["id"]).ok()["modelId"]
    assert caller.trained(model)["status"] == "SUCCEEDED"
    console.enter(caller, f"dataset/language/{dataset['id']}")
    page.get_by_label("Flagged by").select_option(label="model")
    page.wait_for_selector(".suggestion")
    count = page.locator(".suggestion").count()
    expect(page.get_by_text(f"{count} to review")).to_be_visible()
    console.press(*"s" * count)
    expect(page.get_by_text("0 to review")).to_be_visible()
    assert caller.get(f"/v2/language/datasets/{dataset['id']}/corrections").ok()["data"] == []


def test_hundred_thousand_texts_scroll(console, newcomer):
    """A long list renders few rows and scrolls without long frames."""
    caller, page = newcomer(), console.page
    dataset = caller.upload(two_labels(TEXTS), path=UPLOAD).ok()
    place = f"/v2/language/datasets/{dataset['id']}"
    caller.wait(place, "statusMsg", "UPLOADING", seconds=300)
    console.enter(caller, f"dataset/language/{dataset['id']}")
    page.wait_for_selector("text=100,000 examples")
    page.wait_for_selector(".item .text")
    seen = page.evaluate(SCROLL, 3)
    page.wait_for_function("() => !document.querySelector('.item .unseen')")
    expect(page.locator(".item").last).to_contain_text("text number")
    assert seen["most"] <= MOST_ITEMS
    assert sorted(seen["gaps"])[len(seen["gaps"]) // 2] <= MOST_WAIT_MS / 2
