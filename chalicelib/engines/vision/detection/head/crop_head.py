"""Classifies crops of boxes by linear discriminant analysis of their features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Doubles, Ints, Singles

# Weight of the crop relative to the score of the dense head: exponent of a geometric mean.
CROP_SHARE = 0.5
_SHRINKAGE = 0.5
_TEMPERATURES = tuple(2.0 ** (step / 2) for step in range(-6, 13))
_FOLDS = 3
_TINY = 1e-6


@dataclass(frozen=True)
class CropHead:
    """A linear classifier of crops. It never predicts a label that had no crop in the training."""

    weights: Singles
    """Weights, float32, shape (1280, labels)."""
    bias: Singles
    """Biases, float32, shape (labels,)."""

    def probabilities(self, rows: Singles) -> Doubles:
        """Return the probability of each label for each crop, float64, shape (crops, labels).

        Args:
            rows: features of crops, float32, shape (crops, 1280).
        """
        logits = (rows @ self.weights + self.bias).astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True, initial=-np.inf)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares


def fit_crop_head(rows: Singles, labels: Ints, groups: Ints, count: int) -> CropHead:
    """Fit a head to crops with known labels.

    Args:
        rows: features of at least one crop, float32, shape (crops, 1280).
        labels: label indexes of the crops, int, shape (crops,).
        groups: group number of each crop, int, shape (crops,). Crops of one image are a group.
        count: number of labels.
    """
    loss = np.zeros(len(_TEMPERATURES))
    for fold in range(_FOLDS):
        is_out = groups % _FOLDS == fold
        # The head does not know labels that only left-out images show, so their crops do not count.
        known = np.isin(labels, labels[~is_out])
        if not is_out.all() and (is_out & known).any():
            head = _discriminants(rows[~is_out], labels[~is_out], count)
            logits = rows[is_out & known] @ head.weights + head.bias
            loss += [_cross_entropy(logits / t, labels[is_out & known]) for t in _TEMPERATURES]
    # The temperature is chosen on crops of images that the head did not see. Otherwise, the head
    # would be overconfident.
    temperature = np.float32(_TEMPERATURES[int(np.argmin(loss))] if loss.any() else 1.0)
    whole = _discriminants(rows, labels, count)
    return CropHead(whole.weights / temperature, whole.bias / temperature)


def rescored(scores: Doubles, crops: Doubles) -> Doubles:
    """Combine the scores of boxes with the label probabilities of their crops.

    The result is sqrt(o x score)^(1-a) x (o x crop)^a. Here o is the highest score of the box, and
    a is CROP_SHARE.

    Args:
        scores: scores of the dense head, 0 to 1, float64, shape (boxes, labels).
        crops: label probabilities of the crops of the boxes, float64, same shape.
    """
    # The score of the best label is the score that there is any object.
    thing = scores.max(axis=1, keepdims=True)
    dense = np.sqrt(thing * scores) ** (1.0 - CROP_SHARE)
    blended: Doubles = dense * (thing * crops) ** CROP_SHARE
    return blended


def _discriminants(rows: Singles, labels: Ints, count: int) -> CropHead:
    means = np.zeros((count, rows.shape[1]), np.float32)
    present = np.unique(labels)
    for label in present:
        means[label] = rows[labels == label].mean(axis=0)
    apart = rows - means[labels]
    covariance = (apart.T @ apart) / max(1, len(rows) - len(present))
    spread = float(np.trace(covariance)) / rows.shape[1] + _TINY
    # Few crops in 1280 dimensions give a singular covariance, so it is shrunk towards the identity.
    covariance *= 1.0 - _SHRINKAGE
    covariance[np.diag_indices_from(covariance)] += _SHRINKAGE * spread
    weights = np.linalg.solve(covariance, means.T).astype(np.float32)
    bias = (-0.5 * np.einsum("ij,ji->i", means, weights)).astype(np.float32)
    # A label without crops never wins the softmax.
    bias[np.setdiff1d(np.arange(count), present)] = -1e4
    return CropHead(weights, bias)


def _cross_entropy(logits: Singles, labels: Ints) -> float:
    top = logits.max(axis=1)
    sums = np.log(np.exp((logits - top[:, None]).astype(np.float64)).sum(axis=1)) + top
    return float(np.add.reduce(sums - logits[np.arange(len(labels)), labels]))


def item_limit(totals: Sequence[int], limit: int) -> int:
    """Return how many items each label may have, so that the total is at most `limit`.

    Args:
        totals: number of items of each label.
        limit: maximum total number of items. It is exceeded if there are more than `limit` labels,
            because each label may have at least 1 item.
    """
    cap = max(totals, default=0)
    while cap > 1 and sum(min(total, cap) for total in totals) > limit:
        cap = math.floor(cap * 0.9)
    return cap
