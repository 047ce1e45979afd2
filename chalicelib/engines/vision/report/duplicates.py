"""Near-duplicates of a training as its data report names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.data_report import MAX_LISTED

if TYPE_CHECKING:
    from chalicelib.engines.vision.head.training import HeadTraining


def duplicates_record(training: HeadTraining) -> dict[str, Any]:
    """Return the report's members on near-duplicates.

    Args:
        training: pictures, labels, split and pairs.

    Returns:
        Pairs with different labels, pairs that the split tears apart (only where it could hold
        out nothing otherwise), and pairs that it keeps together.
    """
    pairs, held = training.pairs(), training.division.held
    pictures = training.data.pictures.pictures
    is_torn = held[pairs.left] != held[pairs.right]
    differing = [
        number
        for number, (left, right) in enumerate(zip(pairs.left, pairs.right, strict=True))
        if set(pictures[left].labels) != set(pictures[right].labels)
    ]
    # The most alike first: equal files with different labels are certainly wrong.
    differing.sort(key=lambda number: (-pairs.cosines[number], number))
    return {
        "conflictingNearDuplicates": [
            {
                "examples": [
                    _example(training, int(pairs.left[number])),
                    _example(training, int(pairs.right[number])),
                ],
                "similarity": round(float(pairs.cosines[number]), 6),
            }
            for number in differing[:MAX_LISTED]
        ],
        "duplicatesAcrossSplit": int(np.count_nonzero(is_torn)),
        "duplicatesKeptTogether": int(np.count_nonzero(~is_torn)),
    }


def _example(training: HeadTraining, place: int) -> dict[str, Any]:
    """Name a picture and its labels."""
    picture, names = training.data.pictures.pictures[place], training.data.pictures.labels
    return {
        "id": picture.example_ids[0],
        "name": picture.name,
        "label": ", ".join(names[label] for label in picture.labels),
    }
