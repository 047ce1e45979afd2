"""Which characters stand in a zone: the likeliest reading whose check digits all hold.

A reading is a score for each character that may stand at a place. The check digits cut the
readings down to those that an issuer can have printed; the best of these is found by dynamic
programming over the remainders modulo 10 (Viterbi 1967), in time linear in the places.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chalicelib.engines.ocr.mrz.formats import (
    DIGITS,
    FILLER,
    WEIGHTS,
    Place,
    ZoneFormat,
    value_of,
)

Scores = Mapping[str, float]
"""Natural logarithms of how likely each character is at one place."""
Rows = Sequence[Sequence[Scores]]
_MOST_RIVALS = 4
"""Characters that are tried at a place."""
_PRINTED_RIGHT = math.log(100)
"""One zone in a hundred is taken to be printed with a wrong check digit."""
_MOST_LOSS = 50.0
"""Readings are not told apart beyond that."""
_LEAST_CERTAINTY = 0.5
"""How sure a zone has to be: below, a wrong check digit is likelier than a misread character."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a zone says."""

    format: ZoneFormat
    rows: tuple[str, ...]
    """Its characters."""
    certainty: float
    """How sure it is that its check digits are printed so, 0.5 to 1."""
    chances: tuple[tuple[float, ...], ...]
    """How sure each character is among its rivals, 0 to 1."""
    long_number: tuple[Place, ...] = ()
    """Where a number goes on that is too long for its element, its check digit included."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One character on the way through what the check digits cover."""

    place: Place
    weight: int
    """In the check digit of its own element; 0 when it has none."""
    total_weight: int
    """In the last check digit."""
    closes: bool
    """Whether it is the check digit of its own element."""


def decide(form: ZoneFormat, rows: Rows) -> Decision | None:
    """Find the likeliest zone of a format whose check digits hold.

    Args:
        form: the format.
        rows: scores of each place, as many as the format has.

    Returns:
        The zone; None when a place holds nothing that the format allows there, and when a check
        digit that is printed wrong explains the reading better than misread characters do.
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
    letters, score = found
    covered = [*(step.place for step in steps), *form.elements["check"].places]
    best = sum(kept[row][column][plain[row][column]] for row, column in covered)
    certainty = 1 / (1 + math.exp(min(_MOST_LOSS, best - score) - _PRINTED_RIGHT))
    if certainty < _LEAST_CERTAINTY:
        return None
    for (row, column), letter in zip(covered, letters, strict=True):
        plain[row][column] = letter
    chances = tuple(
        tuple(_chance(scores, letter) for scores, letter in zip(row, line, strict=True))
        for row, line in zip(kept, plain, strict=True)
    )
    text = tuple("".join(line) for line in plain)
    return Decision(form, text, certainty, chances, lengthened)


def _allowed(form: ZoneFormat, rows: Rows) -> list[list[Scores]] | None:
    """Keep the likeliest characters that may stand at each place; None when a place has none."""
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
    """Return where a number that is too long for its element goes on, its check digit included.

    Such a number has a filler for a check digit and goes on in the optional data, up to the
    first filler (Doc 9303, part 5, 4.2.2, note j).
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
    """Return the way through what the last check digit covers."""
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


_State = tuple[int, int]
"""Remainders of the own check digit and of the last one."""


def _best_valid(
    steps: Sequence[_Step], rows: Sequence[Sequence[Scores]], last: Place
) -> tuple[str, float] | None:
    """Return the best characters along the steps, with the last check digit, and their score."""
    states: dict[_State, tuple[float, str]] = {(0, 0): (0.0, "")}
    for step in steps:
        row, column = step.place
        reached: dict[_State, tuple[float, str]] = {}
        for (own, total), (score, text) in states.items():
            for letter, more in rows[row][column].items():
                value = value_of(letter)
                if step.closes and (letter not in DIGITS + FILLER or value != own):
                    continue
                state = (
                    0 if step.closes else (own + step.weight * value) % 10,
                    (total + step.total_weight * value) % 10,
                )
                if state not in reached or reached[state][0] < score + more:
                    reached[state] = score + more, text + letter
        states = reached
    row, column = last
    ends = [
        (score + more, text + letter)
        for (_, total), (score, text) in states.items()
        for letter, more in rows[row][column].items()
        if value_of(letter) == total and letter != FILLER
    ]
    if not ends:
        return None
    score, text = max(ends)
    return text, score


def _chance(scores: Scores, letter: str) -> float:
    """Return the share of a character among its rivals."""
    top = max(scores.values())
    return math.exp(scores[letter] - top) / sum(math.exp(one - top) for one in scores.values())
