"""Chooses the held-out images. Equal image files are in the same part of the split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.split import shuffled_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Ints
    from chalicelib.domain.models.training_pictures import LabelledPicture

_FEWEST_TO_SPLIT = 3
_EXCESS = 1.5


def hold_out_images(
    pictures: Sequence[LabelledPicture], labels: int, training_share: float, seed: int
) -> list[int]:
    """Choose the held-out images, label by label; return their indexes in ascending order.

    If fewer than three different files have a label, the label is trained but not tested.

    Args:
        pictures: images to choose from.
        labels: number of labels.
        training_share: fraction of the images to train on; 1 holds nothing out.
        seed: seed of the random choice.
    """
    groups = _groups(pictures, seed)
    counts = np.array([_labels_in(pictures, group, labels) for group in groups]).reshape(-1, labels)
    totals = counts.sum(axis=0)
    wanted = np.rint(totals * (1.0 - training_share)).astype(np.int64)
    wanted = np.clip(wanted, 1, np.maximum(totals - 1, 1))
    wanted[(totals < _FEWEST_TO_SPLIT) | (training_share >= 1.0)] = 0
    # Images show several labels, so holding one out for a rare label may hold out too many of
    # another.
    most = np.minimum(np.ceil(wanted * _EXCESS).astype(np.int64), np.maximum(totals - 1, 0))
    most[wanted == 0] = 0
    held = np.zeros(len(groups), bool)
    taken = np.zeros(labels, np.int64)
    # The rarest label first, because it has the fewest images to choose from.
    for label in np.argsort(totals, kind="stable"):
        for group in np.flatnonzero(counts[:, label] > 0):
            if taken[label] >= wanted[label]:
                break
            fits = (taken + counts[group] <= most) | (counts[group] == 0)
            if not held[group] and fits.all():
                held[group] = True
                taken += counts[group]
    return sorted(place for group in np.flatnonzero(held) for place in groups[group])


def _groups(pictures: Sequence[LabelledPicture], seed: int) -> list[list[int]]:
    by_digest: dict[bytes, list[int]] = {}
    for place, image in enumerate(pictures):
        by_digest.setdefault(image.digest, []).append(place)
    ranks = shuffled_ranks(list(by_digest), seed)
    groups = list(by_digest.values())
    return [groups[index] for index in np.argsort(ranks)]


def _labels_in(pictures: Sequence[LabelledPicture], group: Sequence[int], labels: int) -> Ints:
    shown = np.zeros(labels, np.int64)
    shown[[known.label for place in group for known in pictures[place].boxes]] = 1
    return shown
