"""Estimates the probability that the value of a key is correct, by logistic regression.

The inputs describe how well the value matches its key, how well the page was read, and what is
printed around the value. The weights are fitted by `python -m bench.fit_forms` on generated forms
only; docs/forms.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import msgspec

from chalicelib.domain.documents.page import TextLine
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.segments import LineSegment

WEIGHTS = Path(__file__).parents[3] / "assets" / "ocr" / "form_values.json"
# Names of the inputs, in the order of Evidence.inputs.
INPUTS = (
    "rivalry", "misread", "characters", "hasTextBelow", "consensus", "hasColon",
    "isJoined", "hasDigit", "fit", "keyScore", "headsColumn",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text around a value, as evidence for its probability."""

    rivalry: float = 0.0
    """Score of the best competing candidate divided by that of the chosen one, 0 to about 1."""
    consensus: float = 0.5
    """Fraction of the nearest other keys whose values are in the same direction."""
    has_colon: bool = False
    """Whether a colon ends the key."""
    is_joined: bool = False
    """Whether the value was joined from several texts, some of which may belong elsewhere."""
    has_text_below: bool = False
    """Whether unassigned text is directly below the value."""
    heads_column: float = 0.0
    """How surely the key is the header of a column of numbers or dates, 0 to 1."""
    bound: float = 1.0
    """Upper limit of the probability; 1 if the text is from a PDF's text layer.

    It is lower for characters in one-character boxes, of which engines miss some, and for amounts
    in another notation than the page's other amounts. Generated forms have too few of both.
    """


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts about a value from which its probability is computed."""

    surroundings: Surroundings
    """The text around the value."""
    misread: float
    """Expected number of misread characters in the value."""
    characters: int
    """Number of letters, digits and marks of the value, at least one."""
    has_digit: bool = True
    """Whether the value has a digit. Captions rarely have one."""
    fit: float = 1.0
    """Score by which the value was chosen, 0 to 1."""
    key_score: float = 1.0
    """Score of the key, 0 to 1."""

    @property
    def inputs(self) -> tuple[float, ...]:
        """Values of the regression's inputs, in the order of `INPUTS`."""
        around = self.surroundings
        return (
            min(1.0, around.rivalry),
            math.sqrt(min(settings.MOST_MISREAD, self.misread)),
            math.log(self.characters),
            float(around.has_text_below),
            around.consensus,
            float(around.has_colon),
            float(around.is_joined),
            float(self.has_digit),
            self.fit,
            self.key_score,
            around.heads_column,
        )


class Emptiness(StrEnum):
    """What is next to a key for which no value was found."""

    NOTHING_NEAR = "nothingNear"
    BEHIND_COLON = "behindColon"
    """A colon ends the key, but nothing follows. Such keys are usually filled in."""
    NEAR_TEXT = "nearText"
    """Text is near the key, but it is not a value or belongs to another key."""


@dataclass(frozen=True, slots=True)
class EmptyEvidence:
    """The facts from which the probability is computed that a key really has no value."""

    emptiness: Emptiness
    legibility: float
    """Probability that the key was read correctly, 0 to 1."""


# Computes a probability from evidence, 0 to 1.
Weigh = Callable[[Evidence | EmptyEvidence], float]


class FormValueWeights(msgspec.Struct, rename="camel"):
    """Fitted weights; their file also describes the data on which they were fitted."""

    bias: float
    weights: dict[str, float]
    """Weight of each of `INPUTS`."""
    empty: dict[Emptiness, float]
    """For each `Emptiness`: fraction of the keys without a found value that really have none."""


@cache
def fitted_weights() -> FormValueWeights:
    """Return the fitted weights; the first call of a process reads their file."""
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=FormValueWeights)


def likelihood(evidence: Evidence | EmptyEvidence) -> float:
    """Return the probability, 0 to 1, that a value is right or that a key really has no value."""
    fitted = fitted_weights()
    if isinstance(evidence, EmptyEvidence):
        return fitted.empty[evidence.emptiness] * evidence.legibility
    weighed = zip(INPUTS, evidence.inputs, strict=True)
    score = fitted.bias + sum(fitted.weights[name] * each for name, each in weighed)
    # A value cannot be more probable than that all its characters are read correctly.
    bound = evidence.surroundings.bound
    return min(bound, legibility_bound(evidence.misread), 1 / (1 + math.exp(-score)))


def legibility_bound(misread: float) -> float:
    """Return the probability that all characters of a value are read correctly.

    Engines are less sure of characters than they should be: on generated forms, half as many are
    misread as expected.
    """
    return math.exp(-misread / 2)


def misread_characters(segments: Iterable[LineSegment]) -> float:
    """Return the expected number of misread characters in some texts."""
    return sum(_uncertainty(each.line) * len(each.text) for each in segments)


def _uncertainty(line: TextLine) -> float:
    """Return the fraction of a line's characters that are probably misread."""
    return -math.log(max(settings.LEAST_LINE_PROBABILITY, min(1.0, line.probability)))
