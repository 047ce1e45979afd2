"""Stores a rejector in the artifact of a text model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.artifact import Artifact, ArtifactError, strip_prefix
from chalicelib.engines.text.head.anchors import ANCHOR_TYPES, smallest_integers
from chalicelib.engines.text.head.domain import Domain
from chalicelib.engines.text.head.domain_score import SIGNALS, DomainScale
from chalicelib.engines.text.head.rejector import Rejector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chalicelib.domain.common.arrays import Array

# Prefix of the array names in an artifact.
PREFIX = "rejector"
# Kinds of texts whose signals are stored.
KINDS = 4
# Arrays of float32. An earlier format stored quantiles of scores, which are ignored, so the array
# `signals` has another name.
_FLOATS = ("centre", "direction", "usual", "signals")


def header(rejector: Rejector) -> dict[str, Any]:
    """Return the members of the artifact's JSON header that describe a rejector."""
    scale = rejector.scale
    return {
        "threshold": rejector.threshold,
        "lineOffset": rejector.domain.offset,
        "means": list(scale.means),
        "deviations": list(scale.deviations),
        "trust": list(scale.trust),
        "doubt": scale.doubt,
        "heat": scale.heat,
    }


def arrays(rejector: Rejector) -> dict[str, Array]:
    """Return the arrays of a rejector by name, for the artifact."""
    domain, usual = rejector.domain, rejector.scale.usual
    found: dict[str, Array] = {
        "anchors": smallest_integers(domain.anchors),
        "centre": domain.centre.astype(np.float32),
        "direction": domain.direction.astype(np.float32),
    }
    optional = {"usual": usual, "signals": rejector.samples}
    return found | {name: array for name, array in optional.items() if array is not None}


def read(content: Artifact) -> Rejector:
    """Read the rejector of an artifact.

    Raises:
        KeyError: a header member or an array is missing.
        TypeError: an array has the wrong type.
    """
    numbers: Mapping[str, Any] = content.header["rejector"]
    stored = strip_prefix(PREFIX, content.arrays)
    # Older models have no usual nearness, and no samples of signals.
    older = {"usual", "signals"} - stored.keys()
    types = {"anchors": ANCHOR_TYPES} | dict.fromkeys(_FLOATS, (np.float32,))
    for name, wanted in types.items():
        if name not in older and stored[name].dtype not in wanted:
            raise TypeError(f"{name} holds {stored[name].dtype}")
    return Rejector(
        domain=Domain(
            centre=stored["centre"],
            anchors=stored["anchors"].astype(np.float32),
            direction=stored["direction"],
            offset=float(numbers["lineOffset"]),
        ),
        scale=DomainScale(
            means=tuple(float(mean) for mean in numbers["means"]),
            deviations=tuple(float(deviation) for deviation in numbers["deviations"]),
            trust=tuple(float(number) for number in numbers["trust"]),
            usual=stored.get("usual"),
            doubt=float(numbers.get("doubt", 0.0)),
            heat=float(numbers.get("heat", 1.0)),
        ),
        threshold=float(numbers["threshold"]),
        samples=stored.get("signals"),
    )


def check(rejector: Rejector, dims: int, labels: int) -> None:
    """Raise ArtifactError if shapes of arrays contradict each other, `dims` or `labels`."""
    domain, scale = rejector.domain, rejector.scale
    shapes = [domain.centre.shape, domain.direction.shape, domain.anchors.shape[1:]]
    lengths = {len(scale.means), len(scale.deviations), len(scale.trust) - 1}
    if set(shapes) != {(dims,)} or lengths != {SIGNALS} or not len(domain.anchors):
        raise ArtifactError("The artifact's rejector and encoders do not fit together.")
    usual = np.zeros(labels, np.float32) if scale.usual is None else scale.usual
    if usual.shape != (labels,):
        raise ArtifactError("The artifact's rejector and labels do not fit together.")
    samples = np.zeros((KINDS, 1, SIGNALS)) if rejector.samples is None else rejector.samples
    if samples.ndim != 3 or samples.shape[::2] != (KINDS, SIGNALS) or not samples.size:
        raise ArtifactError("The artifact's samples of signals have another shape.")
    numbers = [rejector.threshold, domain.offset, *scale.means, *scale.deviations, *scale.trust]
    arrays = (domain.centre, domain.direction, usual, samples.ravel())
    if not np.isfinite(np.concatenate([numbers, *arrays])).all():
        raise ArtifactError("The artifact's rejector holds numbers that are not finite.")
    if min(scale.deviations) <= 0:
        raise ArtifactError("The artifact's rejector has scales that are not positive.")
