"""Tests of making a form template by clicks: from a PDF to a table of the fields of another."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.console.test_access import settled, violations
from tests.browser.console.test_upload import drop
from tests.pdfs import Sheet, pdf, words

READ_MS = 60_000


def invoice(number: str, customer: str, total: str) -> bytes:
    """Write an invoice: a key with its value in one text, next to it, and below it."""
    lines = [
        ("Orchid Labs Inc., 5 Garden Street, Springfield", 72, 780),
        (f"Invoice number: {number}", 72, 720),
        ("Customer name", 72, 680),
        (customer, 240, 680),
        ("Amount due", 72, 640),
        (total, 240, 640),
        ("Thank you for your order. Please pay within thirty days.", 72, 560),
    ]
    return pdf([Sheet(b"\n".join(words(text, x, y, 12) for text, x, y in lines))])


FIRST = invoice("A-4711", "Dana Reyes", "120.50")
SECOND = invoice("B-0815", "Kim Sato", "-12.50")


def read(console, name: str, content: bytes, button: str) -> None:
    """Drop a PDF, and press a button that reads it."""
    drop(console, name, content)
    console.page.get_by_text(name, exact=True).first.wait_for()
    console.page.get_by_role("button", name=button).click()


def item(console, text: str) -> Locator:
    """Return the button of a text that was read."""
    found: Locator = console.page.locator(".found button").filter(has_text=text).first
    return found


def saved(console, link: str, folder: Path) -> str:
    """Press a link that saves a file, and return its text."""
    with console.page.expect_download() as found:
        console.page.get_by_role("link", name=link).click()
    found.value.save_as(folder / "saved")
    return (folder / "saved").read_bytes().decode("utf-8")


@pytest.fixture
def editor(console, owner):
    """The console, at the fields of documents."""
    console.enter(owner, "try/vision/OCRModel")
    console.page.get_by_label("What to extract").select_option(label="Your own fields")
    return console


def add_fields(console) -> None:
    """Click the key and value of three fields: in the list, by keyboard, and on the page."""
    page = console.page
    add = page.get_by_role("button", name="Add the field")
    item(console, "Invoice number").click()
    item(console, "Invoice number").click()
    expect(page.get_by_label("Text of the key")).to_have_value("Invoice number")
    expect(page.get_by_role("group", name="New field")).to_contain_text("A-4711")
    add.click()
    for text in ("Customer name", "Dana Reyes"):
        item(console, text).focus()
        page.keyboard.press("Enter")
    page.get_by_label("Name of the field").fill("customer")
    add.focus()
    page.keyboard.press("Enter")
    expect(add).to_have_count(0)
    for text in ("Amount due", "120.50"):
        place = page.locator(".found button").all_inner_texts().index(text)
        page.locator(".page rect").nth(place).click()
    add.click()
    expect(add).to_have_count(0)


def test_a_template_of_one_pdf_reads_another(editor, tmp_path):
    """Three fields are clicked, a second PDF is read with them, and the table is downloaded."""
    page = editor.page
    expect(page.get_by_role("button", name="Read the fields")).to_be_disabled()
    read(editor, "first.pdf", FIRST, "Read the text")
    page.locator(".page img").wait_for(timeout=READ_MS)
    settled(editor)
    assert violations(editor) == []
    add_fields(editor)
    page.get_by_role("button", name="Read the fields").click()
    table = page.get_by_role("region", name="Fields read")
    expect(table.get_by_role("row")).to_have_count(2, timeout=READ_MS)
    read(editor, "second.pdf", SECOND, "Read the fields")
    expect(table.get_by_role("row")).to_have_count(3, timeout=READ_MS)
    settled(editor)
    assert violations(editor) == []

    rows = list(
        csv.reader(
            io.StringIO(saved(editor, "Download the fields", tmp_path).removeprefix("\ufeff"))
        )
    )

    assert rows == [
        ["file", "invoice_number", "customer", "amount_due"],
        ["first.pdf", "A-4711", "Dana Reyes", "120.50"],
        # A spreadsheet may run a text that begins with such a sign.
        ["second.pdf", "B-0815", "Kim Sato", "'-12.50"],
    ]
    editor.errors = [said for said in editor.errors if "inline style" not in said]


def test_a_line_without_a_colon_divides_at_its_first_number(editor):
    """Of a text without a colon that is clicked twice, the words before a number are the key."""
    page = editor.page
    line = words("Delivery note No. LS-2026-118", 72, 720, 12)
    read(editor, "note.pdf", pdf([Sheet(line)]), "Read the text")
    page.locator(".page img").wait_for(timeout=READ_MS)
    for _ in range(2):
        item(editor, "Delivery note").click()

    expect(page.get_by_label("Text of the key")).to_have_value("Delivery note No.")
    expect(page.get_by_role("group", name="New field")).to_contain_text("LS-2026-118")
    editor.errors = [said for said in editor.errors if "inline style" not in said]


def test_a_template_is_saved_and_opened(editor, tmp_path):
    """A saved template opens with all its members; another file is refused by name."""
    page = editor.page
    template = {
        "version": "2.0",
        "keys": [
            {
                "key": {
                    "entity": "buyer",
                    "keyVariations": ["Customer name"],
                    "entityTypes": ["NAME"],
                }
            }
        ],
        "headerCells": [],
        "tableRecognition": False,
    }

    def open_file(name: str, text: str) -> None:
        given = {"name": name, "mimeType": "application/json", "buffer": text.encode()}
        page.get_by_label("Open a template").set_input_files(given)

    open_file("shop.json", '{"shop": true}')
    expect(page.get_by_role("alert")).to_contain_text("shop.json is not a form template")
    open_file("saved.json", json.dumps(template))
    expect(page.get_by_role("alert")).to_have_count(0)
    assert json.loads(saved(editor, "Download the template", tmp_path)) == template
    read(editor, "first.pdf", FIRST, "Read the fields")
    expect(page.get_by_role("region", name="Fields read")).to_contain_text(
        "Dana Reyes", timeout=READ_MS
    )
    page.get_by_role("button", name="Remove buyer").click()
    expect(page.get_by_role("button", name="Read the fields")).to_be_disabled()
