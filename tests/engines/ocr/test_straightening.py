"""Straightening bent pages: geometry, and extreme pages."""

import time
from itertools import pairwise

import numpy as np
import pytest

from chalicelib.domain.documents.page import BENT, Course, Rect
from chalicelib.engines.ocr.straightening import find_unrolling, straightened

WIDTH, HEIGHT = 600, 800
LINES = range(100, 720, 40)
COLUMNS = np.arange(60, 541, 20)


def bent_line(column):
    """Return the vertical shift of text at a column: an arch of 30 pixels."""
    return 30 * np.sin(np.pi * column / WIDTH)


def striped(bend):
    """Draw black lines of 16 pixels, and return what a detector finds."""
    pixels = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    for line in LINES:
        for column in range(60, 541):
            middle = round(line + bend(column))
            pixels[middle - 8 : middle + 8, column] = 0
    courses = [
        Course(tuple((float(x), float(line + bend(x))) for x in COLUMNS), 20.0) for line in LINES
    ]
    return pixels, courses


@pytest.mark.parametrize("slope", [0.0, 0.1, -0.5])
def test_flat_pages_are_left_alone(slope):
    """Level and uniformly slanted lines are not straightened."""
    pixels, courses = striped(lambda column: slope * (column - 300) / 4)

    assert all(course.sag < BENT for course in courses)
    assert find_unrolling(pixels, courses) is None


def test_one_arch_does_not_bend_a_page():
    """One curved line, such as a seal, does not straighten a flat page."""
    pixels, flat = striped(lambda column: 0.0)
    _, bent = striped(bent_line)

    assert find_unrolling(pixels, [*flat, bent[3]]) is None


@pytest.mark.parametrize("is_dim", [False, True])
def test_bent_lines_become_level(is_dim):
    """After straightening each line of an arched page has constant height, lit or dim."""
    pixels, courses = striped(bent_line)
    if is_dim:
        pixels = (60 + pixels / 8 + np.linspace(0, 20, WIDTH)[:, None]).astype(np.uint8)

    unrolling = find_unrolling(pixels, courses)
    level = straightened(pixels, unrolling)[:, :, 0].astype(float)

    assert level.shape == (unrolling.height, unrolling.width)
    columns = level[:, 80:520]
    paper, ink = np.percentile(columns, 95, axis=0), np.percentile(columns, 5, axis=0)
    is_ink = columns < (paper + ink) / 2
    full = is_ink.mean(axis=1)
    assert np.mean((full > 0.05) & (full < 0.95)) < 0.12
    assert np.sum(np.diff((full > 0.5).astype(int)) == 1) == len(LINES)


def test_places_lead_back():
    """A box around straightened ink maps back to the same ink on the bent page."""
    pixels, courses = striped(bent_line)
    unrolling = find_unrolling(pixels, courses)
    level = straightened(pixels, unrolling)[:, :, 0]
    rows = np.flatnonzero(level[:, 300] < 128)
    first = rows[: np.flatnonzero(np.diff(rows) > 1)[0] + 1]

    box = unrolling.around_bent(Rect(60, first[0], 540, first[-1] + 1))

    assert box.min_x == pytest.approx(60, abs=3)
    assert box.max_x == pytest.approx(540, abs=3)
    assert box.min_y == pytest.approx(100 + bent_line(60) - 8, abs=3)
    assert box.max_y == pytest.approx(130 + 8, abs=3)


def test_print_in_the_middle_says_how_the_margins_bend():
    """Margins continue the bend at the ends of lines, without folds."""
    pixels, courses = striped(bent_line)

    unrolling = find_unrolling(pixels, courses)

    for above, below in pairwise(unrolling.nodes):
        assert all(low[1] > high[1] for high, low in zip(above, below, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_courses_without_sense_are_no_fault(seed):
    """Zigzag, repeated and out-of-page courses end soon, in a page of bounded size."""
    random = np.random.default_rng(seed)
    pixels = random.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    courses = [
        Course(tuple(map(tuple, random.normal(300, 10.0**seed, (5, 2)).tolist())), 4.0)
        for _ in range(100)
    ]
    courses += [Course(((5.0, 5.0),) * 3, 0.0)] * 3

    start = time.process_time()
    unrolling = find_unrolling(pixels, courses)
    if unrolling is not None:
        level = straightened(pixels, unrolling)
        assert level.size <= 8 * pixels.size
    assert time.process_time() - start < 10


def test_large_photographs_are_scaled_down():
    """A straightened page has at most as many pixels as OCR reads."""
    bend = 3300 / WIDTH
    courses = [
        Course(tuple((x * bend, y * bend) for x, y in course.points), 20 * bend)
        for course in striped(bent_line)[1]
    ]

    unrolling = find_unrolling(np.full((4125, 3300, 3), 255, np.uint8), courses)

    assert 6_000_000 < unrolling.width * unrolling.height <= 12_000_000
