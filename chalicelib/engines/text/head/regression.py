"""Multinomial logistic regression on scaled features: loss, gradient and fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.text.head.optimizer import dot, minimise
from chalicelib.engines.threads import map_in_threads

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Floats, Ints
    from chalicelib.engines.arithmetic import Arithmetic


_CHUNK_ROWS = 2_048
_GROUPS = 4  # runs of chunks, each with a separate gradient, whatever the threads
_IMBALANCE = 10.0
_MOST_ITERATIONS = 300
_SMALL_FALLS = 2


@dataclass(frozen=True, slots=True)
class ExampleBatch:
    """Features and labels of a range of examples, as views of larger arrays."""

    features: Floats
    """Features of the examples, float, shape (examples, dims)."""
    labels: Ints
    """Label indexes of the examples, int, shape (examples,)."""


@dataclass(frozen=True, slots=True)
class SoftmaxHead:
    """A linear classifier: weights and biases of its only layer."""

    weights: Floats
    """Weights, float, shape (dims, labels)."""
    biases: Floats
    """Biases, float, shape (labels,)."""

    def logits(self, features: Floats) -> Floats:
        """Return the logits of scaled features, float, shape (examples, labels).

        Args:
            features: scaled features, float, shape (examples, dims).
        """
        scores: Floats = features @ self.weights
        scores += self.biases
        return scores


class HeadObjective:
    """The function that a fit minimises: mean log-loss (weighted by class) plus a penalty."""

    def __init__(
        self,
        batches: Sequence[ExampleBatch],
        labels: int,
        penalty_inverse: float,
        arithmetic: Arithmetic,
    ) -> None:
        self._groups = _groups(tuple(_chunks(batches)))
        self._labels = labels
        self._dims = batches[0].features.shape[1]
        self._arithmetic = arithmetic
        counts = sum(np.bincount(batch.labels, minlength=labels) for batch in batches)
        self._class_weights = class_weights(np.asarray(counts)).astype(arithmetic.dtype)
        self._total = float(np.dot(np.asarray(counts, np.float64), self._class_weights))
        self._penalty = 1.0 / (penalty_inverse * self._total)

    def zeros(self) -> Floats:
        """Return the default starting point: zeros, float, shape ((dims + 1) * labels,)."""
        return np.zeros((self._dims + 1) * self._labels, self._arithmetic.dtype)

    def head(self, values: Floats) -> SoftmaxHead:
        """Reshape the flat vector `values`, shape ((dims + 1) * labels,), to weights and biases."""
        matrix = values.reshape(self._dims + 1, self._labels)
        return SoftmaxHead(matrix[:-1], matrix[-1])

    def evaluate(self, values: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient at the point `values`.

        Args:
            values: weights, then biases, float, shape ((dims + 1) * labels,).
        """
        head = self.head(values)
        found = map_in_threads(
            lambda group: self._evaluate_group(group, head), self._groups, self._arithmetic.threads
        )
        gradient = found[0][1]
        # Added in the order of the groups, so that the sum does not depend on the number of
        # threads.
        for _, part in found[1:]:
            gradient += part
        gradient /= self._arithmetic.dtype(self._total)
        loss = sum((loss for losses, _ in found for loss in losses), start=0.0)
        weights = head.weights.ravel()
        loss = loss / self._total + 0.5 * self._penalty * dot(weights, weights)
        gradient[:-1] += self._arithmetic.dtype(self._penalty) * head.weights
        return loss, gradient.ravel()

    def _evaluate_group(
        self, group: Sequence[ExampleBatch], head: SoftmaxHead
    ) -> tuple[list[float], Floats]:
        gradient = np.zeros((self._dims + 1, self._labels), self._arithmetic.dtype)
        return [self._add_batch(batch, head, gradient) for batch in group], gradient

    def _add_batch(self, batch: ExampleBatch, head: SoftmaxHead, gradient: Floats) -> float:
        """Add a batch's gradient to `gradient`, shape (dims + 1, labels); return its loss."""
        weights = self._class_weights[batch.labels]
        rows = np.arange(len(batch.labels))
        logits = head.logits(batch.features)
        # The largest logit becomes 0, so that no exponential overflows.
        logits -= logits.max(axis=1, keepdims=True)
        chosen = logits[rows, batch.labels]
        residuals = self._arithmetic.exp(logits)
        sums = np.add.reduce(residuals, axis=1)
        residuals /= sums[:, None]
        residuals[rows, batch.labels] -= 1.0
        residuals *= weights[:, None]
        self._arithmetic.residuals(residuals)
        gradient[:-1] += batch.features.T @ residuals
        gradient[-1] += np.add.reduce(residuals, axis=0)
        losses = (self._arithmetic.log(sums) - chosen) * weights
        return float(np.add.reduce(losses.astype(np.float64)))

    def iterations(self, start: SoftmaxHead | None, tolerance: float) -> Iterator[SoftmaxHead]:
        """Yield the head after every iteration of the fit.

        Args:
            start: head to start from; None for zeros.
            tolerance: the fit ends when the relative decrease of the loss is below this value in
                two consecutive iterations.
        """
        values = self.zeros() if start is None else np.vstack([start.weights, start.biases])
        flat = np.ascontiguousarray(values, self._arithmetic.dtype).ravel()
        loss, small_falls = float("inf"), 0
        steps = minimise(self.evaluate, flat, self._arithmetic.weights)
        next(steps)
        for step in islice(steps, _MOST_ITERATIONS):
            yield self.head(step.values)
            small_falls = small_falls + 1 if loss - step.loss < tolerance * loss else 0
            loss = step.loss
            if small_falls == _SMALL_FALLS:
                return


def fit_head(problem: HeadObjective, start: SoftmaxHead | None, tolerance: float) -> SoftmaxHead:
    """Fit a head until the loss stops falling; return `start` if no step reduces the loss.

    Args:
        problem: the function to minimise.
        start: head to start from; None for zeros.
        tolerance: the fit ends when the relative decrease of the loss is below this value in two
            consecutive iterations.
    """
    head = start or problem.head(problem.zeros())
    for following in problem.iterations(start, tolerance):
        head = following
    return head


def class_weights(counts: Ints) -> Doubles:
    """Return weights that increase the influence of rare labels, float64, shape (labels,).

    If a label has n_c of n examples, and there are k labels, its weight is (n / (k n_c))**a. The
    exponent a is 1 if counts of labels differ by more than a factor of 10, otherwise 0.5.

    Args:
        counts: examples of every label, int, shape (labels,).
    """
    present = np.maximum(counts, 1).astype(np.float64)
    seen = counts[counts > 0]
    ratios = seen.sum() / (len(seen) * present)
    is_uneven = seen.max() > _IMBALANCE * seen.min()
    weights = ratios if is_uneven else np.sqrt(ratios)
    return np.where(counts > 0, weights, 1.0)


def _groups(chunks: Sequence[ExampleBatch]) -> list[Sequence[ExampleBatch]]:
    size = -(-len(chunks) // _GROUPS)
    return [chunks[first : first + size] for first in range(0, len(chunks), size)]


def _chunks(batches: Sequence[ExampleBatch]) -> Iterator[ExampleBatch]:
    for batch in batches:
        for first in range(0, len(batch.labels), _CHUNK_ROWS):
            last = first + _CHUNK_ROWS
            yield ExampleBatch(batch.features[first:last], batch.labels[first:last])
