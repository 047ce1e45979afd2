"""Tests of the API reference in Chromium: completeness, layout, search and calls."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
INTENT = "#operations-predictions-predict_intent_language"
OPENED = (
    "accounts-create_token",
    "datasets-upload_dataset_sync_language",
    "datasets-upload_pictures_vision",
    "datasets-correct_dataset_language",
    "datasets-browse_examples_vision",
    "models-train_language",
    "models-get_card_language",
    "predictions-run_ocr_vision",
    "service-get_health",
)
"""Operations with the longest names, request bodies and responses."""
each_size = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)


@each_size
def test_every_operation_is_shown_and_fits(docs, live, size):
    """Every operation of the document but HEAD is shown, and nothing overflows the window."""
    docs.open(*size)
    document = live.stranger.get("/v2/openapi.json").ok()
    wanted = {
        f"operations-{operation['tags'][0]}-{operation['operationId']}"
        for path in document["paths"].values()
        for method, operation in path.items()
        if method != "head"
    }
    shown = docs.page.locator(".opblock").evaluate_all("blocks => blocks.map(block => block.id)")
    assert set(shown) == wanted
    assert len(shown) == len(wanted)
    assert docs.overhang() == 0


@each_size
def test_operations_open_and_fit(docs, size):
    """Opened operations with parameters, bodies and responses fit the window."""
    docs.open(*size)
    for name in OPENED:
        block = docs.page.locator(f"#operations-{name}")
        block.locator(".opblock-summary-control").click()
        expect(block.locator(".responses-wrapper")).to_be_visible(timeout=30_000)
        assert docs.overhang() == 0, name
        block.locator(".opblock-summary-control").click()


@each_size
def test_a_call_is_tried_with_a_token(docs, live, size):
    """A call sends the given token and shows its response, and the curl and Python code."""
    docs.open(*size)
    page = docs.page
    page.locator(".btn.authorize").first.click()
    page.locator(".auth-container input").fill(live.stranger.token)
    page.locator(".auth-btn-wrapper .authorize").click()
    page.locator(".auth-btn-wrapper .btn-done").click()
    block = page.locator(INTENT)
    block.locator(".opblock-summary-control").click()
    block.locator(".try-out__btn").click()
    block.get_by_role("combobox", name="Request content type").select_option("application/json")
    fields = {"modelId": "GlobalIntentModel", "document": "where is my parcel"}
    block.locator("textarea").fill(json.dumps(fields))
    before = live.stranger.get("/v2/apiusage").ok()["data"][0]["predictionsUsed"]
    block.locator(".execute").click()
    answer = block.locator(".live-responses-table td.response-col_description:not(.col_header)")
    expect(answer).to_contain_text('"probabilities"', timeout=30_000)
    used = live.stranger.get("/v2/apiusage").ok()["data"][0]["predictionsUsed"]
    assert used == before + 1
    assert "curl -X 'POST'" in block.locator(".request-snippets").inner_text()
    block.get_by_text("Python", exact=True).click()
    code = block.locator(".request-snippets .curl").inner_text()
    assert "httpx.request(" in code
    compile(code, "snippet", "exec")
    assert docs.overhang() == 0


def test_search_requires_every_word(docs):
    """The search covers path, summary and description; clearing it shows all operations."""
    docs.open(*SIZES["desktop"])
    blocks = docs.page.locator(".opblock")
    all_of_them = blocks.count()
    search = docs.page.locator(".operation-filter-input")
    expect(search).to_have_attribute("placeholder", "Search paths and descriptions")
    search.fill("curve of no model")
    expect(blocks).to_have_count(0)
    search.fill("Report CORRECT")
    expect(blocks.first).to_contain_text("/corrections")
    assert 0 < blocks.count() < 10
    search.fill("")
    expect(blocks).to_have_count(all_of_them)


def test_inline_scripts_do_not_run(docs):
    """The Content-Security-Policy blocks injected inline scripts."""
    docs.open(*SIZES["desktop"])
    inject = "document.body.append(Object.assign(document.createElement('script'), {text: %r}))"
    docs.page.evaluate(inject % "window.ran = true")
    assert docs.page.evaluate("window.ran === undefined")
    assert "Content Security Policy" in docs.errors.pop()
