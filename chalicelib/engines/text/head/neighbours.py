"""Increases the logit of a label if a training text of this label is near.

A linear head separates each label by a plane. A text on the wrong side of the plane may still be
close to a training text of its label. So the cosine to the nearest training text of each label,
times a weight, is added to the logits. The weight is chosen by the loss of out-of-fold predictions.
Products are exact, so that results do not depend on threads or BLAS kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.calibration import fit_temperature, tempered_loss
from chalicelib.engines.text.head.anchors import (
    ANCHOR_STEPS,
    anchor_rows,
    round_anchors,
    unit_vectors,
)
from chalicelib.engines.text.head.penalty import FoldScores

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Integers, Ints, Singles
    from chalicelib.engines.text.head.layout import HeldOutFold, HeldOutFolds
    from chalicelib.engines.text.head.regression import ExampleBatch


# Possible weights: what a cosine of 1 adds to a logit. Products with powers of two are exact.
WEIGHTS = (2.0, 4.0, 8.0, 16.0, 32.0)
# Relative decrease of the out-of-fold loss that justifies the size and time of anchors.
WORTH = 0.02
# Minimum number of texts to choose a weight; fewer are often all predicted correctly.
FEWEST_TEXTS = 200
# Maximum size of the anchors of one model, in bytes.
MOST_BYTES = 4_000_000
# Maximum number of anchors of one label, so that predictions stay fast if there are few labels.
MOST_OF_LABEL = 200
# The smallest weight with this fraction of the best gain is chosen, because users' texts are less
# similar to the examples than the examples are to each other.
ENOUGH = 0.8
# Number of labels to compare: those with the highest logits.
COMPARED_LABELS = 8
_CHUNK_ROWS = 4_096
# Value for labels that were not compared or have no anchor; less than any cosine.
ABSENT = -2.0


@dataclass(frozen=True, slots=True, eq=False)
class NearestTexts:
    """Stored training texts of each label. A cosine to such a text raises the label's logit."""

    anchors: Integers
    """Directions of training texts in units of 1/512, shape (anchors, dims), sorted by label."""
    ends: Ints
    """Index in `anchors` after the last text of each label, int, shape (labels,)."""
    weight: float
    """Logit increase for a cosine of 1."""

    def nearness(self, features: Floats, labels: Ints | None = None) -> Singles:
        """Return the cosine to the nearest training text of each label, float32, (texts, labels).

        Args:
            features: scaled features, float, shape (texts, dims).
            labels: labels to compare with each text, int, shape (texts, n); None: all labels.

        Returns:
            The cosines; -2 for a label that is not compared or has no stored text.
        """
        found = np.full((len(features), len(self.ends)), ABSENT, np.float32)
        for first in range(0, len(features), _CHUNK_ROWS):
            last = first + _CHUNK_ROWS
            some = None if labels is None else labels[first:last]
            self._fill(features[first:last], some, found[first:last])
        return found

    def _fill(self, features: Floats, choice: Ints | None, cosines: Singles) -> None:
        units = unit_vectors(features, np.zeros(features.shape[1])).astype(np.float32)
        starts = np.concatenate([[0], self.ends[:-1]])
        labels = np.arange(len(self.ends)) if choice is None else np.unique(choice)
        for label in labels[self.ends[labels] > starts[labels]].tolist():
            anchors = self.anchors[starts[label] : self.ends[label]].astype(np.float32)
            rows = slice(None) if choice is None else np.flatnonzero((choice == label).any(axis=1))
            cosines[rows, label] = (units[rows] @ anchors.T).max(axis=1) / np.float32(ANCHOR_STEPS)

    def add_to(self, logits: Floats, features: Floats, temperature: float) -> Floats:
        """Add to the logits of each label the weighted cosine to its nearest training text.

        Args:
            logits: logits of the head divided by the temperature, float, shape (texts, labels).
            features: scaled features, float, shape (texts, dims).
            temperature: number by which the weight is divided.
        """
        nearness = self.nearness(features, likely_labels(logits))
        return add_nearness(logits, nearness, self.weight / temperature)


class WeightedScores(NamedTuple):
    """The chosen weight of the cosine to the nearest text, and the new logits of every fold."""

    weight: float
    scores: list[FoldScores]


