"""Finds the texts near a value that may be its caption."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms.segments import LineSegment, is_level
from chalicelib.engines.ocr.forms.spelling import tokens
from chalicelib.engines.ocr.learning.given_values import ValuePlace

# Where a caption is, seen from its value.
BEFORE, LEFT, ABOVE, BELOW = "before", "left", "above", "below"
# Score of each position, without regard to the text.
_PRIORS = {BEFORE: 1.0, LEFT: 0.95, ABOVE: 0.9, BELOW: 0.4}
# Maximum number of captions in each direction: a table's header may be some rows above the value.
_MOST_LEFT, _MOST_ABOVE, _MOST_BELOW = 3, 5, 1
# Factor of the score for each text between caption and value.
_PER_TEXT = 0.75
# Distances at which a caption's score is halved, in line heights. Captions on the left can be far
# away, because some forms align values at the right margin.
_HALF_LEFT, _HALF_ABOVE = 80.0, 12.0
_MOST_WORDS, _MOST_CHARACTERS = 10, 80
# Maximum distance of the two lines of a caption, in heights of a line.
_CAPTION_LINES = 0.8
# Maximum length of normalised values, including spaces, that may be words of captions.
_SHORT = 5
_OUTER = " \t:：;,|•·*$£€¥₹=-–—_"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class NearText:
    """A text near a value that may be its caption."""

    text: str
    folded: str
    """Words of the text, normalised for comparison, with a space before and after each word."""
    relation: str
    """Position relative to the value: BEFORE, LEFT, ABOVE or BELOW."""
    closeness: float
    """Score of the position, 0 to 1: higher where captions are more frequent."""


def texts_near(
    segments: Sequence[LineSegment], place: ValuePlace, values: frozenset[str]
) -> Iterator[NearText]:
    """Yield the texts near a value that may be its caption.

    Args:
        segments: segments of the page.
        place: where the value is.
        values: normalised words of each value of the document; such texts are not captions.
    """
    first, number = place.segments[0], place.numbers[0]
    for text, factor in _before(segments[number], first):
        yield from _as_near(text, BEFORE, factor, values)
    others = [each for at, each in enumerate(segments) if at not in place.numbers]
    rect, height = place.rect, first.height
    left = [each for each in others if _is_left(each.rect, first.rect)]
    left.sort(key=lambda each: -each.rect.max_x)
    for order, each in enumerate(left[:_MOST_LEFT]):
        factor = _far((first.rect.min_x - each.rect.max_x) / height, _HALF_LEFT) * _PER_TEXT**order
        yield from _as_near(each.text, LEFT, factor, values)
        for text, part in _behind(each.text):
            yield from _as_near(text, LEFT, factor * part, values)
    yield from _above(others, rect, height, values)
    below = [each for each in others if _is_above(rect, each.rect, height)]
    below.sort(key=lambda each: each.rect.min_y)
    for each in below[:_MOST_BELOW]:
        factor = _far(max(0.0, each.rect.min_y - rect.max_y) / height, _HALF_ABOVE)
        yield from _as_near(each.text, BELOW, factor, values)


def _above(
    segments: Sequence[LineSegment], rect: Rect, height: float, values: frozenset[str]
) -> Iterator[NearText]:
    """Yield the texts above a value; two lines of a caption are also yielded as one text."""
    above = [each for each in segments if _is_above(each.rect, rect, height)]
    above.sort(key=lambda each: (-round(each.rect.max_y / height), each.rect.min_x))
    for order, each in enumerate(above[:_MOST_ABOVE]):
        factor = (
            _far(max(0.0, rect.min_y - each.rect.max_y) / height, _HALF_ABOVE) * _PER_TEXT**order
        )
        # A caption begins where its value begins, or ends where it ends.
        begins = abs(each.rect.min_x - rect.min_x) < height
        ends = abs(each.rect.max_x - rect.max_x) < height
        factor *= 1.0 if begins or ends else 0.9
        yield from _as_near(each.text, ABOVE, factor, values)
        for upper in above[order + 1 :]:
            if 0 <= each.rect.min_y - upper.rect.max_y + height / 2 < _CAPTION_LINES * 2 * height:
                joined = f"{upper.text} {each.text}"
                folded = folded_words(upper.text)
                if not any(folded in value for value in values):
                    yield from _as_near(joined, ABOVE, factor * 0.9, values)
                break


def _before(segment: LineSegment, value: LineSegment) -> Iterator[tuple[str, float]]:
    """Yield the text before a value on its line, then only the last words of this text.

    The line may begin with another field: "Invoice No. 17 Date 3/5/24".
    """
    text = segment.text[: max(0, value.start - segment.start)].rstrip(_OUTER)
    if not text:
        return
    yield text, 1.0
    yield from _behind(text)


def _behind(text: str) -> Iterator[tuple[str, float]]:
    """Yield the last words of a text, one word fewer each time, with a factor for the score.

    The factor is higher if a colon precedes these words.
    """
    starts = [match.start() for match in _WORD.finditer(text)][1:]
    for start in starts[-_MOST_WORDS:]:
        head = text[:start].rstrip()
        yield text[start:], 0.95 if head.endswith((":", "|", ";")) else 0.8


def _is_left(rect: Rect, value: Rect) -> bool:
    return is_level(rect, value) and rect.center[0] < value.min_x


def _is_above(rect: Rect, value: Rect, height: float) -> bool:
    """Return whether a text is above another one and overlaps it horizontally."""
    shared = min(rect.max_x, value.max_x) - max(rect.min_x, value.min_x)
    return rect.center[1] < value.min_y and rect.max_y < value.min_y + height / 2 and shared > 0


def _far(heights: float, half: float) -> float:
    return half / (half + heights)


def _as_near(text: str, relation: str, factor: float, values: frozenset[str]) -> Iterator[NearText]:
    """Yield a `NearText`, unless the text is one of `values`, has no letters or is a sentence."""
    shown = " ".join(text.strip(_OUTER).lstrip(_OUTER + ".").split())
    is_word = any(letter.isalpha() for letter in shown) or "#" in shown
    if not is_word or len(shown) > _MOST_CHARACTERS or len(shown.split()) > _MOST_WORDS:
        return
    folded = folded_words(shown)
    if not any(folded in value or (len(value) > _SHORT and value in folded) for value in values):
        yield NearText(shown, folded, relation, _PRIORS[relation] * factor)


def folded_words(text: str) -> str:
    """Return the words of a text, normalised for comparison, with a space before and after each."""
    return "".join(f" {token.folded}" for token in tokens(text)) + " "
