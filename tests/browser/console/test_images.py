"""Tests of editing boxes with keyboard, mouse and touch, and of the confusion matrix."""

from __future__ import annotations

import base64

import pytest
from playwright.sync_api import expect

from bench.drawing.archives import ASSETS
from tests.conversions import INSIDE, OUTSIDE, Conversion, transparent_images

FRUITS = ASSETS / "global" / "image-detection.zip"
COLOURS = """async ({ name, content, places }) => {
  const { shrinkImage } = await import("/console/folder.js");
  const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
  const image = await createImageBitmap(await shrinkImage(new File([bytes], name)));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  return places.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data]);
}"""


@pytest.fixture
def fruits(newcomer):
    """An account with an object detection dataset."""
    caller = newcomer()
    path = "/v2/vision/datasets/upload/sync"
    dataset = caller.upload(FRUITS.read_bytes(), "image-detection", FRUITS.name, path).ok()
    return caller, dataset


def test_boxes_are_edited_by_keyboard_and_mouse(console, fruits):
    """A box is moved and relabelled by keyboard, another drawn by mouse; both are saved."""
    caller, dataset = fruits
    browse = f"/v2/vision/datasets/{dataset['id']}/browse"
    first = caller.get(browse, source="all").ok()["data"][0]
    console.enter(caller, f"dataset/vision/{dataset['id']}")
    page = console.page
    page.wait_for_selector(".cell img")
    console.press("b")
    page.wait_for_selector("rect:focus")
    console.press("ArrowLeft", "Shift+ArrowDown", "2")
    plane = page.locator(".drawing svg").bounding_box()
    page.mouse.move(plane["x"] + 4, plane["y"] + 4)
    page.mouse.down()
    page.mouse.move(plane["x"] + 60, plane["y"] + 50, steps=3)
    page.mouse.up()
    page.get_by_role("button", name="Save boxes").click()
    expect(page.locator("dialog")).to_have_count(0)

    after = caller.get(browse, source="all", contains=first["name"]).ok()["data"]
    boxes = [one["box"] for one in after]
    moved = (first["box"]["x"] - 1, first["box"]["height"] + 1)
    assert moved in [(box["x"], box["height"]) for box in boxes]
    total = caller.get(f"/v2/vision/datasets/{dataset['id']}").ok()["totalExamples"]
    assert total == dataset["totalExamples"] + 1


def test_box_is_drawn_by_touch(console, fruits):
    """Touch draws a box without scrolling the page."""
    caller, dataset = fruits
    console.enter(caller, f"dataset/vision/{dataset['id']}")
    page = console.page
    page.wait_for_selector(".cell img")
    console.press("b")
    page.wait_for_selector("rect:focus")
    boxes = page.locator(".drawing rect[tabindex]").count()
    plane = page.locator(".drawing svg").bounding_box()
    inspector = page.context.new_cdp_session(page)
    inspector.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    moves = [("touchStart", 3), ("touchMove", 30), ("touchMove", 60)]
    for kind, by in moves:
        finger = {"x": plane["x"] + by, "y": plane["y"] + by}
        inspector.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [finger]})
    inspector.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.locator(".drawing rect[tabindex]")).to_have_count(boxes + 1)
    page.get_by_role("button", name="Save boxes").click()
    expect(page.locator("dialog")).to_have_count(0)
    total = caller.get(f"/v2/vision/datasets/{dataset['id']}").ok()["totalExamples"]
    assert total == dataset["totalExamples"] + 1


def test_matrix_cell_links_to_its_examples(console, owner):
    """A cell of the confusion matrix shows its examples with their predictions."""
    [model] = owner.get("/v2/language/models").ok()["data"]
    console.enter(owner, f"model/language/{model['modelId']}")
    console.page.locator(".matrix td a").first.click()
    expect(console.page.locator(".suggestion").first).to_be_visible()
    expect(console.page.get_by_text("not trained on them predicts")).to_be_visible()


@pytest.mark.parametrize("case", transparent_images(), ids=lambda case: case.name)
def test_transparent_images_get_a_background_that_contrasts(console, owner, case: Conversion):
    """The page converts an image with the colours that the client gives it."""
    console.enter(owner)
    sent = {"name": case.name, "content": base64.b64encode(case.content).decode()}
    found = console.page.evaluate(COLOURS, {**sent, "places": [INSIDE, OUTSIDE]})
    expected = [(*case.inside, 255), (*case.outside, 255)]
    for colour, wanted in zip(found, expected, strict=True):
        assert colour == pytest.approx(wanted, abs=8)
