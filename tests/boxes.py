"""Archives of images with boxes, written in the formats of other tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.pictures import a_box, draw_scene

LABELS = ("circle", "square")
SIDE = 96
Boxed = Mapping[str, Sequence[Mapping[str, Any]]]
"""Boxes by the name of their picture."""
BOXES: Boxed = {
    f"scene-{number}.jpg": [
        a_box(label, 4 + 40 * place, 8 + number, 30.5, 30) for place, label in enumerate(LABELS)
    ]
    for number in range(6)
}
"""Six pictures with a box of each label."""


def pictures(folder: str = "", boxes: Boxed = BOXES) -> dict[str, bytes]:
    """Draw a picture for each name."""
    drawn = {}
    for salt, name in enumerate(boxes):
        scene = [("circle", "red", (4, 8, 30, 30)), ("square", "green", (44, 8, 30, 30))]
        drawn[folder + name] = draw_scene(scene, (SIDE, SIDE), salt=salt)
    return drawn


def coco(boxes: Boxed = BOXES, folder: str = "", **more: Any) -> dict[str, Any]:
    """Describe boxes as COCO does."""
    names = list(dict.fromkeys(box["label"] for each in boxes.values() for box in each))
    images, annotations = [], []
    for number, (name, each) in enumerate(boxes.items(), 1):
        images.append(
            {"id": number, "file_name": folder + name, "width": SIDE, "height": SIDE, "license": 1}
        )
        for box in each:
            x, y, width, height = (box[side] for side in ("x", "y", "width", "height"))
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": names.index(box["label"]) + 1,
                    "bbox": [x, y, width, height],
                    "segmentation": [[x, y, x + width, y, x + width, y + height]],
                    "area": width * height,
                    "iscrowd": 0,
                }
            )
    categories = [{"id": at, "name": name} for at, name in enumerate(names, 1)]
    document = {"info": {"year": 2026}, "images": images, "annotations": annotations}
    return {**document, "categories": categories, **more}


def coco_file(*arguments: Any, **more: Any) -> bytes:
    """Write boxes as COCO does."""
    return json.dumps(coco(*arguments, **more)).encode()


def yolo_lines(boxes: Iterable[Mapping[str, Any]], classes: Sequence[str] = LABELS) -> bytes:
    """Write the boxes of one picture as YOLO does."""
    lines = []
    for box in boxes:
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        shares = " ".join(f"{side / SIDE:.9f}" for side in (x, y, box["width"], box["height"]))
        lines.append(f"{classes.index(box['label'])} {shares}\n")
    return "".join(lines).encode()


def yolo_texts(folder: str = "labels/", boxes: Boxed = BOXES) -> dict[str, bytes]:
    """Write the boxes of all pictures as YOLO does."""
    return {
        f"{folder}{name.removesuffix('.jpg')}.txt": yolo_lines(each) for name, each in boxes.items()
    }


def voc_document(name: str, boxes: Iterable[Mapping[str, Any]], side: int = SIDE) -> bytes:
    """Write the boxes of one picture as Pascal VOC does."""
    objects = "".join(
        f"<object><name>{box['label']}</name><pose>Unspecified</pose><difficult>0</difficult>"
        f"<bndbox><xmin>{box['x']}</xmin><ymin>{box['y']}</ymin>"
        f"<xmax>{box['x'] + box['width']}</xmax><ymax>{box['y'] + box['height']}</ymax></bndbox>"
        "</object>"
        for box in boxes
    )
    return (
        f"<annotation><folder>JPEGImages</folder><filename>{name}</filename><size>"
        f"<width>{side}</width><height>{side}</height><depth>3</depth></size>{objects}"
        "</annotation>"
    ).encode()


def voc_documents(folder: str = "Annotations/", boxes: Boxed = BOXES) -> dict[str, bytes]:
    """Write the boxes of all pictures as Pascal VOC does."""
    return {
        f"{folder}{name.removesuffix('.jpg')}.xml": voc_document(name, each)
        for name, each in boxes.items()
    }
