"""The sample page of OCR is what the project's own code draws."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from bench.drawing.archives import ASSETS
from bench.drawing.page import FIELDS, LINES, PAGE, TABLE, draw_page

MAX_BYTES = 150_000
FAR = 64
"""Difference of a pixel that is seen, of 255."""
MAX_SHARE = 0.0005
"""Share of such pixels; a missing line of text has more."""


def _pixels(content: bytes) -> np.ndarray:
    """Decode a picture."""
    return np.asarray(Image.open(io.BytesIO(content)).convert("L"), np.int16)


def test_page_is_what_is_drawn() -> None:
    """Drawing the page again gives the shipped one, which is a small file."""
    content = (ASSETS / PAGE).read_bytes()
    assert len(content) <= MAX_BYTES
    shipped, drawn = _pixels(content), _pixels(draw_page())
    assert shipped.shape == drawn.shape
    assert np.mean(np.abs(shipped - drawn) > FAR) < MAX_SHARE


def test_page_says_what_is_listed() -> None:
    """Every field stands on the page with its key, and the table's sums are right."""
    lines = [line.text for line in LINES]
    assert all(f"{key}: {value}" in lines for key, value in FIELDS.items())
    amounts = {row[0]: float(row[-1].replace(",", "")) for row in TABLE[1:]}
    earned = sum(amounts[name] for name in ("Regular pay", "Overtime", "Holiday pay"))
    assert earned == amounts["Gross amount"]
    withheld = amounts["Federal income tax"] + amounts["Social security"]
    assert round(earned + withheld, 2) == amounts["Amount paid"]
    assert FIELDS["Net Pay"] == f"${TABLE[-1][1]}"
