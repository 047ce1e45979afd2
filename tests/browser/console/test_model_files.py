"""Tests of models as files: an export on the model's page, and an import on the list of models."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import TRAINED_MS
from tests.browser.console.test_access import settled, violations
from tests.live import SHOP, Caller, Live


@pytest.fixture(scope="module")
def owner(live: Live) -> Caller:
    """An account of this module: imports must not add models to that of other tests."""
    caller = live.caller("mover")
    dataset = caller.upload(SHOP, name="shop.csv").ok()
    trained = caller.train(dataset["id"], name="shop model").ok()
    assert caller.trained(trained["modelId"])["status"] == "SUCCEEDED"
    return caller


@pytest.fixture
def model(owner) -> str:
    """The id of a trained text model."""
    return str(owner.get("/v2/language/models", name="shop model").ok()["data"][0]["modelId"])


def export(console, owner, model, folder: Path, form: str = "bundle") -> Path:
    """Export a model on its page, and return the downloaded file."""
    page = console.page
    console.enter(owner, f"model/language/{model}")
    page.get_by_text("Export the model").click()
    page.get_by_label("Format").select_option(form)
    page.get_by_role("button", name="Export", exact=True).click()
    link = page.get_by_role("link", name="Download version 1")
    expect(link).to_be_visible(timeout=TRAINED_MS)
    with page.expect_download() as download:
        link.click()
    path = folder / f"{form}.zip"
    download.value.save_as(path)
    return path


def choose(console, path: Path) -> None:
    """Choose a file of the card that imports models."""
    console.go("models")
    console.page.get_by_text("Import a model").click()
    console.page.get_by_label("Exported model").set_input_files(path)


def test_an_exported_model_is_imported_again(console, owner, model, tmp_path):
    """The file of an export is downloaded, and its import becomes a model that can be tried."""
    page = console.page
    path = export(console, owner, model, tmp_path)
    settled(console)
    assert violations(console) == []
    choose(console, path)
    settled(console)
    assert violations(console) == []
    page.get_by_label("Model name").fill("shop again")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="shop again")).to_be_visible()
    expect(page.get_by_role("link", name="Try it")).to_be_visible(timeout=TRAINED_MS)
    expect(page.get_by_text("predicted by a model not trained on it.")).to_be_visible()
    expect(page.get_by_role("button", name="Train again")).to_have_count(0)
    expect(page.get_by_role("link", name="Models").first).to_be_visible()


def test_a_model_is_exported_as_one_graph(console, owner, model, tmp_path):
    """The other format is one ONNX graph."""
    path = export(console, owner, model, tmp_path, "onnx")
    with zipfile.ZipFile(path) as archive:
        assert "model.onnx" in archive.namelist()


def test_a_damaged_import_shows_its_cause(console, owner, tmp_path):
    """A failed import has a page with the cause; the family is read from the archive."""
    path = tmp_path / "pictures.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps({"type": "image"}))
    console.enter(owner, "models")
    choose(console, path)
    expect(console.page.get_by_label("Model name")).to_have_value("pictures")
    console.page.get_by_role("button", name="Import", exact=True).click()
    expect(console.page.get_by_role("alert")).to_contain_text("model.json", timeout=TRAINED_MS)
    assert "/model/vision/" in console.page.url


def test_a_refused_export_is_shown(console, owner, model):
    """The reason of a refusal is shown at the button."""
    console.page.route(
        f"**/models/{model}/exports",
        lambda route: route.fulfill(status=429, json={"message": "Too many exports are open."}),
    )
    console.enter(owner, f"model/language/{model}")
    console.page.get_by_text("Export the model").click()
    console.page.get_by_role("button", name="Export", exact=True).click()
    expect(console.page.get_by_role("alert")).to_contain_text("Too many exports")
    console.errors.clear()  # the browser reports the status 429
