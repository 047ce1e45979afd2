"""Labels proposed boxes with a linear head.

The head is fitted in one step, from sums over all proposed boxes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.evaluation.average_precision import RIGHT_OVERLAP
from chalicelib.engines.vision.detection.evaluation.calibration import Calibration
from chalicelib.engines.vision.detection.head.loss import sigmoid
from chalicelib.engines.vision.detection.inference.decoding import Candidates, iou
from chalicelib.engines.vision.detection.proposals.network import CLASSES, FIRST_CLASS, VALUES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chalicelib.domain.common.arrays import Array, Doubles, Ints, Singles
    from chalicelib.engines.vision.detection.proposals.network import Proposals

# Added to both parts of a score, so that one of them alone can be enough.
_SOFTENING = 0.1
# Weight of the penalty, relative to the variance of a feature.
_RIDGE = 1.0
_TINY = 1e-9


@dataclass(frozen=True)
class ProposalHead:
    """A linear head that computes label scores of proposed boxes."""

    weights: Singles
    """Weights of the features, then the bias; float32, shape (VALUES + 1, labels)."""
    classes: Singles
    """Strength with which each detector class indicates each label, float32, shape (80, labels)."""
    alignment: Calibration = field(default_factory=Calibration)
    """Converts the scores to the scale of the dense head, if both are used."""

    def aligned(self, own: Calibration, other: Calibration) -> ProposalHead:
        """Return a copy of the head whose scores are on the scale of another head's scores.

        Args:
            own: calibration of this head's scores.
            other: calibration of the other head's scores.
        """
        slope, offset = own.slope / other.slope, (own.offset - other.offset) / other.slope
        return replace(self, alignment=Calibration(slope, offset))

    def candidates(self, proposals: Proposals) -> Candidates:
        """Return the proposed boxes with a score for each label."""
        features = proposals.features
        fitted = (features @ self.weights[:-1] + self.weights[-1]).astype(np.float64)
        known = sigmoid(features[:, FIRST_CLASS : FIRST_CLASS + CLASSES]) @ self.classes
        # The geometric mean: the detector's classes can separate labels that have too few
        # examples.
        product = (np.clip(fitted, 0.0, 1.0) + _SOFTENING) * (np.minimum(known, 1.0) + _SOFTENING)
        scores = np.clip(np.sqrt(product) - _SOFTENING, 0.0, 1.0)
        return Candidates(proposals.boxes, self.alignment.apply(scores))


@dataclass
class ProposalSums:
    """Sums over the proposed boxes of training images, from which a head can be fitted."""

    products: Doubles
    """Sums of products of features, including the constant 1, float64, (VALUES + 1, VALUES + 1)."""
    targets: Doubles
    """Sums of products of features and labels, float64, shape (VALUES + 1, labels)."""
    classes: Doubles
    """Sums of the detector's class scores, by label, float64, shape (80, labels)."""

    @classmethod
    def empty(cls, labels: int) -> ProposalSums:
        """Return sums over no images: all sums are zero."""
        size = VALUES + 1
        return cls(np.zeros((size, size)), np.zeros((size, labels)), np.zeros((CLASSES, labels)))

    def add(self, proposals: Proposals, boxes: Doubles, labels: Ints) -> None:
        """Add an image's proposals, given true boxes, (boxes, 4), and label indexes, (boxes,)."""
        count = len(proposals.boxes)
        rows = np.ones((count, VALUES + 1))
        rows[:, :-1] = proposals.features
        is_label = np.zeros((count, self.targets.shape[1]))
        shared = iou(proposals.boxes, boxes)
        for known, label in enumerate(labels if count else ()):
            right = shared[:, known] >= RIGHT_OVERLAP
            is_label[right, label] = 1.0
            best = int(np.argmax(shared[:, known]))
            if right[best]:
                scores = sigmoid(rows[best, FIRST_CLASS : FIRST_CLASS + CLASSES])
                # Relative to the best class, so that a certain example weighs more.
                self.classes[:, label] += scores * scores / scores.max()
        self.products += rows.T @ rows
        self.targets += rows.T @ is_label

    def joined(self, other: ProposalSums) -> ProposalSums:
        """Return the total of these sums and the sums in `other`."""
        return ProposalSums(
            self.products + other.products,
            self.targets + other.targets,
            self.classes + other.classes,
        )

    def fit(self) -> tuple[ProposalHead, float]:
        """Fit a head by ridge regression on standardised features; return the head and its error.

        The error is the mean squared error over the boxes, summed over the labels.
        """
        count = max(float(self.products[-1, -1]), 1.0)
        mean, wanted = self.products[-1, :-1] / count, self.targets[-1] / count
        variances = self.products[:-1, :-1] / count - np.outer(mean, mean)
        spread = np.sqrt(np.maximum(np.diag(variances), _TINY))
        slopes = self.targets[:-1] / count - np.outer(mean, wanted)
        curvature = variances / np.outer(spread, spread) + _RIDGE * np.eye(VALUES)
        fitted = np.linalg.solve(curvature, slopes / spread[:, None]) / spread[:, None]
        # The labels are 0 or 1, so their variance follows from their mean.
        error = wanted - wanted**2 - 2.0 * np.einsum("ij,ij->j", fitted, slopes)
        error += np.einsum("ij,ij->j", fitted, variances @ fitted)
        weights = np.concatenate([fitted, (wanted - mean @ fitted)[None]])
        classes = self.classes / np.maximum(self.classes.sum(axis=0), _TINY)
        head = ProposalHead(weights.astype(np.float32), classes.astype(np.float32))
        return head, float(np.maximum(error, 0.0).sum())

    def arrays(self) -> dict[str, Array]:
        """Return the sums as arrays for storage; `sums_of` reads the arrays."""
        return {"products": self.products, "targets": self.targets, "classes": self.classes}


def sums_of(arrays: Mapping[str, Array]) -> ProposalSums:
    """Convert the arrays of `ProposalSums.arrays` back to sums."""
    names = ("products", "targets", "classes")
    return ProposalSums(*(arrays[name].astype(np.float64) for name in names))
