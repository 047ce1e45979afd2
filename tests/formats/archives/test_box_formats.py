"""Box formats of other tools: exact pixels, error places, and arbitrary input."""

from __future__ import annotations

import io
import json
import resource
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.domain.datasets.upload_format import ReadingOptions
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives import box_files
from chalicelib.formats.archives.picture_scan import ImageRules, ImageScan, Sink, scan_images
from chalicelib.formats.pictures.rules import PictureFacts
from tests.boxes import (
    BOXES,
    LABELS,
    SIDE,
    coco,
    coco_file,
    pictures,
    voc_document,
    voc_documents,
    yolo_texts,
)
from tests.corpus.box_exports import BOX_EXPORTS
from tests.corpus.case import UploadCase
from tests.formats.pictures.test_shrinking import noise
from tests.pictures import a_box, annotations, make_zip

PICTURES = pictures("images/")
CLASSES = {"data.yaml": b"names: [circle, square]\n"}
KINDS = {
    "coco": {"instances.json": coco_file()},
    "yolo": {**CLASSES, **yolo_texts()},
    "voc": voc_documents(),
}
TRUTH = {
    (name, box["label"], Box(*(float(box[side]) for side in ("x", "y", "width", "height"))))
    for name, boxes in BOXES.items()
    for box in boxes
}


def _scan(files: dict[str, bytes], **options: Any) -> ImageScan:
    """Scan a detection archive; every result must add up."""
    rules = ImageRules("image-detection", options=ReadingOptions(**options))
    sink = Sink(lambda *_: None, lambda: None)
    scan = scan_images(io.BytesIO(make_zip(files)), rules, sink)
    assert scan.seen == scan.kept + scan.duplicates + scan.rejected
    assert scan.kept == len(scan.items)
    return scan


def _rejections(files: dict[str, bytes]) -> list[RejectedItem]:
    return _scan({**PICTURES, **files}).rejections


@pytest.mark.parametrize(
    "case", [c for c in BOX_EXPORTS if c.labels and not c.rejected], ids=lambda case: case.name
)
def test_boxes_of_tools_are_read_to_the_pixel(case: UploadCase) -> None:
    """Each box of a tool's export has its image, label and sides in pixels."""
    sink = Sink(lambda *_: None, lambda: None)
    scan = scan_images(io.BytesIO(case.content), ImageRules("image-detection"), sink)

    assert {(item.name, item.label, item.box) for item in scan.items} == TRUTH


@pytest.mark.parametrize(
    ("change", "labels"),
    [
        ({"size": [8]}, ["circle", "square"]),
        ({"tags": "circle"}, ["circle", "square"]),
        ({"tags": 7}, ["square"]),
        ({"boundingBox": "none"}, ["square"]),
        ({"boundingBox": [1, 2, 3, 4]}, ["square"]),
    ],
)
def test_vott_values_of_other_types_are_no_failure(
    change: dict[str, Any], labels: list[str]
) -> None:
    """Values of the wrong type in VoTT's JSON are ignored, or reject only their box."""
    box = {"left": 2, "top": 2, "width": 9, "height": 9}
    first, second, *_ = BOXES
    odd = {"tags": ["circle"], "boundingBox": box, **change}
    whole = {"tags": ["square"], "boundingBox": box}
    assets = {
        "1": {"asset": {"name": first, "size": change.get("size")}, "regions": [odd]},
        "2": {"asset": {"name": second}, "regions": [whole]},
    }
    scan = _scan({**PICTURES, "shop.json": json.dumps({"assets": assets}).encode()})

    assert [item.label for item in scan.items] == labels


def test_an_empty_object_of_assets_is_not_vott() -> None:
    """A JSON file with an empty `assets` is not VoTT, so CreateML's boxes stay unambiguous."""
    box = {"x": 6, "y": 6, "width": 9, "height": 9}
    made = [{"image": next(iter(BOXES)), "annotations": [{"label": "a", "coordinates": box}]}]
    files = {"boxes.json": json.dumps(made).encode(), "package.json": b'{"assets": {}}'}
    scan = _scan({**PICTURES, **files})

    assert scan.kept == 1
    assert "formatGuessed" not in {warning.code for warning in scan.warnings}


