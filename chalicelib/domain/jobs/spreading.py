"""How work is cut into parts for several workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

# Work of one processor from which on other workers are asked: each loads its network first, and the
# training begins anew when they are done, which takes some seconds.
SPREAD_SECONDS = 20.0
# Work of one processor in a part: what a death costs, and the least that a start is worth.
PART_SECONDS = 5.0

Item = TypeVar("Item")


@dataclass(frozen=True)
class PartWork:
    """What is to be done in one part."""

    dataset_id: int
    """Whose texts or pictures these are; the results are kept beside it."""
    engine: str
    """Name of the encoder, or of the extractor."""
    items: Sequence[str]
    """Texts, or views as the maker writes them."""


def spread(items: Iterable[Item], seconds: Callable[[Item], float]) -> list[list[Item]]:
    """Cut work into parts of some seconds; there are none where it is too little for that.

    Args:
        items: the smallest pieces of it, in their order.
        seconds: what one takes, about.
    """
    parts: list[list[Item]] = []
    total = 0.0
    for item in items:
        # By the sum, so that all parts but the last are full.
        if total >= len(parts) * PART_SECONDS:
            parts.append([])
        parts[-1].append(item)
        total += seconds(item)
    return parts if total >= SPREAD_SECONDS else []
