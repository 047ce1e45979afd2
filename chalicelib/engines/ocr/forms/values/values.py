"""Assigns values to keys. A value is one text or several; each text is used only once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.certainty import Surroundings, Unweighed, fitted_weights
from chalicelib.engines.ocr.forms.field_kinds import is_spaced, span_of
from chalicelib.engines.ocr.forms.fragments import Choice, UnmatchedText
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.rulings import PageRules
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.forms.tick_boxes.boxes import FoundBox
from chalicelib.engines.ocr.forms.values.candidates import (
    ABOVE,
    ADJACENT,
    BELOW,
    BOXED,
    CROSSED,
    INLINE,
    NUMBERED,
    RIGHT,
    Candidate,
    Neighbourhood,
)
from chalicelib.engines.ocr.forms.values.continuation import Continuation
from chalicelib.engines.ocr.forms.values.line_numbers import NumberedLines
from chalicelib.engines.ocr.forms.values.statements import StatementColumns

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles


_DIRECTIONS = (RIGHT, BELOW, ABOVE)
# Relations that are found by a box, a line number or a column, and not by a direction.
_PLACED = frozenset((BOXED, ADJACENT, NUMBERED, CROSSED))
# INLINE is the same direction as RIGHT.
_SAME = {INLINE: RIGHT}


def weigh_directions(keys: Sequence[FoundKey], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Adjust the candidates' scores by the most frequent direction from key to value.

    A key whose candidates differ clearly in score votes for the direction of the best one.
    """
    if not keys:
        return []
    sums = _kinship(keys) @ _votes(len(keys), candidates) + np.array(settings.DIRECTION_PRIOR)
    weights = settings.DIRECTION_FLOOR + (1 - settings.DIRECTION_FLOOR) * sums / sums.max(
        axis=1, keepdims=True
    )
    return [
        each
        if each.relation not in _DIRECTIONS
        else replace(
            each, score=each.score * float(weights[each.key, _DIRECTIONS.index(each.relation)])
        )
        for each in candidates
    ]


def _kinship(keys: Sequence[FoundKey]) -> Doubles:
    """Return how much a key's vote on directions counts for another key, float64, (keys, keys).

    A vote counts more for a key in the same line. It counts less if only one of the keys has a
    colon. In different lines, it does not count if only one of the keys is a number.
    """
    has_colon = np.array([key.has_colon for key in keys])
    is_number = np.array([key.text.isdecimal() for key in keys])
    middles = np.array([key.rect.center[1] for key in keys])
    heights = np.array([key.height for key in keys])
    is_kin = has_colon[:, None] == has_colon
    least = np.minimum(heights[:, None], heights)
    is_alike = least > settings.SAME_SIZE * np.maximum(heights[:, None], heights)
    is_level = is_alike & (
        np.abs(middles[:, None] - middles) < settings.SAME_MIDDLE_HEIGHTS * least
    )
    kinship: Doubles = np.where(is_kin, 1.0, settings.STRANGER_VOTE)
    kinship *= np.where(is_level, settings.NEIGHBOUR_VOTE, is_number[:, None] == is_number)
    np.fill_diagonal(kinship, 1.0)
    return kinship


def _votes(count: int, candidates: Sequence[Candidate]) -> Doubles:
    """Return the votes of each key for directions, float64, shape (keys, directions)."""
    by_key: dict[int, dict[str, float]] = {}
    for each in candidates:
        by_key.setdefault(each.key, {})[each.relation] = each.score
    votes = np.zeros((count, len(_DIRECTIONS)))
    for number, scores in by_key.items():
        relation, weight = _vote(scores)
        votes[number, _DIRECTIONS.index(relation)] = weight
    return votes


def _vote(scores: dict[str, float]) -> tuple[str, float]:
    """Return the direction of a key's best candidate, and the weight of this vote, 0 to 1."""
    if INLINE in scores:
        return RIGHT, 1.0
    if scores.keys() & _PLACED:
        # Where a box, a number or a column decides, directions give no evidence.
        return RIGHT, 0.0
    ranked = sorted(((scores.get(each, 0.0), -at) for at, each in enumerate(_DIRECTIONS)))
    (second, _), (best, place) = ranked[-2:]
    return _DIRECTIONS[-place], (best - second) / best if best else 0.0


