"""Divides the work of a training into parts for several workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

# If a training needs more seconds of processor time than this, its work is divided. Each worker has
# to load its network, and the training restarts afterwards, which takes some seconds.
SPREAD_SECONDS = 20.0
# Seconds of processor time of a part. Little is lost if a worker dies, and the time is worth the
# start of a worker.
PART_SECONDS = 5.0

Item = TypeVar("Item")


@dataclass(frozen=True)
class PartWork:
    """The items that one part of a training processes."""

    dataset_id: int
    """Dataset of the items. The computed vectors or features are stored with this dataset."""
    engine: str
    items: Sequence[str]
    """Texts to embed, or views of images. A view is an image or an augmented copy. It is written as
    the image's digest in hexadecimal and the number of the view, such as `3f…a0:2`.
    """


def spread(items: Iterable[Item], seconds: Callable[[Item], float]) -> list[list[Item]]:
    """Divide work into parts of a few seconds each.

    `seconds` returns the estimated time of one item.

    Returns:
        The parts, in order; an empty list if the work is too short to be divided.
    """
    parts: list[list[Item]] = []
    total = 0.0
    for item in items:
        # Compared with the sum of all items so far, so that all parts but the last are full.
        if total >= len(parts) * PART_SECONDS:
            parts.append([])
        parts[-1].append(item)
        total += seconds(item)
    return parts if total >= SPREAD_SECONDS else []
