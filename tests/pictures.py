"""Images, annotations and archives for tests; equal calls return equal bytes."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PIL import Image, ImageDraw

SHAPES = ("circle", "square", "triangle", "cross")
COLORS = {"red": (220, 40, 40), "green": (40, 180, 60), "blue": (50, 70, 220)}

Color = str | tuple[int, int, int]
AnnotatedBox = Mapping[str, Any]
"""Members label, x, y, width, height of one cell of an annotation file."""


def draw(
    shape: str = "circle",
    color: Color = "red",
    size: tuple[int, int] = (32, 32),
    *,
    at: tuple[int, int, int, int] | None = None,
    salt: int = 0,
    kind: str = "PNG",
) -> bytes:
    """Draw one shape on a light background.

    Args:
        shape: one of SHAPES.
        color: one of COLORS, or red, green and blue of 0 to 255.
        size: width and height in pixels.
        at: left, top, width and height of the shape; by default the middle half of the picture.
        salt: changes the ground a little, so that pictures differ in their bytes.
        kind: PNG or JPEG.
    """
    ground = (250 - salt % 8 * 3, 250 - salt // 8 % 8 * 3, 250 - salt // 64 % 32 * 3)
    picture = Image.new("RGB", size, ground)
    paint(picture, shape, color, at or (size[0] // 4, size[1] // 4, size[0] // 2, size[1] // 2))
    return encoded(picture, kind)


def draw_scene(
    shapes: Sequence[tuple[str, Color, tuple[int, int, int, int]]],
    size: tuple[int, int] = (96, 96),
    *,
    salt: int = 0,
    kind: str = "JPEG",
) -> bytes:
    """Draw several shapes (shape, color, box as left, top, width, height) into one image."""
    ground = (250 - salt % 8 * 3, 250 - salt // 8 % 8 * 3, 250 - salt // 64 % 32 * 3)
    picture = Image.new("RGB", size, ground)
    for shape, color, at in shapes:
        paint(picture, shape, color, at)
    return encoded(picture, kind)


def paint(picture: Image.Image, shape: str, color: Color, at: tuple[int, int, int, int]) -> None:
    """Draw a shape into the box left, top, width and height of an image."""
    x, y, width, height = at
    right, bottom = x + width - 1, y + height - 1
    fill = COLORS[color] if isinstance(color, str) else color
    pen = ImageDraw.Draw(picture)
    if shape == "circle":
        pen.ellipse((x, y, right, bottom), fill=fill)
    elif shape == "square":
        pen.rectangle((x, y, right, bottom), fill=fill)
    elif shape == "triangle":
        pen.polygon([((x + right) // 2, y), (x, bottom), (right, bottom)], fill=fill)
    else:
        pen.rectangle((x + width // 3, y, right - width // 3, bottom), fill=fill)
        pen.rectangle((x, y + height // 3, right, bottom - height // 3), fill=fill)


def encoded(picture: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """Encode an image as a file."""
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def make_zip(
    files: Mapping[str, bytes] | Iterable[tuple[str, bytes]], *, method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """Return a zip archive of files by path, in order; a path ending in "/" is a folder."""
    pairs = files.items() if isinstance(files, Mapping) else files
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for path, content in pairs:
            entry = zipfile.ZipInfo(path, (2026, 11, 21, 9, 30, 0))
            entry.compress_type = method
            entry.external_attr = (0o755 | 0o040000) << 16 if path.endswith("/") else 0o644 << 16
            archive.writestr(entry, content)
    return file.getvalue()


def a_box(label: str, x: float, y: float, width: float, height: float) -> dict[str, Any]:
    """Return a box as JSON members, in pixels from the top left corner."""
    return {"label": label, "x": x, "y": y, "width": width, "height": height}


def annotations(rows: Iterable[tuple[str, Sequence[AnnotatedBox | str]]]) -> bytes:
    """Return annotations.csv: for each image its name and boxes, or cells as given."""
    listed = [(name, list(boxes)) for name, boxes in rows]
    width = max((len(boxes) for _, boxes in listed), default=0)
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(["image_file", *(f"box{number}" for number in range(width))])
    for name, boxes in listed:
        cells = [box if isinstance(box, str) else json.dumps(box) for box in boxes]
        table.writerow([name, *cells, *[""] * (width - len(cells))])
    return file.getvalue().encode()


def label_folders(
    counts: Mapping[str, int], *, salt: int = 0, size: tuple[int, int] = (32, 32)
) -> dict[str, bytes]:
    """Draw `count` different images for each label, in one folder per label.

    Each label has a separate shape and color.
    """
    files: dict[str, bytes] = {}
    for place, (label, count) in enumerate(counts.items()):
        shape, color = SHAPES[place % len(SHAPES)], list(COLORS)[place % len(COLORS)]
        for number in range(count):
            name = f"{label}/{label}-{number}.png"
            files[name] = draw(shape, color, size, salt=salt + number)
    return files


def detection_files(
    count: int, labels: Sequence[str] = ("circle", "square"), *, salt: int = 0
) -> dict[str, bytes]:
    """Draw images with a box of each label, and the annotation file for them."""
    files: dict[str, bytes] = {}
    rows: list[tuple[str, list[AnnotatedBox]]] = []
    for number in range(count):
        boxes = [
            a_box(label, 4 + 40 * place, 8 + number % 20, 30, 30)
            for place, label in enumerate(labels)
        ]
        shapes = [
            (SHAPES[i % 4], list(COLORS)[i % 3], (b["x"], b["y"], b["width"], b["height"]))
            for i, b in enumerate(boxes)
        ]
        name = f"scene-{salt}-{number}.jpg"
        width = max(96, 40 * len(labels) + 16)
        files[name] = draw_scene(shapes, (width, 96), salt=salt + number)
        rows.append((name, boxes))
    return {**files, "annotations.csv": annotations(rows)}
