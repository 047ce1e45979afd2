"""Explains a prediction: finds the words or regions whose removal changes the prediction most.

For texts, the method is leave-one-out importance (Li, Monroe, Jurafsky, "Understanding Neural
Networks through Representation Erasure"). For images, it is occlusion (Zeiler, Fergus, "Visualizing
and Understanding Convolutional Networks").
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.picture import PixelBox

# Most parts that are removed in turn, to bound the time. In longer texts neighbouring words form
# one part.
MAX_VARIANTS = 64
# Probabilities are clipped by this much, because the odds of 0 and 1 have no logarithm.
_LEAST = 1e-9
# Han, kana and hangul are written with few or no spaces, so each of their characters is a part.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|\w+(?:['’\-]\w+)*")


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part of a text."""

    start: int
    """Index of the span's first character, from 0, in Unicode code points."""
    end: int


@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """One or several adjacent words, with their contribution to the most probable label."""

    text: str
    span: TextSpan
    share: float
    """Contribution, -1 to 1; negative if the word makes the label less probable."""
    is_read: bool = True
    """Whether the model reads the words; False for words beyond the maximum length of texts."""


@dataclass(frozen=True, slots=True)
class ExplainedRegion:
    """A region of an image, with its contribution to the most probable label."""

    box: PixelBox
    share: float
    """Contribution, -1 to 1; negative if the region makes the label less probable."""


# Words in text order, or regions row by row; empty without a first label.
Explanation = Sequence[ExplainedWord | ExplainedRegion]


def word_spans(text: str) -> list[TextSpan]:
    """Split a text into at most MAX_VARIANTS spans, each of one word or several adjacent words.

    A text without words is one span.
    """
    words = [TextSpan(*found.span()) for found in _WORD.finditer(text)]
    if not words:
        return [TextSpan(0, len(text))]
    size = math.ceil(len(words) / MAX_VARIANTS)
    groups = [words[start : start + size] for start in range(0, len(words), size)]
    return [TextSpan(group[0].start, group[-1].end) for group in groups]


def without(text: str, span: TextSpan) -> str:
    """Return a text with one span replaced by a single space."""
    return f"{text[: span.start].rstrip()} {text[span.end :].lstrip()}".strip()


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, clipped so that the result is finite."""
    kept = min(1.0 - _LEAST, max(_LEAST, probability))
    return math.log(kept / (1.0 - kept))


def part_shares(probability: float, variants: Sequence[float]) -> list[float]:
    """Return the contribution of each part to the log-odds of a label.

    Args:
        probability: probability of the label for the whole sample, 0 to 1.
        variants: for each part, the probability of the label without this part.

    Returns:
        Contributions of -1 to 1, whose absolute values sum to 1; all 0 if no part matters.
    """
    gains = [log_odds(probability) - log_odds(each) for each in variants]
    total = math.fsum(abs(gain) for gain in gains)
    return [round(gain / total, 6) if total else 0.0 for gain in gains]
