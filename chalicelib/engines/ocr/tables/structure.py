"""Runs SLANet, a network that finds the rows, columns and cells of a table in its image.

infra/models.py installs it: a folder with `model.onnx` and `tokens.json`. The input is x [1, 3,
488, 488] with channels blue, green, red. The network writes a table as T tokens of HTML. Outputs:
for each token the box of its cell, as fractions of the image's sides [1, T, 4], and the
probabilities of all tokens [1, T, tokens].
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.interface import check_files
from chalicelib.engines.ocr.tables.grid import Slot, TableGrid, in_order

if TYPE_CHECKING:
    import onnxruntime

    from chalicelib.domain.common.arrays import Ints, Pixels, Singles

# Name of the network's folder in the model directory.
NAME = "slanet"
# Files whose digests are in engine.json.
FILES = ("model.onnx", "tokens.json")
# Side of the network's square input, in pixels.
SIDE = 488
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
_BEGIN, _END = "sos", "eos"
_CELLS = ("<td></td>", "<td")
_MAX_SPAN = 20


class StructureModel:
    """The loaded network; safe to share between threads."""

    def __init__(self, session: onnxruntime.InferenceSession, tokens: Sequence[str]) -> None:
        self._session = session
        self._tokens = tuple(tokens)

    def grid(self, pixels: Pixels, origin: tuple[float, float] = (0.0, 0.0)) -> TableGrid:
        """Return the predicted cells of the table in an image; no cells if no table is found.

        A cell's box is the area of its text, in coordinates of the page. `pixels` has only the
        table, RGB, uint8, shape (height, width, 3); `origin` is its left and top on the page.
        """
        names = [output.name for output in self._session.get_outputs()]
        places, tokens = self._session.run(names, {"x": _picture(pixels)})
        height, width = pixels.shape[:2]
        box = Rect(origin[0], origin[1], origin[0] + width, origin[1] + height)
        slots = in_order(self._read(places[0], tokens[0].argmax(axis=1), box))
        sure = float(tokens[0].max(axis=1).mean()) if len(tokens[0]) else 0.0
        return TableGrid(box, slots, min(1.0, max(0.0, sure)))

    def _read(self, places: Singles, numbers: Ints, box: Rect) -> Iterator[Slot]:
        """Yield the cells that a sequence of tokens describes, until the end token.

        Columns under a cell that spans rows are skipped, as in HTML.
        """
        tokens = [self._tokens[number] for number in numbers]
        tokens = tokens[: tokens.index(_END, 1)] if _END in tokens[1:] else tokens
        row, rows, is_head = -1, tokens.count("<tr>"), False
        taken: set[tuple[int, int]] = set()
        for step, tag in enumerate(tokens):
            if tag in ("<thead>", "</thead>"):
                is_head = tag == "<thead>"
            elif tag == "<tr>":
                row += 1
            elif tag in _CELLS and row >= 0:
                row_span, width = _spans(tokens[step + 1 :]) if tag == "<td" else (1, 1)
                column = next(at for at in count() if (row, at) not in taken)
                width = next((n for n in range(1, width) if (row, column + n) in taken), width)
                place = _on_page(places[step], box)
                slot = Slot(row, column, place, min(row_span, rows - row), width, is_head)
                taken.update((r, c) for r in slot.rows for c in slot.columns)
                yield slot


def load_structure(folder: Path) -> StructureModel:
    """Load the network from its folder; raise OcrNotInstalled if a file is missing or changed."""
    from chalicelib.engines.onnx_session import open_session

    check_files(folder, FILES, NAME)
    tokens = json.loads((folder / FILES[1]).read_text(encoding="utf-8"))
    return StructureModel(open_session(folder / FILES[0]), [str(token) for token in tokens])


def _picture(pixels: Pixels) -> Singles:
    """Scale an RGB image and pad it below or on the right; return (1, 3, SIDE, SIDE)."""
    from PIL import Image

    height, width = pixels.shape[:2]
    share = SIDE / max(height, width)
    size = (max(1, int(width * share)), max(1, int(height * share)))
    scaled = Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR)
    square = np.zeros((SIDE, SIDE, 3), np.float32)
    values = np.asarray(scaled, np.float32)[..., ::-1] / 255.0
    square[: size[1], : size[0]] = (values - _MEAN) / _DEVIATION
    return np.ascontiguousarray(square.transpose(2, 0, 1)[None])


def _spans(tokens: Sequence[str]) -> tuple[int, int]:
    rows = columns = 1
    for token in tokens[:3]:
        name, _, value = token.strip().partition("=")
        if name not in ("rowspan", "colspan"):
            break
        number = max(1, min(_MAX_SPAN, int(value.strip('"'))))
        rows, columns = (number, columns) if name == "rowspan" else (rows, number)
    return rows, columns


def _on_page(place: Singles, box: Rect) -> Rect:
    left, top, right, bottom = (float(share) for share in place)
    return Rect(
        box.min_x + left * box.width,
        box.min_y + top * box.height,
        box.min_x + max(left, right) * box.width,
        box.min_y + max(top, bottom) * box.height,
    )