@pytest.mark.parametrize(
    ("header", "bottom", "classes", "warnings"),
    [
        ("", 90, ("cat", "dog"), []),
        ("", 40, ("cat", "dog"), ["formatGuessed"]),
        ("", 90, ("0", "1"), []),
        ("filename,xmin,ymin,xmax,ymax,class\n", 40, ("cat", "dog"), []),
    ],
)
def test_a_table_of_corners_without_header_is_flagged_if_sizes_fit_too(
    header: str, bottom: int, classes: tuple[str, str], warnings: list[str]
) -> None:
    """Unnamed numbers are right and bottom edges; a warning says if they could be sizes as well."""
    rows = [
        f"images/scene-{at}.jpg,{at + 1},{20 + at},{40 + at},{bottom + at},{classes[at % 2]}\n"
        for at in range(6)
    ]
    scan = _scan({**PICTURES, "annotations.csv": (header + "".join(rows)).encode()})

    assert [item.box for item in scan.items] == [
        Box(at + 1, 20 + at, 39, bottom - 20) for at in range(6)
    ]
    assert {item.label for item in scan.items} == {*classes}
    assert [warning.code for warning in scan.warnings if warning.code != "fewExamples"] == warnings


def test_a_table_of_sizes_is_read_after_its_refusal_is_followed() -> None:
    """Sizes in a table without header are refused, and read below a row of their names."""
    rows = "".join(
        f"images/{name},{box['x']},{box['y']},{box['width']},{box['height']},{box['label']}\n"
        for name, boxes in BOXES.items()
        for box in boxes
    )
    header = "filename,x,y,width,height,class\n"

    with pytest.raises(InvalidUpload, match="these are x, y, width and height, begin the file"):
        _scan({**PICTURES, "annotations.csv": rows.encode()})
    scan = _scan({**PICTURES, "annotations.csv": (header + rows).encode()})

    assert {(item.name, item.label, item.box) for item in scan.items} == TRUTH


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("filename,width,height,class,x,y\n", "{name},96,96,cat,{at},9\n"),
        ("filename,x,y,class,width,height\n", "{name},{at},9,cat,96,96\n"),
        ("", "{name},1{at},2{at},5{at},6{at},0.8\n"),
    ],
)
def test_a_table_of_points_or_scores_is_not_one_of_boxes(header: str, row: str) -> None:
    """An image's size next to a point is no box, and a score is no class."""
    rows = (row.format(name=f"images/scene-{at}.jpg", at=at) for at in range(6))

    with pytest.raises(InvalidUpload):
        _scan({**PICTURES, "annotations.csv": (header + "".join(rows)).encode()})


@pytest.mark.parametrize("kind", KINDS)
def test_boxes_are_read_to_the_pixel(kind: str) -> None:
    """Boxes are read exactly, whether they are written in pixels or fractions."""
    scan = _scan({**PICTURES, **KINDS[kind]})

    assert {(item.name, item.label, item.box) for item in scan.items} == TRUTH
    assert (scan.rejected, scan.warnings) == (0, [])
    assert scan.format is not None
    assert scan.format.kind == kind


@pytest.mark.parametrize(
    ("written", "sides"),
    [
        ("90", (35, 20, 30, 50)),
        ("-45.0", (21.715729, 16.715729, 56.568542, 56.568542)),
        ("0.0", (25, 30, 50, 30)),
        ("1e999", (25, 30, 50, 30)),
        ("nan", (25, 30, 50, 30)),
        ("far", (25, 30, 50, 30)),
    ],
)
def test_turned_boxes_are_read_by_their_bounds(
    written: str, sides: tuple[float, float, float, float]
) -> None:
    """A rotated box of CVAT is read by the bounds of its rotated corners."""
    boxes = {"scene-0.jpg": [a_box("circle", 25, 30, 50, 30)]}
    document = coco(boxes)
    document["annotations"][0]["attributes"] = {"occluded": False, "rotation": written}
    attributes = f"<attribute><name>rotation</name><value>{written}</value></attribute>"
    voc = voc_document("scene-0.jpg", boxes["scene-0.jpg"]).replace(
        b"</object>", f"<attributes>{attributes}</attributes></object>".encode()
    )
    for file in ({"a.json": json.dumps(document).encode()}, {"Annotations/scene-0.xml": voc}):
        assert [item.box for item in _scan({**PICTURES, **file}).items] == [Box(*sides)]


