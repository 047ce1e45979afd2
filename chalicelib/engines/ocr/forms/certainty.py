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

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.segments import LineSegment

WEIGHTS = Path(__file__).parents[3] / "assets" / "ocr" / "form_values.json"
# Names of the inputs, in the order of Evidence.inputs.
INPUTS = (
    "rivalry", "misread", "characters", "hasTextBelow", "consensus", "hasColon",
    "isJoined", "hasDigit", "fit", "keyScore", "headsColumn", "rarity", "lacksFormat", "agrees",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text around a value, as evidence for its probability."""

    rivalry: float = 0.0
    """Score of the best competing candidate, divided by the chosen one's score; 0 to about 1."""
    consensus: float = 0.5
    """Fraction of the nearest other keys whose values are in the same direction."""
    has_colon: bool = False
    """Whether a colon ends the key."""
    is_joined: bool = False
    """Whether the value was joined from several texts, some of which may belong elsewhere."""
    has_text_below: bool = False
    """Whether unassigned text is directly below the value."""
    heads_column: bool = False
    """Whether the key is the header of a column of numbers or dates."""
    bound: float = 1.0
    """Upper limit of the probability: lower for amounts in another notation than the page's other
    amounts, and for one-character boxes, whose characters engines miss; 1 in text layers."""


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
    rarity: float | None = 0.0
    """How rare the value's format is on the page; None if it is not the format of the entity."""
    agrees: bool = False
    """Whether the value is part of a sum that holds."""

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
            float(around.heads_column),
            self.rarity or 0.0,
            # Half: generated values all have the format of their entity, but real ones do not.
            float(self.rarity is None) / 2,
            float(self.agrees),
        )


class Unweighed(StrEnum):
    """Kinds of results without regression; each kind has a measured success rate."""

    NOTHING_NEAR = "nothingNear"
    BEHIND_COLON = "behindColon"
    """A colon ends the key, but nothing follows. Such keys are usually filled in."""
    NEAR_TEXT = "nearText"
    """Text is near the key, but it is not a value or belongs to another key."""
    UNCAPTIONED = "uncaptioned"
    """A name or an address that was found without a key."""


@dataclass(frozen=True, slots=True)
class UnweighedEvidence:
    """The facts about a key without a value, or about a value without a key."""

    kind: Unweighed
    legibility: float
    """Probability that the key, or the value, was read correctly, 0 to 1."""


# Computes a probability from evidence, 0 to 1.
Weigh = Callable[[Evidence | UnweighedEvidence], float]


class FormValueWeights(msgspec.Struct, rename="camel"):
    """Fitted weights; their file also describes the data on which they were fitted."""

    bias: float
    weights: dict[str, float]
    """Weight of each of `INPUTS`."""
    shares: dict[Unweighed, float]
    """Fraction of right results of each kind in `Unweighed`, 0 to 1."""


@cache
def fitted_weights() -> FormValueWeights:
    """Return the fitted weights; the first call of a process reads their file."""
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=FormValueWeights)


def likelihood(evidence: Evidence | UnweighedEvidence) -> float:
    """Return the probability, 0 to 1, that a value is right or that a key really has no value."""
    fitted = fitted_weights()
    if isinstance(evidence, UnweighedEvidence):
        return fitted.shares[evidence.kind] * evidence.legibility
    weighed = zip(INPUTS, evidence.inputs, strict=True)
    score = fitted.bias + sum(fitted.weights[name] * each for name, each in weighed)
    return min(evidence.surroundings.bound, 1 / (1 + math.exp(-score)))


def misread_characters(segments: Iterable[LineSegment]) -> float:
    """Return the expected number of misread characters in segments."""
    least = settings.LEAST_LINE_PROBABILITY
    return sum(-math.log(max(least, each.line.probability)) * len(each.text) for each in segments)


def legibility(segments: Iterable[LineSegment]) -> float:
    """Return the probability that all characters of segments were read correctly.

    In practice, only half as many characters are misread as `misread_characters` expects.
    """
    return math.exp(-misread_characters(segments) / 2)
