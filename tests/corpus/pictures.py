"""Archives of pictures: folders of labels, and boxes in the formats of four tools."""

from __future__ import annotations

import io
import json
import re
from typing import Any

from PIL import Image

from chalicelib.domain.datasets.dataset import DETECTION
from chalicelib.domain.datasets.upload_format import ReadingOptions
from tests.boxes import (
    BOXES,
    coco,
    coco_file,
    pictures,
    voc_document,
    voc_documents,
    yolo_lines,
    yolo_texts,
)
from tests.corpus.case import UploadCase
from tests.formats.archives.raw_archives import Raw, raw_zip
from tests.formats.drawn import turned
from tests.formats.pictures.test_shrinking import noise
from tests.pictures import a_box, annotations, draw, label_folders, make_zip

EACH = {"circle": 6, "square": 6}
FEW = frozenset({"fewExamples"})
GUESSED = frozenset({"formatGuessed"})
_TABLE = {"annotations.csv": annotations(BOXES.items())}
_IMAGES = pictures("images/")
_YAML = {"data.yaml": b"train: images\nnc: 2\nnames: [circle, square]\n"}
_FIRST = dict(list(BOXES.items())[:5])
_LAST = dict(list(BOXES.items())[5:])


def _ok(name: str, files: dict[str, bytes], kind: str, **more: Any) -> UploadCase:
    facts = {"labels": EACH, "type": DETECTION, **more}
    return UploadCase(name, make_zip(files), kind=kind, **facts)


def _no(name: str, files: dict[str, bytes] | bytes, refusal: str, **more: Any) -> UploadCase:
    content = files if isinstance(files, bytes) else make_zip(files)
    return UploadCase(name, content, refusal=refusal, **{"type": DETECTION, **more})


def _changed(**members: Any) -> dict[str, bytes]:
    """Return an archive of COCO whose document has other members."""
    return {**_IMAGES, "instances.json": json.dumps({**coco(), **members}).encode()}


def _annotated(change: dict[str, Any]) -> dict[str, bytes]:
    """Return an archive of COCO whose first annotation has other members."""
    first, *others = coco()["annotations"]
    return _changed(annotations=[{**first, **change}, *others])


def _texts_of_ids() -> dict[str, bytes]:
    """Return an archive of COCO whose ids are texts, in the annotations alone."""
    document = coco()
    for found in document["annotations"]:
        found |= {"image_id": str(found["image_id"]), "category_id": str(found["category_id"])}
    return {**_IMAGES, "instances.json": json.dumps(document).encode()}


def _corners() -> dict[str, bytes]:
    """Return an archive of COCO whose boxes are left, top, right and bottom edges."""
    document = coco()
    for found in document["annotations"]:
        x, y, width, height = found["bbox"]
        found["bbox"] = [x, y, x + width, y + height]
    return _changed(**document)


def _longer(files: dict[str, bytes], more: bytes) -> dict[str, bytes]:
    """Add numbers to each line of YOLO."""
    return {name: content.replace(b"\n", more + b"\n") for name, content in files.items()}


def _renamed(files: dict[str, bytes], folder: str) -> dict[str, bytes]:
    """Give images the names of the first ones, in a folder of their own."""
    return {
        f"{folder}{name}": content for name, content in zip(_FIRST, files.values(), strict=False)
    }


