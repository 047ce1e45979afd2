"""Which pieces of text may be the value of which key, and how likely each is.

A value stands behind its key in the same line, right of it, below it or, where people sign, above
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.engines.ocr.forms.distances import (
    above_gaps,
    as_array,
    below_gaps,
    nearest_stacked,
    nearness_right,
    nearness_stacked,
    right_gaps,
)
from chalicelib.engines.ocr.forms.field_kinds import fitness
from chalicelib.engines.ocr.forms.keys import FoundKey
from chalicelib.engines.ocr.forms.label_words import looks_like_label
from chalicelib.engines.ocr.forms.pieces import Remains
from chalicelib.engines.ocr.forms.rulings import Rulings

if TYPE_CHECKING:
    from chalicelib.engines.ocr.forms.distances import Measure

INLINE = "inline"
"""In the key's line, or right behind its colon."""
RIGHT = "right"
BELOW = "below"
ABOVE = "above"

_BASE = {INLINE: 1.0, RIGHT: 0.95, BELOW: 0.9, ABOVE: 0.75}
_ADJOINS = 2.5
"""Heights up to which a text behind a colon is its value whatever the rest of the form does."""
_LABELLED = 0.6
"""Factor for a text with a colon in it right behind a key's colon."""
_LABEL_LIKE = {INLINE: 0.4, RIGHT: 0.3, BELOW: 0.5, ABOVE: 0.4}
"""Factor for a text of words that forms print."""
_RULED = {RIGHT: 0.75, BELOW: 0.4, ABOVE: 1.0}
"""Factor when a ruled line separates key and value."""
_UNRULED = {RIGHT: 1.0, BELOW: 1.0, ABOVE: 0.4}
"""Factor when none does; above its name, a signature stands on a line."""
_UNKNOWN = {RIGHT: 1.0, BELOW: 1.0, ABOVE: 0.8}
"""Factor when the page has no pixels."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece that may be the value of a key."""

    key: int
    """Place in the list of keys."""
    piece: int
    """Place in the list of pieces."""
    relation: str
    """INLINE, RIGHT, BELOW or ABOVE."""
    score: float
    """How likely it is by itself, 0 to about 1."""


class Neighbourhood:
    """Pieces and labels of a page by their places."""

    def __init__(self, keys: Sequence[FoundKey], remains: Remains, rulings: Rulings) -> None:
        """Note where everything is.

        Args:
            keys: keys that were found.
            remains: the page without them.
            rulings: ruled lines of the page.
        """
        self.keys = keys
        self.pieces = remains.pieces
        self._rulings = rulings
        self._is_owned = np.array([piece.owner is not None for piece in self.pieces], dtype=bool)
        self._is_labelled = np.array([piece.is_labelled for piece in self.pieces], dtype=bool)
        self._rects = as_array([piece.segment.rect for piece in self.pieces])
        labels = [segment.rect for key in keys for segment in key.segments]
        labels += [segment.rect for segment in remains.labels]
        self._labels = as_array(labels)

    def candidates(self, templates: Sequence[TemplateKey]) -> list[Candidate]:
        """Return the nearest piece in each direction for each key.

        Args:
            templates: keys of the template, by the numbers of the keys found.
        """
        owned = {piece.owner: number for number, piece in enumerate(self.pieces)}
        found = []
        for number, key in enumerate(self.keys):
            types = templates[key.number].types
            places = [(INLINE, owned[number], 1.0)] if number in owned else []
            places += self._around(key) if len(self.pieces) else []
            for relation, piece, near in places:
                text = self.pieces[piece].segment.text
                score = near * _BASE[relation] * fitness(types, text)
                is_own = self.pieces[piece].owner is not None
                if not is_own and looks_like_label(text):
                    score *= _LABEL_LIKE[relation]
                found.append(Candidate(number, piece, relation, score))
        return found

    def _around(self, key: FoundKey) -> Iterator[tuple[str, int, float]]:
        """Yield the nearest piece right of, below and above a key, and how near it is."""
        yield from self._right(key)
        yield from self._stacked(key, BELOW, below_gaps)
        if not key.has_colon:
            yield from self._stacked(key, ABOVE, above_gaps)

    def _right(self, key: FoundKey) -> Iterator[tuple[str, int, float]]:
        """Yield the piece right of a key; behind a colon it is as good as in the key's line."""
        rect, height = key.rect, key.height
        gaps = right_gaps(self._rects, rect, height)
        gaps[self._is_owned] = np.inf
        label = float(right_gaps(self._labels, rect, height).min(initial=np.inf))
        piece = int(gaps.argmin())
        gap = float(gaps[piece])
        if gap >= label:
            return
        near = nearness_right(gap)
        if key.has_colon and gap < _ADJOINS:
            yield INLINE, piece, near * (_LABELLED if self._is_labelled[piece] else 1.0)
        elif not self._is_labelled[piece]:
            place = self.pieces[piece].segment.rect
            is_ruled = self._rulings.between_columns(key.segments[-1].rect, place)
            yield RIGHT, piece, near * _weigh(RIGHT, is_ruled)

    def _stacked(
        self, key: FoundKey, relation: str, measure: Measure
    ) -> Iterator[tuple[str, int, float]]:
        """Yield the piece below or above a key."""
        rect, height = key.rect, key.height
        gaps = measure(self._rects, rect, height)
        labels = (
            measure(self._labels, rect, height).min(initial=np.inf),
            gaps[self._is_labelled].min(initial=np.inf),
        )
        gaps[self._is_owned | self._is_labelled | (gaps >= min(labels))] = np.inf
        if np.isinf(gaps).all():
            return
        is_below = relation == BELOW
        piece = nearest_stacked(gaps, self._rects, rect, height)
        near = nearness_stacked(float(gaps[piece]), self._rects[piece], rect, height, is_below)
        place = self.pieces[piece].segment.rect
        is_ruled = (
            self._rulings.between_lines(key.segments[-1].rect, place)
            if is_below
            else self._rulings.between_lines(place, key.segments[0].rect)
        )
        yield relation, piece, near * _weigh(relation, is_ruled)


def _weigh(relation: str, is_ruled: bool | None) -> float:
    """Return the factor of a ruled line between key and value, or of none."""
    if is_ruled is None:
        return _UNKNOWN[relation]
    return _RULED[relation] if is_ruled else _UNRULED[relation]
