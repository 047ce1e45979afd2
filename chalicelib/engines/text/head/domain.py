"""What tells texts of a model's domain from others, beside the logit of its answer.

Two more witnesses, both seen from the middle of the background texts: how near the nearest training
text is, and on which side of a line between the training texts and the background texts a text
lies. All products are exact, as those of the head: what comes out depends on no thread or kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import GridArithmetic, arithmetic_for
from chalicelib.engines.text.head.regression import (
    ExampleBatch,
    HeadObjective,
    class_weights,
    fit_head,
)

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Floats, Ints, Singles

MOST_ANCHORS = 5_000
"""Training texts that are kept to measure nearness by, so that an answer stays quick."""
ANCHOR_STEPS = 512.0
"""Anchors are multiples of its inverse, which artifacts keep in a byte a number."""
WITNESSES = 3
"""Logit of the answer, nearness, line."""
_SHARED_TEXTS = 50
"""A label's texts are taken for as near as all texts, until it has more than so many: what is usual
for a label of fifteen texts is a guess, and would let foreign questions pass."""
_LINE_WEIGHT, _LINE_CEILING = 2.0, -1.0
_PENALTY_INVERSE = 1.0
_TOLERANCE = 5e-4
_CHUNK_ROWS = 1_024
_FARTHEST = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """Where the training texts lie."""

    centre: Floats
    """Middle of the background texts, float, shape (dims,)."""
    anchors: Singles
    """Unit vectors of training texts seen from the centre, times 512 and rounded to whole numbers
    that fit into a byte, float32, shape (anchors, dims)."""
    direction: Floats
    """From the background texts to the training texts, float, shape (dims,)."""
    offset: float
    """Of the line between them."""

    def evidence(self, features: Floats) -> Doubles:
        """Nearness to the nearest anchor, a cosine, and the side of the line.

        Args:
            features: scaled ones, float, shape (texts, dims).

        Returns:
            Float64, shape (texts, 2).
        """
        found = np.empty((len(features), 2))
        for first in range(0, len(features), _CHUNK_ROWS):
            units = unit_vectors(features[first : first + _CHUNK_ROWS], self.centre)
            # Multiples of 2**-13 times whole numbers, of length 1 and 512: exact in float32, too.
            near = (units.astype(np.float32) @ self.anchors.T).max(axis=1)
            found[first : first + _CHUNK_ROWS, 0] = near / ANCHOR_STEPS
            found[first : first + _CHUNK_ROWS, 1] = units @ self.direction + self.offset
        return found


def answer_support(logits: Floats, temperature: float) -> Doubles:
    """Logit of each answer over the temperature, float, (texts, labels) to float64, (texts,)."""
    return np.asarray(logits.max(axis=1).astype(np.float64) / temperature)


def middle(features: Floats) -> Doubles:
    """Mean of background texts on the grid of features, float, (texts, dims) to (dims,)."""
    mean = np.add.reduce(features.astype(np.float64), axis=0) / len(features)
    return np.asarray(GridArithmetic().features(mean), np.float64)


def unit_vectors(features: Floats, centre: Floats) -> Doubles:
    """Directions from the centre, on the grid of features, float, shape (texts, dims)."""
    moved = features.astype(np.float64) - centre
    lengths = np.sqrt(np.add.reduce(moved * moved, axis=1))
    units = moved / np.maximum(lengths, 1e-9)[:, None]
    return np.asarray(GridArithmetic().features(units), np.float64)


def anchor_rows(labels: Ints, most: int | None = None, of_label: int | None = None) -> Ints:
    """Choose the rows to keep, as many of each label as of any other where they do not all fit.

    Args:
        labels: label indexes, int, shape (rows,).
        most: so many rows at the most; None: 5,000.
        of_label: so many of each label at the most; None: as many as fit.

    Returns:
        Rows, ascending, int, shape (at most `most`,).
    """
    order = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[order], labels[order])
    places = np.empty(len(labels), np.int64)
    places[order] = np.arange(len(labels)) - firsts
    chosen = np.argsort(places, kind="stable")[: MOST_ANCHORS if most is None else most]
    return np.sort(chosen if of_label is None else chosen[places[chosen] < of_label])


def fit_domain(inside: Floats, outside: Floats, centre: Floats) -> Domain:
    """Keep the training texts, and draw the line to the background texts.

    Args:
        inside: features of training texts, float, shape (texts, dims).
        outside: features of background texts, float, shape (others, dims).
        centre: middle of all background texts, float, shape (dims,).
    """
    units = unit_vectors(inside, centre)
    others = unit_vectors(outside, centre)
    arithmetic = arithmetic_for(len(units) + len(others))
    batches = [
        ExampleBatch(units.astype(arithmetic.dtype), np.ones(len(units), np.int64)),
        ExampleBatch(others.astype(arithmetic.dtype), np.zeros(len(others), np.int64)),
    ]
    head = fit_head(HeadObjective(batches, 2, _PENALTY_INVERSE, arithmetic), None, _TOLERANCE)
    steps = np.clip(np.rint(units * ANCHOR_STEPS), -127, 127)
    return Domain(
        centre,
        steps.astype(np.float32),
        (head.weights[:, 1] - head.weights[:, 0]).astype(np.float64),
        float(head.biases[1] - head.biases[0]),
    )


@dataclass(frozen=True, slots=True)
class DomainScale:
    """Makes one score of the witnesses, and a trust that a text is of the domain."""

    means: tuple[float, ...]
    """Of each witness over the training texts, out of fold."""
    deviations: tuple[float, ...]
    """The same, standard deviations."""
    trust: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    """Log-odds of the domain: a weight for each scaled witness, and an offset."""
    usual: Singles | None = None
    """By label, how much nearer than all texts those are that get it, float32, shape (labels,);
    None in older models, which hear the energy of the logits in place of the answer's."""

    def scaled(self, support: Doubles, evidence: Doubles, answers: Ints) -> Doubles:
        """Put the witnesses on one scale.

        Args:
            support: logit of each answer over the temperature, float64, shape (texts,).
            evidence: nearness and line, float64, shape (texts, 2).
            answers: label indexes, int, shape (texts,).

        Returns:
            Float64, shape (texts, 3): 0 is usual for training texts, low speaks against a text.
        """
        heard = _heard(support, evidence, answers, self.usual)
        found = (heard - self.means) / np.array(self.deviations)
        return np.asarray(np.clip(found, -_FARTHEST, _FARTHEST))

    def cautious(self, shares: Singles, witnesses: Doubles) -> Singles:
        """Even out probabilities by the doubt whether a text is of the domain at all.

        Args:
            shares: probabilities, float32, shape (texts, labels).
            witnesses: scaled ones, float64, shape (texts, 3).

        Returns:
            Float32, same shape and order, each row sums to 1.
        """
        odds = witnesses @ np.array(self.trust[:-1]) + self.trust[-1]
        trust = (1.0 / (1.0 + np.exp(-odds))).astype(np.float32)[:, None]
        return np.asarray(trust * shares + (1.0 - trust) / np.float32(shares.shape[1]))


