"""Tests of the whole story: from a workbook to a model, to a second workbook with its answers."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.api.test_batch_tables import read_rows
from tests.browser.console.conftest import TRAINED_MS
from tests.browser.console.test_access import settled, violations
from tests.browser.console.test_upload import HELPDESK, drop, helpdesk
from tests.formats.drawn import encoded
from tests.papers import paper
from tests.pdfs import Sheet, pdf, words
from tests.pictures import detection_files, draw, make_zip
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
    assert "-classified." in found.value.suggested_filename
    found.value.save_as(folder / "result")
    return (folder / "result").read_bytes()


def forget_known_errors(console) -> None:
    """Drop what is no fault: a file without labels is refused, and axe-core sets styles."""
    known = ("400", "inline style")
    console.errors = [said for said in console.errors if not any(one in said for one in known)]


def test_a_workbook_trains_a_model_that_sorts_another(console, newcomer, tmp_path):
    """Columns are chosen, weak labels resolved, a model trained, and a second workbook sorted."""
    page = console.page
    console.enter(newcomer(), "upload")
    rows = [*helpdesk(30), *([*row, "low", "Agent 1"] for row in WEAK)]
    drop_workbook(console, "tickets.xlsx", [HELPDESK, *rows])
    for column, role in (("Subject", "text"), ("Body", "text"), ("Queue", "label")):
        give_role(console, column, role)
    press(console, "button", "Merge billing into Billing")
    # The focus moves on when a settled warning disappears.
    expect(page.locator(":focus")).to_have_count(1)
    press(console, "button", "Leave out Lost")
    press(console, "button", f"Create the dataset with {len(rows) - 1} examples")
    press(console, "button", "Train a model")
    press(console, "link", "Classify files")

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
    forget_known_errors(console)


def test_a_recognised_label_column_has_a_role_in_the_chooser(console, newcomer):
    """In a table to classify, a column of labels is not used, and its chooser says so."""
    console.enter(newcomer(), "classify")
    drop_workbook(console, "labelled.xlsx", [HELPDESK, *helpdesk(30)])

    expect(console.page.get_by_label("Use of Queue")).to_have_js_property("selectedIndex", 0)
    expect(console.page.get_by_label("Use of Body")).to_have_value("text")
    forget_known_errors(console)


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


def save_table(console, folder: Path) -> list[list[str]]:
    """Make a table of the result in the page, and return its rows."""
    console.page.get_by_role("button", name="Make a table").click(timeout=TRAINED_MS)
    link = console.page.get_by_role("link", name="Save the table")
    with console.page.expect_download() as found:
        link.click()
    found.value.save_as(folder / "table.csv")
    return read_rows((folder / "table.csv").read_bytes().removeprefix(b"\xef\xbb\xbf"), "csv")


def test_objects_in_images_become_a_table(console, live, tmp_path):
    """Each object found in an archive is a row; an image without one has a row too."""
    studio, page = live.studio, console.page
    console.enter(studio.caller, f"classify/vision/{studio.finder}")
    files = detection_files(2)
    images = [name for name in files if not name.endswith(".csv")]
    drop(console, "scenes.zip", make_zip({name: files[name] for name in images}))
    expect(page.get_by_text("2 files")).to_be_visible()
    page.get_by_role("button", name="Classify", exact=True).click()
    head, *rows = save_table(console, tmp_path)

    assert head == ["file", "label", "probability", "minX", "minY", "maxX", "maxY", "error"]
    assert {row[0] for row in rows} == set(images)


def test_documents_of_a_folder_are_read(console, owner, tmp_path):
    """PDFs and images are packed unscaled, only models that read documents are offered."""
    page, inbox = console.page, tmp_path / "inbox"
    inbox.mkdir()
    scan = encoded(paper(["Invoice 17", "Orchid Labs"]), "PNG")
    (inbox / "scan.png").write_bytes(scan)
    (inbox / "notes.txt").write_text("not a document")
    (inbox / "letter.pdf").write_bytes(
        pdf([Sheet(words("A letter about orchids for the lab", 72, 700, 12))])
    )
    console.enter(owner, "classify")
    page.locator("input[webkitdirectory]").set_input_files(inbox)
    expect(page.get_by_text("2 files")).to_be_visible()
    expect(page.get_by_label("Model").locator("option")).to_have_count(1)
    settled(console)
    assert violations(console) == []
    page.get_by_role("button", name="Read the documents").click()
    head, *rows = save_table(console, tmp_path)

    assert head[:4] == ["file", "page", "text", "probability"]
    found = {(row[0], word) for row in rows for word in row[2].split()}
    forget_known_errors(console)
    assert found >= {("inbox/letter.pdf", "orchids"), ("inbox/scan.png", "Orchid")}


def test_own_fields_of_dropped_documents_become_columns(console, owner, tmp_path):
    """A template from a file reads each document into a row, with a column for each field."""
    page = console.page
    console.enter(owner, "classify")
    for number in (7, 8):
        lines = ["Order details", f"Order no: {number}{number}{number}", "City: Lima"]
        (tmp_path / f"{number}.png").write_bytes(encoded(paper(lines), "PNG"))
    page.locator(".drop input").first.set_input_files([tmp_path / "7.png", tmp_path / "8.png"])
    page.get_by_label("Model").select_option("OCRModel")
    page.get_by_label("What to extract").select_option("form")
    page.get_by_role("combobox", name="Form", exact=True).select_option("own")
    start = page.get_by_role("button", name="Read the documents")
    expect(start).to_be_disabled()
    keys = [
        {"key": {"entity": entity, "keyVariations": [key], "entityTypes": []}}
        for entity, key in (("order_no", "Order no"), ("city", "City"))
    ]
    template = {"version": "1.0", "keys": keys, "headerCells": [], "tableRecognition": False}
    page.locator("input[accept='.json']").set_input_files(
        {
            "name": "template.json",
            "mimeType": "application/json",
            "buffer": json.dumps(template).encode(),
        }
    )
    start.click()
    head, *rows = save_table(console, tmp_path)

    assert head == ["file", "order_no", "city", "error"]
    assert rows == [["7.png", "777", "Lima", ""], ["8.png", "888", "Lima", ""]]


def test_encoding_of_a_table_is_chosen_and_used(console, owner, tmp_path):
    """The chooser of the encoding reads the preview again, and the batch uses it too."""
    [model] = owner.get("/v2/language/models").ok()["data"]
    console.enter(owner, f"classify/language/{model['modelId']}")
    page = console.page
    content = "text\nгде моя посылка номер 5\nверните деньги за заказ\n".encode("koi8-r")
    drop(console, "new.csv", content)
    page.get_by_label("Encoding").select_option("koi8-r")
    expect(page.get_by_text("верните деньги за заказ")).to_be_visible()
    page.get_by_role("button", name="Classify", exact=True).click()
    _, *rows = read_rows(download(console, tmp_path), "csv")

    forget_known_errors(console)
    assert [row[0] for row in rows] == ["где моя посылка номер 5", "верните деньги за заказ"]
