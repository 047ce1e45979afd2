"""Boxes in exports of CreateML, LabelMe, CVAT for images and TensorFlow, whole and broken."""

from __future__ import annotations

import json
from typing import Any

from chalicelib.domain.datasets.dataset import DETECTION
from tests.boxes import BOXES, SIDE, pictures
from tests.corpus.case import UploadCase
from tests.pictures import make_zip

_EACH = {"circle": 6, "square": 6}
_IMAGES = pictures("images/")
_ROWS = [(name, box) for name, boxes in BOXES.items() for box in boxes]


def _corners(box: Any) -> tuple[float, float, float, float]:
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def _create_ml() -> list[dict[str, Any]]:
    return [
        {
            "image": name,
            "annotations": [
                {
                    "label": box["label"],
                    "coordinates": {
                        "x": box["x"] + box["width"] / 2,
                        "y": box["y"] + box["height"] / 2,
                        "width": box["width"],
                        "height": box["height"],
                    },
                }
                for box in boxes
            ],
        }
        for name, boxes in BOXES.items()
    ]


def _label_me(name: str, boxes: Any, **more: Any) -> bytes:
    shapes = []
    for box in boxes:
        left, top, right, bottom = _corners(box)
        shape = {"label": box["label"], "points": [[right, bottom], [left, top]]}
        shapes.append({**shape, "shape_type": "rectangle", "flags": {}})
    about = {"version": "5.4.1", "imagePath": f"..\\images\\{name}", "imageData": None}
    return json.dumps({**about, "shapes": shapes, "imageWidth": SIDE, **more}).encode()


def _cvat(label: str = "label") -> bytes:
    images = []
    for name, boxes in BOXES.items():
        drawn = ""
        for box in boxes:
            sides = zip(("xtl", "ytl", "xbr", "ybr"), _corners(box), strict=True)
            drawn += f'<box {label}="{box["label"]}" source="manual" occluded="0" '
            drawn += " ".join(f'{key}="{side}"' for key, side in sides) + "/>"
        images.append(f'<image id="0" name="{name}" width="96" height="96">{drawn}</image>')
    return f"<annotations><version>1.1</version>{''.join(images)}</annotations>".encode()


def _table(header: str = "filename,width,height,class,xmin,ymin,xmax,ymax") -> bytes:
    lines = [
        f"{name},{SIDE},{SIDE},{box['label']},{','.join(map(str, _corners(box)))}"
        for name, box in _ROWS
    ]
    return "\r\n".join((header, *lines)).encode()


def _ok(name: str, files: dict[str, bytes], kind: str, **more: Any) -> UploadCase:
    content = make_zip({**_IMAGES, **files})
    return UploadCase(name, content, kind=kind, **{"labels": _EACH, "type": DETECTION, **more})


def _no(name: str, files: dict[str, bytes], refusal: str) -> UploadCase:
    return UploadCase(name, make_zip({**_IMAGES, **files}), refusal=refusal, type=DETECTION)


def _vott() -> bytes:
    assets = {}
    for name, boxes in BOXES.items():
        regions = [
            {
                "type": "RECTANGLE",
                "tags": [box["label"]],
                "boundingBox": {
                    "left": box["x"],
                    "top": box["y"],
                    "width": box["width"],
                    "height": box["height"],
                },
            }
            for box in boxes
        ]
        asset = {"name": name, "size": {"width": SIDE, "height": SIDE}}
        assets[name] = {"asset": asset, "regions": regions}
    return json.dumps({"name": "shop", "assets": assets}).encode()


def _outlines(name: str, boxes: Any) -> bytes:
    """Return LabelMe's document of outlines, for an image in the same folder."""
    shapes: list[dict[str, Any]] = [{"label": "dot", "points": [[9, 9], [19, 22]]}]
    shapes[0]["shape_type"] = "circle"
    for box in boxes:
        left, top, right, bottom = _corners(box)
        points = [[left, top], [right, top], [right, bottom], [left, bottom], [left, top + 5]]
        shapes.append({"label": box["label"], "points": points, "shape_type": "polygon"})
    size = {"imageHeight": SIDE, "imageWidth": SIDE}
    document = {
        "version": "4.5.6",
        "shapes": shapes,
        "imagePath": name,
        "imageData": "aGk=",
        **size,
    }
    return json.dumps(document, indent=2).encode()


