"""The loss of the dense head: quality focal loss of labels, plus GIoU loss of boxes.

Source: Li et al. 2020, Generalized Focal Loss; Rezatofighi et al. 2019, Generalized IoU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats
    from chalicelib.engines.vision.detection.head.dataset import CellTargets

# Weight of the box loss against the label loss.
BOX_WEIGHT = 2.0
# Log-distances are clipped here; 148 cells are beyond any view.
LARGEST_LOG = 5.0
_TINY = 1e-9


def detection_loss(
    outputs: Floats, targets: CellTargets, labels: int, positives: float
) -> tuple[float, Floats]:
    """Return the loss of one image, and its gradient with respect to the head's outputs.

    Args:
        outputs: outputs of the head for the image, float, shape (cells * cells, labels + 4).
        targets: cells of the image that must predict objects.
        labels: number of labels.
        positives: number of cells in the whole batch that must predict objects. The loss is divided
            by this number.
    """
    gradient = np.empty_like(outputs)
    gradient[:, labels:] = 0.0
    quality: Floats = np.zeros(len(targets))
    box_loss = 0.0
    if len(targets):
        logs = outputs[targets.cells, labels:].astype(np.float64)
        quality, giou, slopes = _overlaps(logs, targets.distances)
        box_loss = BOX_WEIGHT * float(np.add.reduce(1.0 - giou)) / positives
        gradient[targets.cells, labels:] = -BOX_WEIGHT / positives * slopes
    wanted = np.zeros((len(outputs), labels), outputs.dtype)
    # A label's score should equal the IoU, which counts as constant here.
    wanted[targets.cells, targets.labels] = quality
    label_loss, label_gradient = _quality_focal(outputs[:, :labels], wanted)
    np.divide(label_gradient, positives, out=gradient[:, :labels], casting="same_kind")
    return label_loss / positives + box_loss, gradient


def distances_of(logs: Floats) -> Floats:
    """Convert the output of the head, logarithms of distances, to distances in cells."""
    distances: Floats = np.exp(np.minimum(logs, LARGEST_LOG))
    return distances


def sigmoid(logits: Floats) -> Floats:
    """Convert logits of any shape to probabilities by the logistic function."""
    # The form with tanh overflows for no logit.
    result: Floats = 0.5 * (1.0 + np.tanh(0.5 * logits))
    return result


def _quality_focal(logits: Floats, target: Floats) -> tuple[float, Floats]:
    score = sigmoid(logits)
    entropy = np.logaddexp(0.0, logits) - target * logits
    gap = score - target
    loss = float(np.add.reduce(gap * gap * entropy, axis=None))
    # Product rule; the derivative of the entropy with respect to the logit is the gap.
    slope: Floats = gap * gap * gap + 2.0 * gap * score * (1.0 - score) * entropy
    return loss, slope


def _overlaps(logs: Floats, targets: Floats) -> tuple[Floats, Floats, Floats]:
    """Return IoU and GIoU of predicted and true boxes, and GIoU's gradient with respect to `logs`.

    Args:
        logs: logarithms of the distances to left, top, right, bottom, float64, shape (positives,
            4).
        targets: true distances in cells, float64, same shape.

    Returns:
        IoU and GIoU have shape (positives,), the gradient has shape (positives, 4).
    """
    found = distances_of(logs)
    area = _area(found)
    shared = np.minimum(found, targets)
    inner = np.maximum(shared[:, :2] + shared[:, 2:], 0.0)
    around = np.maximum(found, targets)
    outer = around[:, :2] + around[:, 2:]
    intersection, hull = np.prod(inner, axis=1), np.prod(outer, axis=1)
    union = area + _area(targets) - intersection + _TINY
    iou = intersection / union
    giou = iou - (hull - union) / hull
    # Each distance changes the width (0, 2) or the height (1, 3); the other side is a factor.
    sides = found[:, :2] + found[:, 2:]
    other = [1, 0, 1, 0]
    area_slope = sides[:, other]
    inner_slope = np.where((found < targets) & (inner > 0.0)[:, [0, 1, 0, 1]], inner[:, other], 0.0)
    hull_slope = np.where(found > targets, outer[:, other], 0.0)
    union_slope = area_slope - inner_slope
    slope = (inner_slope - iou[:, None] * union_slope) / union[:, None]
    slope += (union_slope - (union / hull)[:, None] * hull_slope) / hull[:, None]
    # Derivative with respect to the logarithm: the distance itself, or 0 where it was clipped.
    return iou, giou, slope * np.where(logs < LARGEST_LOG, found, 0.0)


def _area(distances: Floats) -> Floats:
    area: Floats = np.prod(distances[:, :2] + distances[:, 2:], axis=1)
    return area
