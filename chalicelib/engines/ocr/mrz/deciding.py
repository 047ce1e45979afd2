"""Finds the most probable text of a zone among those with correct check digits.

Each possible character at each position has a score. Most combinations have a wrong check digit.
The best combination with correct check digits is found by dynamic programming over the check sums
modulo 10 (Viterbi 1967). The time is linear in the number of positions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chalicelib.engines.ocr.mrz.formats import (
    FILLER,
    WEIGHTS,
    Place,
    ZoneFormat,
    value_of,
)

# Natural logarithms of the probability of each character at one position.
Scores = Mapping[str, float]
Rows = Sequence[Sequence[Scores]]
# Maximum number of characters to try at a position.
_MOST_RIVALS = 4
# Log odds that check digits are printed correctly: one zone in a hundred is assumed to be wrong.
_PRINTED_RIGHT = math.log(100)
# Maximum difference in log probability between the best text and the best valid text, so that the
# exponential does not overflow.
_MOST_LOSS = 50.0
# Minimum certainty of a zone; below it, a wrong check digit is more likely than a misreading.
_LEAST_CERTAINTY = 0.5


@dataclass(frozen=True, slots=True)
class Decision:
    """The characters of a zone, with their probability."""

    format: ZoneFormat
    rows: tuple[str, ...]
    """Text of each row."""
    certainty: float
    """Probability that the zone's check digits were not misprinted, 0.5 to 1."""
    share: float
    """Probability of this text among all texts with correct check digits, 0 to 1."""
    chances: tuple[tuple[float, ...], ...]
    """Probability of each character relative to its alternatives, 0 to 1."""
    long_number: tuple[Place, ...] = ()
    """Positions where a document number that is too long for its element continues.

    They include the number's check digit.
    """


@dataclass(frozen=True, slots=True)
class _Step:
    """One character that the overall check digit covers."""

    place: Place
    weight: int
    """Weight of the character in its element's check digit; 0 if the element has none."""
    total_weight: int
    """Weight of the character in the overall check digit."""
    closes: bool
    """Whether the character is itself the check digit of its element."""


def decide(form: ZoneFormat, rows: Rows) -> Decision | None:
    """Find the most probable text of a zone that has correct check digits.

    Returns:
        The text. None if a position has no allowed character, or if a misprinted check digit is
        more probable than misread characters.
    """
    kept = _allowed(form, rows)
    if kept is None:
        return None
    plain = [[max(scores, key=scores.__getitem__) for scores in row] for row in kept]
    lengthened = _long_number(form, plain)
    steps = _steps(form, lengthened)
    found = _best_valid(steps, kept, form.elements["check"].places[0])
    if found is None:
        return None
    letters, score, share = found
    covered = [*(step.place for step in steps), *form.elements["check"].places]
    best = sum(kept[row][column][plain[row][column]] for row, column in covered)
    certainty = 1 / (1 + math.exp(min(_MOST_LOSS, best - score) - _PRINTED_RIGHT))
    if certainty < _LEAST_CERTAINTY:
        return None
    for (row, column), letter in zip(covered, letters, strict=True):
        plain[row][column] = letter
    chances = [
        [_chance(scores, letter) for scores, letter in zip(row, line, strict=True)]
        for row, line in zip(kept, plain, strict=True)
    ]
    for row, column in covered:
        chances[row][column] = max(share, chances[row][column])
    return Decision(
        form,
        tuple("".join(line) for line in plain),
        certainty,
        share,
        tuple(map(tuple, chances)),
        lengthened,
    )


def _allowed(form: ZoneFormat, rows: Rows) -> list[list[Scores]] | None:
    """Return the most probable allowed characters of each position; None if a position has none."""
    kept: list[list[Scores]] = []
    for number, row in enumerate(rows):
        line: list[Scores] = []
        for column, scores in enumerate(row):
            letters = form.letters_at((number, column))
            ranked = sorted(
                (letter for letter in scores if letter in letters), key=lambda one: -scores[one]
            )
            line.append({letter: scores[letter] for letter in ranked[:_MOST_RIVALS]})
        kept.append(line)
    return kept if all(all(line) for line in kept) else None


