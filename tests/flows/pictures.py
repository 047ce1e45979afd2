"""Archives of small drawn images, different for each salt."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from PIL import Image

from bench.drawing.fruits import draw_fruits
from tests.pictures import a_box, annotations, draw, make_zip

LABELS = {"ball": ("circle", "red"), "box": ("square", "blue")}
"""What the shared models know, and how it is drawn."""
FRUITS = ("apple", "banana")
ORIENTATION = 0x0112
"""EXIF tag of the turn."""
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}
"""What must be done to a picture so that its EXIF turn shows it as it was."""


def shape(kind: str, color: str, number: int, size: tuple[int, int] = (64, 64)) -> bytes:
    """Draw one shape whose position, size and background depend on the number."""
    side = 24 + number % 5 * 5
    left, top = number * 7 % (size[0] - side), number * 11 % (size[1] - side)
    return draw(kind, color, size, at=(left, top, side, side), salt=number)


def folders(
    labels: Mapping[str, tuple[str, str]] = LABELS, count: int = 10, first: int = 0
) -> dict[str, bytes]:
    """Draw a number of images for each label into a folder of its name."""
    return {
        f"{label}/{label}-{number:02d}.png": shape(*look, number)
        for label, look in labels.items()
        for number in range(first, first + count)
    }


def folders_zip(**options: Any) -> bytes:
    """Pack such folders."""
    return make_zip(folders(**options))


def basket_files(count: int = 12, seed: int = 5) -> dict[str, bytes]:
    """Draw fruits; an image is in the folder of each fruit that it shows."""
    rng, files = Random(seed), {}
    for number in range(count):
        shown = [FRUITS[:1], FRUITS[1:], FRUITS][number % 3]
        content, _ = draw_fruits(list(shown), rng)
        for label in shown:
            files[f"{label}/basket-{number:02d}.jpg"] = content
    return files


Scene = tuple[str, bytes, list[dict[str, Any]]]
"""File name, JPEG, and its boxes."""


def fruit_scenes(count: int = 10, seed: int = 3, name: str = "table") -> list[Scene]:
    """Draw fruits on tables, with their boxes."""
    rng, scenes = Random(seed), []
    for number in range(count):
        content, found = draw_fruits([FRUITS[number % 2], *FRUITS], rng)
        boxes = [a_box(label, x, y, right - x, low - y) for label, (x, y, right, low) in found]
        scenes.append((f"{name}-{number:02d}.jpg", content, boxes))
    return scenes


def scenes_zip(scenes: Sequence[Scene], *more: tuple[str, list[Any]]) -> bytes:
    """Pack images with their annotation file and additional rows."""
    rows = [(name, boxes) for name, _, boxes in scenes]
    files = {name: content for name, content, _ in scenes}
    return make_zip({**files, "annotations.csv": annotations([*rows, *more])})


def turned(content: bytes, orientation: int, kind: str = "PNG", **options: Any) -> bytes:
    """Store an image rotated, with the EXIF orientation that undoes it."""
    stored = Image.open(io.BytesIO(content)).transpose(TURNS[orientation])
    exif, file = Image.Exif(), io.BytesIO()
    exif[ORIENTATION] = orientation
    stored.save(file, kind, exif=exif, **options)
    return file.getvalue()


def lossless(content: bytes) -> bytes:
    """Store the pixels of an image as PNG."""
    file = io.BytesIO()
    Image.open(io.BytesIO(content)).save(file, "PNG")
    return file.getvalue()


def size_of(content: bytes) -> tuple[int, int]:
    """Return width and height of the stored image, before any rotation."""
    return Image.open(io.BytesIO(content)).size


def overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return the intersection over union of an annotation box and a `boundingBox`."""
    left, top = max(one["x"], other["minX"]), max(one["y"], other["minY"])
    right = min(one["x"] + one["width"], other["maxX"])
    low = min(one["y"] + one["height"], other["maxY"])
    shared = max(0, right - left) * max(0, low - top)
    area = (other["maxX"] - other["minX"]) * (other["maxY"] - other["minY"])
    return float(shared / (one["width"] * one["height"] + area - shared))
