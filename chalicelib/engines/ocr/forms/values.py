"""The value of each key: one piece or several, each used once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.engines.ocr.forms.candidates import Candidate, Neighbourhood
from chalicelib.engines.ocr.forms.continuation import Continuation
from chalicelib.engines.ocr.forms.direction import weigh_directions
from chalicelib.engines.ocr.forms.field_kinds import span_of
from chalicelib.engines.ocr.forms.keys import FoundKey
from chalicelib.engines.ocr.forms.pieces import Remains
from chalicelib.engines.ocr.forms.rulings import Rulings
from chalicelib.engines.ocr.forms.segments import Segment

_LEAST_SCORE = 0.26
"""Score below which a key counts as empty."""


@dataclass(frozen=True, slots=True)
class Value:
    """What was written for a key."""

    segments: tuple[Segment, ...]
    """Its parts in reading order."""
    certainty: float
    """How sure it is that this is the value, 0 to 1."""


def find_values(
    keys: Sequence[FoundKey],
    templates: Sequence[TemplateKey],
    remains: Remains,
    rulings: Rulings,
) -> dict[int, Value]:
    """Find the values of all keys of a page together.

    Args:
        keys: keys that were found.
        templates: keys of the template, by the numbers of the keys found.
        remains: the page without the keys.
        rulings: ruled lines of the page.

    Returns:
        Values by the place in the list of keys; those without one are left out.
    """
    neighbourhood = Neighbourhood(keys, remains, rulings)
    candidates = weigh_directions(keys, neighbourhood.candidates(templates))
    chosen = _assign(candidates)
    continuation = Continuation(keys, remains, rulings, [each.piece for each in chosen.values()])
    order = sorted(chosen, key=lambda number: -chosen[number].score)
    values = {}
    for number in order:
        types = templates[keys[number].number].types
        pieces = continuation.extend(keys[number], chosen[number], types)
        segments = [remains.pieces[piece].segment for piece in pieces]
        values[number] = Value(_cut(segments, types), min(1.0, chosen[number].score))
    return values


def _assign(candidates: Sequence[Candidate]) -> dict[int, Candidate]:
    """Give each key its most likely piece, and each piece to one key."""
    chosen: dict[int, Candidate] = {}
    used: set[int] = set()
    order = sorted(candidates, key=lambda each: (-each.score, each.key, each.piece))
    for each in order:
        if each.score >= _LEAST_SCORE and each.key not in chosen and each.piece not in used:
            chosen[each.key] = each
            used.add(each.piece)
    return chosen


def _cut(segments: Sequence[Segment], types: Sequence[str]) -> tuple[Segment, ...]:
    """Leave only what is of the key's type where the rest is noise."""
    if len(segments) == 1 and (span := span_of(types, segments[0].text)):
        return (segments[0].part(*span),)
    return tuple(segments)
