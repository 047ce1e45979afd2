"""Tests of uploading data: dropped files, the preview, and scaled images."""

from __future__ import annotations

import base64
import json

import pytest
from playwright.sync_api import expect

from chalicelib.domain.datasets.windows import is_cut
from tests.boxes import BOXES, coco, pictures
from tests.formats.drawn import encoded, noise
from tests.live import SHOP
from tests.pictures import a_box, annotations, draw, label_folders, make_zip
from tests.workbooks import sheet, workbook

WIDE, SIDE, LEAST_SIDE = 2400, 1600, 640
MOST_BYTES = 1_000_000
BAD_ROW = b",refund\n"
TWICE = b"where is parcel number 1,delivery\n"
DROP = """({ name, content }) => {
  const data = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([data], name));
  document.querySelector('.drop').dispatchEvent(
    new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
}"""


def drop(console, name: str, content: bytes) -> None:
    """Drop a file on the page."""
    given = {"name": name, "content": base64.b64encode(content).decode()}
    # The page may still be drawing the area after a link was followed.
    console.page.wait_for_selector(".drop")
    console.page.evaluate(DROP, given)


def test_preview_comes_before_the_dataset(console, newcomer):
    """Format, labels, duplicates and rejected rows are shown before a dataset is created."""
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "shop.csv", SHOP + BAD_ROW + TWICE)
    page.wait_for_selector("text=Preview")
    facts = page.locator(".facts").inner_text().split("\n")
    shown = dict(zip(facts[::2], facts[1::2], strict=True))
    assert (shown["Examples"], shown["Duplicates"], shown["Rejected"]) == ("12", "1", "1")
    assert shown["Format"] == "csv"
    expect(page.locator(".bars")).to_contain_text("delivery")
    page.get_by_text("1 rejected").click()
    expect(page.locator("details li")).to_contain_text(str(SHOP.count(b"\n") + 1))
    assert caller.get("/v2/language/datasets").ok()["data"] == []

    page.get_by_label("Dataset name").fill("my shop")
    page.get_by_role("button", name="Create the dataset with 12 examples").click()
    page.wait_for_selector(".item .text")
    [kept] = caller.get("/v2/language/datasets").ok()["data"]
    assert (kept["name"], kept["totalExamples"]) == ("my shop", 12)


def test_dropped_zip_becomes_images(console, newcomer):
    """A zip archive becomes an image dataset with one label per folder."""
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "signs.zip", make_zip(label_folders({"circle": 2, "square": 3})))
    page.get_by_role("button", name="Create the dataset with 5 examples").click()
    page.wait_for_selector(".cell img")
    [kept] = caller.get("/v2/vision/datasets").ok()["data"]
    labels = {one["name"]: one["numExamples"] for one in kept["labelSummary"]["labels"]}
    assert labels == {"circle": 2, "square": 3}


