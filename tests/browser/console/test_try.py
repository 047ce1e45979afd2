"""Try it: texts with the words that decided, pictures with boxes, documents, and calls to copy."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from playwright.sync_api import expect

from tests.formats.drawn import encoded
from tests.papers import grid, paper
from tests.pdfs import A4, Sheet, pdf, words
from tests.pictures import draw

ASKED = "where is parcel number 7"
CARD = encoded(paper(["Dana Reyes", "Orchid Labs Inc.", "dana@orchid.test"]), "PNG")
TABLE = encoded(grid([["Item", "Price"], ["Pencil", "2.50"], ["Paper", "11.00"]]), "PNG")
STUB = encoded(
    paper(["Employee Name: Dana Reyes", "Department: Orchids", "SSN: 602-55-0100"]), "PNG"
)
STROKES = """kind => [...new Set([...document.querySelectorAll(`.page rect.${kind}`)]
  .map((one) => getComputedStyle(one).stroke))]"""
PAPERS = """() => [...document.querySelectorAll('.paper')]
  .map((one) => one.getBoundingClientRect()).map(({ width, height }) => width / height)"""


def chosen(console, name: str, content: bytes, kind: str) -> None:
    """Choose a file to try, and ask."""
    page = console.page
    file = {"name": name, "mimeType": kind, "buffer": content}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Read" if "OCR" in page.url else "Ask").click()


def answer_of(page) -> dict:
    """Read the answer that stands to be copied."""
    page.get_by_role("button", name="Answer", exact=True).click()
    return dict(json.loads(page.locator("pre").inner_text()))


def test_text_is_answered_explained_and_copied(console, owner):
    """The words that decided are marked, and the copied commands get the same answer."""
    [model] = owner.get("/v2/language/models").ok()["data"]
    console.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    console.enter(owner, f"try/language/{model['modelId']}")
    page = console.page
    page.get_by_role("textbox", name="Text").fill(ASKED)
    console.press("Enter")
    page.get_by_role("button", name="What decided?").click()
    expect(page.locator(".decided")).to_have_text(ASKED)
    assert page.locator(".decided .for").count() >= 1
    shown = answer_of(page)["probabilities"]
    assert shown[0]["label"] == "delivery"

    page.get_by_role("button", name="curl").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("pre").inner_text()
    done = subprocess.run(
        ["sh", "-c", copied], env={**os.environ, "TOKEN": owner.token},
        capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout)["probabilities"] == shown
    page.get_by_role("button", name="Python").click()
    compile(page.locator("pre").inner_text(), "copied", "exec")


def test_picture_is_explained(console, live):
    """A picture is answered by a model of the account, with the parts that decided on it."""
    studio = live.studio
    console.enter(studio.caller, f"try/vision/{studio.classifier}")
    chosen(console, "sign.png", draw("circle", salt=99), "image/png")
    page = console.page
    page.wait_for_selector(".bar >> text=circle")
    page.get_by_role("button", name="What decided?").click()
    page.wait_for_selector("rect.region")
    assert page.locator("rect.region").count() > 1


def test_picture_shows_its_boxes(console, live):
    """Each box of the answer is drawn where the answer says, with its label."""
    studio = live.studio
    console.enter(studio.caller, f"try/vision/{studio.finder}")
    page = console.page
    # What a model of a few epochs finds is not what this is about.
    box = {"minX": 4, "minY": 8, "maxX": 34, "maxY": 38}
    told = {"label": "circle", "probability": 0.75, "boundingBox": box}
    page.route(
        "**/v2/vision/detect",
        lambda route: route.fulfill(json={"object": "predictresponse", "probabilities": [told]}),
    )
    chosen(console, "scene.png", draw("circle", size=(96, 96)), "image/png")
    page.wait_for_selector(".answer rect")
    drawn = page.locator(".answer rect")
    assert drawn.count() == 1
    sides = [float(drawn.get_attribute(name)) for name in ("x", "y", "width", "height")]
    assert sides == [4, 8, 30, 30]
    expect(page.locator(".answer text")).to_contain_text("circle 75")
    assert page.locator(".answer svg").get_attribute("viewBox") == "0 0 96 96"


@pytest.mark.parametrize(
    ("task", "content", "kind", "said"),
    [
        ("Text", CARD, "text", "Orchid"),
        ("Contacts", CARD, "text", "dana@orchid.test"),
        ("Tables", TABLE, "table", "Pencil"),
        ("Fields of a form", STUB, "field", "Dana Reyes"),
    ],
)
def test_document_shows_what_was_read(console, owner, task, content, kind, said):
    """Boxes of texts, tables and fields lie on the page, beside them what they say."""
    console.enter(owner, "try/vision/OCRModel")
    page = console.page
    page.get_by_label("What to look for").select_option(label=task)
    if kind == "field":
        page.get_by_role("combobox").nth(2).select_option("paystub")
    chosen(console, "page.png", content, "image/png")
    page.wait_for_selector(".found li", timeout=60_000)
    expect(page.locator(".found")).to_contain_text(said)
    assert len(page.evaluate(STROKES, kind)) == 1
    assert len(answer_of(page)["probabilities"]) == page.locator(".found li").count()


def test_kinds_have_three_colours(console, owner):
    """Texts, tables and fields differ by their colour."""
    console.enter(owner, "try/vision/OCRModel")
    page = console.page
    box = {"minX": 1, "minY": 1, "maxX": 9, "maxY": 9}
    key = {"key": {"text": "Name"}, "value": {"text": "Dana"}}
    cells = {"cells": [{"text": "1", "cellLocation": {"rowIndex": 1, "colIndex": 1}}]}
    kinds = ({}, key, cells)
    found = [
        {"label": "x", "probability": 1, "boundingBox": box, "attributes": kind} for kind in kinds
    ]
    page.route("**/v2/vision/ocr", lambda route: route.fulfill(json={"probabilities": found}))
    chosen(console, "page.png", CARD, "image/png")
    page.wait_for_selector(".found li")
    colours = [page.evaluate(STROKES, kind) for kind in ("text", "field", "table")]
    assert all(len(one) == 1 for one in colours)
    assert len({one for [one] in colours}) == 3


def test_pages_of_a_pdf_have_their_size(console, owner):
    """Boxes of a PDF lie on blank pages as large as its own, upright and lying ones alike."""
    upright = Sheet(words("An upright page with a line that is long enough", 72, 770, 12))
    lying = Sheet(
        words("A page that lies, and its line is long enough, too", 72, 400, 12),
        media=(0, 0, A4[3], A4[2]),
    )
    console.enter(owner, "try/vision/OCRModel")
    chosen(console, "two.pdf", pdf([upright, lying]), "application/pdf")
    page = console.page
    page.wait_for_selector(".paper", timeout=60_000)
    assert page.evaluate(PAPERS) == pytest.approx([A4[2] / A4[3], A4[3] / A4[2]], rel=0.01)
    expect(page.locator(".found")).to_contain_text("upright")
    expect(page.get_by_text("Page 2")).to_be_visible()
    for number in (0, 1):
        sheet = page.locator(".page").nth(number)
        paper_at = sheet.locator(".paper").bounding_box()
        text_at = sheet.locator("rect").first.bounding_box()
        left = (text_at["x"] - paper_at["x"]) / paper_at["width"]
        assert left == pytest.approx(72 / (A4[2], A4[3])[number], abs=0.03)
