"""A long session: what is undone, what another tab does, and what ten thousand labels leave."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import expect

TEXTS = 10_000
MOST_GROWTH = 100_000_000
"""Bytes of the page's memory, once garbage is collected."""
LABEL_ALL = """async count => {
  const list = document.querySelector('.list');
  for (let done = 0; done < count; done++) {
    const key = done % 2 ? '1' : '2';
    list.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    do await new Promise((next) => setTimeout(next));
    while (!document.querySelector('.item.present .text'));
  }
}"""


def two_labels(count: int) -> bytes:
    """Write texts of two labels."""
    return "".join(f"text number {i},{'one' if i % 2 else 'two'}\n" for i in range(count)).encode()


@pytest.fixture
def few(newcomer):
    """An account with twenty texts, and their dataset."""
    caller = newcomer()
    return caller, caller.upload(two_labels(20)).ok()


def test_label_is_undone_by_an_opposite_correction(console, few):
    """What was sent already is undone by another call, and both are in the list of corrections."""
    caller, dataset = few
    path = f"/v2/language/datasets/{dataset['id']}"
    console.enter(caller, f"dataset/language/{dataset['id']}")
    console.page.wait_for_selector(".item .text")
    console.press("2")
    console.page.wait_for_selector("text=Saved")
    assert caller.get(f"{path}/corrections").ok()["data"][0]["moved"] == 1
    with console.page.expect_response("**/corrections"):
        console.press("u")
    expect(console.page.locator(".item .chip").first).to_contain_text("two")

    done = caller.get(f"{path}/corrections").ok()["data"]
    assert [one["moved"] for one in done] == [1, 1]
    labels = caller.get(path).ok()["labelSummary"]["labels"]
    assert {label["numExamples"] for label in labels} == {10}


def test_dataset_that_another_tab_deletes_is_told(console, few):
    """A label of a dataset that is gone is refused in the service's words."""
    caller, dataset = few
    console.enter(caller, f"dataset/language/{dataset['id']}")
    console.page.wait_for_selector(".item .text")
    caller.delete_and_wait(f"/v2/language/datasets/{dataset['id']}")
    console.press("2")
    expect(console.page.get_by_role("alert").first).to_be_visible()
    console.complaints.clear()  # the browser reports the 404


def test_file_beyond_the_limit_is_refused_at_once(console, newcomer, tmp_path):
    """A file of more than 2 GB is refused with the limit and the remedy, and nothing is sent."""
    file = tmp_path / "huge.zip"
    with file.open("wb") as made:
        made.truncate(2 * 2**30 + 1)
    console.enter(newcomer(), "bring")
    console.page.locator("input[type=file]").first.set_input_files(file)
    expect(console.page.get_by_role("alert")).to_contain_text("2 GB")


def test_ten_thousand_labels_leave_little(console, newcomer):
    """The page's memory does not grow with what was labelled, and every label arrives."""
    caller = newcomer()
    dataset = caller.upload(two_labels(TEXTS)).ok()
    console.enter(caller, f"dataset/language/{dataset['id']}")
    page = console.page
    page.wait_for_selector(".item .text")
    inspector = page.context.new_cdp_session(page)

    def used() -> int:
        inspector.send("HeapProfiler.collectGarbage")
        return int(inspector.send("Runtime.getHeapUsage")["usedSize"])

    before = used()
    page.evaluate(LABEL_ALL, TEXTS)
    page.wait_for_selector("text=Saved", timeout=60_000)
    assert used() - before <= MOST_GROWTH
    path = f"/v2/language/datasets/{dataset['id']}/corrections"
    pages = (caller.get(path, offset=at, count=25).ok()["data"] for at in range(0, TEXTS, 25))
    done = itertools.chain.from_iterable(itertools.takewhile(bool, pages))
    assert sum(one["moved"] for one in done) == TEXTS // 2  # the others had their label
