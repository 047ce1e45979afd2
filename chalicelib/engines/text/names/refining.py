"""Refines the prototypes of labels by logistic regression on their few examples.

The weights start at the scaled prototypes, and a penalty keeps them near the prototypes. The
vectors of label names are used as additional examples. All vectors are float64, and were centred
and scaled by a `LabelSpace`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.calibration import softmax
from chalicelib.engines.text.head.anchors import anchor_rows
from chalicelib.engines.text.head.optimizer import dot, minimise
from chalicelib.engines.text.names.prototypes import LabelledVectors, fit_prototypes
from chalicelib.engines.text.names.space import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints

# Factor from cosines to the logits of the fit.
_SCALE = 20.0
_PENALTY = 0.1
# Maximum number of steps; more would change less than one prediction in a thousand.
_STEPS = 25
_FOLDS = 5


def fit_weights(vectors: LabelledVectors) -> Doubles:
    """Fit weights of labels, shape (labels, dims); without examples, return the prototypes."""
    prototypes = fit_prototypes(vectors)
    if not len(vectors.labels):
        return prototypes
    # The same number for each label, because the prototypes already use all examples.
    rows = anchor_rows(vectors.labels)
    features = unit_rows(np.concatenate([vectors.features[rows], vectors.names]))
    labels = np.concatenate([vectors.labels[rows], np.arange(len(vectors.names))])
    start = _SCALE * prototypes
    objective = _objective(features, labels, start)
    values: Floats = start.ravel()
    for step in islice(minimise(objective, values, lambda point: point), _STEPS + 1):
        values = step.values
    return np.asarray(values, np.float64).reshape(start.shape) / _SCALE


def held_out_products(vectors: LabelledVectors) -> tuple[Doubles, Bools]:
    """Hold out each example; return its products with weights fitted to the other examples.

    Returns:
        The products, shape (examples, labels), and a mask, bool, shape (examples,), of the examples
        to use for the accuracy. The mask leaves out an example that is the only example of its
        label, because no other example of this label remains to fit the weights.
    """
    order = np.argsort(vectors.labels, kind="stable")
    firsts = np.searchsorted(vectors.labels[order], vectors.labels[order])
    folds = np.empty(len(order), np.int64)
    # The examples of each label are distributed evenly over the folds, so that no label is at a
    # disadvantage.
    folds[order] = (np.arange(len(order)) - firsts) % _FOLDS
    products = np.empty((len(vectors.labels), len(vectors.names)))
    for fold in np.unique(folds):
        is_out = folds == fold
        kept = replace(vectors, features=vectors.features[~is_out], labels=vectors.labels[~is_out])
        products[is_out] = vectors.features[is_out] @ fit_weights(kept).T
    counts = np.bincount(vectors.labels, minlength=len(vectors.names))
    return products, np.asarray(counts[vectors.labels] > 1)


def _objective(
    features: Doubles, labels: Ints, prior: Doubles
) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the function that a fit minimises: log-loss plus squared distance from `prior`."""
    rows = np.arange(len(labels))

    def evaluate(values: Floats) -> tuple[float, Floats]:
        weights = values.reshape(prior.shape)
        moved = (weights - prior).ravel()
        residuals = softmax(features @ weights.T)
        loss = -float(np.add.reduce(np.log(np.maximum(residuals[rows, labels], 1e-300))))
        residuals[rows, labels] -= 1.0
        gradient = (residuals.T @ features).ravel() + _PENALTY * moved
        return loss + 0.5 * _PENALTY * dot(moved, moved), gradient

    return evaluate
