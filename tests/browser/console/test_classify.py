"""Tests of the whole story: from a workbook to a model, to a second workbook with its answers."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.api.test_batch_tables import read_rows
from tests.browser.console.conftest import TRAINED_MS
from tests.browser.console.test_access import settled, violations
from tests.browser.console.test_upload import HELPDESK, drop, helpdesk
from tests.pictures import draw, make_zip
from tests.workbooks import sheet, workbook

MOST_ACTIONS = 25
NEW_ROWS = 9
# Rows of two labels with too few examples: a misspelt one, and one that is used once.
WEAK = [
    ["T90", "Help with billing", "I have a question about billing of my last order", "billing"],
    ["T91", "Help with billing", "I have another question about billing of an order", "billing"],
    ["T92", "A thing of mine", "I lost something in your shop and want to have it", "Lost"],
]


def act(console, action, *values: object) -> None:
    """Do one thing that a person does: drop a file, choose something or press a button."""
    console.actions += 1
    action(*values)


def drop_workbook(console, name: str, rows: list[list[str]]) -> None:
    """Drop a workbook on the page."""
    act(console, drop, console, name, workbook({"Data": sheet(rows)}))


def give_role(console, column: str, role: str) -> None:
    """Choose the role of a column, unless it has been recognised."""
    chooser: Locator = console.page.get_by_label(f"Use of {column}")
    chooser.wait_for()
    if chooser.input_value() != role:
        act(console, chooser.select_option, role)


def press(console, role: str, name: str) -> None:
    """Press a button or a link, and find no barrier on the page before."""
    control = console.page.get_by_role(role, name=name, exact=True)
    expect(control).to_be_enabled(timeout=TRAINED_MS)
    settled(console)
    assert violations(console) == []
    act(console, control.click)


def download(console, folder: Path) -> bytes:
    """Press the link to the result, and return the file."""
    link = console.page.get_by_role("link", name="Download the result")
    link.wait_for(timeout=TRAINED_MS)
    with console.page.expect_download() as found:
        act(console, link.click)
    found.value.save_as(folder / "result")
    return (folder / "result").read_bytes()


def test_a_workbook_trains_a_model_that_sorts_another(console, newcomer, tmp_path):
    """Columns are chosen, weak labels resolved, a model trained, and a second workbook sorted."""
    page = console.page
    console.enter(newcomer(), "upload")
    rows = [*helpdesk(30), *([*row, "low", "Agent 1"] for row in WEAK)]
    drop_workbook(console, "tickets.xlsx", [HELPDESK, *rows])
    for column, role in (("Subject", "text"), ("Body", "text"), ("Queue", "label")):
        give_role(console, column, role)
    press(console, "button", "Merge billing into Billing")
    press(console, "button", "Leave out Lost")
    press(console, "button", f"Create the dataset with {len(rows)} examples")
    press(console, "button", "Train a model")
    press(console, "link", "Classify a file")

    new = helpdesk(NEW_ROWS, first=100)
    named = ["Ticket", "Subject", "Body", "Agent"]
    drop_workbook(console, "new.xlsx", [named, *([*row[:3], row[5]] for row in new)])
    for column in ("Subject", "Body"):
        give_role(console, column, "text")
    press(console, "button", "Classify")
    head, *found = read_rows(download(console, tmp_path), "xlsx")

    assert head == [*named, "label", "probability", "review", "error"]
    assert [row[:4] for row in found] == [[*row[:3], row[5]] for row in new]
    assert [row[4] for row in found] == [row[3] for row in new]
    assert console.actions <= MOST_ACTIONS
    expect(page.get_by_text(f"{NEW_ROWS} of {NEW_ROWS}, 0 failed")).to_be_visible()
    # A file without labels is refused as a dataset, and axe-core sets styles to measure.
    known = ("400", "inline style")
    console.errors = [said for said in console.errors if not any(one in said for one in known)]


def test_images_of_a_zip_are_classified(console, live, tmp_path):
    """Images come back by file name; the card of their dataset shows thumbnails."""
    studio, page = live.studio, console.page
    asked = {"name": "sorter", "datasetId": studio.signs["id"], "epochs": 1}
    model = studio.caller.json("POST", "/v2/vision/train", asked).ok()["modelId"]
    studio.caller.wait(f"/v2/vision/train/{model}", "status", "QUEUED", "RUNNING")
    console.enter(studio.caller, "datasets")
    page.locator(".thumbs img").first.wait_for()
    console.go(f"classify/vision/{model}")
    drop(console, "new.zip", make_zip({"a.png": draw("circle"), "b.png": draw("square")}))
    page.get_by_label("Download as").select_option("csv")
    page.get_by_role("button", name="Classify", exact=True).click()
    head, *rows = read_rows(download(console, tmp_path), "csv")
    assert head[:3] == ["file", "label", "probability"]
    assert [row[0] for row in rows] == ["a.png", "b.png"]
    expect(page.get_by_text("2 of 2, 0 failed")).to_be_visible()
