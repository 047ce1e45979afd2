"""Estimates the probability that the value of a key is correct, by logistic regression.

The inputs describe how well the value matches its key, how well the page was read, what is printed
around the value, and how completely the template describes the form. The weights are fitted by
`python -m bench.fit_forms` on generated forms only; docs/forms.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import msgspec

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.domain.documents.page import TextLine
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.segments import LineSegment

WEIGHTS = Path(__file__).parents[3] / "assets" / "ocr" / "form_values.json"
# Names of the inputs, in the order of Evidence.inputs.
INPUTS = (
    "rivalry", "misread", "characters", "hasTextBelow", "preparation", "consensus", "hasColon",
    "isJoined", "hasDigit", "fit", "keyScore",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text around a value, as evidence for its probability."""

    rivalry: float = 0.0
    """Score of the best competing candidate divided by that of the chosen one, 0 to about 1."""
    consensus: float = 0.5
    """Fraction of the nearest other values that have the same direction from key to value."""
    has_colon: bool = False
    """Whether a colon ends the key."""
    is_joined: bool = False
    """Whether the value was joined from several texts, so that some may belong elsewhere."""
    has_text_below: bool = False
    """Whether unassigned text is directly below the value."""
    bound: float = 1.0
    """Upper limit of the probability, for values that an engine recognised.

    The limit is below 1 for two kinds of values: characters in one-character boxes, because
    engines often miss some, and amounts whose notation differs from that of the page's other
    amounts. The training data has too few of both to fit a weight.
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
    preparation: float
    """How completely the template describes its form: see `preparation`."""
    has_digit: bool = True
    """Whether the value has a digit. Captions rarely have one."""
    fit: float = 1.0
    """Score by which the value was chosen, 0 to 1."""
    key_score: float = 1.0
    """Score of the key, 0 to 1, from its similarity to the template and its surroundings."""

    @property
    def inputs(self) -> tuple[float, ...]:
        """Values of the regression's inputs, in the order of `INPUTS`."""
        around = self.surroundings
        return (
            min(1.0, around.rivalry),
            math.sqrt(min(settings.MOST_MISREAD, self.misread)),
            math.log(self.characters),
            float(around.has_text_below),
            self.preparation,
            around.consensus,
            float(around.has_colon),
            float(around.is_joined),
            float(self.has_digit),
            self.fit,
            self.key_score,
        )


class Emptiness(StrEnum):
    """Kinds of keys without a value, by the text next to the key."""

    NOTHING_NEAR = "nothingNear"
    BEHIND_COLON = "behindColon"
    """A colon ends the key, but nothing follows. Such keys are usually filled in."""
    NEAR_TEXT = "nearText"
    """Text is near the key, but it is not a value or belongs to another key."""


@dataclass(frozen=True, slots=True)
class EmptyEvidence:
    """The facts about a key without a value."""

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
    """By kind of key without a found value: fraction that really has none, 0 to 1."""


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
    bound = evidence.surroundings.bound if evidence.misread else 1.0
    # A value cannot be more probable than that all its characters are read correctly.
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


def preparation(keys: Sequence[TemplateKey]) -> float:
    """Return how completely a template describes its form, 0 to 1.

    The result is the mean of two fractions: keys that have a type, and keys with several texts. A
    template with one text per key describes only one version of the form.
    """
    known = sum(bool(key.types) + (len(key.variations) > 1) for key in keys)
    return known / (2 * max(1, len(keys)))


def _uncertainty(line: TextLine) -> float:
    """Return the fraction of a line's characters that are probably misread."""
    return -math.log(max(settings.LEAST_LINE_PROBABILITY, min(1.0, line.probability)))
