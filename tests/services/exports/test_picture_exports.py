"""Image exports: parsed by independent readers, and uploaded again."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import zipfile
from collections import Counter
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest
import yaml
from PIL import Image
from pycocotools.coco import COCO

from chalicelib import container
from chalicelib.domain.datasets.dataset import VISION, DatasetView
from chalicelib.domain.datasets.example import PictureFile, picture_digest
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from tests.builders import World
from tests.pictures import a_box, annotations, draw, draw_scene

# Label, left, top, width and height.
Box = tuple[str, float, float, float, float]
SCENES = {
    "a/street.jpg": draw_scene([("square", "red", (4, 8, 30, 30))], (120, 80), salt=1),
    "b/street.jpg": draw_scene([("circle", "blue", (9, 8, 30, 30))], (96, 96), salt=2),
    "yard & co.png": draw_scene([("circle", "red", (9, 8, 30, 30))], (64, 64), kind="PNG"),
    "yard & co.jpg": draw_scene([("cross", "red", (9, 8, 30, 30))], (64, 48), salt=4),
}
BOXES = {
    "a/street.jpg": [a_box("car, old", 4, 8, 30.5, 30), a_box("bike <2>", 50, 10, 20, 12)],
    "b/street.jpg": [a_box("bike <2>", 9, 8, 30, 30)],
    "yard & co.png": [a_box("été: #1", 0, 0, 64, 64), a_box("car, old", 1, 2, 3, 4)],
    "yard & co.jpg": [a_box("car, old", 3.25, 2, 33, 17)],
}


@pytest.fixture
def scenes(world: World) -> DatasetView:
    """Images with equal names or stems, and labels that need escaping."""
    files = {**SCENES, "annotations.csv": annotations(BOXES.items())}
    return world.once("exported scenes", lambda: world.pictures(files, "image-detection"))


def _export(world: World, view: DatasetView, kind: str) -> bytes:
    """Create an export and read its file."""
    made = world.container.exports.create(world.account, view, kind, "upload")
    [job] = [message for message in world.messages() if message[0] == "export"]
    world.deliver(job)
    found = world.container.exports.get(view, made.export_id)
    assert (found.status, found.examples) == ("SUCCEEDED", view.dataset.total), found
    [key] = world.objects(f"exports/{found.dataset_id}/{found.export_id}-")
    content = world.stores.artifacts.get(key)
    assert content is not None
    assert len(content) == found.size_bytes
    return content


def _again(world: World, content: bytes, kind: str) -> DatasetView:
    """Upload an archive as a new dataset."""
    view = world.container.uploads.create(
        world.account,
        VISION,
        UploadSource(content=content, file_name="again.zip"),
        UploadFields("again", kind),
    )
    world.read_files()
    return world.get(view)


def _examples(world: World, view: DatasetView) -> Counter[tuple[object, ...]]:
    """Count examples by image, label and box."""
    names = {label.label_id: label.name for label in view.labels}
    row = view.dataset
    return Counter(
        (e.picture, names[e.label_id], e.box)
        for e in world.stores.examples.read_all(row.dataset_id, "upload", row.counts)
    )


def _unzipped(content: bytes) -> dict[str, bytes]:
    """Read an archive; no name may occur twice, ignoring case."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len({name.casefold() for name in names}) == len(names)
        return {name: archive.read(name) for name in names}


def _truth() -> dict[str, list[Box]]:
    """Return the boxes by the digest of their image."""
    return {
        picture_digest(content).hex(): sorted(
            (box["label"], box["x"], box["y"], box["width"], box["height"]) for box in BOXES[name]
        )
        for name, content in SCENES.items()
    }


def _digest(content: bytes) -> str:
    return picture_digest(content).hex()


@pytest.mark.parametrize("kind", ["image", "image-multi-label"])
def test_folders_upload_to_the_same_examples(world: World, kind: str) -> None:
    """Re-uploading gives the same examples; equal file names get a suffix."""
    shared = draw("cross", salt=9)
    files = {
        "x/red/one.png": draw("circle", "red"),
        "y/red/one.png": draw("circle", "red", salt=1),
        "red/ONE.png": draw("circle", "red", salt=2),
        "blue & co/one.png": draw("circle", "blue"),
        "blue & co/two.png": shared,
    }
    if kind == "image-multi-label":
        files["red/again.png"] = shared
    view = world.pictures(files, kind)

    content = _export(world, view, "zip")
    names = set(_unzipped(content))
    again = _again(world, content, kind)

    assert {"red/one.png", "red/one-2.png", "red/ONE-3.png", "blue & co/one.png"} <= names
    assert _examples(world, again) == _examples(world, view)
    assert sum(_examples(world, view).values()) == len(files)
    assert set(_unzipped(_export(world, again, "zip"))) == names


def test_labels_that_no_folder_can_have_look_alike(world: World) -> None:
    """Labels with slashes or leading dots become distinct folders inside the archive."""
    view = world.pictures({"a/1.png": draw("circle")}, "image")
    for number, label in enumerate(("../up/down", ".hidden", "C:")):
        world.container.examples.add_picture(
            world.account,
            world.get(view),
            PictureFile(draw("square", salt=number), "p.png"),
            None,
            label,
        )

    names = _unzipped(_export(world, world.get(view), "zip"))

    assert all(name.count("/") == 1 and not name.startswith((".", "/")) for name in names)
    assert len({name.partition("/")[0] for name in names}) == 4


