"""Checks the networks that read text and tables on drawn images.

ocr_references.json has evenly spaced values of every output as float16. They were computed by the
published graphs. For the recogniser, `fold` reduced them to the classes that the cut graph has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from chalicelib.domain.common.arrays import Array, Doubles, Ints, Pixels, Singles
from infra.model_files.conversion.convert_ppocr import choose, classes_of
from infra.model_files.description import WrongOutputs
from infra.model_files.verification.vision_references import compare, unpack

FILE = Path(__file__).with_name("ocr_references.json")
_EXACT = 1e-5  # greatest difference of a probability
_INPUT = "x"
# Rows of 5 pixels, from the top, each as two hexadecimal digits.
_GLYPHS = {
    "A": "0E11111F111111",
    "E": "1F10101E10101F",
    "L": "1010101010101F",
    "O": "0E11111111110E",
    "T": "1F040404040404",
    "0": "0E11131519110E",
    "1": "040C040404040E",
    "2": "0E11010204081F",
    "4": "02060A121F0202",
    "8": "0E11110E11110E",
    "$": "040F140E051E04",
    ".": "00000000000C0C",
    " ": "00000000000000",
}
LINE = "TOTAL $ 142.80"
_ROWS, _COLUMNS = 7, 6  # of a glyph, with the gap after it


def draw_line(text: str, size: int) -> Pixels:
    """Draw a line of letters from square blocks, black on white, with a margin of one block.

    Returns:
        uint8, shape (9 * size, (6 * characters + 2) * size), where `size` is a block's side in
        pixels.
    """
    blocks = np.zeros((_ROWS + 2, _COLUMNS * len(text) + 2), np.uint8)
    for place, character in enumerate(text):
        rows = np.frombuffer(bytes.fromhex(_GLYPHS[character]), np.uint8)[:, None]
        left = 1 + place * _COLUMNS
        blocks[1:-1, left : left + 5] = np.unpackbits(rows, axis=1)[:, 3:]
    white = np.uint8(255) * (1 - blocks)
    return white.repeat(size, axis=0).repeat(size, axis=1)


def _line() -> Pixels:
    """Draw the line of text for the recogniser, 48 pixels high."""
    drawn = draw_line(LINE, 5)
    image = np.full((48, drawn.shape[1] // 8 * 8 + 8), 255, np.uint8)
    image[1:46, : drawn.shape[1]] = drawn
    return image


def _page() -> Pixels:
    """Draw the page for the detector, 256 by 320 pixels, with three lines."""
    page = np.full((256, 320), 255, np.uint8)
    for row, text, size in ((20, LINE, 3), (90, "TOTAL 2.40", 4), (180, "0 1 2 4 8", 2)):
        line = draw_line(text, size)
        page[row : row + line.shape[0], 10 : 10 + line.shape[1]] = line
    return page


def _table() -> Pixels:
    """Draw the table for the structure network, 488 pixels a side: four rows of three cells."""
    page = np.full((488, 488), 255, np.uint8)
    for row in range(5):
        page[60 + row * 60 : 62 + row * 60, 20:470] = 0
    for column in range(4):
        page[60:302, 20 + column * 149 : 22 + column * 149] = 0
    for row in range(4):
        for column, text in enumerate(("TOTAL", "142.80", "$ 1.20")):
            cell = draw_line(text, 3)
            top, left = 78 + row * 60, 24 + column * 149
            page[top : top + cell.shape[0], left : left + cell.shape[1]] = cell
    return page


_DRAWN = {
    "ppocr/detector.onnx": _page,
    "ppocr/recogniser.onnx": _line,
    "slanet/model.onnx": _table,
}


def draw(name: str) -> Singles:
    """Draw the image for a graph's check: float32 (1, 3, height, width), black -1 to white 1."""
    image = _DRAWN[name]().astype(np.float32) / np.float32(127.5) - 1
    return np.repeat(image[None, None], 3, axis=1)


def run(path: Path, name: str) -> dict[str, Array]:
    """Run a graph on the image that is drawn for it; return its outputs by their names."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {_INPUT: draw(name)}), strict=True))


def check_model(path: Path, name: str) -> None:
    """Run a graph on its drawn image and compare its outputs with the references.

    Raises:
        WrongOutputs: a value differs by more than the tolerance, or is not a number.
    """
    check_outputs(name, run(path, name))


def check_outputs(name: str, outputs: Mapping[str, Array]) -> None:
    """Compare the outputs for the drawn image with the references; see `check_model`."""
    compare(name, unpack(json.loads(FILE.read_text(encoding="utf-8"))[name]), outputs)


def check_cut(published: Path, cut: Path) -> None:
    """Compare the published recogniser with the cut recogniser, class by class.

    Raises:
        WrongOutputs: a probability differs.
    """
    name = "ppocr/recogniser.onnx"
    (every,) = run(published, name).values()
    chosen = choose(classes_of(onnx.load(str(published))))
    outputs = zip(run(cut, name).values(), (chosen.folding, chosen.latin), strict=True)
    furthest = [_furthest(given, fold(every, chosen.classes, each)) for given, each in outputs]
    worst = float(np.max(furthest))  # Unlike Python's `max`, numpy's returns NaN if a value is NaN.
    if not worst <= _EXACT:
        raise WrongOutputs(
            f"The cut recogniser gives other probabilities than the whole one: off by {worst:.4g}."
        )


def _furthest(outputs: Array, expected: Doubles) -> float:
    """Return the largest difference; infinite if shapes differ, NaN if a value is NaN."""
    if outputs.shape != expected.shape:
        return np.inf
    return float(np.abs(outputs.astype(np.float64) - expected).max())


def fold(every: Array, classes: Ints, folding: Singles) -> Doubles:
    """Compute the expected output of the cut recogniser from the published recogniser's output.

    Args:
        every: probabilities, shape (n, steps, all classes).
        classes: indexes of the kept classes.
        folding: matrix of 0 and 1 that adds classes to output columns, shape (classes with a
            column, output columns).

    Returns:
        float64, shape (n, steps, alphabet).
    """
    kept = every[..., classes].astype(np.float64)
    kept /= kept.sum(axis=-1, keepdims=True)
    expected: Doubles = kept[..., : len(folding)] @ folding.astype(np.float64)
    return expected