def test_large_images_are_scaled(console, newcomer, tmp_path):
    """A large image is scaled down until it is small enough; a small one is unchanged."""
    large = encoded(noise(WIDE, WIDE * 3 // 4), "JPEG", quality=95)
    assert len(large) > MOST_BYTES
    for label in ("circle", "square"):
        (tmp_path / "signs" / label).mkdir(parents=True)
        (tmp_path / "signs" / label / "small.png").write_bytes(draw(label))
    (tmp_path / "signs" / "circle" / "large.jpg").write_bytes(large)
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    page.locator("input[type=file]").nth(1).set_input_files(tmp_path / "signs")
    page.get_by_role("button", name="Create the dataset with 3 examples").click()
    page.wait_for_selector(".cell img")
    [kept] = caller.get("/v2/vision/datasets").ok()["data"]
    found = caller.get(f"/v2/vision/datasets/{kept['id']}/browse").ok()["data"]
    *small, (width, height) = sorted((one["width"], one["height"]) for one in found)
    assert small == [(32, 32), (32, 32)]
    assert LEAST_SIDE <= width <= SIDE
    assert width / height == pytest.approx(4 / 3, rel=0.01)


def test_examples_are_added_to_a_dataset(console, newcomer):
    """A second file is added to a dataset, which then lists both uploads."""
    caller, page = newcomer(), console.page
    dataset = caller.upload(SHOP, name="shop.csv").ok()
    console.enter(caller, f"dataset/language/{dataset['id']}/uploads")
    page.get_by_role("link", name="Add examples").click()
    drop(console, "more.csv", TWICE + b"send me a new cup,exchange\n" + BAD_ROW)
    page.get_by_role("button", name="Add 2 examples").click()
    expect(page.get_by_text("1 added, 1 duplicates, 1 rejected")).to_be_visible()
    expect(page.get_by_text("12 added, 0 duplicates, 0 rejected")).to_be_visible()


HELPDESK = ["Ticket", "Subject", "Body", "Queue", "Priority", "Agent"]
QUEUES = ("Billing", "Shipping", "Returns")


def helpdesk(rows: int, first: int = 0) -> list[list[str]]:
    """Write rows of a table with six columns; the queue follows from the body."""
    return [
        [
            f"T{n}",
            f"Help with {QUEUES[n % 3].lower()}",
            f"I have a question number {n} about {QUEUES[n % 3].lower()} of my order",
            QUEUES[n % 3],
            ("low", "high", "urgent")[n % 3],
            f"Agent {n % 4}",
        ]
        for n in range(first, first + rows)
    ]


def test_columns_are_chosen_on_the_page(console, newcomer):
    """A column gets another role in the preview, and the file is read again at once."""
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "tickets.xlsx", workbook({"Data": sheet([HELPDESK, *helpdesk(30)])}))
    use = {name: page.get_by_label(f"Use of {name}") for name in HELPDESK}
    page.wait_for_selector("text=Preview")
    for name, role in (("Subject", "text"), ("Body", "text"), ("Priority", "label")):
        with page.expect_response("**/validate"):
            use[name].select_option(role)
    with page.expect_response("**/validate"):
        use["Agent"].select_option("")
    expect(use["Queue"]).to_have_value("")
    expect(page.locator(".bars")).to_contain_text("urgent")
    page.get_by_role("button", name="Create the dataset with 30 examples").click()
    page.wait_for_selector(".item .text")
    [kept] = caller.get("/v2/language/datasets").ok()["data"]
    found = caller.get(f"/v2/language/datasets/{kept['id']}/browse").ok()["data"]
    subject, body = helpdesk(1)[0][1:3]
    assert f"{subject}\n\n{body}" in {one["name"] for one in found}


def test_refused_file_offers_its_columns(console, newcomer):
    """A file whose columns are unclear shows them; choosing a text and a label reads it."""
    rows = [
        f"where is my parcel number {n},it is in depot {n} near you,{'ab'[n % 2]},{'xy'[n % 2]}"
        for n in range(30)
    ]
    page = console.page
    console.enter(newcomer(), "upload")
    drop(console, "wide.csv", "\n".join(["First,Second,Third,Fourth", *rows]).encode())
    expect(page.get_by_role("alert")).to_contain_text("at least one text and one label")
    expect(page.get_by_role("button", name="Create the dataset")).to_be_disabled()
    page.get_by_label("Use of Second").select_option("text")
    page.get_by_label("Use of Fourth").select_option("label")
    page.get_by_role("button", name="Create the dataset with 30 examples").click()
    page.wait_for_selector(".item .text")
    assert [error for error in console.errors if "400" not in error] == []
    console.errors.clear()  # the browser reports the refusals


def test_weak_labels_are_merged_or_left_out_before_the_upload(console, newcomer):
    """The warning of almost equal labels has a button; rare labels are merged or left out."""
    rows = [
        f"a question {n} about {label},{label}"
        for label in ("billing", "returns")
        for n in range(8)
    ]
    rare = ["my bill is wrong,Billing", "where did it go,lost", "some odd thing,odd"]
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "few.csv", "\n".join(["text,label", *rows, *rare]).encode())
    page.get_by_role("button", name="Merge Billing into billing").click()
    expect(page.get_by_text("Labels are almost equal")).to_have_count(0)
    page.get_by_label("Merge lost into").select_option("returns")
    page.get_by_role("button", name="Leave out odd").click()
    page.get_by_role("button", name="Create the dataset").click()
    page.wait_for_selector(".item .text")
    [kept] = caller.get("/v2/language/datasets").ok()["data"]
    labels = {one["name"]: one["numExamples"] for one in kept["labelSummary"]["labels"]}
    assert labels == {"billing": 9, "returns": 9}


def labels_of(caller, family: str) -> dict[str, int]:
    """Return the labels of the only dataset, with their examples."""
    [kept] = caller.get(f"/v2/{family}/datasets").ok()["data"]
    return {one["name"]: one["numExamples"] for one in kept["labelSummary"]["labels"]}


def create(console, caller) -> None:
    """Create the dataset, and wait for its page and the examples."""
    console.page.get_by_role("button", name="Create the dataset").click()
    console.page.wait_for_url("**#/dataset/**")
    _, family, dataset = console.page.url.rsplit("/", 2)
    caller.wait(f"/v2/{family}/datasets/{dataset}", "statusMsg", "UPLOADING")


