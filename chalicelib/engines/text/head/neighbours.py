"""The nearest training text of each label, heard beside the head.

A head draws one plane a label; a text that lies on the wrong side of it may still lie beside a text
of its label. What the nearest text of a label adds to its logit is weighed out of fold. Products
are exact, as those of the head: what comes out depends on no thread or kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.text.head.domain import ANCHOR_STEPS, anchor_rows, unit_vectors

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bytes, Floats, Ints, Singles
    from chalicelib.engines.text.head.regression import ExampleBatch


WEIGHTS = (2.0, 4.0, 8.0, 16.0, 32.0)
"""What a cosine of 1 may add to a logit; powers of two, so that products stay exact."""
WORTH = 0.02
"""By so much of itself the out-of-fold loss must fall, as anchors cost bytes and time."""
FEWEST_TEXTS = 200
"""Of fewer texts no weight can be told: all of them are often answered rightly."""
MOST_BYTES = 4_000_000
"""Anchors of a model take no more, in a byte a number."""
MOST_OF_LABEL = 200
"""Texts that are kept of a label, so that an answer stays quick where labels are few."""
ENOUGH = 0.8
"""The smallest weight is taken that brings so much of the best one's gain: texts of a data set are
nearer to each other than those of its users are to them."""
ASKED_LABELS = 8
"""Labels whose texts are looked at: those with the highest logits."""
_CHUNK_ROWS = 4_096
_ABSENT = -2.0  # below every cosine: nothing was looked at


@dataclass(frozen=True, slots=True, eq=False)
class NearestTexts:
    """Training texts by label, and what their nearness counts."""

    anchors: Bytes
    """Unit vectors of training texts seen from their middle, times 512, int8, shape (anchors,
    dims), those of the first label first."""
    ends: Ints
    """Where the anchors of each label end, int, shape (labels,)."""
    weight: float
    """What a cosine of 1 adds to a logit."""

    def nearness(self, features: Floats, asked: Ints | None = None) -> Singles:
        """Cosine to the nearest anchor of each label.

        Args:
            features: scaled ones, float, shape (texts, dims).
            asked: labels to look at for each text, int, shape (texts, some); None: all.

        Returns:
            Float32, shape (texts, labels); -2 where nothing was looked at or there is no anchor.
        """
        found = np.full((len(features), len(self.ends)), _ABSENT, np.float32)
        for first in range(0, len(features), _CHUNK_ROWS):
            last = first + _CHUNK_ROWS
            some = None if asked is None else asked[first:last]
            self._fill(features[first:last], some, found[first:last])
        return found

    def _fill(self, features: Floats, asked: Ints | None, found: Singles) -> None:
        """Write the nearness of some texts, float32, shape (texts, labels)."""
        units = unit_vectors(features, np.zeros(features.shape[1])).astype(np.float32)
        starts = np.concatenate([[0], self.ends[:-1]])
        labels = np.arange(len(self.ends)) if asked is None else np.unique(asked)
        for label in labels[self.ends[labels] > starts[labels]].tolist():
            anchors = self.anchors[starts[label] : self.ends[label]].astype(np.float32)
            rows = slice(None) if asked is None else np.flatnonzero((asked == label).any(axis=1))
            found[rows, label] = (units[rows] @ anchors.T).max(axis=1) / np.float32(ANCHOR_STEPS)

    def heard(self, logits: Floats, features: Floats, temperature: float) -> Floats:
        """Add what the nearest texts say.

        Args:
            logits: scores of the head over the temperature, float, shape (texts, labels).
            features: scaled ones, float, shape (texts, dims).
            temperature: the weight is divided by it, too.
        """
        nearness = self.nearness(features, likely(logits))
        return add_nearness(logits, nearness, self.weight / temperature)


def likely(logits: Floats) -> Ints:
    """Labels with the highest logits, float, (texts, labels) to int, (texts, at most 8)."""
    if logits.shape[1] <= ASKED_LABELS:
        return np.tile(np.arange(logits.shape[1]), (len(logits), 1))
    return np.argpartition(logits, -ASKED_LABELS, axis=1)[:, -ASKED_LABELS:]


def add_nearness(logits: Floats, nearness: Singles, weight: float) -> Floats:
    """Add the nearness of likely labels; of others as much as of the farthest of those.

    Args:
        logits: scores of the head, float, shape (texts, labels).
        nearness: as `NearestTexts.nearness` gives it, float32, same shape.
        weight: what a cosine of 1 adds to a logit.

    Returns:
        Logits, same type and shape.
    """
    asked = likely(logits)
    found = np.take_along_axis(nearness, asked, axis=1)
    farthest = found.min(axis=1, keepdims=True, where=found > _ABSENT, initial=1.0)
    heard = np.repeat(farthest, logits.shape[1], axis=1)
    np.put_along_axis(heard, asked, np.maximum(found, farthest), axis=1)
    return np.asarray(logits + heard.astype(logits.dtype) * logits.dtype.type(weight))


def fit_neighbours(parts: Sequence[ExampleBatch], labels: int, weight: float) -> NearestTexts:
    """Keep the training texts, as many of each label as of any other where they do not all fit.

    Args:
        parts: examples with scaled features.
        labels: number of labels.
        weight: what a cosine of 1 adds to a logit.
    """
    truth = np.concatenate([part.labels for part in parts])
    dims = parts[0].features.shape[1]
    rows = anchor_rows(truth, MOST_BYTES // dims, MOST_OF_LABEL)
    cuts = np.searchsorted(rows, np.cumsum([len(part.labels) for part in parts]))
    firsts = np.cumsum([0, *(len(part.labels) for part in parts[:-1])])
    kept = [
        part.features[some - first]
        for part, some, first in zip(parts, np.split(rows, cuts[:-1]), firsts, strict=True)
    ]
    units = unit_vectors(np.concatenate(kept), np.zeros(dims))
    anchors = np.clip(np.rint(units * ANCHOR_STEPS), -127, 127).astype(np.int8)
    order = np.argsort(truth[rows], kind="stable")
    rows, anchors = rows[order], anchors[order]
    return NearestTexts(anchors, np.cumsum(np.bincount(truth[rows], minlength=labels)), weight)


def choose_weight(loss_with: Callable[[float], float], texts: int) -> float:
    """Choose what nearness counts.

    Args:
        loss_with: gives the out-of-fold loss with a weight.
        texts: how many texts that loss is of.

    Returns:
        The smallest weight that is nearly as good as the best; 0 where the loss does not fall
        enough, or too few texts tell.
    """
    if texts < FEWEST_TEXTS:
        return 0.0
    alone = loss_with(0.0)
    gains = {weight: alone - loss_with(weight) for weight in WEIGHTS}
    best = max(gains.values())
    if best <= WORTH * alone:
        return 0.0
    return next(weight for weight in WEIGHTS if gains[weight] >= ENOUGH * best)
