"""Fits weights with known signs, for the scores of form values and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

PENALTY, ROUNDS = 3.0, 40
"""Factor of the penalty on squared weights of standardised inputs, and number of steps of Newton's
method."""
# Returns bias and weights, given the inputs, the answers and the weights of the cases.
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[float, np.ndarray]]


def fit_signed(
    fit: Fit,
    names: Sequence[str],
    signs: Mapping[str, int],
    rows: np.ndarray,
    right: np.ndarray,
    counts: np.ndarray,
) -> tuple[float, tuple[float, ...]]:
    """Fit weights of inputs; leave out inputs whose weights would have the wrong sign.

    Args:
        fit: function that fits the weights of the inputs that it is given.
        names: name of each input.
        signs: 1 for inputs that may only raise the score, -1 for inputs that may only lower it.
        rows: inputs, float64, shape (cases, inputs).
        right: float64, shape (cases,): 1 for cases that are right, otherwise 0.
        counts: weight of each case, float64, shape (cases,).

    Returns:
        Bias, and a weight for each input; 0 for each input that was left out.
    """
    used = list(range(len(names)))
    while True:
        bias, some = fit(rows[:, used], right, counts)
        wrong = [
            place
            for place, weight in zip(used, some, strict=True)
            if weight * signs.get(names[place], 0) < 0
        ]
        if not wrong:
            weights = np.zeros(len(names))
            weights[used] = some
            return bias, tuple(map(float, weights))
        used = [place for place in used if place not in wrong]


def fit_ridge(rows: np.ndarray, right: np.ndarray, counts: np.ndarray) -> tuple[float, np.ndarray]:
    """Return bias and weights of a logistic regression with ridge penalty, by Newton's method.

    Source: Hastie, Tibshirani, Friedman 2009, section 4.4.1. Parameters as in `fit_signed`.
    """
    scale = rows.std(axis=0) + 1e-9
    weights = newton_weights(rows / scale, right, counts, (1e-6, PENALTY), ROUNDS)
    return float(weights[0]), weights[1:] / scale


def newton_weights(
    rows: np.ndarray,
    right: np.ndarray,
    counts: np.ndarray,
    penalties: tuple[float, float],
    rounds: int,
) -> np.ndarray:
    """Return bias and weights, float64, shape (1 + inputs,), of inputs of one scale.

    `penalties` are the factors of the squared bias and of the squared weights. `rounds` is the
    number of steps of Newton's method. Other parameters as in `fit_signed`.
    """
    inputs = np.hstack((np.ones((len(rows), 1)), rows))
    penalty = penalties[1] * np.eye(inputs.shape[1])
    penalty[0, 0] = penalties[0]
    weights = np.zeros(inputs.shape[1])
    for _ in range(rounds):
        guess = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (counts * (right - guess)) - penalty @ weights
        curve = (inputs.T * (counts * guess * (1 - guess))) @ inputs + penalty
        weights += np.linalg.solve(curve, slope)
    return weights
