"""Estimates the probability that the value of a key is correct, by boosted trees.

How well a text fits its key decides which text is chosen. The probability also depends on how well
the page was read, and on the surroundings. The trees are fitted by `python -m bench.fit_forms` on
generated forms alone; docs/forms.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import msgspec

from chalicelib.domain.documents.page import TextLine
from chalicelib.engines.ocr.forms import measures
from chalicelib.engines.ocr.forms.segments import LineSegment

WEIGHTS = Path(__file__).parents[3] / "assets" / "ocr" / "form_values.json"
# Names of the inputs, in the order of Evidence.inputs.
INPUTS = (
    "rivalText", "misread", "blur", "characters", "isClosed", "consensus", "hasColon", "texts",
    "hasDigit", "fit", "keyScore", "gap", "printRatio", "isFlush",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is printed around a value."""

    rival_text: float = 0.0
    """Score of the best other text for the key relative to the chosen one, 0 to about 1."""
    consensus: float = 0.5
    """Fraction of the nearest other values that are in the same direction from their keys."""
    has_colon: bool = False
    """Whether a colon ends the key."""
    texts: int = 1
    """Number of texts that were joined to the value, some of which may belong elsewhere."""
    gap: float = 0.0
    """Distance between key and value, both ways together, in heights of the key."""
    print_ratio: float = 1.0
    """Height of the value's print relative to the key's; captions are often smaller."""
    is_flush: bool = False
    """Whether key and value begin at the same left edge."""
    bound: float = 1.0
    """Maximum probability of a value that an engine recognised.

    It is below 1 for characters in single boxes, of which some are often missed, and for amounts in
    another notation than the others. There were too few of both to fit a weight.
    """


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts about a value from which its probability is computed."""

    surroundings: Surroundings
    """What is printed around the value."""
    misread: float
    """Expected number of misread characters in the value."""
    blur: float
    """Expected fraction of misread characters on the whole page."""
    characters: int
    """Number of letters, digits and marks of the value, at least one."""
    is_closed: bool
    """Whether the value is one number, date, amount, phone number or mail address."""
    fit: float = 1.0
    """How well key and value were read and fit together, 0 to 1."""
    key_score: float = 1.0
    """How likely the text is the key, 0 to about 1."""
    has_digit: bool = True
    """Whether the value has a digit, as captions rarely have."""

    @property
    def inputs(self) -> tuple[float, ...]:
        """The inputs of the trees, in the order of `INPUTS`."""
        around = self.surroundings
        return (
            min(1.0, around.rival_text),
            self.misread,
            self.blur,
            float(self.characters),
            float(self.is_closed),
            around.consensus,
            float(around.has_colon),
            float(around.texts),
            float(self.has_digit),
            self.fit,
            self.key_score,
            around.gap,
            around.print_ratio,
            float(around.is_flush),
        )


class Emptiness(StrEnum):
    """What is next to a key that has no value."""

    NOTHING_NEAR = "nothingNear"
    BEHIND_COLON = "behindColon"
    """Nothing, but a colon ends the key: such keys are filled in more often."""
    NEAR_TEXT = "nearText"
    """Text that is not a value, or that belongs to another key."""


@dataclass(frozen=True, slots=True)
class EmptyEvidence:
    """The facts about a key without a value."""

    emptiness: Emptiness
    legibility: float
    """Probability that the key was read correctly, 0 to 1."""


# Computes a probability from evidence, 0 to 1.
Weigh = Callable[[Evidence | EmptyEvidence], float]


class TreeNode(msgspec.Struct, array_like=True):
    """A question about one input, or at the end of a branch an answer."""

    input: int
    """Place in `INPUTS`; negative for an answer."""
    limit: float
    """Largest input that goes to `below`, or the answer: an addend of the log-odds."""
    below: int = 0
    above: int = 0


class FormValueWeights(msgspec.Struct, rename="camel"):
    """Fitted weights, with a card of the data on which they were fitted."""

    bias: float
    inputs: tuple[str, ...]
    """The names of the inputs that the trees were fitted on, as `INPUTS`."""
    trees: list[list[TreeNode]]
    """Trees that each add to the log-odds; the first node is the root."""
    empty: dict[Emptiness, float]
    """Fraction of the keys found without a value that really have none."""


@cache
def fitted_weights() -> FormValueWeights:
    """Load the weights, once a process."""
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=FormValueWeights)


def likelihood(evidence: Evidence | EmptyEvidence) -> float:
    """Return the probability, 0 to 1, that a value is right, or that a key has none."""
    fitted = fitted_weights()
    if isinstance(evidence, EmptyEvidence):
        return fitted.empty[evidence.emptiness] * evidence.legibility
    inputs = evidence.inputs
    score = fitted.bias + sum(tree_answer(tree, inputs) for tree in fitted.trees)
    bound = evidence.surroundings.bound if evidence.blur else 1.0
    # No value is surer than that all its characters are read correctly.
    return min(bound, math.exp(-evidence.misread), 1 / (1 + math.exp(-score)))


def tree_answer(tree: Sequence[TreeNode], inputs: Sequence[float]) -> float:
    """Return what a tree adds to the log-odds."""
    node = tree[0]
    while node.input >= 0:
        node = tree[node.below if inputs[node.input] <= node.limit else node.above]
    return node.limit


def misread_characters(segments: Iterable[LineSegment]) -> float:
    """Return the expected number of misread characters in some texts."""
    return sum(_uncertainty(each.line) * len(each.text) for each in segments)


def blur(lines: Sequence[TextLine]) -> float:
    """Return the expected fraction of misread characters on a page."""
    characters = sum(len(line.text) for line in lines)
    return sum(_uncertainty(line) * len(line.text) for line in lines) / max(1, characters)


def _uncertainty(line: TextLine) -> float:
    """Return the fraction of a line's characters that are probably misread."""
    return -math.log(max(measures.LEAST_LINE_PROBABILITY, min(1.0, line.probability)))