@dataclass(frozen=True, slots=True)
class Value:
    """The text of a key's value, with a score."""

    segments: tuple[LineSegment, ...]
    """Parts of the value in reading order; empty without a value."""
    certainty: float
    """Score of the value, 0 to 1; without a value, probability that the key has none."""
    surroundings: Surroundings = field(default_factory=Surroundings)
    """Text printed around the value."""
    emptiness: Unweighed = Unweighed.NOTHING_NEAR
    """Kind of text near the key, if there is no value."""
    box: FoundBox | None = None
    """The tick box that is the value, or that the value is the text of."""
    options: tuple[str, ...] = ()
    """The texts of the ticked options, if the value is a list of options."""


def find_values(
    keys: Sequence[FoundKey],
    templates: Sequence[TemplateKey],
    unmatched: UnmatchedText,
    rulings: PageRules,
    numbered: NumberedLines,
    columns: StatementColumns,
) -> dict[int, Value]:
    """Return a value for each key of a page, by index in `keys`. A missing value has no text."""
    neighbourhood = Neighbourhood(keys, unmatched, rulings, numbered, columns)
    candidates = weigh_directions(keys, neighbourhood.candidates(templates))
    chosen = _assign(candidates)
    continuation = Continuation(
        keys, unmatched, rulings, [each.fragment for each in chosen.values()]
    )
    extended = _extend(keys, templates, chosen, continuation)
    values, rivals = _empty_values(keys, candidates), _Rivals(candidates)
    consensus = _consensus(keys, chosen)
    for number, fragments in extended.items():
        around = Surroundings(
            rivalry=rivals.share(chosen[number]),
            consensus=consensus[number],
            has_colon=keys[number].has_colon,
        )
        if choice := unmatched.fragments[fragments[0]].choice:
            values[number] = _choice_value(choice, chosen[number], around)
            continue
        segments = [unmatched.fragments[fragment].segment for fragment in fragments]
        around = replace(
            around,
            is_joined=len(fragments) > 1 and not _is_comb(segments),
            has_text_below=continuation.text_below(fragments[-1]) is not None,
            heads_column=continuation.heads_column(keys[number], chosen[number]),
        )
        template = templates[keys[number].number]
        values[number] = _value(keys[number], chosen[number], segments, template, around)
    return values


def _extend(
    keys: Sequence[FoundKey],
    templates: Sequence[TemplateKey],
    chosen: Mapping[int, Candidate],
    continuation: Continuation,
) -> dict[int, list[int]]:
    """Return the indexes of all texts of each value, by index of the key."""
    entities = {each.entity for each in templates}
    extended: dict[int, list[int]] = {}
    # In descending order of score, so that the best values take their further texts first.
    for number in sorted(chosen, key=lambda number: -chosen[number].score):
        template = templates[keys[number].number]
        extended[number] = continuation.extend(
            keys[number],
            chosen[number],
            template.types,
            has_address=f"{template.entity}_address" in entities,
        )
    return extended


def _consensus(keys: Sequence[FoundKey], chosen: Mapping[int, Candidate]) -> dict[int, float]:
    """Return, for each key, the fraction of nearby keys with a value in the same direction."""
    numbers = list(chosen)
    count = min(settings.FEWEST_CAPTIONS, len(numbers) - 1)
    if count < 1:
        return dict.fromkeys(numbers, Surroundings().consensus)
    x, y = np.array([keys[number].rect.center for number in numbers]).T
    apart = np.abs(x[:, None] - x) / settings.WIDE_BOX_TIMES + np.abs(y[:, None] - y)
    np.fill_diagonal(apart, np.inf)
    nearest = np.argpartition(apart, count - 1, axis=1)[:, :count]
    kinds = np.array([_SAME.get(each.relation, each.relation) for each in chosen.values()])
    shares = (kinds[nearest] == kinds[:, None]).mean(axis=1)
    return dict(zip(numbers, map(float, shares), strict=True))


def _value(
    key: FoundKey,
    chosen: Candidate,
    segments: Sequence[LineSegment],
    template: TemplateKey,
    around: Surroundings,
) -> Value:
    """Make a value from segments; its score is lower if a box between two characters is empty."""
    certainty = min(1.0, chosen.score)
    if _is_comb(segments):
        certainty *= settings.LABEL_LIKE_FACTOR if _has_gap(segments) else 1.0
        around = replace(around, bound=certainty)
    return Value(_cut(key, segments, template), certainty, around)