def scores(witnesses: Doubles) -> Doubles:
    """Add up what the witnesses say; the line counts where it speaks clearly against a text.

    Args:
        witnesses: scaled ones, float64, shape (texts, 3).

    Returns:
        Float64, shape (texts,): high for texts of the domain.
    """
    lines = np.minimum(witnesses[:, 2], _LINE_CEILING)
    return np.asarray(witnesses[:, 0] + witnesses[:, 1] + _LINE_WEIGHT * lines)


def fit_scale(support: Doubles, evidence: Doubles, answers: Ints, labels: int) -> DomainScale:
    """Measure the witnesses on training texts.

    Args:
        support: logit of each answer over the temperature, float64, shape (texts,).
        evidence: nearness and line, float64, shape (texts, 2).
        answers: label indexes, int, shape (texts,).
        labels: number of labels.
    """
    usual = _usual_nearness(evidence[:, 0], answers, labels)
    witnesses = _heard(support, evidence, answers, usual)
    means = np.add.reduce(witnesses, axis=0) / len(witnesses)
    spread = witnesses - means
    deviations = np.sqrt(np.add.reduce(spread * spread, axis=0) / len(witnesses))
    deviations = np.maximum(deviations, 1e-6)
    return DomainScale(tuple(means.tolist()), tuple(deviations.tolist()), usual=usual)


def _usual_nearness(nearness: Doubles, answers: Ints, labels: int) -> Singles:
    """How much nearer than all texts those of each label are, float32, shape (labels,)."""
    mean = nearness.mean()
    counts = np.bincount(answers, minlength=labels) + _SHARED_TEXTS
    sums = np.bincount(answers, nearness - mean, minlength=labels)
    return np.asarray(sums / counts, np.float32)


def _heard(support: Doubles, evidence: Doubles, answers: Ints, usual: Singles | None) -> Doubles:
    """Put the witnesses side by side, nearness beside what is usual for the answer."""
    witnesses = np.column_stack([support, evidence])
    if usual is not None:
        witnesses[:, 1] -= usual[answers]
    return witnesses


def fit_trust(inside: Doubles, outside: Doubles) -> tuple[float, ...]:
    """Learn how surely the witnesses tell training texts from background texts.

    Both are taken as often as they are there: of few training texts there is more doubt.

    Args:
        inside: scaled witnesses of training texts, float64, shape (texts, 3).
        outside: the same of background texts, float64, shape (others, 3).

    Returns:
        Weights and offset of the log-odds.
    """
    arithmetic = GridArithmetic()
    witnesses = arithmetic.features(np.concatenate([inside, outside]))
    batch = ExampleBatch(witnesses, np.repeat([1, 0], [len(inside), len(outside)]))
    head = fit_head(HeadObjective([batch], 2, _PENALTY_INVERSE, arithmetic), None, _TOLERANCE)
    evened = class_weights(np.array([len(outside), len(inside)]))
    offset = head.biases[1] - head.biases[0] + np.log(evened[0] / evened[1])
    return (*(head.weights[:, 1] - head.weights[:, 0]).tolist(), float(offset))