def weigh_nearest_texts(
    folds: HeldOutFolds, scores: Sequence[FoldScores], labels: int
) -> WeightedScores | None:
    """Choose the weight of the cosine to the nearest training text by the out-of-fold loss.

    Args:
        folds: the held-out folds.
        scores: logits of the held-out texts of each fold, from the head of the fold.
        labels: number of labels.

    Returns:
        The weight and the new logits; None if the loss does not decrease enough.
    """
    near = [_nearness(fold, part, labels) for fold, part in zip(folds.folds, scores, strict=True)]
    truth = folds.truth[folds.may_choose]
    pairs = list(zip(scores, near, strict=True))

    def loss_with(weight: float) -> float:
        parts = [add_nearness(part.held_out, found.held_out, weight) for part, found in pairs]
        logits = np.concatenate(parts)[folds.may_choose]
        return tempered_loss(logits, truth, fit_temperature(logits, truth))

    weight = choose_weight(loss_with, int(folds.may_choose.sum()))
    if not weight:
        return None
    weighted = [
        FoldScores(
            np.asarray(add_nearness(part.held_out, found.held_out, weight), np.float32),
            np.asarray(add_nearness(part.background, found.background, weight), np.float32),
        )
        for part, found in pairs
    ]
    return WeightedScores(weight, weighted)


def _nearness(fold: HeldOutFold, scores: FoldScores, labels: int) -> FoldScores:
    # Only texts that the fold's head was trained on; otherwise each text would be nearest to
    # itself.
    near = fit_neighbours(fold.texts, labels, 1.0)
    held = np.concatenate([batch.features for batch in fold.held_out])
    found = near.nearness(held, likely_labels(scores.held_out))
    if fold.background is None:
        return FoldScores(found, scores.background)
    others = near.nearness(fold.background, likely_labels(scores.background))
    return FoldScores(found, others)


def likely_labels(logits: Floats) -> Ints:
    """Return the indexes of the labels with the highest logits, int, (texts, at most 8)."""
    if logits.shape[1] <= COMPARED_LABELS:
        return np.tile(np.arange(logits.shape[1]), (len(logits), 1))
    return np.argpartition(logits, -COMPARED_LABELS, axis=1)[:, -COMPARED_LABELS:]


def add_nearness(logits: Floats, nearness: Singles, weight: float) -> Floats:
    """Add to the logits of each label the weighted cosine to its nearest training text.

    Only the 8 labels with the highest logits get their own cosine. All other labels get the lowest
    of these 8 cosines, so that their rank does not rise.

    Args:
        logits: logits of the head, float, shape (texts, labels).
        nearness: result of `NearestTexts.nearness`, float32, same shape.
        weight: logit increase for a cosine of 1.
    """
    compared = likely_labels(logits)
    found = np.take_along_axis(nearness, compared, axis=1)
    # Other labels get the lowest cosine of the likely labels, so that their rank does not rise.
    farthest = found.min(axis=1, keepdims=True, where=found > ABSENT, initial=1.0)
    bonus = np.repeat(farthest, logits.shape[1], axis=1)
    np.put_along_axis(bonus, compared, np.maximum(found, farthest), axis=1)
    return np.asarray(logits + bonus.astype(logits.dtype) * logits.dtype.type(weight))


def fit_neighbours(parts: Sequence[ExampleBatch], labels: int, weight: float) -> NearestTexts:
    """Store training texts for comparison. If there are too many, choose evenly from all labels.

    Args:
        parts: batches of examples with scaled features.
        labels: number of labels.
        weight: logit increase for a cosine of 1.
    """
    truth = np.concatenate([part.labels for part in parts])
    dims = parts[0].features.shape[1]
    rows = anchor_rows(truth, MOST_BYTES // dims, MOST_OF_LABEL)
    cuts = np.searchsorted(rows, np.cumsum([len(part.labels) for part in parts]))
    firsts = np.cumsum([0, *(len(part.labels) for part in parts[:-1])])
    chosen = [
        part.features[some - first]
        for part, some, first in zip(parts, np.split(rows, cuts[:-1]), firsts, strict=True)
    ]
    units = unit_vectors(np.concatenate(chosen), np.zeros(dims))
    anchors = round_anchors(units)
    order = np.argsort(truth[rows], kind="stable")
    rows, anchors = rows[order], anchors[order]
    return NearestTexts(anchors, np.cumsum(np.bincount(truth[rows], minlength=labels)), weight)


def choose_weight(loss_with: Callable[[float], float], texts: int) -> float:
    """Return the smallest weight with nearly the lowest loss; 0 if no weight helps enough.

    Args:
        loss_with: returns the out-of-fold loss for a weight.
        texts: number of texts from which the loss is computed.
    """
    if texts < FEWEST_TEXTS:
        return 0.0
    alone = loss_with(0.0)
    gains = {weight: alone - loss_with(weight) for weight in WEIGHTS}
    best = max(gains.values())
    if best <= WORTH * alone:
        return 0.0
    return next(weight for weight in WEIGHTS if gains[weight] >= ENOUGH * best)