def _choice_value(choice: Choice, chosen: Candidate, around: Surroundings) -> Value:
    """Make a value of the ticked options of a list; it is empty if none is ticked."""
    segments = tuple(chain.from_iterable(choice.ticked))
    options = tuple(" ".join(line.text for line in each) for each in choice.ticked)
    emptiness = Unweighed.NEAR_TEXT
    certainty = min(1.0, chosen.score) if segments else fitted_weights().shares[emptiness]
    return Value(segments, certainty, around, emptiness, choice.box, options)


class _Rivals:
    def __init__(self, candidates: Sequence[Candidate]) -> None:
        """Sort candidates of a page by key and by fragment."""
        self._of_key: dict[int, list[Candidate]] = {}
        self._of_piece: dict[int, list[Candidate]] = {}
        for each in sorted(candidates, key=lambda one: -one.score):
            self._of_key.setdefault(each.key, []).append(each)
            self._of_piece.setdefault(each.fragment, []).append(each)

    def share(self, chosen: Candidate) -> float:
        """Return the best competing score (same key or same text) divided by the chosen score."""
        fragments = (each for each in self._of_key[chosen.key] if each.fragment != chosen.fragment)
        keys = (each for each in self._of_piece[chosen.fragment] if each.key != chosen.key)
        best = [next((each.score for each in some), 0.0) for some in (fragments, keys)]
        return max(best) / chosen.score


def _empty_values(keys: Sequence[FoundKey], candidates: Sequence[Candidate]) -> dict[int, Value]:
    """Return an empty value for each key, with the probability that the key has none."""
    has_text = {each.key for each in candidates}

    def emptiness(number: int) -> Unweighed:
        if number in has_text:
            return Unweighed.NEAR_TEXT
        return Unweighed.BEHIND_COLON if keys[number].has_colon else Unweighed.NOTHING_NEAR

    kinds = [emptiness(number) for number in range(len(keys))]
    shares = fitted_weights().shares
    return {number: Value((), shares[kind], emptiness=kind) for number, kind in enumerate(kinds)}


def _is_comb(segments: Sequence[LineSegment]) -> bool:
    """Return whether a value consists of characters in one-character boxes."""
    return all(is_spaced(each.text) for each in segments) and (
        sum(len(each.text.split()) for each in segments) > 1
    )


def _has_gap(segments: Sequence[LineSegment]) -> bool:
    """Return whether an empty box seems to interrupt a row of characters in boxes."""
    middles = [
        (1 - share) * each.rect.min_x + share * each.rect.max_x
        for each in segments
        for count in [len(each.text.split())]
        for share in [(2 * place + 1) / (2 * count) for place in range(count)]
    ]
    steps = [after - before for before, after in pairwise(middles)]
    return len(steps) > 1 and max(steps) > settings.COMB_GAP_STEPS * median(steps)


def _assign(candidates: Sequence[Candidate]) -> dict[int, Candidate]:
    """Assign each key its best candidate, highest score first; each text is used once."""
    chosen: dict[int, Candidate] = {}
    used: set[int] = set()
    order = sorted(candidates, key=lambda each: (-each.score, each.key, each.fragment))
    for each in order:
        if (
            each.score >= settings.VALUE_SCORE
            and each.key not in chosen
            and each.fragment not in used
        ):
            chosen[each.key] = each
            used.add(each.fragment)
    return chosen


def _cut(
    key: FoundKey, segments: Sequence[LineSegment], template: TemplateKey
) -> tuple[LineSegment, ...]:
    """Remove other text from a value: a caption, or parts without a required type."""
    text = segments[0].text
    # After a caption's number, engines may join the caption's word and the value: 15 SEXM.
    words = [each for each in template.variations if key.text[:1].isdecimal() and each.isalpha()]
    pattern = rf"(?:{'|'.join(sorted(words, reverse=True))})(?=\d|[A-Z]{{1,3}}$)"
    glued = re.match(pattern, text) if words else None
    span = span_of(template.types, text) or ((glued.end(), len(text)) if glued else None)
    return (segments[0].part(*span),) if span and len(segments) == 1 else tuple(segments)
