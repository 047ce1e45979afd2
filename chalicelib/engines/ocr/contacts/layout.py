"""Compares positions of text pieces on a page that was deskewed, so that lines are horizontal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chalicelib.engines.ocr.contacts import settings
from chalicelib.engines.ocr.contacts.piece import CardPiece
from chalicelib.engines.ocr.forms.segments import is_level


def is_next_to(left: CardPiece, right: CardPiece, gap: float = settings.ADJACENT_HEIGHTS) -> bool:
    """Return whether `right` follows `left` on a line, at most `gap` text heights away."""
    distance = right.rect.min_x - left.rect.max_x
    height = max(left.height, right.height)
    return -height < distance < gap * height and is_level(left.rect, right.rect)


def is_below(upper: CardPiece, lower: CardPiece, gap: float = settings.BELOW_HEIGHTS) -> bool:
    """Return whether `lower` is below `upper` in a column, at most `gap` text heights away."""
    height = min(upper.height, lower.height)
    distance = lower.rect.min_y - upper.rect.max_y
    if not -height < distance < gap * height:
        return False
    starts_lower = lower.rect.center[1] > upper.rect.center[1] + settings.LOWER_HEIGHTS * height
    one, other = upper.rect, lower.rect
    left, right = one.min_x - other.min_x, one.max_x - other.max_x
    apart = min(abs(left), abs(right), abs(one.center[0] - other.center[0]))
    return starts_lower and apart < settings.BELOW_HEIGHTS * height


class Neighbours:
    """Finds the pieces near a piece, in a time that hardly depends on the number of pieces."""

    def __init__(self, pieces: Sequence[CardPiece]) -> None:
        self._pieces = sorted(pieces, key=lambda piece: piece.rect.min_y)
        rows = [
            (one.rect.min_x, one.rect.min_y, one.rect.max_x, one.rect.max_y, one.height)
            for one in self._pieces
        ]
        self._rows = np.array(rows, dtype=np.float64).reshape(len(rows), 5)
        self._tops = np.ascontiguousarray(self._rows[:, 1])

    def around(self, piece: CardPiece) -> list[CardPiece]:
        """Return the nearest pieces left, right, above and below a piece, from top to bottom."""
        place, height = piece.rect, piece.height
        reach = settings.AROUND_HEIGHTS * height
        low = int(np.searchsorted(self._tops, place.min_y - reach))
        high = int(np.searchsorted(self._tops, place.max_y + reach, side="right"))
        middle = int(np.searchsorted(self._tops, place.min_y))
        low = max(low, middle - settings.MOST_NEAR_ROWS)
        high = min(high, middle + settings.MOST_NEAR_ROWS)
        rows = self._rows[low:high]
        aside = np.maximum(rows[:, 0] - place.max_x, place.min_x - rows[:, 2])
        away = np.maximum(rows[:, 1] - place.max_y, place.min_y - rows[:, 3])
        near = np.flatnonzero(aside < settings.AROUND_HEIGHTS * np.maximum(rows[:, 4], height))
        if len(near) > settings.MOST_NEIGHBOURS:
            distance = np.maximum(aside[near], 0.0) + np.maximum(away[near], 0.0)
            nearest = np.argsort(distance, kind="stable")[: settings.MOST_NEIGHBOURS + 1]
            near = np.sort(near[nearest])
        found = (self._pieces[low + place] for place in near.tolist())
        return [other for other in found if other is not piece]
