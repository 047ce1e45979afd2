"""Image archives become datasets: labels, counts, receipts and examples."""

from __future__ import annotations

import pytest

from bench.drawing.archives import sign_files
from tests.conversions import with_raw_exif
from tests.flows.client import VISION, Client
from tests.flows.pictures import (
    folders,
    folders_zip,
    fruit_scenes,
    lossless,
    scenes_zip,
    shape,
    turned,
)
from tests.flows.test_picture_examples import fetch
from tests.pictures import a_box, draw, make_zip

NUMBERS = ("seen", "kept", "duplicates", "rejected")


@pytest.fixture
def client(world) -> Client:
    """A new caller of the calls below /vision."""
    return world.photographer()


def counts(dataset):
    """Return labels with their numbers of examples, in order."""
    return [(item["name"], item["numExamples"]) for item in dataset["labelSummary"]["labels"]]


def receipts(client, dataset):
    """Return the counts of the receipts, newest first, after checking that they add up."""
    found = client.items(f"{VISION}/datasets/{dataset['id']}/receipts")
    for receipt in found:
        assert receipt["seen"] == sum(receipt[name] for name in NUMBERS[1:])
    return [tuple(receipt[name] for name in NUMBERS) for receipt in found]


def add(client, dataset, content):
    """Add an archive to a dataset and wait until it is read; return both answers."""
    path = f"{VISION}/datasets/{dataset['id']}/upload"
    posted = client.multipart("PUT", path, {}, {"data": ("more.zip", content)}).ok
    return posted, client.wait_dataset(dataset["id"])


def fetched(url):
    """Fetch a URL without credentials; return content type, disposition and bytes."""
    answer = fetch(url)
    assert answer.status == 200
    return answer.headers["content-type"], answer.headers["content-disposition"], answer.body


def test_folders_become_labels(client):
    """Parent folders become labels in order of appearance; the receipt lists skipped files."""
    twin = draw("cross", "green")
    files = {
        "set/zebra/one.png": draw("circle", "blue"),
        "set/ape/two.jpg": draw("square", kind="JPEG"),
        "set/zebra/three.png": twin,
        "set/zebra/three again.png": twin,
        "set/ape/three.png": twin,
        "set/ape/notes.txt": b"no picture",
        "set/ape/broken.png": twin[:-20],
        "__MACOSX/set/ape/._two.jpg": b"x",
        "set/.DS_Store": b"x",
    }
    posted = client.upload(make_zip(files), "/home/me/animals.zip")
    done = client.wait_dataset(posted["id"])

    assert (posted["statusMsg"], posted["available"], counts(posted)) == ("UPLOADING", False, [])
    assert (done["statusMsg"], done["available"], done["name"]) == ("SUCCEEDED", True, "animals")
    assert (done["type"], done["language"], done["totalLabels"]) == ("image", "N/A", 2)
    assert counts(done) == [("zebra", 2), ("ape", 2)]
    assert (done["totalExamples"], done["numOfDuplicates"]) == (4, 1)
    assert receipts(client, done) == [(7, 4, 1, 2)]
    (receipt,) = client.items(f"{VISION}/datasets/{done['id']}/receipts")
    reasons = {item["file"]: item["reason"] for item in receipt["rejections"]}
    assert set(reasons) == {"set/ape/notes.txt", "set/ape/broken.png"}


@pytest.mark.parametrize("call", ["upload", "upload/sync"])
def test_path_is_downloaded(client, files, call):
    """An archive at a URL becomes a dataset that is named after it."""
    path = files.add("shapes one.zip".replace(" ", "%20"), folders_zip(count=3))
    answer = client.json("POST", f"{VISION}/datasets/{call}", {"path": path})
    done = client.wait_dataset(answer.ok["id"])

    assert (done["name"], done["type"], done["totalExamples"]) == ("shapes one", "image", 6)


def test_synchronous_upload_answers_finished(client):
    """The answer of upload/sync already holds the final counts."""
    done = client.upload(folders_zip(count=2), "x.zip", call="upload/sync", name="mine")

    assert (done["statusMsg"], done["name"], done["totalExamples"]) == ("SUCCEEDED", "mine", 4)
    assert client.get(f"{VISION}/datasets/{done['id']}").ok == done


def test_put_adds(client):
    """A PUT keeps labels and ids, appends new labels, and skips existing images."""
    first = client.dataset(folders_zip(count=3), file_name="shapes.zip")
    more = {
        **folders(count=4),
        "new/one.png": draw("triangle", "green"),
        "new/two.png": shape("circle", "red", 0),
    }
    posted, done = add(client, first, make_zip(more))

    assert (posted["statusMsg"], posted["available"]) == ("UPLOADING", False)
    assert counts(posted) == counts(first) == [("ball", 3), ("box", 3)]
    assert counts(done) == [("ball", 4), ("box", 4), ("new", 2)]
    assert (done["totalExamples"], done["numOfDuplicates"]) == (10, 6)
    ids = [[x["id"] for x in d["labelSummary"]["labels"]] for d in (first, done)]
    assert ids[1][:2] == ids[0]
    assert receipts(client, done) == [(10, 4, 6, 0), (6, 6, 0, 0)]


def test_uploading_dataset_takes_no_second_file(client, stack):
    """While an archive is being read, another one is refused with the documented message."""
    stack.pause_workers()
    try:
        posted = client.upload(folders_zip(count=2), "x.zip")
        path = f"{VISION}/datasets/{posted['id']}/upload"
        refused = client.multipart("PUT", path, {}, {"data": ("x.zip", folders_zip(count=1))})
        training = client.json("POST", f"{VISION}/train", {"name": "m", "datasetId": posted["id"]})
    finally:
        stack.resume_workers()

    assert (refused.status, refused.data["code"]) == (400, "dataset_busy")
    assert refused.data["message"] == (
        "The dataset is not yet available for update, try again once the dataset is ready."
    )
    assert training.status == 409
    assert client.wait_dataset(posted["id"])["totalExamples"] == 4


