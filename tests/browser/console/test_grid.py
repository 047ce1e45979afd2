"""Test that a grid of many images scrolls as fast as an empty page."""

from __future__ import annotations

import http.client
import io
import statistics
import zipfile
from urllib.parse import urlsplit

import pytest

from tests.live import multipart
from tests.pictures import draw

PICTURES = 10_000
MIN_FRAME_RATIO = 0.8
RUNS = 5
SECONDS = 3
PIXELS_A_SECOND = 4_000
SCROLL = """async ({ list, distance, seconds }) => {
  const element = document.querySelector(list);
  element.scrollTop = 0;
  await new Promise((done) => setTimeout(done, 500));
  return new Promise((done) => {
    const began = performance.now();
    let frames = 0;
    const step = () => {
      frames++;
      const past = (performance.now() - began) / 1000;
      element.scrollTop = distance * Math.min(1, past / seconds);
      if (past < seconds) requestAnimationFrame(step); else done(frames / past);
    };
    requestAnimationFrame(step);
  });
}"""
SHOWN = """() => [...document.querySelectorAll('.cell img')]
  .every((one) => one.complete && one.naturalWidth)"""
EMPTY = """height => {
  document.body.replaceChildren();
  const list = document.createElement('div'), whole = document.createElement('div');
  list.id = 'empty';
  Object.assign(list.style, { height: '100vh', overflow: 'auto' });
  whole.style.height = `${height}px`;
  list.append(whole);
  document.body.append(list);
}"""


def archive() -> bytes:
    """Draw ten thousand images of two labels."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for number in range(PICTURES):
            shape, label = ("circle", "round") if number % 2 else ("square", "angular")
            color = (number % 256, number // 256, 120)
            content = draw(shape, color, (256, 192), kind="JPEG")
            comment = b"\xff\xfe\x00\x07%05d" % number  # no two files are equal
            made.writestr(f"{label}/{number:05}.jpg", content[:2] + comment + content[2:])
    return file.getvalue()


def create_dataset(caller, content: bytes) -> int:
    """Upload an archive with a form, and create a dataset of it; return its id."""
    form = caller.json("POST", "/v2/uploads", {"name": "many.zip"}).ok()
    parts = [(name, value.encode(), None) for name, value in form["fields"].items()]
    place = urlsplit(form["url"])
    connection = http.client.HTTPConnection(place.netloc, timeout=120)
    body = multipart(*parts, ("file", content, "many.zip"))
    kind = {"Content-Type": "multipart/form-data; boundary=B"}
    try:
        connection.request("POST", place.path, body, kind)
        answer = connection.getresponse()
        assert answer.status < 300, answer.read()
    finally:
        connection.close()
    fields = {"type": "image", "name": "many", "path": form["path"]}
    made = caller.fields("POST", "/v2/vision/datasets/upload", **fields).ok()
    path = f"/v2/vision/datasets/{made['id']}"
    done = caller.wait(path, "statusMsg", "UPLOADING", seconds=600)
    assert done["totalExamples"] == PICTURES, done
    return int(made["id"])


@pytest.fixture
def many(newcomer):
    """An account with ten thousand images; the first ones have thumbnails."""
    caller = newcomer()
    dataset_id = create_dataset(caller, archive())
    for offset in range(0, PIXELS_A_SECOND * SECONDS // 200 * 8, 100):
        path = f"/v2/vision/datasets/{dataset_id}/browse"
        caller.get(path, offset=offset, count=100).ok()
    return caller, dataset_id


def test_grid_scrolls_as_an_empty_page_does(console, many):
    """Scrolling ten thousand images has at least .8 of the frame rate of an empty page."""
    caller, dataset_id = many
    page = console.page
    console.enter(caller, f"dataset/vision/{dataset_id}")
    page.wait_for_selector(".cell img")
    height = page.evaluate("document.querySelector('.list-whole').offsetHeight")
    empty = page.context.new_page()
    empty.set_viewport_size(page.viewport_size)
    empty.evaluate(EMPTY, height)
    asked = {"distance": PIXELS_A_SECOND * SECONDS, "seconds": SECONDS}
    full, bare = [], []
    for _ in range(RUNS):
        page.bring_to_front()
        full.append(page.evaluate(SCROLL, {"list": ".list", **asked}))
        empty.bring_to_front()
        bare.append(empty.evaluate(SCROLL, {"list": "#empty", **asked}))
    page.bring_to_front()
    page.wait_for_function(SHOWN)
    assert page.locator(".cell img").count() < 200
    assert statistics.median(full) >= MIN_FRAME_RATIO * statistics.median(bare), (full, bare)
