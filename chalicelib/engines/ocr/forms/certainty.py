"""Estimates the probability that the value of a key is correct, by logistic regression.

How well a text fits its key decides which text is chosen. The probability also depends on how well
the page was read, on the surroundings, and on how much the template describes the form. The weights
are fitted by `python -m bench.fit_forms` on forms for which no rule was made; docs/forms.md has the
figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.domain.documents.page import TextLine
from chalicelib.engines.ocr.forms import measures
from chalicelib.engines.ocr.forms.segments import LineSegment


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is printed around a value."""

    is_placed: bool = True
    """Whether a ruled box, a line's number or a column of the form holds it."""
    rivalry: float = 0.0
    """How likely the next best value of the key, or the next best key of the text, is to be meant,
    as a share of how likely the chosen one is; 0 to 1 and a little more."""
    has_text_behind: bool = False
    """Whether unassigned text follows it in its line."""
    has_text_below: bool = False
    """Whether unassigned text follows directly below it."""
    bound: float = 1.0
    """Above which no probability goes where an engine read: below 1 for characters in single boxes,
    of which some are often not read, and for amounts that are not written as the others are; of
    both too few were there to fit anything."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts about a value from which its probability is computed."""

    surroundings: Surroundings
    """Of its place."""
    misread: float
    """Characters of it that are misread, as the engine that read them expects."""
    blur: float
    """Share of the whole page's characters that are misread, in the same way."""
    characters: int
    """Letters, digits and marks of it, at least one."""
    is_closed: bool
    """Whether it is one number, date, amount, telephone number or mail address."""
    preparation: float
    """How much the template knows of its form: see `preparation`."""

    @property
    def inputs(self) -> tuple[float, ...]:
        """The regression's inputs, in the order of `measures.VALUE_WEIGHTS`."""
        around = self.surroundings
        return (
            float(around.is_placed),
            min(1.0, around.rivalry),
            math.sqrt(min(measures.MOST_MISREAD, self.misread)),
            math.log1p(self.blur / measures.CLEAR_PAGE_BLUR),
            math.log(self.characters),
            float(self.is_closed),
            float(around.has_text_below),
            float(around.has_text_behind),
            self.preparation,
        )


# Makes of evidence a probability, 0 to 1.
Weigh = Callable[[Evidence], float]


def likelihood(evidence: Evidence) -> float:
    """Return the probability that a value is correct, 0 to 1."""
    weighed = zip(measures.VALUE_WEIGHTS, evidence.inputs, strict=True)
    score = measures.VALUE_BIAS + sum(weight * each for weight, each in weighed)
    bound = evidence.surroundings.bound if evidence.blur else 1.0
    return min(bound, 1 / (1 + math.exp(-score)))


def misread_characters(segments: Iterable[LineSegment]) -> float:
    """Return the expected number of misread characters in some texts."""
    return sum(_uncertainty(each.line) * len(each.text) for each in segments)


def blur(lines: Sequence[TextLine]) -> float:
    """Return the expected fraction of misread characters on a page."""
    characters = sum(len(line.text) for line in lines)
    return sum(_uncertainty(line) * len(line.text) for line in lines) / max(1, characters)


def preparation(keys: Sequence[TemplateKey]) -> float:
    """Return how completely a template describes its form, 0 to 1.

    The result is the mean of two fractions: keys that have a type, and keys with several texts. A
    template with one text per key describes only one version of the form.
    """
    known = sum(bool(key.types) + (len(key.variations) > 1) for key in keys)
    return known / (2 * max(1, len(keys)))


def _uncertainty(line: TextLine) -> float:
    """Return the fraction of a line's characters that are probably misread."""
    return -math.log(max(measures.LEAST_LINE_PROBABILITY, min(1.0, line.probability)))
