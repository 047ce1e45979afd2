"""Tests of trainings with weak labels, and of deleting what a page shows."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import TRAINED_MS

COUNTS = {"billing": 8, "returns": 8, "bills": 2, "odd": 1}


@pytest.fixture
def weak(newcomer):
    """An account and its dataset, two of whose labels have too few examples."""
    caller = newcomer()
    rows = [
        f"a question {n} about {name},{name}"
        for name, count in COUNTS.items()
        for n in range(count)
    ]
    return caller, caller.upload("\n".join(rows).encode(), name="weak.csv").ok()


def test_weak_labels_are_resolved_before_a_training(console, weak):
    """Each weak label is merged or left out on the page; the others are trained."""
    caller, dataset = weak
    page = console.page
    console.enter(caller, f"dataset/language/{dataset['id']}")
    page.get_by_role("button", name="Train a model").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("link", name="Add examples of odd")).to_be_visible()
    expect(dialog.get_by_role("button", name="Train a model")).to_be_disabled()
    dialog.get_by_label("Merge bills into").select_option("billing")
    dialog.get_by_role("button", name="Leave out odd").click()
    dialog.get_by_role("button", name="Train a model").click()
    page.wait_for_selector("text=Next steps", timeout=TRAINED_MS)
    [model] = caller.get("/v2/language/models").ok()["data"]
    card = caller.get(f"/v2/language/models/{model['modelId']}/card").ok()
    assert card["skippedLabels"] == [{"name": "odd", "numExamples": 1}]
    labels = caller.get(f"/v2/language/datasets/{dataset['id']}").ok()["labelSummary"]["labels"]
    assert {one["name"]: one["numExamples"] for one in labels} == {
        "billing": 10, "returns": 8, "odd": 1,
    }  # fmt: skip


def test_a_cancelled_training_changes_nothing(console, weak):
    """Cancel closes the list of weak labels; nothing is merged or trained."""
    caller, dataset = weak
    console.enter(caller, f"dataset/language/{dataset['id']}")
    console.page.get_by_role("button", name="Train a model").click()
    console.page.get_by_label("Merge bills into").select_option("billing")
    console.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(console.page.get_by_role("dialog")).to_have_count(0)
    expect(console.page.get_by_role("button", name="Train a model")).to_be_focused()
    assert caller.get("/v2/language/models").ok()["data"] == []
    labels = caller.get(f"/v2/language/datasets/{dataset['id']}").ok()["labelSummary"]["labels"]
    assert len(labels) == len(COUNTS)


def test_a_dataset_is_renamed_and_deleted_by_dialogs_of_the_page(console, weak):
    """Escape deletes nothing; the dialog's button does."""
    caller, dataset = weak
    page = console.page
    console.enter(caller, f"dataset/language/{dataset['id']}/labels")
    page.get_by_role("button", name="Rename dataset").click()
    page.get_by_role("textbox", name="New dataset name").fill("renamed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="renamed")).to_be_visible()
    delete = page.get_by_role("button", name="Delete dataset")
    delete.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert caller.get(f"/v2/language/datasets/{dataset['id']}").ok()["name"] == "renamed"
    delete.click()
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as deleted:
        page.get_by_role("dialog").get_by_role("button", name="Delete dataset").click()
    assert deleted.value.ok
    page.wait_for_url("**#/datasets")
