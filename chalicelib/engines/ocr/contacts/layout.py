"""How pieces lie to one another on a page whose lines are level."""

from __future__ import annotations

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.contacts.piece import Piece

_SAME_ROW = 0.5
_EDGE = 1.2
_CENTRE = 1.6
_GAP_BELOW = 1.3
_GAP_BESIDE = 3.0


def is_same_row(one: Piece, other: Piece) -> bool:
    """Return whether two pieces stand side by side on one line."""
    height = min(one.place.height, other.place.height)
    shared = min(one.place.max_y, other.place.max_y) - max(one.place.min_y, other.place.min_y)
    return shared > _SAME_ROW * height


def is_beside(left: Piece, right: Piece, gap: float = _GAP_BESIDE) -> bool:
    """Return whether a piece follows another one on its line, at most `gap` heights away."""
    distance = right.place.min_x - left.place.max_x
    height = max(left.height, right.height)
    return -height < distance < gap * height and is_same_row(left, right)


def is_below(upper: Piece, lower: Piece, gap: float = _GAP_BELOW) -> bool:
    """Return whether a piece is the next line of another one in the same column.

    Args:
        upper: the piece above.
        lower: the piece below.
        gap: largest distance of the two, in heights of the smaller.
    """
    height = min(upper.height, lower.height)
    distance = lower.place.min_y - upper.place.max_y
    if not -height < distance < gap * height:
        return False
    starts_lower = lower.place.center[1] > upper.place.center[1] + 0.4 * height
    return starts_lower and is_aligned(upper.place, lower.place, height)


def is_aligned(one: Rect, other: Rect, height: float) -> bool:
    """Return whether two places share their left or right edge or their middle."""
    left = abs(one.min_x - other.min_x) < _EDGE * height
    right = abs(one.max_x - other.max_x) < _EDGE * height
    middle = abs(one.center[0] - other.center[0]) < _CENTRE * height
    return left or right or middle
