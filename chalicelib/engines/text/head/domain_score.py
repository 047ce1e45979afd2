"""Computes the domain score of texts, and the probability that a text is in the domain.

Both are computed from three signals: the support, the cosine to the nearest training text, and the
distance from the boundary between training and background texts (see `Domain`). The support is the
logit of the predicted label, minus the weighted entropy of the label probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import GridArithmetic, exact_exp, exact_log
from chalicelib.engines.calibration import fast_energies
from chalicelib.engines.text.head.regression import (
    ExampleBatch,
    HeadObjective,
    class_weights,
    fit_head,
)

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Floats, Ints, Singles

SIGNALS = 3
# Number of added pseudo-texts of each label with the average cosine. The mean of only fifteen
# texts is too uncertain, and would accept out-of-domain questions.
_PRIOR_TEXTS = 50
# The boundary can only lower the score of a text: it cannot distinguish questions that are similar
# to in-domain texts.
LINE_WEIGHT, LINE_CEILING = 2.0, -1.0
# Factor of the standard deviation of the boundary distance. With 1.5, more questions near the
# domain are rejected (withheld labels of BANKING77: .60 instead of .57, of CLINC150: .85 instead of
# .81), and hardly fewer distant questions.
_LINE_FACTOR = 1.5
_PENALTY_INVERSE = 1.0
_TOLERANCE = 5e-4
# The float64 copy of this many rows is small, even with a thousand labels.
_CHUNK_ROWS = 4_096
# Weight of the entropy that is subtracted from the logit of the predicted label. On 24 draws of
# CLINC150 and BANKING77 with withheld labels and clusters: if .08 of the texts of known labels are
# rejected, .034 (standard error .005) more texts of other labels are rejected. Weights from 4 to 12
# are about as good.
_DOUBT = 8.0
# Limit at which outliers are clipped, in standard deviations.
FARTHEST = 20.0


@dataclass(frozen=True, slots=True)
class DomainScale:
    """Scales the three signals of a text, and computes a probability from them.

    See `Rejector` for the signals. The probability is that the text is in the domain.
    """

    means: tuple[float, ...]
    """Mean of each signal (see `Rejector`) over out-of-fold results of the training texts."""
    deviations: tuple[float, ...]
    """Standard deviation of each signal over out-of-fold results of the training texts."""
    trust: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    """Weight of each scaled signal, and an offset, for the log-odds of being in the domain."""
    usual: Singles | None = None
    """Mean cosine to the nearest training text, by predicted label, minus the mean over all texts.

    Float32, shape (labels,); None in older models.
    """
    doubt: float = 0.0
    """Weight of the entropy in the support; 0 in older models."""
    heat: float = 1.0
    """Temperature divided by the temperature of the training, with which the support is still
    computed."""

    def support(self, alone: Singles, logits: Singles) -> Doubles:
        """Return the support (certainty) of each predicted label, float64, shape (texts,).

        Args:
            alone: logits of the head divided by the temperature, float32, shape (texts, labels).
            logits: `alone` plus the weighted cosines to the nearest training texts, same shape.
        """
        # Older models use the energy of the logits instead.
        if self.usual is None:
            return np.asarray(fast_energies(alone * np.float32(self.heat)), np.float64)
        return _supports(alone, logits, 1.0 / self.heat, self.doubt)

    def scaled(self, support: Doubles, evidence: Doubles, answers: Ints) -> Doubles:
        """Standardise the three signals from which a text's domain score is computed.

        Args:
            support: result of `DomainScale.support`, float64, shape (texts,).
            evidence: result of `Domain.evidence`, float64, shape (texts, 2).
            answers: indexes of the predicted labels, int, shape (texts,).

        Returns:
            The signals, float64, shape (texts, 3). 0 is typical of training texts; low values are
            signs of out-of-domain texts.
        """
        signals = _join_signals(support, evidence, answers, self.usual)
        found = (signals - self.means) / np.array(self.deviations)
        return np.asarray(np.clip(found, -FARTHEST, FARTHEST))

    def certainty(self, signals: Doubles) -> Singles:
        """Return the probability that each text is in the domain, float32, shape (texts,).

        Args:
            signals: result of `scaled`, float64, shape (texts, 3).
        """
        odds = signals @ np.array(self.trust[:-1]) + self.trust[-1]
        return np.asarray(1.0 / (1.0 + np.exp(-odds)), np.float32)

    def cautious(self, shares: Singles, signals: Doubles) -> Singles:
        """Make the label probabilities of a text more equal if it may be out of the domain.

        Args:
            shares: label probabilities, float32, shape (texts, labels).
            signals: result of `scaled`, float64, shape (texts, 3).
        """
        trust = self.certainty(signals)[:, None]
        return np.asarray(trust * shares + (1.0 - trust) / np.float32(shares.shape[1]))


def answer_support(alone: Floats, logits: Floats, temperature: float) -> Doubles:
    """Return the support (certainty) of each predicted label, float64, shape (texts,).

    Args:
        alone: logits of the head, float, shape (texts, labels).
        logits: `alone` plus the weighted cosines to the nearest training texts, same shape.
        temperature: divisor of the logits.
    """
    return _supports(alone, logits, temperature, _DOUBT)


def fit_scale(support: Doubles, evidence: Doubles, answers: Ints, labels: int) -> DomainScale:
    """Compute the means and deviations of the signals over training texts.

    Args:
        support: result of `answer_support`, float64, shape (texts,).
        evidence: result of `Domain.evidence`, float64, shape (texts, 2).
        answers: indexes of the predicted labels, int, shape (texts,).
        labels: number of labels.
    """
    usual = _usual_nearness(evidence[:, 0], answers, labels)
    signals = _join_signals(support, evidence, answers, usual)
    means = np.add.reduce(signals, axis=0) / len(signals)
    spread = signals - means
    deviations = np.sqrt(np.add.reduce(spread * spread, axis=0) / len(signals))
    deviations = np.maximum(deviations * (1.0, 1.0, _LINE_FACTOR), 1e-6)
    return DomainScale(tuple(means.tolist()), tuple(deviations.tolist()), usual=usual, doubt=_DOUBT)


def fit_trust(inside: Doubles, background: Doubles) -> tuple[float, ...]:
    """Fit a logistic regression that distinguishes training texts from background texts.

    Args:
        inside: scaled signals of training texts, float64, shape (texts, 3).
        background: scaled signals of background texts, float64, shape (background texts, 3).

    Returns:
        The weight of each signal, at least 0, and an offset.
    """
    arithmetic = GridArithmetic()
    signals = arithmetic.features(np.concatenate([inside, background]))
    truth = np.repeat([1, 0], [len(inside), len(background)])
    is_used = np.zeros(SIGNALS, bool)
    weights = np.ones(SIGNALS)
    # A text that is more like the training texts must never seem less likely to be one, so
    # signals with negative weights are left out.
    while (is_used != (weights > 0)).any():
        is_used = weights > 0
        batch = ExampleBatch(signals * is_used, truth)
        head = fit_head(HeadObjective([batch], 2, _PENALTY_INVERSE, arithmetic), None, _TOLERANCE)
        weights = np.where(is_used, head.weights[:, 1] - head.weights[:, 0], 0.0)
    # The fit gives both classes equal weight. The offset restores their actual sizes, so that
    # certainty is lower with few training texts.
    balance = class_weights(np.array([len(background), len(inside)]))
    offset = head.biases[1] - head.biases[0] + np.log(balance[0] / balance[1])
    return (*weights.tolist(), float(offset))


def scores(signals: Doubles) -> Doubles:
    """Return domain scores, float64, shape (texts,): weighted sums of the three scaled signals."""
    lines = np.minimum(signals[:, 2], LINE_CEILING)
    return np.asarray(signals[:, 0] + signals[:, 1] + LINE_WEIGHT * lines)


def _supports(alone: Floats, logits: Floats, temperature: float, doubt: float) -> Doubles:
    found = np.asarray(alone.max(axis=1).astype(np.float64) / temperature)
    if not doubt:
        return found
    for first in range(0, len(found), _CHUNK_ROWS):
        part = logits[first : first + _CHUNK_ROWS].astype(np.float64) / temperature
        part -= part.max(axis=1, keepdims=True)
        shares = np.asarray(exact_exp(part.copy()), np.float64)
        sums = np.add.reduce(shares, axis=1)
        entropies = exact_log(sums) - np.add.reduce(shares * part, axis=1) / sums
        found[first : first + _CHUNK_ROWS] -= doubt * entropies
    return found


def _usual_nearness(nearness: Doubles, answers: Ints, labels: int) -> Singles:
    mean = nearness.mean()
    counts = np.bincount(answers, minlength=labels) + _PRIOR_TEXTS
    sums = np.bincount(answers, nearness - mean, minlength=labels)
    return np.asarray(sums / counts, np.float32)


def _join_signals(
    support: Doubles, evidence: Doubles, answers: Ints, usual: Singles | None
) -> Doubles:
    signals = np.column_stack([support, evidence])
    if usual is not None:
        # Texts of some labels are spread widely, so the cosine is relative to the predicted
        # label's mean.
        signals[:, 1] -= usual[answers]
    return signals