def _long_number(form: ZoneFormat, plain: Sequence[Sequence[str]]) -> tuple[Place, ...]:
    """Return the positions in the optional data at which a long document number continues.

    The number continues up to the first filler, and ends with its check digit. It has a filler at
    the usual position of the check digit (Doc 9303, part 5, 4.2.2, note j).
    """
    if form.name == "TD3":
        return ()
    row, column = form.elements["number_check"].places[0]
    if plain[row][column] != FILLER:
        return ()
    places = form.elements["upper_optional" if form.name == "TD1" else "optional"].places
    text = "".join(plain[row][column] for row, column in places)
    return places[: text.find(FILLER)] if FILLER in text else places


def _steps(form: ZoneFormat, lengthened: Sequence[Place]) -> list[_Step]:
    """Return the characters that the overall check digit covers, in order."""
    weights: dict[Place, int] = {}
    closing = set()
    for name in ("number", "birth", "expiry", "optional"):
        places = form.elements[name].places
        if f"{name}_check" not in form.elements:
            continue
        digit = form.elements[f"{name}_check"].places[0]
        if name == "number" and lengthened:
            places, digit = (*places, *lengthened[:-1]), lengthened[-1]
        weights |= {place: WEIGHTS[at % 3] for at, place in enumerate(places)}
        closing.add(digit)
    return [
        _Step(place, weights.get(place, 0), WEIGHTS[at % 3], place in closing)
        for at, place in enumerate(form.places(form.covered))
    ]


# Check sums modulo 10: of the current element, and of all elements.
_State = tuple[int, int]


@dataclass(slots=True)
class _Reached:
    """The best sequence of characters that leads to a state of the search."""

    score: float
    """Log probability of the sequence."""
    text: str
    """Characters of the sequence."""
    mass: float
    """Sum of the probabilities of all sequences that lead to the state."""


def _best_valid(
    steps: Sequence[_Step], rows: Sequence[Sequence[Scores]], last: Place
) -> tuple[str, float, float] | None:
    """Return the best valid text, its score, and its probability among all valid texts; or None."""
    states = {(0, 0): _Reached(0.0, "", 1.0)}
    for step in steps:
        states = _after(step, states, rows[step.place[0]][step.place[1]])
    ends: dict[_State, _Reached] = {}
    for (_, total), reached in states.items():
        for letter, score in rows[last[0]][last[1]].items():
            if value_of(letter) == total:
                _arrive(ends, (0, 0), reached, letter, score)
    if not ends:
        return None
    end = ends[0, 0]
    return end.text, end.score, math.exp(end.score) / max(end.mass, math.exp(end.score))


def _after(
    step: _Step, states: Mapping[_State, _Reached], scores: Scores
) -> dict[_State, _Reached]:
    """Return the best sequence for each state after one more character."""
    following: dict[_State, _Reached] = {}
    for (own, total), reached in states.items():
        for letter, score in scores.items():
            value = value_of(letter)
            if not step.closes or value == own:
                own_next = 0 if step.closes else (own + step.weight * value) % 10
                state = own_next, (total + step.total_weight * value) % 10
                _arrive(following, state, reached, letter, score)
    return following


def _arrive(
    states: dict[_State, _Reached], state: _State, reached: _Reached, letter: str, score: float
) -> None:
    """Add the probability of a sequence to its state, and store the sequence if it is the best."""
    mass = reached.mass * math.exp(score)
    known = states.get(state)
    if known is None:
        states[state] = _Reached(reached.score + score, reached.text + letter, mass)
        return
    known.mass += mass
    if reached.score + score > known.score:
        known.score, known.text = reached.score + score, reached.text + letter


def _chance(scores: Scores, letter: str) -> float:
    top = max(scores.values())
    return math.exp(scores[letter] - top) / sum(math.exp(one - top) for one in scores.values())
