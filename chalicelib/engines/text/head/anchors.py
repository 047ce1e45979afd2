"""Stores the directions of training texts, to find the training texts nearest to a new text.

A direction is a feature vector minus a centre, scaled to unit length. All numbers are rounded to
multiples of the steps of `GridArithmetic`. So products are exact, and do not depend on threads or
BLAS kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.arithmetic import GridArithmetic

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Doubles, Floats, Integers, Ints

# Limits the time of a prediction and the size of an artifact.
MOST_ANCHORS = 5_000
# Anchors are multiples of 1/512. Components of most vectors are below a quarter, so that 127 of
# these steps are enough and artifacts can store one byte per number.
ANCHOR_STEPS = 512.0
# Anchors have two bytes per number if one byte would reduce the cosine of a text to itself by more
# than this, as with the spelling features of a single word.
_MOST_LOST = 0.05
ANCHOR_TYPES = np.int8, np.int16


def mean_vector(features: Floats) -> Doubles:
    """Return the rounded mean, shape (dims,), of feature vectors, shape (texts, dims)."""
    mean = np.add.reduce(features.astype(np.float64), axis=0) / len(features)
    return np.asarray(GridArithmetic().features(mean), np.float64)


def unit_vectors(features: Floats, centre: Floats) -> Doubles:
    """Return rounded unit vectors, shape (texts, dims), from a centre to each feature vector."""
    moved = features.astype(np.float64) - centre
    lengths = np.sqrt(np.add.reduce(moved * moved, axis=1))
    # A text at the centre has no direction: it becomes the zero vector.
    units = moved / np.maximum(lengths, 1e-9)[:, None]
    return np.asarray(GridArithmetic().features(units), np.float64)


def round_anchors(units: Floats) -> Integers:
    """Return unit vectors as multiples of 1/512, int8 or int16, shape (texts, dims)."""
    whole = np.rint(units * ANCHOR_STEPS)
    short = np.clip(whole, -127, 127)
    rows = np.flatnonzero((whole != short).any(axis=1))
    lost = np.add.reduce(units[rows] * (whole[rows] - short[rows]), axis=1) / ANCHOR_STEPS
    return smallest_integers(whole if (lost > _MOST_LOST).any() else short)


def smallest_integers(steps: Array) -> Integers:
    """Convert whole numbers to int8 if they fit, otherwise to int16."""
    fits = bool(np.abs(steps).max(initial=0) <= 127)
    return np.asarray(steps, ANCHOR_TYPES[0 if fits else 1])


def anchor_rows(labels: Ints, limit: int | None = None, label_limit: int | None = None) -> Ints:
    """Choose the training texts to store. If there are too many, choose evenly from all labels.

    Args:
        labels: label indexes, int, shape (rows,).
        limit: maximum number of stored texts; None: 5,000.
        label_limit: maximum number of stored texts of each label; None: no limit.

    Returns:
        The indexes of the texts in ascending order, int, shape (at most `limit`,).
    """
    order = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[order], labels[order])
    places = np.empty(len(labels), np.int64)
    places[order] = np.arange(len(labels)) - firsts
    # Sorted by rank within the label, so that the first rows contain equally many of each label.
    chosen = np.argsort(places, kind="stable")[: MOST_ANCHORS if limit is None else limit]
    return np.sort(chosen if label_limit is None else chosen[places[chosen] < label_limit])
