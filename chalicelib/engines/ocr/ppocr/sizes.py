"""How large a page is looked at when its lines are found."""

from __future__ import annotations

PAGE, RECEIPT = 1280, 960
"""Longest side of a page with small print, and of a tall slip of paper, in pixels."""
MOST_GROWTH = 1.5
"""Small scans are scaled up to this."""
_SMALL = 1_000
"""Longest side of a small scan, in pixels."""
_TALL = 1.5
"""Height of a slip, in widths: taller than any sheet of paper."""
_LEAST_SIDE = 400
"""The print on a slip is as large as its short side lets it be: that stays this long, in pixels."""
_LONGEST = 4_096
"""Strips are looked at no longer, in pixels."""


def detector_scale(width: int, height: int) -> float:
    """Return by how much a page is scaled before lines are looked for.

    Args:
        width: of the page, in pixels.
        height: of the page, in pixels.

    Returns:
        At most MOST_GROWTH; above 1 for small scans only.
    """
    longest, shortest = max(width, height), min(width, height)
    target = RECEIPT if height >= _TALL * width else PAGE
    scale = min(MOST_GROWTH if longest <= _SMALL else 1.0, target / longest)
    return min(max(scale, min(1.0, _LEAST_SIDE / shortest)), max(scale, _LONGEST / longest))