def test_examples_are_paged_with_addresses(client):
    """Every example has a URL that serves its bytes, type and name as an attachment."""
    files = {**folders(count=4), "box/größe 1.jpg": draw("cross", kind="JPEG")}
    made = client.dataset(make_zip(files), file_name="shapes.zip")
    path = f"{VISION}/datasets/{made['id']}/examples"

    pages = client.pages(path, count=4)
    items = [item for page in pages for item in page.ok["data"]]

    assert [len(page.data["data"]) for page in pages] == [4, 4, 1]
    assert [item["name"] for item in items] == [name.split("/")[1] for name in files]
    assert [item["label"]["name"] for item in items] == ["ball"] * 4 + ["box"] * 5
    assert len({item["id"] for item in items}) == 9
    for item, content in zip(items, files.values(), strict=True):
        kind, disposition, served = fetched(item["location"])
        assert served == content
        assert kind == ("image/jpeg" if item["name"].endswith(".jpg") else "image/png")
        assert disposition.startswith("attachment; filename*=UTF-8''")
    label = made["labelSummary"]["labels"][1]
    of_label = client.items(f"{VISION}/examples/{made['id']}/label/{label['id']}")
    assert [item["id"] for item in of_label] == [item["id"] for item in items[4:]]


def test_multi_label_pictures(client):
    """An image in two folders is one image with two labels, each an example."""
    twin = draw("cross", "green")
    files = {"a/1.png": twin, "b/1.png": twin, "a/2.png": draw("circle"), "b/3.png": twin}
    done = client.dataset(make_zip(files), file_name="tags.zip", type="image-multi-label")
    items = client.items(f"{VISION}/datasets/{done['id']}/examples")

    assert counts(done) == [("a", 2), ("b", 1)]
    assert (done["totalExamples"], done["numOfDuplicates"]) == (3, 1)
    assert receipts(client, done) == [(4, 3, 1, 0)]
    addresses = [item["location"].partition("?")[0] for item in items]
    assert addresses[0] == addresses[2] != addresses[1]


def test_boxes_are_examples(client):
    """Each box is an example of its label; receipts name invalid boxes by file and row."""
    scenes = fruit_scenes(2)
    boxes = sum(len(found) for _, _, found in scenes)
    twice = scenes[0][2][0]
    content = scenes_zip(
        scenes, (scenes[0][0], [twice, "{"]), ("gone.jpg", [a_box("apple", 1, 1, 2, 2)])
    )
    done = client.dataset(content, file_name="tables.zip", type="image-detection")
    items = client.items(f"{VISION}/datasets/{done['id']}/examples")
    (receipt,) = client.items(f"{VISION}/datasets/{done['id']}/receipts")

    assert (done["totalExamples"], done["numOfDuplicates"]) == (boxes, 1)
    assert {name for name, _ in counts(done)} == {"apple", "banana"}
    assert receipts(client, done) == [(boxes + 3, boxes, 1, 2)]
    assert [item["row"] for item in receipt["rejections"]] == [4, 5]
    assert {item["name"] for item in items} == {name for name, _, _ in scenes}
    assert fetched(items[0]["location"])[2] in {content for _, content, _ in scenes}


@pytest.mark.parametrize("is_raw", [False, True])
def test_boxes_lie_in_the_displayed_picture(client, is_raw):
    """A box is validated in the displayed frame, after EXIF rotation."""
    name, upright, _ = fruit_scenes(1)[0]
    content = turned(upright, 6, "JPEG")
    if is_raw:
        content = with_raw_exif(lossless(content), 6)
    right, low = a_box("apple", 220, 20, 30, 30), a_box("apple", 20, 220, 30, 30)
    done = client.dataset(
        scenes_zip([(name, content, [right, low])]), file_name="t.zip", type="image-detection"
    )

    assert receipts(client, done) == [(2, 1, 0, 1)]
    (receipt,) = client.items(f"{VISION}/datasets/{done['id']}/receipts")
    assert "256 × 192" in receipt["rejections"][0]["reason"]


def test_shipped_sample(client):
    """The shipped sample of road signs is read without a rejection."""
    files = sign_files()
    done = client.upload(make_zip(files), "signs.zip", call="upload/sync")

    assert receipts(client, done) == [(len(files), len(files), 0, 0)]
    assert [name for name, _ in counts(done)] == list(
        dict.fromkeys(name.split("/")[0] for name in files)
    )


def test_types_stay_in_their_family(client):
    """A vision dataset is a 404 below /language and accepts no texts."""
    made = client.dataset(folders_zip(count=1), file_name="x.zip")

    assert client.get(f"/v2/language/datasets/{made['id']}").status == 404
    sent = {"name": "m", "datasetId": made["id"]}
    assert client.json("POST", "/v2/language/train", sent).status == 404
    wrong = client.multipart(
        "POST", f"{VISION}/datasets/upload", {"type": "text-intent"}, {"data": ("x.zip", b"PK")}
    )
    assert wrong.status == 400


def test_photos_of_a_detection_dataset_need_a_table(client):
    """Detection archives without annotations.csv fail with the remedy."""
    done = client.dataset(folders_zip(count=1), file_name="x.zip", type="image-detection")

    assert done["statusMsg"].startswith("FAILED: The archive has no annotations.csv.")
    assert "type image" in done["statusMsg"]
    assert done["available"] is False
