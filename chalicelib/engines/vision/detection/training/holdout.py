"""Chooses the pictures to test on. Equal files stay on one side."""

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


def hold_out_pictures(
    pictures: Sequence[LabelledPicture], labels: int, training_share: float, seed: int
) -> list[int]:
    """Choose pictures label by label, the rarest label first.

    A label in fewer than three different files is trained and not tested.

    Args:
        pictures: to choose from.
        labels: how many labels there are.
        training_share: share of the pictures to train on; 1 holds nothing out.
        seed: chooses which.

    Returns:
        Ascending places of the pictures that are held out.
    """
    groups = _groups(pictures, seed)
    counts = np.array([_labels_in(pictures, group, labels) for group in groups]).reshape(-1, labels)
    totals = counts.sum(axis=0)
    wanted = np.rint(totals * (1.0 - training_share)).astype(np.int64)
    wanted = np.clip(wanted, 1, np.maximum(totals - 1, 1))
    wanted[(totals < _FEWEST_TO_SPLIT) | (training_share >= 1.0)] = 0
    # Pictures show several labels: taking one for a rare label may take too many of another.
    most = np.minimum(np.ceil(wanted * _EXCESS).astype(np.int64), np.maximum(totals - 1, 0))
    most[wanted == 0] = 0
    held = np.zeros(len(groups), bool)
    taken = np.zeros(labels, np.int64)
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
    for place, picture in enumerate(pictures):
        by_digest.setdefault(picture.digest, []).append(place)
    ranks = shuffled_ranks(list(by_digest), seed)
    groups = list(by_digest.values())
    return [groups[index] for index in np.argsort(ranks)]


def _labels_in(pictures: Sequence[LabelledPicture], group: Sequence[int], labels: int) -> Ints:
    """Which labels a group shows, 0 or 1, int, shape (labels,)."""
    shown = np.zeros(labels, np.int64)
    shown[[known.label for place in group for known in pictures[place].boxes]] = 1
    return shown