def test_warnings_of_texts_are_fixed_by_buttons(console, newcomer):
    """Lists become their first label, marks and contradictions are left out, others accepted."""
    lists = ("Account|Urgent", "Account", "Returns|Angry", "Shipping")
    rows = [f"a question {n} about things,{lists[n % 4]}" for n in range(40)]
    marks = [f"no idea what this is {n},None" for n in range(6)]
    missing = [f"nothing was chosen {n},#N/A" for n in range(2)]
    twice = ["is it one or the other,Account", "is it one or the other,Shipping"]
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    content = "\n".join(["text,label", *rows, *marks, *missing, *twice])
    drop(console, "tickets.csv", content.encode())
    page.wait_for_selector("text=Preview")
    warnings = page.locator(".notice.warn")
    assert all(found.locator("button").count() for found in warnings.all())
    page.get_by_role("button", name="Use the first label of each list").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Use the first label of each list").click()
    page.get_by_role("button", name="Leave out None").click()
    page.get_by_role("button", name="Leave these texts out").click()
    page.get_by_role("button", name="Leave them out").click()
    page.get_by_role("button", name="Keep as it is").click()
    expect(warnings).to_have_count(0)
    create(console, caller)
    assert labels_of(caller, "language") == {"Account": 20, "Returns": 10, "Shipping": 10}


def test_a_file_dropped_next_to_the_zone_keeps_the_page(console, newcomer):
    """The browser does not open a file that misses the drop zone in place of the console."""
    console.enter(newcomer(), "upload")
    event = "new DragEvent('drop', { bubbles: true, cancelable: true })"
    assert console.page.evaluate(f"() => !document.body.dispatchEvent({event})")


def test_text_and_label_are_swapped(console, newcomer):
    """A file with nearly one label a text has a button that swaps the columns."""
    rows = [f"{'ab'[n % 2]} {n % 3},I wonder about thing number {n}" for n in range(20)]
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "swapped.csv", "\n".join(["text,label", *rows]).encode())
    page.get_by_role("button", name="Swap text and label").first.click()
    expect(page.locator(".bars")).to_contain_text("a 0")
    create(console, caller)
    assert len(labels_of(caller, "language")) == 6


def test_tiny_boxes_are_left_out(console, newcomer):
    """An archive of boxes is recognised, and a button removes boxes that are too small."""
    rows = [
        (name, [circle, a_box("square", 50, 9 + place, 3, 2) if place < 3 else square])
        for place, (name, [circle, square]) in enumerate(BOXES.items())
    ]
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "boxes.zip", make_zip({**pictures(), "annotations.csv": annotations(rows)}))
    expect(page.get_by_label("Dataset type")).to_have_value("image-detection")
    page.get_by_role("button", name="Leave these boxes out").click()
    create(console, caller)
    assert labels_of(caller, "vision") == {"circle": 6, "square": 3}
    console.errors.clear()  # the browser reports that the archive has no folders of labels


def leave_out_cut_boxes(console, caller, folder: str) -> None:
    """Drop a COCO archive whose first two images have cut boxes, and leave these images out."""
    boxes = {
        f"{folder}{name}": [circle, a_box("square", 44, 8, 74, 38) if place < 2 else square]
        for place, (name, [circle, square]) in enumerate(BOXES.items())
    }
    files = {f"{folder}{name}": content for name, content in pictures().items()}
    page = console.page
    console.enter(caller, "upload")
    listed = json.dumps(coco(boxes)).encode()
    drop(console, "boxes.zip", make_zip({**files, "instances.json": listed}))
    page.get_by_label("Dataset type").select_option("image-detection")
    page.get_by_role("button", name="Leave out the 2 listed images").click()
    expect(page.get_by_role("button", name="listed images")).to_have_count(0)
    create(console, caller)
    assert labels_of(caller, "vision") == {"circle": 4, "square": 4}
    console.errors.clear()  # the browser reports that the archive has no folders of labels


def test_images_with_cut_boxes_are_left_out(console, newcomer):
    """The listed images leave the archive, which is read again before the dataset is created."""
    leave_out_cut_boxes(console, newcomer(), "")


def test_images_with_unusual_paths_are_left_out(console, newcomer):
    """Paths longer than the service shows, and with steps that mean nothing, are found."""
    leave_out_cut_boxes(console, newcomer(), f"./{'very ' * 20}long//")


