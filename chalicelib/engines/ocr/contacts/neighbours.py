"""Pieces of a page by their rows, so that what is near another one is found without a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.ocr.contacts.piece import Piece

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

_UP, _DOWN = 4.0, 3.0
"""Heights by which the top of a neighbour is above a piece's top, or below its bottom."""
_ASIDE = 8.0
"""Heights of the taller one between a piece and its neighbour on the same line."""
_MOST_IN_ROWS = 1_500
_MOST = 24
"""Neighbours of one piece, the nearest: pages that are no pile of texts have fewer."""


class Neighbours:
    """Finds the pieces around a piece in a time that hardly grows with the page."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        """Order the pieces.

        Args:
            pieces: of one page.
        """
        self._pieces = sorted(pieces, key=lambda piece: piece.place.min_y)
        rows = [
            (one.place.min_x, one.place.min_y, one.place.max_x, one.place.max_y, one.height)
            for one in self._pieces
        ]
        self._rows = np.array(rows, dtype=np.float64).reshape(len(rows), 5)
        self._tops = np.ascontiguousarray(self._rows[:, 1])

    def around(self, piece: Piece) -> list[Piece]:
        """Return the nearest pieces beside, above and below a piece, without it, top down."""
        place, height = piece.place, piece.height
        low = int(np.searchsorted(self._tops, place.min_y - _UP * height))
        high = int(np.searchsorted(self._tops, place.max_y + _DOWN * height, side="right"))
        middle = int(np.searchsorted(self._tops, place.min_y))
        low, high = max(low, middle - _MOST_IN_ROWS), min(high, middle + _MOST_IN_ROWS)
        rows = self._rows[low:high]
        aside = np.maximum(rows[:, 0] - place.max_x, place.min_x - rows[:, 2])
        away = np.maximum(rows[:, 1] - place.max_y, place.min_y - rows[:, 3])
        near = np.flatnonzero(aside < _ASIDE * np.maximum(rows[:, 4], height))
        if len(near) > _MOST:
            distance = np.maximum(aside[near], 0.0) + np.maximum(away[near], 0.0)
            near = np.sort(near[np.argsort(distance, kind="stable")[: _MOST + 1]])
        found = (self._pieces[low + place] for place in near.tolist())
        return [other for other in found if other is not piece]
