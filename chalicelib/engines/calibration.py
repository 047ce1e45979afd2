"""Temperature scaling, which calibrates probabilities with one number.

The temperature is fitted to out-of-fold logits, because a head is too confident on texts that it
was trained on. Logits are float, shape (texts, labels).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import exact_exp, exact_log

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Floats, Ints, Singles

_LOWEST, _HIGHEST = 0.05, 20.0
# Temperatures are multiples of 1/1024, so that they are equal on every processor.
_STEPS = 1_024.0
_ROUNDS = 40
_PRECISION = 1e-4
# The float64 copy of this many rows is small, even with a thousand labels.
_CHUNK_ROWS = 4_096


def fit_temperature(logits: Floats, truth: Ints, smoothing: float = 0.0) -> float:
    """Return the temperature with the lowest log-loss.

    Args:
        logits: scores by a head that was not trained on the examples, float, shape (examples,
            labels).
        truth: label indexes, int, shape (examples,).
        smoothing: fraction of each target that is distributed over all labels, 0 to 1. Without it,
            a few examples that are all predicted correctly would make every prediction certain.

    Returns:
        A temperature between 0.05 and 20, a multiple of 1/1024; 1 without examples.
    """
    if len(truth) == 0:
        return 1.0
    low, high = 1.0 / _HIGHEST, 1.0 / _LOWEST
    inverse = 1.0
    # The loss is convex in the inverse temperature: Newton's steps inside a shrinking bracket.
    for _ in range(_ROUNDS):
        slope, curvature = _derivatives(logits, truth, inverse, smoothing)
        low, high = (low, inverse) if slope > 0 else (inverse, high)
        guess = inverse - slope / curvature if curvature > 0 else low
        if not low < guess < high:
            # A step that leaves the bracket is replaced by the geometric mean of the bracket's
            # ends.
            guess = (low * high) ** 0.5
        if abs(guess - inverse) < _PRECISION * inverse:
            break
        inverse = guess
    return round(_STEPS / inverse) / _STEPS


def tempered_loss(logits: Floats, truth: Ints, temperature: float) -> float:
    """Return the mean log-loss of logits, (examples, labels), divided by a temperature."""
    if len(truth) == 0:
        return 0.0
    chosen = logits[np.arange(len(truth)), truth].astype(np.float64) / temperature
    return float(np.add.reduce(energies(logits, temperature) - chosen)) / len(truth)


def energies(logits: Floats, temperature: float) -> Doubles:
    """Return the log-sum-exp of the logits divided by the temperature.

    Returns:
        The energies, float64, shape (texts,). Texts that resemble the training data have high
        energies.
    """
    result = np.empty(len(logits))
    for first in range(0, len(logits), _CHUNK_ROWS):
        part = logits[first : first + _CHUNK_ROWS].astype(np.float64) / temperature
        top = part.max(axis=1)
        sums = np.add.reduce(exact_exp(part - top[:, None]), axis=1)
        result[first : first + _CHUNK_ROWS] = top + exact_log(sums)
    return result


def fast_energies(logits: Singles) -> Singles:
    """Return the log-sum-exp of each text's logits, computed in float32, shape (texts,)."""
    top = logits.max(axis=1)
    sums: Singles = np.exp(logits - top[:, None]).sum(axis=1)
    np.log(sums, out=sums)
    sums += top
    return sums


def probabilities(logits: Floats, temperature: float) -> Singles:
    """Return the softmax of the logits divided by the temperature.

    Returns:
        The probabilities, float32, same shape as the logits; each row sums to 1.
    """
    result = np.empty(logits.shape, np.float32)
    for first in range(0, len(logits), _CHUNK_ROWS):
        part = logits[first : first + _CHUNK_ROWS].astype(np.float64)
        result[first : first + _CHUNK_ROWS] = softmax(part / temperature)
    return result


def softmax(logits: Doubles) -> Doubles:
    """Return the softmax of logits, float64, shape (texts, labels); each row sums to 1."""
    shares = np.asarray(exact_exp(logits - logits.max(axis=1, keepdims=True)), np.float64)
    shares /= np.add.reduce(shares, axis=1)[:, None]
    return shares


def _derivatives(
    logits: Floats, truth: Ints, inverse: float, smoothing: float
) -> tuple[float, float]:
    slope = curvature = 0.0
    for first in range(0, len(truth), _CHUNK_ROWS):
        part = logits[first : first + _CHUNK_ROWS].astype(np.float64)
        part -= part.max(axis=1, keepdims=True)
        chosen = part[np.arange(len(part)), truth[first : first + _CHUNK_ROWS]]
        if smoothing:
            chosen = (1.0 - smoothing) * chosen + smoothing * (
                np.add.reduce(part, axis=1) / part.shape[1]
            )
        shares = exact_exp(part * inverse)
        shares /= np.add.reduce(shares, axis=1)[:, None]
        means = np.add.reduce(shares * part, axis=1)
        squares = np.add.reduce(shares * part * part, axis=1)
        slope += float(np.add.reduce(means - chosen))
        curvature += float(np.add.reduce(squares - means * means))
    return slope / len(truth), curvature / len(truth)