def test_images_that_are_not_in_the_archive_are_reported(console, newcomer):
    """If no file has a listed path, the page says so and keeps the preview."""

    def rename(route):
        """Answer with other places than the archive has."""
        answer = route.fetch()
        found = answer.json()
        for warning in found.get("warnings", []):
            warning["places"] = ["elsewhere.png"]
        route.fulfill(response=answer, json=found)

    boxes = {
        name: [circle, a_box("square", 44, 8, 74, 38) if place < 2 else square]
        for place, (name, [circle, square]) in enumerate(BOXES.items())
    }
    page = console.page
    console.enter(newcomer(), "upload")
    page.route("**/datasets/validate", rename)
    listed = json.dumps(coco(boxes)).encode()
    drop(console, "boxes.zip", make_zip({**pictures(), "instances.json": listed}))
    page.get_by_label("Dataset type").select_option("image-detection")
    page.get_by_role("button", name="Leave out the 1 listed images").click()
    expect(page.get_by_role("alert")).to_contain_text("No file of the archive has a listed path")
    expect(page.get_by_role("button", name="Create the dataset")).to_be_enabled()
    console.errors.clear()  # the browser reports that the archive has no folders of labels


def test_part_of_a_dataset_is_left_out(console, newcomer):
    """Of folders such as train and test, one can be left out."""
    files = {
        f"{part}/{label}/{n}.png": draw(label, salt=10 * (part == "test") + n)
        for part in ("train", "test")
        for label in ("circle", "square")
        for n in range(3)
    }
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "parts.zip", make_zip(files))
    page.get_by_role("button", name="Leave out test").click()
    expect(page.get_by_role("button", name="Leave out test")).to_have_count(0)
    create(console, caller)
    assert labels_of(caller, "vision") == {"circle": 3, "square": 3}


def test_joined_cells_mixed_encodings_and_long_texts_are_fixed_by_buttons(console, newcomer):
    """Columns, encoding and texts that are too long each have a button."""
    rows = [f"no {n}, it is late é,{'ab'[n % 2]}".encode() for n in range(30)]
    rows[3] = b"no 3, it is late \xe9,b"
    rows[4] = b"word " * 1_300 + b"4, it is late,a"
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "cells.csv", b"\n".join([b"text,label", *rows]))
    page.wait_for_selector("text=Preview")
    page.get_by_role("button", name="Use windows-1252").click()
    expect(page.get_by_role("button", name="Use windows-1252")).to_have_count(0)
    page.get_by_role("button", name="Leave these texts out").click()
    page.get_by_role("button", name="Use only columns 1 and 3").click()
    expect(page.get_by_role("button", name="Use only columns 1 and 3")).to_have_count(0)
    create(console, caller)
    assert labels_of(caller, "language") == {"a": 14, "b": 15}


def test_words_are_counted_as_the_service_counts_them(console, newcomer):
    """Of texts just below and above the limit, the page removes those that the service cuts."""
    # With the number of their words.
    units = {"word": 1, "語": 1, "か語": 2, "x" * 61: 2, "🙂" * 31: 1, "🙂" * 61: 2}
    units |= {"a\x85b": 2, "a\x1cb": 2, "a\ufeffb": 1}
    texts = []
    for unit, count in units.items():
        start = " ".join([unit] * 20)
        texts += [f"{start} {' '.join('a' * (left - 20 * count))}" for left in (1_200, 1_201)]
    assert [is_cut(text) for text in texts] == [False, True] * len(units)
    rows = [{"text": text, "label": "ab"[n // 2 % 2]} for n, text in enumerate(texts)]
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "long.json", json.dumps(rows).encode())
    page.get_by_role("button", name="Leave these texts out").click()
    create(console, caller)
    browse = f"/v2/language/datasets/{page.url.rsplit('/', 1)[1]}/browse"
    stays = {one["name"] for one in caller.get(browse, count=100).ok()["data"]}
    wrong = [unit for unit, short in zip(units, texts[::2], strict=True) if short not in stays]
    assert (wrong, len(stays)) == ([], len(units))


def test_labels_of_a_table_are_split(console, newcomer):
    """Cells with several labels of images are split by a button, and the folders are accepted."""
    rows = [f"{n}.png,{'red|round' if n % 2 else 'red'}" for n in range(6)]
    table = "\n".join(["filename,label", *rows])
    files = {f"{n}.png": draw("circle", salt=n) for n in range(6)}
    caller, page = newcomer(), console.page
    console.enter(caller, "upload")
    drop(console, "signs.zip", make_zip({**files, "train.csv": table.encode()}))
    page.get_by_role("button", name="Split labels at |").click()
    expect(page.get_by_label("Dataset type")).to_have_value("image-multi-label")
    expect(page.get_by_role("button", name="Split labels at |")).to_have_count(0)
    for _ in range(page.get_by_role("button", name="Keep as it is").count()):
        page.get_by_role("button", name="Keep as it is").first.click()
    create(console, caller)
    assert labels_of(caller, "vision") == {"red": 6, "round": 3}
