"""One vector per label, from its name, its examples and unlabelled texts.

A text gets the label whose vector has the highest product with the vector of the text. All arrays
of vectors are float64 and placed in the space of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints

# Examples that a name counts as: the more examples a label has, the less its name matters.
NAME_EXAMPLES = 1.0
# Examples that all unlabelled texts of a label together count as, at most.
UNLABELLED_EXAMPLES = 2.0
# Later steps change less than one answer in a hundred.
_STEPS = 5
_FOLDS = 5
_SMALLEST = 1e-9


@dataclass(frozen=True, slots=True)
class LabelledVectors:
    """The vectors from which prototypes are fitted."""

    names: Doubles
    """Of the names and descriptions, shape (labels, dims)."""
    features: Doubles
    """Of the examples, shape (examples, dims); no rows without examples."""
    labels: Ints
    """Label indexes of the examples, int, shape (examples,)."""
    unlabelled: Doubles
    """Of texts without labels, shape (texts, dims); no rows without such texts."""
    scale: float
    """Multiplies products with prototypes to get calibrated logits."""

    @property
    def is_moved(self) -> bool:
        """Return whether examples or unlabelled texts change the prototypes."""
        return len(self.labels) + len(self.unlabelled) > 0


def unit_rows(vectors: Floats) -> Doubles:
    """Scale rows to length 1; rows of zeros stay, float, shape (n, dims)."""
    wide = np.asarray(vectors, np.float64)
    lengths = np.sqrt(np.add.reduce(wide * wide, axis=1, keepdims=True))
    return np.asarray(wide / np.maximum(lengths, _SMALLEST))


def softmax(logits: Doubles) -> Doubles:
    """Return probabilities, float64, (texts, labels) to the same shape."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / np.add.reduce(shares, axis=1, keepdims=True))


def fit_prototypes(given: LabelledVectors) -> Doubles:
    """Return one vector per label, shape (labels, dims)."""
    if not given.is_moved:
        return given.names
    sums = _sums(given, np.ones(len(given.labels), bool))
    return unit_rows(sums + _pull(given, sums))


def held_out_products(given: LabelledVectors) -> Doubles:
    """Return products of the examples with prototypes that did not see them, (examples, labels)."""
    products = np.empty((len(given.labels), len(given.names)))
    folds = np.arange(len(given.labels)) % _FOLDS
    everything = _sums(given, np.ones(len(given.labels), bool))
    for fold in range(_FOLDS):
        rows = np.flatnonzero(folds == fold)
        if not len(rows):
            continue
        # The pull of unlabelled texts depends on all examples, so it is fitted without the fold.
        pull = _pull(given, _sums(given, folds != fold))
        some, labels = given.features[rows], given.labels[rows]
        products[rows] = some @ unit_rows(everything + pull).T
        # Only the text itself is removed from its label, because few texts remain otherwise.
        own = unit_rows(everything[labels] - unit_rows(some) + pull[labels])
        products[rows, labels] = np.add.reduce(some * own, axis=1)
    return products


def _sums(given: LabelledVectors, is_used: Bools) -> Doubles:
    """Add up name and examples of every label, shape (labels, dims)."""
    # Each text counts alike, however far it is from the centre.
    sums = NAME_EXAMPLES * unit_rows(given.names)
    np.add.at(sums, given.labels[is_used], unit_rows(given.features[is_used]))
    return sums


def _pull(given: LabelledVectors, sums: Doubles) -> Doubles:
    """Return the contribution of unlabelled texts to the sums of the labels, (labels, dims)."""
    pull = np.zeros_like(sums)
    if not len(given.unlabelled):
        return pull
    units = unit_rows(given.unlabelled)
    for _ in range(_STEPS):
        shares = softmax(given.scale * (given.unlabelled @ unit_rows(sums + pull).T))
        # A label that few texts resemble is moved less.
        weights = UNLABELLED_EXAMPLES * np.minimum(1.0, np.add.reduce(shares, axis=0))
        pull = weights[:, None] * unit_rows(shares.T @ units)
    return pull
