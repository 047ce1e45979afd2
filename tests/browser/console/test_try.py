"""Tests of trying models: explanations, boxes, documents and code to copy."""

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
PAGES = """() => [...document.querySelectorAll('.page img')]
  .map(({ naturalWidth, naturalHeight }) => naturalWidth / naturalHeight)"""


def predict_file(console, name: str, content: bytes, kind: str) -> None:
    """Choose a file, and predict it."""
    page = console.page
    file = {"name": name, "mimeType": kind, "buffer": content}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Read" if "OCR" in page.url else "Predict").click()


def answer_of(page) -> dict:
    """Return the response shown on the page."""
    page.get_by_role("button", name="Response", exact=True).click()
    return dict(json.loads(page.locator("pre").inner_text()))


def test_text_is_predicted_explained_and_copied(console, owner):
    """Important words are highlighted, and the copied command returns the same prediction."""
    [model] = owner.get("/v2/language/models").ok()["data"]
    console.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    console.enter(owner, f"try/language/{model['modelId']}")
    page = console.page
    page.get_by_role("textbox", name="Text").fill(ASKED)
    console.press("Enter")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".explanation")).to_have_text(ASKED)
    assert page.locator(".explanation .for").count() >= 1
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


def test_image_is_explained(console, live):
    """An image prediction of the account's model highlights the important regions."""
    studio = live.studio
    console.enter(studio.caller, f"try/vision/{studio.classifier}")
    predict_file(console, "sign.png", draw("circle", salt=99), "image/png")
    page = console.page
    page.wait_for_selector(".bar >> text=circle")
    page.get_by_role("button", name="Explain").click()
    page.wait_for_selector("rect.region")
    assert page.locator("rect.region").count() > 1


def test_image_shows_its_boxes(console, live):
    """Each detected box is drawn at its position with its label."""
    studio = live.studio
    console.enter(studio.caller, f"try/vision/{studio.finder}")
    page = console.page
    # The response is fixed, because this tests drawing and not the model.
    box = {"minX": 4, "minY": 8, "maxX": 34, "maxY": 38}
    found = {"label": "circle", "probability": 0.75, "boundingBox": box}
    page.route(
        "**/v2/vision/detect",
        lambda route: route.fulfill(json={"object": "predictresponse", "probabilities": [found]}),
    )
    predict_file(console, "scene.png", draw("circle", size=(96, 96)), "image/png")
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
        ("Form fields", STUB, "field", "Dana Reyes"),
    ],
)
def test_document_shows_its_content(console, owner, task, content, kind, said):
    """Boxes of texts, tables and fields are drawn on the page, their content next to it."""
    console.enter(owner, "try/vision/OCRModel")
    page = console.page
    page.get_by_label("What to extract").select_option(label=task)
    if kind == "field":
        page.get_by_role("combobox").nth(2).select_option("paystub")
    predict_file(console, "page.png", content, "image/png")
    page.wait_for_selector(".found li", timeout=60_000)
    expect(page.locator(".found")).to_contain_text(said)
    assert len(page.evaluate(STROKES, kind)) == 1
    assert len(answer_of(page)["probabilities"]) == page.locator(".found li").count()


def test_texts_tables_and_fields_have_different_colours(console, owner):
    """Texts, tables and fields are drawn in different colours."""
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
    predict_file(console, "page.png", CARD, "image/png")
    page.wait_for_selector(".found li")
    colours = [page.evaluate(STROKES, kind) for kind in ("text", "field", "table")]
    assert all(len(one) == 1 for one in colours)
    assert len({one for [one] in colours}) == 3


def test_pages_of_a_pdf_have_their_size(console, owner):
    """Boxes of a PDF are drawn on images of its pages, portrait and landscape."""
    upright = Sheet(words("An upright page with a line that is long enough", 72, 770, 12))
    lying = Sheet(
        words("A page that lies, and its line is long enough, too", 72, 400, 12),
        media=(0, 0, A4[3], A4[2]),
    )
    console.enter(owner, "try/vision/OCRModel")
    predict_file(console, "two.pdf", pdf([upright, lying]), "application/pdf")
    page = console.page
    page.wait_for_function(f"() => ({PAGES})().filter(Boolean).length === 2", timeout=60_000)
    assert page.evaluate(PAGES) == pytest.approx([A4[2] / A4[3], A4[3] / A4[2]], rel=0.01)
    # The images are smaller than the pages, whose pixels the boxes count.
    places = [one.get_attribute("viewBox") for one in page.locator(".page svg").all()]
    assert places == ["0 0 1653 2339", "0 0 2339 1653"]
    expect(page.locator(".found")).to_contain_text("upright")
    expect(page.get_by_text("Page 2")).to_be_visible()
    for number in (0, 1):
        sheet = page.locator(".page").nth(number)
        paper_at = sheet.locator("img").bounding_box()
        text_at = sheet.locator("rect").first.bounding_box()
        left = (text_at["x"] - paper_at["x"]) / paper_at["width"]
        assert left == pytest.approx(72 / (A4[2], A4[3])[number], abs=0.03)
