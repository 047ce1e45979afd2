"""Fits a boundary between in-domain and out-of-domain texts of users.

An adjustment with labelled texts fits it. The boundary corrects the cosine to the nearest training
text, one of the signals by which a model rejects texts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.arithmetic import GridArithmetic
from chalicelib.engines.text.head.anchors import ANCHOR_STEPS, unit_vectors
from chalicelib.engines.text.head.regression import ExampleBatch, HeadObjective, fit_head

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints
    from chalicelib.engines.text.head.domain import Domain
    from chalicelib.engines.text.head.rejector import Rejector

# Minimum number of texts of each kind; the folds of fewer cannot show whether a boundary helps.
_FEWEST = 10
_FOLDS = 5
# Inverse penalty of the direction. Chosen on draws of CLINC150 and BANKING77. On draws of these, of
# SIB-200 and of two small datasets, recall at a rejected in-domain fraction of .05 rises from .485
# to .563 with 200 labelled texts, .546 with 100, .511 with 50, and hardly with 20. If out-of-domain
# texts have other topics than the labelled ones, the gain is about half. On the real users' texts
# of `bench/text_users.py`, recall falls by .02 to .04.
_PENALTY_INVERSE = 0.5
_TOLERANCE = 5e-4
# Divides the domain score, so that the penalty hardly affects its weight.
_SCORE_SCALE = 3.0
# Minimum weight of the score, so that a score without evidence does not make the boundary steep.
_LEAST_WEIGHT = 0.25


class UserBoundary(NamedTuple):
    """A boundary, and the domain scores with it."""

    direction: Doubles
    """Vector whose product with a text's unit vector is added to the score, shape (dims,)."""
    held_out: Doubles
    """Score of each text with a boundary fitted to other texts, float64, shape (texts,)."""


def fit_user_boundary(
    domain: Domain, features: Floats, scores: Doubles, is_inside: Bools
) -> UserBoundary | None:
    """Fit a boundary to labelled texts; None if it does not separate held-out texts better.

    Args:
        domain: the domain of the model.
        features: scaled features of the labelled texts, float, shape (texts, dims).
        scores: domain scores of the texts, float64, shape (texts,).
        is_inside: which of the texts are in the domain, bool, shape (texts,).
    """
    if min(is_inside.sum(), (~is_inside).sum()) < _FEWEST:
        return None
    units = unit_vectors(features, domain.centre)
    centre = _mean_anchor(domain)
    held_out = scores.copy()
    folds = _folds(is_inside)
    for fold in range(_FOLDS):
        is_held = folds == fold
        direction = _fit(units[~is_held], scores[~is_held], is_inside[~is_held])
        held_out[is_held] += (units[is_held] - centre) @ direction
    if _separation(held_out, is_inside) <= _separation(scores, is_inside):
        return None
    return UserBoundary(_fit(units, scores, is_inside), held_out)


def with_boundary(rejector: Rejector, direction: Doubles) -> Rejector:
    """Return a rejector whose second signal includes the product with a boundary's direction."""
    scale, domain = rejector.scale, rejector.domain
    # The score divides the signal by its standard deviation.
    direction = direction * scale.deviations[1]
    # For training texts, the mean of the signal stays 0.
    mean = float(_mean_anchor(domain) @ direction)
    means = (scale.means[0], scale.means[1] + mean, scale.means[2])
    if domain.user_direction is not None:
        direction = direction + domain.user_direction
    return replace(
        rejector,
        domain=replace(domain, user_direction=direction.astype(np.float32)),
        scale=replace(scale, means=means),
    )


def _mean_anchor(domain: Domain) -> Doubles:
    mean = np.add.reduce(domain.anchors, axis=0, dtype=np.float64) / len(domain.anchors)
    return np.asarray(mean / ANCHOR_STEPS)


def _folds(is_inside: Bools) -> Ints:
    """Return a fold of each text, int, (texts,): every fold has texts of both kinds."""
    found = np.empty(len(is_inside), np.int64)
    for kind in (True, False):
        rows = np.flatnonzero(is_inside == kind)
        found[rows] = np.arange(len(rows)) % _FOLDS
    return found


def _fit(units: Doubles, scores: Doubles, is_inside: Bools) -> Doubles:
    """Return a direction such that score plus product separates the texts, float64, (dims,)."""
    arithmetic = GridArithmetic()
    columns = np.column_stack([scores / _SCORE_SCALE, units])
    batch = ExampleBatch(arithmetic.features(columns), is_inside.astype(np.int64))
    head = fit_head(HeadObjective([batch], 2, _PENALTY_INVERSE, arithmetic), None, _TOLERANCE)
    weights = (head.weights[:, 1] - head.weights[:, 0]).astype(np.float64)
    # In units of the score.
    return np.asarray(weights[1:] * _SCORE_SCALE / max(weights[0], _LEAST_WEIGHT))


def _separation(scores: Doubles, is_inside: Bools) -> float:
    """Return how often the score of an in-domain text is above that of another text."""
    ranked = np.sort(scores[~is_inside])
    return float(np.searchsorted(ranked, scores[is_inside]).mean() / len(ranked))