def test_annotations_upload_to_the_same_examples(world: World, scenes: DatasetView) -> None:
    """An archive with annotations.csv has each box once, with exact coordinates."""
    content = _export(world, scenes, "zip")
    again = _again(world, content, "image-detection")

    assert _examples(world, again) == _examples(world, scenes)
    files = _unzipped(content)
    header, *rows = csv.reader(io.StringIO(files["annotations.csv"].decode(), newline=""))
    assert {len(row) for row in (header, *rows)} == {3}
    found = {
        _digest(files[name]): sorted(tuple(json.loads(cell).values()) for cell in cells if cell)
        for name, *cells in rows
    }
    assert found == _truth()
    assert {"street.jpg", "street-2.jpg"} <= set(files)


@pytest.mark.parametrize("kind", ["zip", "coco", "yolo", "voc"])
def test_boxes_upload_to_the_same_examples(world: World, scenes: DatasetView, kind: str) -> None:
    """An exported and uploaded dataset has the same images, labels and boxes."""
    content = _export(world, scenes, kind)
    again = _again(world, content, "image-detection")

    assert _examples(world, again) == _examples(world, scenes)
    [receipt] = world.container.receipts.list(again, 0, 25).items
    assert (receipt.rejected, receipt.duplicates) == (0, 0)
    assert {w.code for w in receipt.warnings} == {"fewExamples", "tinyBoxes"}
    assert set(_unzipped(_export(world, again, kind))) == set(_unzipped(content))


def test_coco_is_read_by_its_authors_library(
    world: World, scenes: DatasetView, tmp_path: Path
) -> None:
    """The library of COCO's authors finds every box of every image under its label."""
    files = _unzipped(_export(world, scenes, "coco"))
    path = tmp_path / "instances.json"
    path.write_bytes(files["instances.json"])

    with contextlib.redirect_stdout(io.StringIO()):
        read = COCO(str(path))
    found = {}
    for image in read.loadImgs(read.getImgIds()):
        boxes = read.loadAnns(read.getAnnIds(imgIds=[image["id"]]))
        content = files[f"images/{image['file_name']}"]
        found[_digest(content)] = sorted(
            (read.loadCats(one["category_id"])[0]["name"], *one["bbox"]) for one in boxes
        )
    assert found == _truth()


def test_coco_follows_the_rules_of_its_authors(world: World, scenes: DatasetView) -> None:
    """COCO ids are unique and consistent; sizes are the images', boxes are [x, y, w, h]."""
    files = _unzipped(_export(world, scenes, "coco"))
    document = json.loads(files["instances.json"])

    images = {image["id"]: image for image in document["images"]}
    names = {category["id"]: category["name"] for category in document["categories"]}
    ids = [one["id"] for one in document["annotations"]]
    assert (len(images), len(set(ids)), len(names)) == (4, len(ids), 3)
    found: dict[str, list[Box]] = {}
    for image in images.values():
        content = files[f"images/{image['file_name']}"]
        assert Image.open(io.BytesIO(content)).size == (image["width"], image["height"])
        found[_digest(content)] = []
    for one in document["annotations"]:
        x, y, width, height = one["bbox"]
        assert (one["area"], one["iscrowd"]) == (width * height, 0)
        content = files[f"images/{images[one['image_id']]['file_name']}"]
        found[_digest(content)].append((names[one["category_id"]], x, y, width, height))
    assert {digest: sorted(boxes) for digest, boxes in found.items()} == _truth()


def test_yolo_is_read_by_its_classes(world: World, scenes: DatasetView) -> None:
    """YOLO labels have class, centre and size as fractions, in a file named after the image."""
    files = _unzipped(_export(world, scenes, "yolo"))
    document = yaml.safe_load(files["data.yaml"])

    assert (document["train"], document["nc"]) == ("images", len(document["names"]))
    found = {}
    for name, content in files.items():
        if name.startswith("images/"):
            width, height = Image.open(io.BytesIO(content)).size
            boxes = []
            text = files[f"labels/{PurePosixPath(name).stem}.txt"].decode()
            for line in text.splitlines():
                label, *shares = line.split(" ")
                x, y, w, h = map(float, shares)
                assert all(0 <= share <= 1 for share in (x, y, w, h))
                sides = ((x - w / 2) * width, (y - h / 2) * height, w * width, h * height)
                boxes.append((document["names"][int(label)], *(round(side, 6) for side in sides)))
            found[_digest(content)] = sorted(boxes)
    assert found == _truth()


def test_voc_is_read_as_xml(world: World, scenes: DatasetView) -> None:
    """VOC has an XML file per image with its name, its size and its objects."""
    files = _unzipped(_export(world, scenes, "voc"))

    found = {}
    for name, content in files.items():
        if name.startswith("Annotations/"):
            root = ElementTree.fromstring(content)  # noqa: S314 - our own
            picture = files[f"JPEGImages/{root.findtext('filename')}"]
            assert PurePosixPath(name).stem == PurePosixPath(str(root.findtext("filename"))).stem
            size = tuple(int(str(root.findtext(f"size/{side}"))) for side in ("width", "height"))
            assert Image.open(io.BytesIO(picture)).size == size
            boxes = []
            for one in root.iter("object"):
                sides = [float(str(one.findtext(f"bndbox/{side}"))) for side in
                         ("xmin", "ymin", "xmax", "ymax")]  # fmt: skip
                x, y, right, bottom = sides
                boxes.append((str(one.findtext("name")), x, y, right - x, bottom - y))
            found[_digest(picture)] = sorted(boxes)
    assert found == _truth()


def test_more_files_than_an_upload_takes_are_refused(
    world: World, scenes: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export is FAILED with the limit and the remedy."""
    monkeypatch.setattr(container, "MAX_ARCHIVE_ENTRIES", 7)
    made = world.container.exports.create(world.account, scenes, "voc", "upload")
    [job] = [message for message in world.messages() if message[0] == "export"]
    world.deliver(job)

    failed = world.container.exports.get(scenes, made.export_id)
    assert failed.status == "FAILED"
    assert "more than 7 files" in failed.message
