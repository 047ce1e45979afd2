"""The shipped pictures are what the project's own code draws."""

from __future__ import annotations

import io
import zipfile
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from bench.drawing.archives import ARCHIVES, ASSETS, QUESTION, draw_question

MAX_BYTES = 1_000_000
MAX_DIFFERENCE = 2.0
"""Mean difference of two encoders' pixels, of 255."""


def _pixels(content: bytes) -> np.ndarray:
    """Decode a picture."""
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), np.float32)


def _is_same(one: bytes, other: bytes) -> bool:
    """Compare two pictures as seen: encoders may differ in a few bits."""
    left, right = _pixels(one), _pixels(other)
    return left.shape == right.shape and float(np.abs(left - right).mean()) < MAX_DIFFERENCE


@pytest.mark.parametrize("place", ARCHIVES)
def test_archive_is_what_is_drawn(place: str) -> None:
    """Each archive holds exactly the files that drawing again gives, and is at most 1 MB."""
    drawn = ARCHIVES[place]()
    assert (ASSETS / place).stat().st_size <= MAX_BYTES
    with zipfile.ZipFile(ASSETS / place) as archive:
        shipped = {name: archive.read(name) for name in archive.namelist()}
    assert list(shipped) == list(drawn)
    for name, content in drawn.items():
        same = _is_same if name.endswith(".jpg") else bytes.__eq__
        assert same(shipped[name], content), name


def test_question_is_what_is_drawn_and_in_no_archive() -> None:
    """The picture to ask is drawn by the same code, and no model was trained on it."""
    content = (ASSETS / QUESTION).read_bytes()
    assert _is_same(content, draw_question())
    with zipfile.ZipFile(ASSETS / "samples/road_signs.zip") as archive:
        assert content not in [archive.read(name) for name in archive.namelist()]


def test_labels_of_the_archives() -> None:
    """Every label has at least ten examples, so that each can be trained and tested."""
    for place in ("samples/road_signs.zip", "global/image.zip", "global/image-multi-label.zip"):
        with zipfile.ZipFile(ASSETS / place) as archive:
            counts = Counter(name.split("/")[0] for name in archive.namelist())
        assert min(counts.values()) >= 10, place
