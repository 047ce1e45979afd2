"""Splits images into a training and a held-out part, and into folds.

Near-duplicates are in the same part and fold. But if no image could be held out in this way, they
may be in different parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.split import ALWAYS_TRAINED, assign_folds, hold_out, shuffled_ranks

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Ints
    from chalicelib.engines.vision.linear_head.targets import ImageTargets


@dataclass(frozen=True, slots=True, eq=False)
class ImageSplit:
    """Which images of a training are held out, and the fold of each image."""

    held_out: Bools
    """Whether each image is held out, bool, shape (images,)."""
    folds: Ints
    """Fold of each image, int, shape (images,); -1 if the image is always trained on."""
    ranks: Ints
    """A random order of the images, int, shape (images,)."""


def split_images(
    targets: ImageTargets,
    groups: Ints,
    keys: Sequence[bytes],
    split_ratio: float,
    seed: int,
    folds: int,
) -> ImageSplit:
    """Hold out images of each label, and assign the images to folds.

    If a label has too few images to hold any out, it is trained but not tested.

    Args:
        targets: labels of the images.
        groups: group number of each image, int, shape (images,); equal for near-duplicates.
        keys: for each image, bytes that identify its file and labels. Equal keys and seeds give
            equal splits.
        split_ratio: fraction of the images to train on; 1 holds nothing out.
        seed: seed of the random order of images.
        folds: number of folds, at least 2.
    """
    ranks = shuffled_ranks(keys, seed)
    held = _held(targets, groups, ranks, split_ratio)
    if split_ratio < 1.0 and not held.any():
        # All images of every label are near-duplicates; dividing them is better than testing
        # nothing.
        held = _held(targets, np.arange(len(ranks)), ranks, split_ratio)
    places = targets.places
    by_pair = assign_folds(_rarest_first(targets), groups[places], ranks[places], folds)
    by_picture = np.full(targets.pictures, ALWAYS_TRAINED, np.int64)
    by_picture[places] = by_pair
    return ImageSplit(held, by_picture, ranks)


def _held(targets: ImageTargets, groups: Ints, ranks: Ints, split_ratio: float) -> Bools:
    held = np.zeros(targets.pictures, bool)
    if split_ratio < 1.0:
        # An image of several labels counts for each; as one group, it is never divided.
        places = targets.places
        pairs = hold_out(targets.labels, groups[places], ranks[places], split_ratio)
        held[places[pairs]] = True
    return held


def _rarest_first(targets: ImageTargets) -> Ints:
    # By frequency, so that folds are balanced by an image's rarest label.
    counts = np.bincount(targets.labels, minlength=targets.size)
    numbers = np.empty(targets.size, np.int64)
    numbers[np.argsort(counts, kind="stable")] = np.arange(targets.size)
    return numbers[targets.labels]
