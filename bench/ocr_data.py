"""Reads the evaluation data of OCR: images, PDFs, and their texts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from bench.ocr_text_metrics import Piece
from chalicelib.domain.documents.page import Rect, around_points

EIGHT = ("t01", "t03", "t05", "t07", "t09", "t01", "t03", "t05")
"""The eight pages of the PDF whose time is measured."""
EIGHT_DPI, EIGHT_QUALITY = 150, 85


@dataclass(frozen=True)
class Sample:
    """An image of a document and its true text."""

    name: str
    content: bytes
    """The file."""
    pieces: tuple[Piece, ...]
    """Texts with their places."""

    @property
    def texts(self) -> list[str]:
        """The true texts without their positions."""
        return [text for text, _ in self.pieces]


def read_sroie(data: Path) -> list[Sample]:
    """Read the receipts."""
    folder = data / "ocr" / "sroie"
    return [
        Sample(path.stem, path.read_bytes(), tuple(_corner_lines(folder / "box", path.stem)))
        for path in sorted((folder / "img").glob("*.jpg"))
    ]


def _corner_lines(folder: Path, name: str) -> Iterator[Piece]:
    """Yield texts with boxes from a file. Each line has eight coordinates and a text."""
    for line in (folder / f"{name}.csv").read_text("utf-8-sig").splitlines():
        *corners, text = line.split(",", 8)
        numbers = [float(corner) for corner in corners]
        yield text, around_points(zip(numbers[::2], numbers[1::2], strict=True))


def read_funsd(data: Path) -> list[Sample]:
    """Read the scanned forms, word by word."""
    return [
        Sample(path.stem, path.with_suffix(".png").read_bytes(), tuple(_form_words(path)))
        for path in sorted((data / "ocr" / "funsd").glob("*.json"))
    ]


def _form_words(path: Path) -> Iterator[Piece]:
    """Read the non-empty words of a scanned form."""
    for entity in json.loads(path.read_text("utf-8"))["form"]:
        for word in entity["words"]:
            if word["text"].strip():
                yield word["text"], Rect(*word["box"])


def read_rendered(data: Path, kind: str) -> list[tuple[Sample, dict[str, Any]]]:
    """Read the drawn images of a kind. Return each image with the content of its truth file."""
    found = []
    for path in sorted((data / "ocr" / "rendered" / kind).glob("*.json")):
        truth = json.loads(path.read_text("utf-8"))
        pieces = tuple((line["text"], Rect(*line["box"])) for line in truth.get("lines", ()))
        found.append((Sample(path.stem, path.with_suffix(".png").read_bytes(), pieces), truth))
    return found


def eight_pages(data: Path) -> bytes:
    """Make a PDF of eight pages that are images without a text layer."""
    folder = data / "ocr" / "rendered" / "text"
    files = {path.stem[:3]: path for path in folder.glob("*.png")}
    first, *others = (Image.open(files[name]).convert("RGB") for name in EIGHT)
    stream = io.BytesIO()
    first.save(
        stream,
        "PDF",
        save_all=True,
        append_images=others,
        resolution=EIGHT_DPI,
        quality=EIGHT_QUALITY,
    )
    return stream.getvalue()
