"""Distinguishes texts of a model's domain from other texts.

Background texts are out-of-domain examples that ship with Presage. This module computes two
numbers per text (signals): the cosine to the nearest training text, and the distance from a linear
boundary between training and background texts. Products are exact, so that results do not depend
on threads or BLAS kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import arithmetic_for
from chalicelib.engines.text.head.anchors import ANCHOR_STEPS, round_anchors, unit_vectors
from chalicelib.engines.text.head.regression import ExampleBatch, HeadObjective, fit_head

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Floats, Singles

_PENALTY_INVERSE = 1.0
_TOLERANCE = 5e-4
# The float64 copy of this many rows stays small.
_CHUNK_ROWS = 1_024


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """Stored training texts and a linear boundary, which show whether a text is in the domain."""

    centre: Floats
    """Mean of the background texts, float, shape (dims,)."""
    anchors: Singles
    """Directions of training texts from the centre, in units of 1/512, float32, (anchors, dims)."""
    direction: Floats
    """Normal vector of the boundary, towards the training texts, float, shape (dims,)."""
    offset: float
    """Number to add to the product of `direction` and the unit vector from the centre to a text."""

    def evidence(self, features: Floats) -> Doubles:
        """Return two facts on each text that show whether it belongs to the domain.

        Args:
            features: scaled features, float, shape (texts, dims).

        Returns:
            The cosine to the nearest training text, and the distance from the boundary of the
            domain, float64, shape (texts, 2). The distance is positive inside the domain.
        """
        found = np.empty((len(features), 2))
        for first in range(0, len(features), _CHUNK_ROWS):
            units = unit_vectors(features[first : first + _CHUNK_ROWS], self.centre)
            # Products of multiples of 2**-13 (length 1) and integers (length 512) are exact in
            # float32, too.
            near = (units.astype(np.float32) @ self.anchors.T).max(axis=1)
            found[first : first + _CHUNK_ROWS, 0] = near / ANCHOR_STEPS
            found[first : first + _CHUNK_ROWS, 1] = units @ self.direction + self.offset
        return found


def fit_domain(inside: Floats, background: Floats, centre: Floats) -> Domain:
    """Store the directions of training texts; fit a boundary between them and background texts.

    Args:
        inside: features of training texts, float, shape (texts, dims).
        background: features of background texts, float, shape (others, dims).
        centre: mean of the features of all background texts, float, shape (dims,).
    """
    units = unit_vectors(inside, centre)
    others = unit_vectors(background, centre)
    arithmetic = arithmetic_for(len(units) + len(others))
    batches = [
        ExampleBatch(units.astype(arithmetic.dtype), np.ones(len(units), np.int64)),
        ExampleBatch(others.astype(arithmetic.dtype), np.zeros(len(others), np.int64)),
    ]
    head = fit_head(HeadObjective(batches, 2, _PENALTY_INVERSE, arithmetic), None, _TOLERANCE)
    return Domain(
        centre,
        round_anchors(units).astype(np.float32),
        (head.weights[:, 1] - head.weights[:, 0]).astype(np.float64),
        float(head.biases[1] - head.biases[0]),
    )
