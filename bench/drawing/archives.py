"""Makes zip archives of the drawn images, in the formats of uploads."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from bench.drawing.fruits import FRUITS, draw_fruits
from bench.drawing.signs import SIGNS, draw_sign
from bench.drawing.weather import WEATHER, draw_weather

ASSETS = Path(__file__).resolve().parent.parent.parent / "chalicelib" / "assets"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_SEED = 20
_SIGNS_OF_LABEL, _WEATHER_OF_LABEL, _SCENES = 15, 12, 36
_MOST_FRUITS = 5


def sign_files() -> dict[str, bytes]:
    """Draw the sample dataset, with road signs in one folder per label; return files by path."""
    rng = Random(_SEED)
    return {
        f"{label}/{label.replace(' ', '-')}-{number:02d}.jpg": draw_sign(label, rng)
        for label in SIGNS
        for number in range(_SIGNS_OF_LABEL)
    }


def weather_files() -> dict[str, bytes]:
    """Draw the global dataset of type image."""
    rng = Random(_SEED + 1)
    return {
        f"{label}/{label}-{number:02d}.jpg": draw_weather(label, rng)
        for label in WEATHER
        for number in range(_WEATHER_OF_LABEL)
    }


def detection_files() -> dict[str, bytes]:
    """Draw the global dataset of type image-detection, with its annotations.csv."""
    rng = Random(_SEED + 2)
    files, rows = {}, []
    for number in range(_SCENES):
        labels = rng.choices(list(FRUITS), k=rng.randint(1, _MOST_FRUITS))
        content, boxes = draw_fruits(labels, rng)
        name = f"table-{number:02d}.jpg"
        files[name] = content
        rows.append([name, *(_cell(label, corners) for label, corners in boxes)])
    header = ["image_file", *(f"box{place}" for place in range(max(map(len, rows)) - 1))]
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    return {**files, "annotations.csv": stream.getvalue().encode()}


def multi_label_files() -> dict[str, bytes]:
    """Draw the global dataset of type image-multi-label.

    An image is in the folders of all of its labels.
    """
    rng = Random(_SEED + 3)
    files = {}
    for number in range(_SCENES):
        labels = rng.sample(list(FRUITS), rng.randint(1, len(FRUITS) - 1))
        content, boxes = draw_fruits(labels, rng)
        for label in sorted({label for label, _ in boxes}):
            files[f"{label}/basket-{number:02d}.jpg"] = content
    return files


# Archives that are drawn, by their place below the assets.
ARCHIVES: Mapping[str, Callable[[], dict[str, bytes]]] = {
    "samples/road_signs.zip": sign_files,
    "global/image.zip": weather_files,
    "global/image-detection.zip": detection_files,
    "global/image-multi-label.zip": multi_label_files,
}
# An image outside of the archives, for a first prediction with a trained model.
QUESTION = "samples/stop_sign.jpg"


def draw_question() -> bytes:
    """Draw the image that the demo predicts."""
    return draw_sign("stop", Random(_SEED + 4))


def pack(files: Mapping[str, bytes]) -> bytes:
    """Write files to a zip archive; equal files give equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
    return stream.getvalue()


def _cell(label: str, corners: tuple[int, int, int, int]) -> str:
    left, top, right, bottom = corners
    box = {"label": label, "x": left, "y": top, "width": right - left, "height": bottom - top}
    return json.dumps(box)
