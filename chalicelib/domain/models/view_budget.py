"""How many views of each picture a training uses when space is short."""

from __future__ import annotations

from collections.abc import Sequence


def fitting_views(plain: Sequence[int], wanted: Sequence[int], most_rows: int) -> list[int]:
    """Leave augmented views out, the same number everywhere, until the rest fits.

    Args:
        plain: views of each picture that show it as it is; they are never left out.
        wanted: views of each picture with the augmented ones, which come last.
        most_rows: rows of features that there is space for.

    Returns:
        Views of each picture to use, from the first.
    """
    views = list(wanted)
    extra = max((w - p for w, p in zip(wanted, plain, strict=True)), default=0)
    while extra > 0 and sum(views) > most_rows:
        extra -= 1
        views = [min(w, p + extra) for w, p in zip(wanted, plain, strict=True)]
    return views
