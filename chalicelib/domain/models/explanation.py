"""What decided a prediction: words or regions, by what is lost when one of them is left out.

Leave-one-out importance (Li, Monroe, Jurafsky, "Understanding Neural Networks through
Representation Erasure"); for pictures occlusion (Zeiler, Fergus, "Visualizing and Understanding
Convolutional Networks").
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.picture import PixelBox

# Most parts that are left out in turn; of longer texts neighbouring words are one part.
MAX_VARIANTS = 64
# Probabilities are kept this far from 0 and 1, whose odds have no logarithm.
_LEAST = 1e-9
# Han, kana and hangul are written without spaces, or with few: one sign is a part there.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|\w+(?:['’\-]\w+)*")


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part of a text."""

    start: int
    """Place of its first character, from 0; characters are code points of Unicode."""
    end: int
    """Place behind its last one."""


@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """A word, or neighbouring words of a long text, and what it did for the first label."""

    text: str
    """As it stands in the text."""
    span: TextSpan
    """Where it stands."""
    share: float
    """-1 to 1; below 0 it spoke against the label."""


@dataclass(frozen=True, slots=True)
class ExplainedRegion:
    """A region of a picture, and what it did for the first label."""

    box: PixelBox
    """Where it is."""
    share: float
    """-1 to 1; below 0 it spoke against the label."""


# Words in the order of the text, or regions row by row; empty where there is no first label.
Explanation = Sequence[ExplainedWord | ExplainedRegion]


def word_spans(text: str) -> list[TextSpan]:
    """Find the words of a text, at most MAX_VARIANTS parts; a text without any is one part."""
    words = [TextSpan(*found.span()) for found in _WORD.finditer(text)]
    if not words:
        return [TextSpan(0, len(text))]
    size = math.ceil(len(words) / MAX_VARIANTS)
    groups = [words[start : start + size] for start in range(0, len(words), size)]
    return [TextSpan(group[0].start, group[-1].end) for group in groups]


def without(text: str, span: TextSpan) -> str:
    """Leave a part out, with the spaces that would stand twice."""
    return f"{text[: span.start].rstrip()} {text[span.end :].lstrip()}".strip()


def log_odds(probability: float) -> float:
    """Logarithm of the odds of a probability, 0 to 1."""
    kept = min(1.0 - _LEAST, max(_LEAST, probability))
    return math.log(kept / (1.0 - kept))


def part_shares(whole: float, variants: Sequence[float]) -> list[float]:
    """Share what leaving a part out changes.

    Args:
        whole: probability of a label, 0 to 1.
        variants: its probability without one part each.

    Returns:
        What each part adds to the log-odds, over the sum of all amounts: -1 to 1, amounts sum to 1,
        all 0 where no part matters.
    """
    gains = [log_odds(whole) - log_odds(each) for each in variants]
    total = math.fsum(abs(gain) for gain in gains)
    return [round(gain / total, 6) if total else 0.0 for gain in gains]