@pytest.mark.parametrize(
    ("files", "row", "words"),
    [
        (
            {"a.json": json.dumps({**coco(), "images": coco()["images"][1:]}).encode()},
            1,
            "Annotation 1 of a.json, no image: its image_id is that of no image",
        ),
        (
            {**CLASSES, **yolo_texts(), "labels/scene-2.txt": b"\n\n1 .5 .5 .2\n"},
            3,
            "Line 3 of labels/scene-2.txt: it has 3 numbers after the class. Write",
        ),
        (
            {**voc_documents(), "Annotations/x.xml": voc_document("x", [a_box("a", 1, 1, 2, 2)])},
            1,
            "Object 1 of Annotations/x.xml: the archive has no image of this name",
        ),
        (
            {**CLASSES, **yolo_texts(), "labels/scene-2.txt": b"1 .5 nan .2 .2\n"},
            1,
            "nan is not a fraction of the image",
        ),
        (
            {**CLASSES, **yolo_texts(), "other/labels/scene-2.txt": b"1 .5 .5 .2 .2\n"},
            1,
            "has boxes from labels/scene-2.txt already",
        ),
        (
            {**voc_documents(), "Annotations/scene-2.xml": b"<annotation><object><name>a</name>"
             b"<bndbox><xmin>5</xmin><ymin>5</ymin><xmax>5</xmax><ymax>9</ymax></bndbox></object>"
             b"</annotation>"},
            1,
            "the box is 0 × 4 pixels; width and height must be above 0",
        ),
    ],
)  # fmt: skip
def test_place_of_a_rejected_box_is_reported(files: dict[str, bytes], row: int, words: str) -> None:
    """A rejection has file, place, cause and remedy; its image counts once."""
    found = _rejections(files)

    assert (found[0].row, words in found[0].reason) == (row, True), found[0]


def test_files_of_boxes_are_unpacked_within_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """All box documents share one limit of unpacked bytes."""
    monkeypatch.setattr(box_files, "MAX_BOX_FILE_BYTES", 2_000)

    with pytest.raises(InvalidUpload, match=r"unpack to more than 2,000 bytes"):
        _scan({**PICTURES, **voc_documents()})


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'{"images":' + b"[" * 100_000, b"", b"\xff\xfe{", b"nan"]
)
def test_document_that_is_not_json(content: bytes) -> None:
    """A document that is not JSON is refused by name, however deeply nested."""
    with pytest.raises(InvalidUpload, match=r"instances\.json cannot be read: it"):
        _scan({**PICTURES, "instances.json": content})


@pytest.mark.parametrize(
    "content",
    [
        b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nnames: *c\n",
        b"names: &n [*n]\n",
        b"names: {<<: {0: circle}}\n",
        b"names: [[circle], square]\n",
        b"- circle\n",
        b"nc: 2\n",
        b"names: " + b"[" * 5_000,
        b"\xff",
        b"\x00",
    ],
)
def test_class_list_that_is_none(content: bytes) -> None:
    """An invalid class list is refused by name; aliases, merges and depth cost nothing."""
    with pytest.raises(InvalidUpload, match=r"data\.yaml"):
        _scan({**PICTURES, **yolo_texts(), "data.yaml": content})


