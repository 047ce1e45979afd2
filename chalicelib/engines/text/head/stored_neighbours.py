"""Stores the training texts of `NearestTexts` in the artifact of a text model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.artifact import Artifact, ArtifactError, strip_prefix
from chalicelib.engines.text.head.anchors import ANCHOR_TYPES
from chalicelib.engines.text.head.neighbours import NearestTexts

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array

# Prefix of the array names in an artifact.
PREFIX = "neighbours"


def header(neighbours: NearestTexts) -> dict[str, Any]:
    """Return the members of the artifact's JSON header that describe the stored training texts."""
    return {"weight": neighbours.weight, "ends": neighbours.ends.tolist()}


def arrays(neighbours: NearestTexts) -> dict[str, Array]:
    """Return the arrays of `neighbours` by name, for the artifact."""
    return {"anchors": neighbours.anchors}


def read(content: Artifact) -> NearestTexts:
    """Read the `NearestTexts` of an artifact.

    Raises:
        KeyError: a header member or an array is missing.
        TypeError: an array has the wrong type.
    """
    numbers = content.header["neighbours"]
    anchors = strip_prefix(PREFIX, content.arrays)["anchors"]
    if anchors.dtype not in ANCHOR_TYPES:
        raise TypeError(f"anchors holds {anchors.dtype}")
    ends = np.array([int(end) for end in numbers["ends"]], np.int64)
    return NearestTexts(anchors, ends, float(numbers["weight"]))


def check(neighbours: NearestTexts, dims: int, labels: int) -> None:
    """Raise ArtifactError if shapes of arrays contradict each other, `dims` or `labels`."""
    anchors, ends = neighbours.anchors, neighbours.ends
    is_whole = anchors.ndim == 2 and anchors.shape[1] == dims and ends.shape == (labels,)
    if not is_whole or (np.diff(ends, prepend=0) < 0).any() or ends[-1] != len(anchors):
        raise ArtifactError("The artifact's neighbours, encoders and labels do not fit together.")
    if not 0 < neighbours.weight < np.inf:
        raise ArtifactError("The weight of the artifact's neighbours is not a positive number.")
