"""Fits a model that weights each window of a long text by its evidence for the text's label.

Only the label of the whole text is known. So two estimates alternate (expectation maximisation):
the weights of the windows, and a linear classifier with one class per label and a class for
background windows. The windows of a text are always weighted by a model that was not trained on
this text. Otherwise the model would memorise the windows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import EXACT_EXAMPLES, GridArithmetic
from chalicelib.engines.text.head.features import fit_scaling
from chalicelib.engines.text.head.optimizer import dot, minimise
from chalicelib.engines.text.windows.attention import (
    WindowAttention,
    WindowReading,
    relevance_of,
    window_weights,
)

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints

    Rows = Callable[[int, int], Floats]

# Minimum number of long texts for fitting the weights of windows.
FEWEST_LONG_TEXTS = 20
_FOLDS = 3
_ROUNDS, _STEPS_OF_ROUND, _LAST_STEPS = 8, 12, 40
# Mean change of a weight below which the rounds end.
_SMALL_CHANGE = 0.005
_PENALTY_INVERSE = 10.0
# Maximum of windows x dims x labels in the fit, about 15 seconds; further texts are not used.
_MOST_WORK = 300_000_000
_CHUNK_WINDOWS = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class FittedReading:
    """A fitted `WindowReading`, and the weight of each window of the training texts."""

    reading: WindowReading
    weights: Doubles
    """Weight of every window in its text, float64, shape (windows,)."""


def fit_reading(
    rows: Rows, ends: Sequence[int], labels: Ints, label_count: int, encoder: str
) -> FittedReading:
    """Fit the weights of windows to the labels of their texts.

    Args:
        rows: returns the vectors, float, shape (windows, dims), of a range of windows.
        ends: for each text, the index after its last window.
        labels: label indexes of the texts, int, shape (texts,).
        label_count: number of labels.
        encoder: name of the encoder that made the vectors.
    """
    counts = np.diff(np.concatenate([[0], np.asarray(ends, np.int64)]))
    if int((counts > 1).sum()) < FEWEST_LONG_TEXTS:
        return FittedReading(WindowReading(), window_weights(np.zeros(ends[-1]), ends))
    dims = rows(0, 1).shape[1]
    most = min(EXACT_EXAMPLES, _MOST_WORK // (dims * (label_count + 1)))
    sample = _Sample(rows, ends, counts, labels, label_count, most)
    attention = sample.fit(encoder)
    relevance = np.concatenate(
        [
            attention.relevance(rows(first, min(first + _CHUNK_WINDOWS, ends[-1])))
            for first in range(0, ends[-1], _CHUNK_WINDOWS)
        ]
    )
    # Windows of the sample are weighted by models that did not see their texts.
    relevance[sample.windows] = sample.relevance
    return FittedReading(WindowReading(attention), window_weights(relevance, ends))


class _Sample:
    """The windows of a sample of texts, with the fold of each text."""

    def __init__(
        self,
        rows: Rows,
        ends: Sequence[int],
        counts: Ints,
        labels: Ints,
        label_count: int,
        limit: int,
    ) -> None:
        chosen = _choose_texts(counts, labels, limit)
        firsts = np.asarray(ends, np.int64) - counts
        spans = [(int(firsts[text]), int(ends[text])) for text in chosen]
        self.windows = np.concatenate([np.arange(*span) for span in spans])
        vectors = np.concatenate([rows(*span) for span in spans]).astype(np.float32)
        self._scaling = fit_scaling({"": vectors}, [""])
        every = np.arange(len(vectors))
        scaled = self._scaling.features({"": vectors}, every, np.float64)
        self._features = GridArithmetic().features(scaled)
        self._ends = np.cumsum(counts[chosen]).tolist()
        self._labels = np.repeat(labels[chosen], counts[chosen])
        self._folds = np.repeat(_assign_folds(labels[chosen]), counts[chosen])
        self._label_count = label_count
        self.relevance: Doubles = np.zeros(len(vectors))

    def fit(self, encoder: str) -> WindowAttention:
        """Alternately fit window weights and classifiers; return a classifier of all windows."""
        weights = window_weights(np.zeros(len(self._labels)), self._ends)
        starts = [self._zeros() for _ in range(_FOLDS)]
        for _ in range(_ROUNDS):
            before, evidence = weights, np.zeros(len(weights))
            for fold in range(_FOLDS):
                held = self._folds == fold
                starts[fold] = self._fit(~held, weights, starts[fold], _STEPS_OF_ROUND)
                scores = self._scores(held, starts[fold])
                own = scores[np.arange(len(scores)), self._labels[held]]
                evidence[held] = own - scores[:, -1]
                self.relevance[held] = relevance_of(scores)
            weights = window_weights(evidence, self._ends)
            if np.abs(weights - before).mean() < _SMALL_CHANGE:
                break
        every = np.ones(len(weights), bool)
        last = self._fit(every, weights, self._zeros(), _LAST_STEPS)
        return WindowAttention(
            encoder,
            weights=last[:-1].astype(np.float16),
            biases=last[-1].astype(np.float32),
            mean=np.asarray(self._scaling.means[0], np.float32),
            norm=self._scaling.norms[0],
        )

    def _zeros(self) -> Doubles:
        return np.zeros((self._features.shape[1] + 1, self._label_count + 1))

    def _fit(self, trained: Bools, weights: Doubles, start: Doubles, steps: int) -> Doubles:
        objective = _Objective(
            self._features[trained], self._labels[trained], weights[trained], start.shape
        )
        found = minimise(objective.evaluate, start.ravel(), GridArithmetic().weights)
        last: Floats = start.ravel()
        for step in islice(found, steps + 1):
            last = step.values
        return np.asarray(last.reshape(start.shape), np.float64)

    def _scores(self, rows: Bools, model: Doubles) -> Doubles:
        return np.asarray(self._features[rows] @ model[:-1] + model[-1], np.float64)


class _Objective:
    """The penalised log-loss of a linear classifier of windows.

    The target of a window is a distribution over the classes: the weight of the window for the
    label of its text, and 1 minus this weight for the background class.
    """

    def __init__(
        self, features: Floats, labels: Ints, weights: Doubles, shape: tuple[int, ...]
    ) -> None:
        self._features = features
        self._labels = labels
        self._weights = weights
        self._shape = shape
        self._arithmetic = GridArithmetic()

    def evaluate(self, values: Floats) -> tuple[float, Floats]:
        """Return loss and gradient at the point `values`, shape ((dims + 1) * (labels + 1),)."""
        model, rows = values.reshape(self._shape), np.arange(len(self._labels))
        logits = self._features @ model[:-1] + model[-1]
        logits -= logits.max(axis=1, keepdims=True)
        own, background = logits[rows, self._labels].copy(), logits[:, -1].copy()
        residuals = self._arithmetic.exp(logits)
        sums = np.add.reduce(residuals, axis=1)
        residuals /= sums[:, None]
        residuals[rows, self._labels] -= self._weights
        residuals[:, -1] -= 1.0 - self._weights
        self._arithmetic.residuals(residuals)
        gradient = np.empty(self._shape)
        gradient[:-1] = self._features.T @ residuals
        gradient[-1] = np.add.reduce(residuals, axis=0)
        losses = self._arithmetic.log(sums) - self._weights * own
        losses -= (1.0 - self._weights) * background
        count, flat = len(rows), model[:-1].ravel()
        penalty = 1.0 / (_PENALTY_INVERSE * count)
        loss = float(np.add.reduce(losses)) / count + 0.5 * penalty * dot(flat, flat)
        gradient /= count
        gradient[:-1] += penalty * model[:-1]
        return loss, gradient.ravel()


def _choose_texts(counts: Ints, labels: Ints, limit: int) -> Ints:
    """Choose texts evenly from all labels, about `limit` windows in total; return their indexes."""
    order = np.argsort(labels, kind="stable")
    step = max(1, -(-int(counts.sum()) // limit))
    return np.sort(order[::step])


def _assign_folds(labels: Ints) -> Ints:
    """Return the fold of each text. The texts of each label are spread evenly over the folds."""
    folds = np.empty(len(labels), np.int64)
    folds[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % _FOLDS
    return folds
