"""The option `pageImages` of the OCR call. Contract: beyond.md, section 14."""

from __future__ import annotations

import base64
import io
from datetime import timedelta
from urllib.parse import unquote

import pytest
from PIL import Image

from tests.pdfs import Sheet, image_pdf, pdf, text_pdf
from tests.pictures import draw

URL = "/v2/vision/ocr"
TWO_PAGES = text_pdf(["Invoice 17", "Total: 12.50"], ["Second page"])


def read(call, content, **fields):
    """Read a document."""
    sample = base64.b64encode(content).decode()
    return call.json("POST", URL, modelId="OCRModel", sampleBase64Content=sample, **fields)


def stored(world):
    """Return the keys of the page images."""
    return world.objects("exports/pages/")


@pytest.mark.parametrize("task", ["text", "table", "contact", "form"])
def test_pages_have_images(call, world, task):
    """With the option every page has the URL of a JPEG; the rest of the answer is unchanged."""
    fields = {"task": task, "formType": "w2"}

    answer = read(call, TWO_PAGES, **fields, pageImages=True).json

    images = [page.pop("image") for page in answer["pages"]]
    assert answer == read(call, TWO_PAGES, **fields, pages=True).json
    keys = stored(world)
    assert [key.split("/")[2] for key in keys] == [world.account.account_id] * 2
    for number, (image, key) in enumerate(zip(images, keys, strict=True), 1):
        assert key in image
        assert "X-Amz-Expires=1800" in image
        assert f"attachment; filename*=UTF-8''page-{number}.jpg" in unquote(unquote(image))
    for content in world.contents("exports/pages/"):
        drawn = Image.open(io.BytesIO(content))
        # An A4 page has 1,654 by 2,339 pixels at 200 dpi.
        assert (drawn.format, drawn.size) == ("JPEG", (1131, 1600))
        assert drawn.convert("L").getextrema()[0] < 64, "the text is drawn"


def test_pages_with_images_of_text(call, world):
    """Scanned pages and small pages have images, which are not enlarged."""
    scanned = read(call, image_pdf([Image.new("RGB", (100, 60), "white")]), pageImages=True)
    small = read(call, pdf([Sheet(media=(0, 0, 72, 36))]), pageImages=True)

    assert scanned.status == small.status == 200, (scanned, small)
    sizes = {Image.open(io.BytesIO(one)).size for one in world.contents("exports/pages/")}
    assert sizes == {(100, 60), (200, 100)}


def test_images_are_only_made_on_request(call, world):
    """Without the option no image is stored or named."""
    [page] = read(call, text_pdf(["a line"]), pages=True, pageImages=False).json["pages"]

    assert "image" not in page
    assert stored(world) == []


@pytest.mark.parametrize("value", [True, "true"])
def test_images_have_no_page_images(call, world, value):
    """`pageImages` for an image file is refused before it is read; the message says what to do."""
    answer = read(call, draw(size=(100, 60)), pageImages=value)

    assert (answer.status, answer.json["code"]) == (400, "page_images_of_image")
    assert "Leave 'pageImages' out, or send a PDF." in answer.json["message"]
    assert world.engine.pages == []
    assert stored(world) == []


def test_wrong_value(call):
    """Any value except true and false is refused by name."""
    answer = read(call, TWO_PAGES, pageImages="maybe")

    assert (answer.status, "pageImages" in answer.json["message"]) == (400, True)


def test_refused_call_stores_nothing(call, world):
    """If one page cannot be read, no image of the other pages is stored."""
    lines = [f"line {number}" for number in range(3)]

    answer = read(call, text_pdf(*[lines] * 9), pageImages=True)

    assert answer.status == 400
    assert stored(world) == []


def test_images_are_deleted_after_an_hour(call, world):
    """The sweep deletes images once their URLs have expired, and no others."""
    read(call, TWO_PAGES, pageImages=True)
    world.clock.now += timedelta(minutes=31)
    world.container.sweeping.run()
    assert len(stored(world)) == 2
    call.token = world.container.tokens.grant_assertion(world.assertion()).access_token
    read(call, text_pdf(["later"]), pageImages=True)
    world.clock.now += timedelta(minutes=30)

    world.container.sweeping.run()

    assert len(stored(world)) == 1


def test_images_die_with_the_account(call, world):
    """Closing an account deletes its images at once, and only those."""
    other, token = world.sign_up("b@example.test")
    read(call, TWO_PAGES, pageImages=True)
    call.token = token
    read(call, TWO_PAGES, pageImages=True)
    assert len(stored(world)) == 4

    world.accounts().close("b@example.test")

    assert {key.split("/")[2] for key in stored(world)} == {world.account.account_id}
    assert world.objects(f"exports/pages/{other.account_id}/") == []
