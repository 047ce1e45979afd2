"""Tests of chalicelib/engines/ocr/forms/rulings.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.forms.rulings import PageRules, drawn_rulings
from chalicelib.engines.ocr.forms.segments import make_segments
from tests.engines.ocr.forms.drawn import DrawnForm


def _rules(form: DrawnForm, angle: float = 0.0) -> PageRules:
    """Find the rules of a drawn form."""
    return PageRules.of_pixels(form.read().pixels, angle, (), 20.0)


UPPER, LOWER = Rect(100, 100, 300, 120), Rect(100, 150, 260, 170)
LEFT, RIGHT = Rect(100, 100, 300, 120), Rect(500, 100, 700, 120)


@pytest.mark.parametrize(
    ("rule", "is_found"),
    [((40, 135, 500, 135), True), ((100, 135, 300, 135), False), ((150, 135, 500, 135), False)],
)
def test_line_between_two_lines(rule: tuple[int, int, int, int], is_found: bool) -> None:
    """A rule separates two lines of text if it is longer than both; an underline does not."""
    form = DrawnForm()
    form.rule(*rule)

    assert _rules(form).between_lines(UPPER, LOWER) is is_found


def test_line_between_two_columns() -> None:
    """A vertical rule is found between two texts of a row; text is not a rule."""
    form = DrawnForm()
    form.write(360, 100, "Illinois")

    assert _rules(form).between_columns(LEFT, RIGHT) is False
    form.rule(400, 60, 400, 200)
    assert _rules(form).between_columns(LEFT, RIGHT) is True


def test_tilted_rule() -> None:
    """On a tilted page rules are found and returned in levelled coordinates."""
    slope = math.tan(math.radians(2.0))
    form = DrawnForm()
    form.rule(40, 135 + 40 * slope, 500, 135 + 500 * slope)

    rulings = _rules(form, math.radians(2.0))

    assert rulings.between_lines(UPPER, LOWER) is True


def test_nothing_is_known_without_pixels_or_off_the_page() -> None:
    """Without pixels the result is None; a page too small for a rule has none."""
    assert PageRules(None).between_lines(UPPER, LOWER) is None
    small = PageRules.of_pixels(np.full((20, 20, 3), 255, dtype=np.uint8), 0.0, (), 20.0)
    assert small.between_columns(LEFT, RIGHT) is False
    assert math.isinf(small.box(LEFT).max_x)


def test_box_around_a_text() -> None:
    """A box ends at the next rule on each side; a dashed side is unknown."""
    form = DrawnForm()
    form.box(90, 90, 400, 200)

    box = _rules(form).box(UPPER)

    assert [round(side / 10) for side in (box.min_x, box.min_y, box.max_x, box.max_y)] == [
        9,
        9,
        40,
        20,
    ]


@pytest.mark.parametrize(
    ("rule", "through", "parts"),
    [
        ((300, 60, 300, 200), 900, ["Foreign code", "your refund."]),
        ((300, 98, 300, 122), 900, ["Foreign code your refund."]),
        ((300, 60, 300, 400), 290, ["Foreign code your refund."]),
        ((200, 60, 200, 200), 900, ["Foreign code your refund."]),
    ],
)
def test_text_is_divided_at_the_rule_between_two_boxes(
    rule: tuple[float, float, float, float], through: float, parts: list[str]
) -> None:
    """Text is divided at a rule in a gap; not at a tick or a line through words."""
    rules = PageRules(drawn_rulings((Rect(*rule),)))
    lines = (
        TextLine("Foreign code your refund.", 1.0, Rect(150, 100, 450, 120)),
        TextLine("Elsewhere", 1.0, Rect(through, 300, through + 100, 320)),
    )

    divided = rules.divided(make_segments(lines, 0.0))

    assert [each.text for each in divided] == [*parts, "Elsewhere"]