@pytest.mark.parametrize(
    ("annotations_", "words"),
    [
        (b"{}," * 3_000_001 + b"{}", "more than 3,000,000 objects"),
        (b"0," * 9_000_000 + b"0", "not a COCO document: Expected `object`"),
        (b'{"bbox":[' + b"0," * 9_000_000 + b"0]}", "None of the 7 boxes"),
    ],
    ids=["objects", "numbers", "sides"],
)
def test_document_that_would_fill_the_memory(annotations_: bytes, words: str) -> None:
    """A document that would expand to gigabytes of values is refused before it does."""
    document = coco_file(annotations=[]).replace(b'"annotations": []', b'"annotations": [%b]')
    files = {**PICTURES, "instances.json": document % annotations_}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(InvalidUpload, match=words):
        _scan(files)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_outline_becomes_its_bounds() -> None:
    """A YOLO outline becomes the smallest box around its points."""
    text = b"0 0.25 0.5 0.5 0.25 0.75 0.75\n"
    [item] = _scan({"a.jpg": PICTURES["images/scene-0.jpg"], **CLASSES, "labels/a.txt": text}).items

    assert item.box == Box(SIDE / 4, SIDE / 4, SIDE / 2, SIDE / 2)


@cache
def _large(width: int, height: int) -> bytes:
    """Draw a picture of more than 5 MB once, because that is slow."""
    return noise(width, height)


@pytest.mark.parametrize("kind", ["annotations", "coco", "yolo", "voc"])
def test_boxes_are_scaled_with_their_picture(kind: str) -> None:
    """With `shrink` boxes are scaled with their image; without it the image is too large."""
    width, height = 1_500, 1_200
    box = a_box("circle", 375, 300, 750, 600)
    image = {"id": 1, "file_name": "a.png", "width": width, "height": height}
    size = f"<size><width>{width}</width><height>{height}</height></size>"
    boxes = {
        "annotations": {"annotations.csv": annotations([("a.png", [box])])},
        "coco": {"a.json": json.dumps({**coco({"a.png": [box]}), "images": [image]}).encode()},
        "yolo": {**CLASSES, "labels/a.txt": b"0 .5 .5 .5 .5\n"},
        "voc": {"a.xml": voc_document("a.png", [box]).replace(
            f"<size><width>{SIDE}</width><height>{SIDE}</height><depth>3</depth></size>".encode(),
            size.encode(),
        )},
    }[kind]  # fmt: skip
    files = {"a.png": _large(width, height), **boxes}
    kept: list[tuple[bytes, PictureFacts]] = []
    rules = ImageRules("image-detection", options=ReadingOptions(shrink=True))
    sink = Sink(lambda _, content, facts: kept.append((content, facts)), lambda: None)

    [item] = scan_images(io.BytesIO(make_zip(files)), rules, sink).items
    [(content, facts)] = kept
    assert len(content) <= 5 << 20 < len(files["a.png"])
    assert item.box is not None
    sides = (item.box.x, item.box.y, item.box.width, item.box.height)
    wide, high = facts.width, facts.height
    assert sides == pytest.approx((wide / 4, high / 4, wide / 2, high / 2))
    with pytest.raises(InvalidUpload, match=r"or send shrink=true"):
        _scan(files)


_PIECES = st.sampled_from(
    [
        *(b'"', b"{", b"}", b"[", b"]", b",", b"<", b">", b"</object>", b"1e999", b"-1", b"null"),
        *(b"\x00", b"\xff", b"true", b'"id"', b"&a;", b"<!DOCTYPE x>", b" ", b"\n", b"9" * 5_000),
    ]
)


@pytest.mark.parametrize("kind", KINDS)
@hypothesis_settings(max_examples=60, deadline=2_000)
@given(pieces=st.lists(_PIECES, max_size=3), at=st.integers(0, 3_000), cut=st.integers(0, 40))
def test_mutated_files(kind: str, pieces: list[bytes], at: int, cut: int) -> None:
    """Any mutated file gives boxes and rejections that add up, or a refusal."""
    files = dict(KINDS[kind])
    name = list(files)[min(at % 3, len(files) - 1)]
    content = files[name]
    place = at % (len(content) + 1)
    files[name] = content[:place] + b"".join(pieces) + content[place + cut :]
    try:
        scan = _scan({**PICTURES, **files})
    except InvalidUpload:
        return
    assert set(scan.kept_by_label) <= {*LABELS, *scan.new_labels}
