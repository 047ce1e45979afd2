"""Tests of long sessions: undo, other tabs, and memory after ten thousand labels."""

from __future__ import annotations

import itertools

import pytest
from playwright.sync_api import expect

TEXTS = 10_000
MOST_GROWTH = 100_000_000
"""Most bytes that the heap may grow by, after garbage collection."""
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
    """An account and its dataset of twenty texts."""
    caller = newcomer()
    return caller, caller.upload(two_labels(20)).ok()


def test_undo_sends_the_opposite_correction(console, few):
    """Undoing a saved label sends a second correction; both are listed."""
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


def test_deleted_dataset_is_reported(console, few):
    """Labelling in a dataset that another tab deleted shows the error."""
    caller, dataset = few
    console.enter(caller, f"dataset/language/{dataset['id']}")
    console.page.wait_for_selector(".item .text")
    caller.delete_and_wait(f"/v2/language/datasets/{dataset['id']}")
    console.press("2")
    expect(console.page.get_by_role("alert").first).to_be_visible()
    console.errors.clear()  # the browser reports the 404


def test_file_beyond_the_limit_is_refused_at_once(console, newcomer, tmp_path):
    """A file of more than 2 GB is refused with the limit."""
    file = tmp_path / "huge.zip"
    with file.open("wb") as made:
        made.truncate(2 * 2**30 + 1)
    console.enter(newcomer(), "upload")
    console.page.locator("input[type=file]").first.set_input_files(file)
    expect(console.page.get_by_role("alert")).to_contain_text("2 GB")


def test_ten_thousand_labels_use_little_memory(console, newcomer):
    """Memory does not grow with the number of labels, and every label is saved."""
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
