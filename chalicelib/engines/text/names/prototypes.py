"""Computes a prototype (vector) of each label from its name, its examples and unlabelled texts.

A text gets the label whose prototype has the highest product with the vector of the text. All
vectors are float64, and were centred and scaled by a `LabelSpace`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.calibration import softmax
from chalicelib.engines.text.names.space import unit_rows

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Ints

# Number of examples that a name is worth if fewer than two labels have examples.
NAME_EXAMPLES = 1.5
_LEAST_EXAMPLES, _MOST_EXAMPLES = 0.5, 8.0
# Degrees of freedom of the expected weight, so that few examples hardly change it.
_PRIOR_FREEDOM = 10.0
# Maximum number of examples that all unlabelled texts of a label together count as.
UNLABELLED_EXAMPLES = 2.0
# Number of steps; more would change less than one prediction in a hundred.
_STEPS = 5
_LEAST_LENGTH = 0.05
# Typical variance of the means of labels around their names, divided by the variance of the names
# at the same length. A middle value of the training texts of BANKING77, CLINC150 and SIB-200.
_TYPICAL_GAP = 0.7
_SMALLEST = 1e-9


@dataclass(frozen=True, slots=True)
class LabelledVectors:
    """Vectors of label names, examples and unlabelled texts, from which prototypes are fitted."""

    names: Doubles
    """Vectors of the label names and descriptions, shape (labels, dims)."""
    features: Doubles
    """Vectors of the examples, shape (examples, dims); (0, dims) if there are none."""
    labels: Ints
    """Label indexes of the examples, int, shape (examples,)."""
    unlabelled: Doubles
    """Vectors of unlabelled texts, shape (texts, dims); (0, dims) if there are none."""
    scale: float
    """Factor that converts products with prototypes to calibrated logits."""

    @property
    def is_moved(self) -> bool:
        """Return whether examples or unlabelled texts move the prototypes away from the names."""
        return len(self.labels) + len(self.unlabelled) > 0


def fit_prototypes(vectors: LabelledVectors) -> Doubles:
    """Return a prototype for each label, shape (labels, dims)."""
    if not vectors.is_moved:
        return vectors.names
    # Each text has the same weight, whatever its distance from the centre.
    names, features = unit_rows(vectors.names), unit_rows(vectors.features)
    sums = name_weight(names, features, vectors.labels) * names
    np.add.at(sums, vectors.labels, features)
    return unit_rows(sums + _pull(vectors, sums))


def name_weight(names: Doubles, features: Doubles, labels: Ints) -> float:
    """Return how many examples the name of a label is worth.

    Two variances are estimated (empirical Bayes): the variance of examples around the mean of their
    label, and the variance of these means around the label names. The result is the first variance
    divided by the second, within limits.
    """
    counts = np.bincount(labels, minlength=len(names))
    has_any = counts > 0
    used = int(has_any.sum())
    freedom = len(labels) - used
    if used < 2:
        return NAME_EXAMPLES
    means = np.zeros_like(names)
    np.add.at(means, labels, features)
    means[has_any] /= counts[has_any, None]
    rests = features - means[labels]
    # Centred, because all texts differ from names in the same way: they are longer.
    means, names = _centred(means[has_any]), _centred(names[has_any])
    # Means of varied texts are shorter than names in the same direction.
    norm = max(_squares(names), _SMALLEST)
    length = max(float(np.add.reduce((means * names).ravel())) / norm, _LEAST_LENGTH)
    total = _squares(means - length * names) / (used - 1)
    typical = _TYPICAL_GAP * length * length * norm / (used - 1)
    if freedom == 0:
        # Single examples show only the sum of both variances.
        return _examples_worth(length, total - typical, typical)
    within = _squares(rests) / freedom
    between = total - within * float(np.mean(1.0 / counts[has_any]))
    found = _examples_worth(length, within, between)
    whole = freedom + _PRIOR_FREEDOM
    expected = _examples_worth(length, within, typical)
    # Ratios are averaged as logarithms.
    return float(found ** (freedom / whole) * expected ** (_PRIOR_FREEDOM / whole))


def _examples_worth(length: float, within: float, between: float) -> float:
    """Return the weight of a name: length * within / between, limited to a range.

    `length` is the least-squares factor from label names to mean vectors. `within` is the variance
    of a label's examples around their mean. `between` is the variance of means around names.
    """
    found = length * max(within, _SMALLEST) / max(between, _SMALLEST)
    return min(max(found, _LEAST_EXAMPLES), _MOST_EXAMPLES)


def _squares(vectors: Doubles) -> float:
    return float(np.add.reduce((vectors * vectors).ravel()))


def _centred(vectors: Doubles) -> Doubles:
    return np.asarray(vectors - np.add.reduce(vectors, axis=0) / len(vectors))


def _pull(vectors: LabelledVectors, sums: Doubles) -> Doubles:
    """Return the vectors, shape (labels, dims), that the unlabelled texts add to `sums`."""
    pull = np.zeros_like(sums)
    if not len(vectors.unlabelled):
        return pull
    units = unit_rows(vectors.unlabelled)
    for _ in range(_STEPS):
        shares = softmax(vectors.scale * (vectors.unlabelled @ unit_rows(sums + pull).T))
        # A label that few texts resemble is moved less.
        weights = UNLABELLED_EXAMPLES * np.minimum(1.0, np.add.reduce(shares, axis=0))
        pull = weights[:, None] * unit_rows(shares.T @ units)
    return pull