_SHAPES = {f"json/{n[:-4]}.json": _label_me(n, boxes) for n, boxes in BOXES.items()}
_CREATED = json.dumps(_create_ml()).encode()
_OUTLINES = {f"images/{n[:-4]}.json": _outlines(n, boxes) for n, boxes in BOXES.items()}
_BROKEN = _SHAPES["json/scene-0.json"].replace(b'"shapes": [', b'"shapes": [[')
BOX_EXPORTS = [
    _ok("CreateML", {"images/_annotations.createml.json": _CREATED}, "createml"),
    _no("CreateML, truncated", {"images/_annotations.createml.json": _CREATED[:-9]},
        "is of CreateML's *.json and cannot be read: the JSON is not valid"),
    _ok("LabelMe", _SHAPES, "labelme"),
    _ok("LabelMe, outlines next to images", _OUTLINES, "labelme", rejected=len(BOXES)),
    _no("LabelMe, one file broken", {**_SHAPES, "json/scene-0.json": _BROKEN},
        "json/scene-0.json is of LabelMe's *.json and cannot be read: the JSON is not valid"),
    _no("LabelMe, cut within a character", {"a.json": _BROKEN + b"\xc3"},
        "a.json is of LabelMe's *.json and cannot be read: 'utf-8' codec"),
    _no("CVAT, truncated", {"annotations.xml": _cvat()[:-30]},
        "is of CVAT's annotations.xml for images and cannot be read: the XML is not valid"),
    _ok("CVAT for images", {"annotations.xml": _cvat()}, "cvat"),
    _no("CVAT without labels", {"annotations.xml": _cvat("name")}, "label is not a text"),
    _ok("TensorFlow", {"images/_annotations.csv": _table()}, "tensorflow"),
    _ok("VoTT, CSV", {"vott-csv-export/shop-export.csv": _table(
        "image,width,height,label,xmin,ymin,xmax,ymax")}, "tensorflow"),
    _ok("TensorFlow, semicolons", {"images/_annotations.csv": _table().replace(b",", b";")},
        "tensorflow"),
    _ok("corners in annotations.csv", {"annotations.csv": _table()}, "tensorflow"),
    _ok("RetinaNet, without a header", {"annotations.csv": "\n".join(
        ",".join(map(str, (f"images/{name}", *_corners(box), box["label"])))
        for name, box in _ROWS).encode()}, "tensorflow"),
    _ok("RetinaNet, images without boxes", {"annotations.csv": "\n".join((
        "images/none.jpg,,,,,", *(",".join(map(str, (f"images/{name}", *_corners(box),
        box["label"]))) for name, box in _ROWS), "images/none.jpg,,,,,")).encode()}, "tensorflow"),
    _no("x, y, width and height without a header", {"annotations.csv": "\n".join(
        f"images/{name},1,1,8,8,{box['label']}\nimages/{name},9,9,8,8,{box['label']}"
        for name, box in _ROWS).encode()}, "line 2 does not have xmin, ymin, xmax, ymax"),
    _ok("VoTT, JSON", {"shop-export.json": _vott()}, "vott"),
    _no("VoTT, truncated", {"shop-export.json": _vott()[:-9]},
        "is of VoTT's *.json and cannot be read: the JSON is not valid"),
    _ok("CreateML, older names", {"images/a.json": _CREATED.replace(
        b'"annotations"', b'"annotation"').replace(b'"image"', b'"imagefilename"')}, "createml"),
    _no("CVAT for video", {"annotations.xml": b"<annotations><track id='0'><box/></track>"
        b"</annotations>"}, "is a file of CVAT for video; convert it to CVAT for images"),
    _no("boxes of Label Studio", {"project-1.json": b'[{"annotations": [{"result": [{"value": '
        b'{"x": 1, "rectanglelabels": ["a"]}}]}]}]'}, "Label Studio; convert it to COCO or YOLO"),
    _no("SageMaker", {"output.manifest": b'{"source-ref": "s3://b/1.jpg", "boxes": {}}'},
        "output.manifest is a file of SageMaker Ground Truth; convert it to COCO"),
    _no("Supervisely", {"ann/a.json": b'{"objects": [{"classTitle": "cat"}]}'},
        "a.json is a file of Supervisely; convert it to COCO"),
    _no("Open Images", {"boxes.csv": b"ImageID,Source,LabelName,XMin,XMax,YMin,YMax\n"},
        "boxes.csv is a file of Open Images; convert it to COCO"),
    _no("KITTI", {"label_2/a.txt": b"Car 0.00 0 -1.57 1 2 30 40 1.5 1.6 3.9 1.0 1.5 20.1 -1.5\n"},
        "a.txt is a file of KITTI; convert it to COCO"),
    _no("TensorFlow, other columns", {"images/_annotations.csv": _table("a,b,c,d,e,f,g,h")},
        "The archive has no annotations.csv"),
]  # fmt: skip
