"""Tests of active learning: rank unlabelled samples, label the best, and retrain."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest
from playwright.sync_api import expect

from chalicelib.web import console as console_files
from tests.browser.console.conftest import TRAINED_MS
from tests.pictures import draw, label_folders, make_zip

SHOWN = 20
SEEN = """() => [...document.querySelectorAll('.cell img')]
  .every((one) => one.complete && one.naturalWidth === 64)"""
"""Whether every image of the grid is loaded."""


@pytest.fixture
def shop(newcomer):
    """An account with a model trained on a third of the sample, and the other texts."""
    rows = list(csv.reader(io.StringIO(console_files.text_of("shop_intents.csv"))))
    rows = [row for row in rows if len(row) == 2]
    known, left = rows[::3], [row for place, row in enumerate(rows) if place % 3]
    caller = newcomer()
    lines = io.StringIO()
    csv.writer(lines).writerows(known)
    dataset = caller.upload(lines.getvalue().encode(), name="known.csv").ok()
    model = caller.train(dataset["id"], name="first").ok()
    assert caller.trained(model["modelId"])["status"] == "SUCCEEDED"
    return caller, dataset, model["modelId"], dict(left)


def test_texts_are_ranked_labelled_and_trained(console, shop, tmp_path):
    """Texts are ranked, labelled by keyboard and trained, and both models are compared."""
    caller, dataset, model_id, truth = shop
    file = tmp_path / "left.csv"
    with file.open("w", newline="") as made:
        csv.writer(made).writerows([text] for text in truth)
    console.enter(caller, f"model/language/{model_id}")
    page = console.page
    page.get_by_role("link", name="Label next").click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Number of samples to choose").fill(str(SHOWN))
    page.get_by_role("button", name="Choose samples").click()
    page.wait_for_selector(".item .text", timeout=TRAINED_MS)
    texts = page.locator(".item .text").all_inner_texts()
    assert set(texts) <= set(truth)

    for text in texts:
        console.press("/")
        page.keyboard.type(truth[text])
        console.press("Enter")
    given = len(texts)
    expect(page.get_by_text(f"{given} of {SHOWN} labelled")).to_be_visible()
    console.press("u")
    expect(page.get_by_text(f"{given - 1} of {SHOWN} labelled")).to_be_visible()
    expect(page.get_by_text("Saved")).to_be_visible()
    page.get_by_role("button", name=f"Train with {given - 1} more").click()
    expect(page.get_by_role("link", name="Compare both models")).to_be_visible(timeout=TRAINED_MS)
    expect(page.get_by_text("accuracy, between")).to_have_count(2)

    after = caller.get(f"/v2/language/datasets/{dataset['id']}").ok()
    assert after["totalExamples"] == dataset["totalExamples"] + given - 1
    page.get_by_role("link", name="Compare both models").click()
    expect(page.get_by_role("heading", name="Compare models")).to_be_visible()


@pytest.fixture(scope="module")
def shapes(live):
    """An account with an image dataset and a model trained for one epoch."""
    caller = live.caller("shapes")
    path = "/v2/vision/datasets/upload/sync"
    known = make_zip(label_folders({"circle": 6, "square": 6}))
    dataset = caller.upload(known, "image", "known.zip", path).ok()
    asked = {"name": "shapes", "datasetId": dataset["id"], "epochs": 1}
    model = caller.json("POST", "/v2/vision/train", asked).ok()["modelId"]
    done = caller.wait(f"/v2/vision/train/{model}", "status", "QUEUED", "RUNNING", seconds=300)
    assert done["status"] == "SUCCEEDED", done
    return caller, dataset["id"], model


def new_images(salt: int) -> dict[str, bytes]:
    """Draw unlabelled images."""
    names = {f"{number}.png": "circle" if number % 2 else "square" for number in range(8)}
    drawn = enumerate(names.items(), salt)
    return {name: draw(shape, "blue", (64, 64), salt=at) for at, (name, shape) in drawn}


def as_folder(place) -> None:
    """Write new images into a folder."""
    place.mkdir()
    for name, content in new_images(100).items():
        (place / name).write_bytes(content)


def as_archive(place, method: int = zipfile.ZIP_DEFLATED) -> None:
    """Write new images into a folder of a zip archive, with the files that systems add."""
    files = {"new/": b"", "new/notes.txt": b"nothing to see"}
    for name, content in new_images(200 + method).items():
        files[f"new/\N{LATIN SMALL LETTER U WITH DIAERESIS}{name}"] = content
        files[f"__MACOSX/new/._{name}"] = b"nothing"
    place.write_bytes(make_zip(files, method=method))


def as_stored_archive(place) -> None:
    """Write new images into an uncompressed zip archive."""
    as_archive(place, zipfile.ZIP_STORED)


@pytest.mark.parametrize(
    ("field", "name", "write"),
    [
        ("Folder of unlabelled images", "new", as_folder),
        ("Or a zip archive of them", "new.zip", as_archive),
        ("Or a zip archive of them", "new.zip", as_stored_archive),
    ],
)
def test_images_are_ranked_and_labelled(console, shapes, tmp_path, field, name, write):
    """Images of a folder or zip archive are ranked; the labelled ones become examples."""
    caller, dataset_id, model = shapes
    page, place = console.page, tmp_path / name
    before = caller.get(f"/v2/vision/datasets/{dataset_id}").ok()["totalExamples"]
    write(place)
    console.enter(caller, f"next/vision/{model}")
    page.get_by_label(field).set_input_files(place)
    expect(page.get_by_text("8 images")).to_be_visible()
    page.get_by_label("Number of samples to choose").fill("4")
    page.get_by_role("button", name="Choose samples").click()
    page.wait_for_selector(".cell img", timeout=TRAINED_MS)
    page.wait_for_function(SEEN)
    count = page.locator(".cell").count()
    assert 1 <= count <= 4

    console.press(*["1"] * count)
    expect(page.get_by_text(f"{count} of {count} labelled")).to_be_visible()
    expect(page.get_by_text("Saved")).to_be_visible()
    after = caller.get(f"/v2/vision/datasets/{dataset_id}").ok()
    assert after["totalExamples"] == before + count


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04 and no more", "is damaged"),
        (make_zip({"notes.txt": b"no picture"}), "This contains no images"),
    ],
)
def test_useless_archive_is_refused(console, shapes, content, said):
    """A damaged zip archive, or one without images, is refused before anything is sent."""
    console.enter(shapes[0], f"next/vision/{shapes[2]}")
    file = {"name": "new.zip", "mimeType": "application/zip", "buffer": content}
    console.page.get_by_label("Or a zip archive of them").set_input_files(file)
    expect(console.page.get_by_role("alert")).to_contain_text(said)
    expect(console.page.get_by_role("button", name="Choose samples")).to_be_disabled()
