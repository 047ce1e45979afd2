"""Linear heads, their losses, and their optimiser."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats
    from chalicelib.engines.arithmetic import Arithmetic

_FIRST_DECAY, _SECOND_DECAY = 0.9, 0.999
_SMALLEST = 1e-8
_LARGEST_WEIGHT = 30.0


class Loss(Protocol):
    """The loss that a head minimises."""

    def losses(self, logits: Floats, targets: Floats, arithmetic: Arithmetic) -> Floats:
        """Return the loss of every example, float, shape (examples,).

        Args:
            logits: float, shape (examples, labels).
            targets: 1 where an example has a label, else 0, same shape.
            arithmetic: computes exponentials.
        """
        ...

    def residuals(self, logits: Floats, targets: Floats, arithmetic: Arithmetic) -> Floats:
        """Return the derivatives of the losses with respect to the logits.

        The absolute values of the derivatives are at most about 5.

        Args:
            logits: float, shape (examples, labels); may be overwritten.
            targets: 1 where an example has a label, else 0, same shape.
            arithmetic: computes exponentials.
        """
        ...


@dataclass(frozen=True, slots=True)
class SoftmaxLoss:
    """Cross-entropy for exactly one label per example, with label smoothing."""

    smoothing: float = 0.05
    """Fraction of the target that is distributed evenly over all labels."""

    def losses(self, logits: Floats, targets: Floats, arithmetic: Arithmetic) -> Floats:
        """Return the cross-entropy of every example; see `Loss`."""
        shifted = logits - logits.max(axis=1, keepdims=True)
        chosen = np.add.reduce(shifted * self._smoothed(targets), axis=1)
        losses: Floats = arithmetic.log(np.add.reduce(arithmetic.exp(shifted), axis=1)) - chosen
        return losses

    def residuals(self, logits: Floats, targets: Floats, arithmetic: Arithmetic) -> Floats:
        """Return probabilities minus smoothed targets; see `Loss`."""
        logits -= logits.max(axis=1, keepdims=True)
        shares = arithmetic.exp(logits)
        shares /= np.add.reduce(shares, axis=1)[:, None]
        shares -= self._smoothed(targets)
        return shares

    def _smoothed(self, targets: Floats) -> Floats:
        smoothed: Floats = targets * (1.0 - self.smoothing) + self.smoothing / targets.shape[1]
        return smoothed


@dataclass(frozen=True, slots=True, eq=False)
class SigmoidLoss:
    """Binary cross-entropy for any number of labels per example. Positive labels have weights."""

    positive_weights: Floats
    """Weight of an example that has the label, float, shape (labels,)."""

    def losses(self, logits: Floats, targets: Floats, arithmetic: Arithmetic) -> Floats:
        """Return the loss of every example, summed over the labels; see `Loss`."""
        # log(1 + exp(-x)) for either sign, without overflow.
        tails = arithmetic.log(1.0 + arithmetic.exp(-np.abs(logits)))
        present = self.positive_weights * (np.maximum(-logits, 0.0) + tails)
        absent = np.maximum(logits, 0.0) + tails
        losses: Floats = np.add.reduce(np.where(targets > 0, present, absent), axis=1)
        return losses

    def residuals(self, logits: Floats, targets: Floats, arithmetic: Arithmetic) -> Floats:
        """Return probabilities minus targets, weighted by label; see `Loss`."""
        shares = sigmoid(logits, arithmetic)
        return np.where(targets > 0, self.positive_weights * (shares - 1.0), shares)


def sigmoid(logits: Floats, arithmetic: Arithmetic) -> Floats:
    """Return the logistic function of logits of any shape, computed without overflow."""
    small = arithmetic.exp(-np.abs(logits))
    shares: Floats = np.where(logits >= 0, 1.0, small) / (1.0 + small)
    return shares


@dataclass(slots=True, eq=False)
class LinearHead:
    """Weights and biases of a linear head, and the state of its optimiser."""

    values: Floats
    """Weights; the last row has the biases: float, shape (dims + 1, labels)."""
    first: Floats
    """Running mean of the gradient, same shape as `values`."""
    second: Floats
    """Running mean of the squared gradient, same shape as `values`."""
    steps: int = 0

    @classmethod
    def starting_at(cls, values: Floats) -> LinearHead:
        """Return a head with the weights and biases `values`, float, shape (dims + 1, labels)."""
        return cls(values.copy(), np.zeros_like(values), np.zeros_like(values))

    def logits(self, features: Floats) -> Floats:
        """Return the logits of feature rows, float, shape (rows, labels).

        Args:
            features: feature rows, float, shape (rows, dims).
        """
        scores: Floats = features @ self.values[:-1]
        scores += self.values[-1]
        return scores

    def gradient(self, features: Floats, residuals: Floats) -> Floats:
        """Return the gradient of the mean loss of the rows, float, shape (dims + 1, labels).

        Args:
            features: feature rows, float, shape (rows, dims).
            residuals: derivatives of the losses with respect to the logits, float, shape (rows,
                labels).
        """
        gradient = np.empty_like(self.values)
        np.matmul(features.T, residuals, out=gradient[:-1])
        np.add.reduce(residuals, axis=0, out=gradient[-1])
        gradient /= len(features)
        return gradient

    def update(self, gradient: Floats, rate: float, arithmetic: Arithmetic) -> None:
        """Take one step of Adam (Kingma and Ba 2015).

        Args:
            gradient: gradient of the loss, float, shape (dims + 1, labels). It is overwritten.
            rate: learning rate.
            arithmetic: rounds the weights.
        """
        self.steps += 1
        self.first *= _FIRST_DECAY
        self.first += (1.0 - _FIRST_DECAY) * gradient
        self.second *= _SECOND_DECAY
        gradient *= gradient
        gradient *= 1.0 - _SECOND_DECAY
        self.second += gradient
        size = rate / (1.0 - _FIRST_DECAY**self.steps)
        root = np.sqrt(self.second, out=gradient)
        root *= 1.0 / math.sqrt(1.0 - _SECOND_DECAY**self.steps)
        root += _SMALLEST
        move = np.divide(self.first, root, out=gradient)
        move *= size
        self.values -= move
        # Bounded, so that products of the rounded numbers stay exact.
        np.clip(self.values, -_LARGEST_WEIGHT, _LARGEST_WEIGHT, out=self.values)
        arithmetic.weights(self.values)


def cosine_rate(highest: float, step: int, steps: int) -> float:
    """Return the learning rate of the step `step` (from 0) of `steps`, on a cosine schedule."""
    return 0.5 * highest * (1.0 + math.cos(math.pi * step / max(steps, 1)))