def _rotated(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return images of an archive with an EXIF tag that rotates them by 180 degrees."""
    opened = {name: Image.open(io.BytesIO(content)) for name, content in files.items()}
    return {name: turned(image, "JPEG", 3) for name, image in opened.items()}


COCO_FILES = [
    _ok("COCO", {**_IMAGES, "annotations/instances_train.json": coco_file()}, "coco"),
    _ok("COCO of any name", {**_IMAGES, "result.json": coco_file(folder="images/")}, "coco"),
    _ok(
        "COCO in two parts next to their images",
        {
            **pictures("train/", _FIRST),
            "train/_annotations.coco.json": coco_file(_FIRST),
            **{"valid/scene-0.jpg": pictures()["scene-5.jpg"]},
            "valid/_annotations.coco.json": coco_file({"scene-0.jpg": _LAST["scene-5.jpg"]}),
            "README.txt": b"made by a tool",
        },
        "coco",
    ),
    _ok(
        "COCO with captions next to it",
        {**_IMAGES, "instances.json": coco_file(), "captions.json": b'{"images": []}'},
        "coco",
    ),
    _ok(
        "COCO with a byte order mark", {**_IMAGES, "a.json": b"\xef\xbb\xbf" + coco_file()}, "coco"
    ),
    _ok(
        "COCO with corners for sizes",
        _corners(),
        "coco",
        labels={"circle": 6, "square": 6},
        warnings=frozenset({"boxesCut"}),
    ),
    _ok(
        "COCO of images that EXIF rotates",
        {**_rotated(_IMAGES), "instances.json": coco_file()},
        "coco",
        warnings=frozenset({"rotatedImages"}),
    ),
    _ok(
        "COCO in two parts whose images have the same names",
        {
            **pictures("images/train2017/", _FIRST),
            **_renamed(pictures("", _LAST), "images/val2017/"),
            "annotations/instances_train2017.json": coco_file(_FIRST),
            "annotations/instances_val2017.json": coco_file(
                dict(zip(_FIRST, _LAST.values(), strict=False))
            ),
        },
        "coco",
    ),
    _ok("COCO whose ids are texts", _texts_of_ids(), "coco"),
    _ok(
        "COCO with a crowd mask",
        _annotated({"iscrowd": 1, "segmentation": {"counts": [1, 2], "size": [96, 96]}}),
        "coco",
        labels={"circle": 5, "square": 6},
        rejected=1,
    ),
    _ok(
        "COCO of an outline alone",
        _annotated({"bbox": None}),
        "coco",
        labels={"circle": 5, "square": 6},
        rejected=1,
    ),
    _ok(
        "COCO with an unknown category",
        _annotated({"category_id": 9}),
        "coco",
        labels={"circle": 5, "square": 6},
        rejected=1,
    ),
    _ok(
        "COCO with a missing image",
        {**pictures("images/", _FIRST), "instances.json": coco_file()},
        "coco",
        labels={"circle": 5, "square": 5},
        rejected=2,
    ),
    _ok(
        "COCO of an image of another size",
        {**_IMAGES, "images/scene-0.jpg": draw(size=(192, 192)), "instances.json": coco_file()},
        "coco",
        labels={"circle": 5, "square": 5},
        rejected=2,
    ),
    _ok(
        "COCO in two parts, of which the images of one are missing",
        {
            **pictures("train/"),
            "train/_annotations.coco.json": coco_file(),
            "valid/_annotations.coco.json": coco_file(_FIRST),
        },
        "coco",
        rejected=10,
    ),
    _no("COCO that is cut off", {**_IMAGES, "instances.json": coco_file()[:-9]}, "not valid JSON"),
    _no(
        "COCO of two images with one id",
        _changed(images=[{**image, "id": 1} for image in coco()["images"]]),
        "two images have the id 1",
    ),
    _no("COCO without categories", _changed(categories=7), "not a COCO document"),
    _no(
        "COCO in shares",
        _changed(annotations=[{**a, "bbox": [0.1, 0.1, 0.3, 0.3]} for a in coco()["annotations"]]),
        "shares of the image",
    ),
    _no(
        "JSON for each image",
        {**_IMAGES, **{f"{name}.json": b'{"shapes": []}' for name in BOXES}},
        "is not COCO",
    ),
    _no(
        "a bomb of a document",
        {**_IMAGES, "instances.json": b" " * (257 * 1024 * 1024)},
        "256 MB",
    ),
]
YOLO_FILES = [
    _ok("YOLO", {**_IMAGES, **_YAML, **yolo_texts()}, "yolo"),
    _ok(
        "YOLO of a tracker, with confidence and track number",
        {**_IMAGES, **_YAML, **_longer(yolo_texts(), b" 0.87 1")},
        "yolo",
        warnings=GUESSED,
    ),
    _ok(
        "YOLO of a detector, with confidence",
        {**_IMAGES, **_YAML, **_longer(yolo_texts(), b" 0.9")},
        "yolo",
        warnings=GUESSED,
    ),
    _ok(
        "YOLO of images that EXIF rotates",
        {**_rotated(_IMAGES), **_YAML, **yolo_texts()},
        "yolo",
        warnings=frozenset({"rotatedImages"}),
    ),
    _ok(
        "YOLO with classes.txt next to the images",
        {**pictures(), "classes.txt": b"circle\r\nsquare\r\n", **yolo_texts("")},
        "yolo",
    ),
    _ok(
        "YOLO in two parts",
        {
            **pictures("train/images/", _FIRST),
            **yolo_texts("train/labels/", _FIRST),
            "valid/images/scene-0.jpg": pictures()["scene-5.jpg"],
            "valid/labels/scene-0.txt": yolo_lines(_LAST["scene-5.jpg"]),
            "data.yaml": b"names:\n  0: circle\n  1: square\n",
            "README.roboflow.txt": b"made by a tool",
        },
        "yolo",
    ),
    _ok(
        "YOLO with outlines",
        {**_IMAGES, **_YAML, **yolo_texts(), "labels/scene-0.txt": b"0 .1 .1 .4 .1 .4 .4\n"},
        "yolo",
        labels={"circle": 6, "square": 5},
    ),
    _ok(
        "YOLO with key points",
        {
            **_IMAGES,
            "data.yaml": _YAML["data.yaml"] + b"kpt_shape: [1, 2]\n",
            **yolo_texts(),
            "labels/scene-0.txt": b"0 .3 .3 .4 .4 .9 .9\n",
        },
        "yolo",
        labels={"circle": 6, "square": 5},
    ),
    _ok(
        "YOLO with classes that YAML takes for something else",
        {**_IMAGES, **yolo_texts(), "data.yaml": b"names: [no, 1.50]\n"},
        "yolo",
        labels={"no": 6, "1.50": 6},
    ),
    _ok(
        "YOLO with a class out of range",
        {**_IMAGES, **_YAML, **yolo_texts(), "labels/scene-0.txt": b"2 .3 .3 .4 .4\n"},
        "yolo",
        labels={"circle": 5, "square": 5},
        rejected=1,
    ),
    _ok(
        "YOLO with an image of nothing, and a text of no image",
        {
            **_IMAGES,
            **_YAML,
            **yolo_texts(),
            "images/none.jpg": draw(kind="JPEG"),
            "labels/none.txt": b"",
            "labels/gone.txt": b"0 .3 .3 .4 .4\n",
        },
        "yolo",
        rejected=2,
    ),
    _ok(
        "YOLO of Ultralytics, whose list is called as the dataset",
        {
            **{f"coco8/{path}": one for path, one in {**_IMAGES, **yolo_texts()}.items()},
            "coco8/coco8.yaml": b"path: coco8\ntest: # none\nnames:\n  0: circle\n  1: square\n",
            "coco8/args.yaml": b"epochs: 3\n",
        },
        "yolo",
    ),
    _no(
        "YOLO that counts from 1",
        {
            **_IMAGES,
            **_YAML,
            **{
                path: one.replace(b"\n1 ", b"\n2 ").replace(b"0 ", b"1 ", 1)
                for path, one in yolo_texts().items()
            },
        },
        "seem to count from 1",
    ),
    _no("YOLO without classes", {**_IMAGES, **yolo_texts()}, "no list of their classes"),
    _no(
        "YOLO in pixels",
        {**_IMAGES, **_YAML, **dict.fromkeys(yolo_texts(), b"0 30 30 40 40\n")},
        "30 is not a fraction",
    ),
    _no(
        "YOLO whose lists differ",
        {**_IMAGES, **_YAML, **yolo_texts(), "classes.txt": b"square\ncircle\n"},
        "name different classes",
    ),
    _no(
        "YOLO that counts its classes wrongly",
        {**_IMAGES, **yolo_texts(), "data.yaml": b"nc: 3\nnames: [circle, square]\n"},
        "says nc: 3 and names 2",
    ),
    _no(
        "YOLO whose list is no YAML",
        {**_IMAGES, **yolo_texts(), "data.yaml": b"names: [circle"},
        "not valid YAML",
    ),
]
_ENTITIES = (
    b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    b"<annotation><filename>scene-0.jpg</filename><object><name>&b;</name></object></annotation>"
)
VOC_FILES = [
    _ok("VOC", {**pictures("JPEGImages/"), **voc_documents()}, "voc"),
    _ok("VOC next to the images", {**pictures("train/"), **voc_documents("train/")}, "voc"),
    _ok(
        "VOC whose names are not those of the files",
        {
            **_IMAGES,
            **voc_documents(),
            "Annotations/scene-0.xml": voc_document("old.jpg", BOXES["scene-0.jpg"]),
        },
        "voc",
    ),
    _ok(
        "VOC that names another image",
        {
            **_IMAGES,
            **voc_documents(),
            "Annotations/scene-0.xml": voc_document("scene-1.jpg", BOXES["scene-0.jpg"]),
        },
        "voc",
        labels={"circle": 5, "square": 5},
        rejected=3,
    ),
    _ok(
        "VOC of an image of another size",
        {
            **_IMAGES,
            **voc_documents(),
            "Annotations/scene-0.xml": voc_document("scene-0.jpg", BOXES["scene-0.jpg"], 192),
        },
        "voc",
        labels={"circle": 5, "square": 5},
        rejected=2,
    ),
    _ok(
        "VOC with entities in one document",
        {**_IMAGES, **voc_documents(), "Annotations/scene-0.xml": _ENTITIES},
        "voc",
        labels={"circle": 5, "square": 5},
        rejected=1,
    ),
    _no(
        "VOC with entities",
        {"images/scene-0.jpg": draw(), "Annotations/scene-0.xml": _ENTITIES},
        "declares entities",
    ),
    _no(
        "VOC that is cut off",
        {"images/a.jpg": draw(), "Annotations/a.xml": b"<annotation><object>"},
        "not valid XML",
    ),
    _no(
        "VOC with entities next to the images",
        {"p/a.jpg": draw(), "p/a.xml": _ENTITIES},
        "p/a.xml is not Pascal VOC: the document declares entities",
    ),
    _no("XML of another tool", {"a.jpg": draw(), "a.xml": b"<annotations/>"}, "no annotations.csv"),
]
_SHARES = [
    {**box, **dict.fromkeys(("x", "y"), 0.1), "width": 0.3, "height": 1}
    for box in BOXES["scene-0.jpg"]
]
BOX_FILES = [
    _ok("annotations.csv", {**pictures(), **_TABLE}, "annotations"),
    _ok("annotations.csv, images rotated", {**_rotated(pictures()), **_TABLE}, "annotations"),
    _ok(
        "annotations.csv with semicolons",
        {**pictures(), "annotations.csv": re.sub(b',("{|box)', rb";\1", _TABLE["annotations.csv"])},
        "annotations",
    ),
    _no(
        "annotations.csv in shares",
        {**pictures(), "annotations.csv": annotations([(name, _SHARES) for name in BOXES])},
        "Multiply x and width by the width",
    ),
    _ok(
        "tiny boxes",
        {
            **pictures(),
            "annotations.csv": annotations(
                [*BOXES.items(), ("scene-0.jpg", [a_box("circle", 0.5, 0.5, 0.5, 0.5)])]
            ),
        },
        "annotations",
        labels={"circle": 7, "square": 6},
        warnings=frozenset({"tinyBoxes"}),
    ),
    _ok(
        "annotations.csv and COCO",
        {**pictures(), **_TABLE, "instances.json": coco_file()},
        "annotations",
        warnings=GUESSED,
        rejected=1,
    ),
    _no(
        "annotations.csv and COCO, strict",
        {**pictures(), **_TABLE, "instances.json": coco_file()},
        "'strict' allows none",
        options=ReadingOptions(strict=True),
    ),
    _no(
        "COCO and VOC",
        {**_IMAGES, "instances.json": coco_file(), **voc_documents()},
        "the field 'format': coco or voc",
    ),
    _ok(
        "COCO and VOC, told apart",
        {**_IMAGES, "instances.json": coco_file(), **voc_documents()},
        "voc",
        options=ReadingOptions(format="voc", strict=True),
    ),
    _no(
        "a format that is not there",
        {**pictures(), **_TABLE},
        "'format' is coco, and the archive has no",
        options=ReadingOptions(format="coco"),
    ),
    _no("boxes nowhere", _IMAGES, "The archive has no annotations.csv."),
    _no("annotations.csv in capitals", {**_IMAGES, "Annotations.CSV": b""}, "small letters only"),
    _ok(
        "labels almost equal",
        {**pictures(), "annotations.csv": annotations(
            [*BOXES.items(), ("scene-0.jpg", [a_box("Circle", 9, 9, 9, 9)])]
        )},
        "annotations",
        labels={**EACH, "Circle": 1},
        warnings=FEW | {"labelsAlmostEqual"},
    ),
]  # fmt: skip
_PETS = label_folders({"cat": 6, "dog": 6})
_ENCRYPTED = raw_zip([Raw(b"cat/1.png", draw(), flags=0x1), Raw(b"cat/2.png", draw(), flags=0x1)])
FOLDERS = [
    _ok("folders", _PETS, "zipFolders", type="image", labels={"cat": 6, "dog": 6}),
    _ok(
        "folders in a folder, and what systems leave",
        {"__MACOSX/x": b"", ".x": b"", **{f"pets/{path}": one for path, one in _PETS.items()}},
        "zipFolders",
        type="image",
        labels={"cat": 6, "dog": 6},
    ),
    _ok(
        "an image of several labels",
        {**_PETS, **{f"pet/{at}.png": one for at, one in enumerate(_PETS.values())}},
        "zipFolders",
        type="image-multi-label",
        labels={"cat": 6, "dog": 6, "pet": 12},
    ),
    _ok(
        "boxes sent as folders",
        {**_IMAGES, "instances.json": coco_file()},
        "zipFolders",
        type="image",
        labels={"images": 6},
        warnings=GUESSED | {"splitFolders"},
        rejected=1,
    ),
    _ok(
        "labels almost equal in folders",
        {**_PETS, "Cat/1.png": draw(salt=99)},
        "zipFolders",
        type="image",
        labels={"cat": 6, "dog": 6, "Cat": 1},
        warnings=FEW | {"labelsAlmostEqual"},
    ),
    _ok(
        "many duplicates in folders",
        {**_PETS, **{name.replace("-", "_"): content for name, content in _PETS.items()}},
        "zipFolders",
        type="image",
        labels={"cat": 6, "dog": 6},
        warnings=frozenset({"manyDuplicates"}),
    ),
    _ok(
        "an image over the limit that is scaled down",
        {**_PETS, "cat/large.png": noise(700, 700)},
        "zipFolders",
        type="image",
        labels={"cat": 7, "dog": 6},
        options=ReadingOptions(shrink=True, strict=True),
    ),
    _ok(
        "an image over the limit",
        {**_PETS, "cat/large.png": noise(700, 700)},
        "zipFolders",
        type="image",
        labels={"cat": 6, "dog": 6},
        rejected=1,
    ),
    _no("boxes as folders, strict", {**_IMAGES, "instances.json": coco_file()},
        "use the type image-detection", type="image", options=ReadingOptions(strict=True)),
    _no("a format of boxes for folders", _PETS, "does not fit the type image", type="image",
        options=ReadingOptions(format="coco")),
    _no("images without folders", pictures(), "not in a folder", type="image"),
    _no("a bomb of an image", {"cat/1.png": b"\0" * (4 << 20)}, "the limit is 1,048,576",
        type="image"),
    _no("encrypted", _ENCRYPTED, "encrypted", type="image"),
    _no("no archive", draw(), "not a zip archive: it looks like a PNG", type="image"),
]  # fmt: skip
PICTURES = [*COCO_FILES, *YOLO_FILES, *VOC_FILES, *BOX_FILES, *FOLDERS]
