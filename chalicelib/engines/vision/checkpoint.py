"""Stores the state of a training, with a digest (fingerprint) of its data, options and code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from chalicelib import __version__
from chalicelib.engines.artifact import ArtifactError, dump, load

if TYPE_CHECKING:
    from chalicelib.engines.vision.interface import Extractor, VisionData, VisionOptions

_KIND = "vision-checkpoint"
_VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """The saved state of a training."""

    state: bytes
    """The bytes that VisionTraining.save returned."""
    epochs: int
    """Number of finished epochs."""
    seconds: float
    """Training time so far, in seconds."""


def dump_checkpoint(checkpoint: Checkpoint, fingerprint: str) -> bytes:
    """Convert a checkpoint and the fingerprint of its training to bytes for storage."""
    import numpy as np

    header = {
        "kind": _KIND,
        "version": _VERSION,
        "fingerprint": fingerprint,
        "epochs": checkpoint.epochs,
        "seconds": checkpoint.seconds,
    }
    return dump(header, {"state": np.frombuffer(checkpoint.state, np.uint8)})


def load_checkpoint(content: bytes, fingerprint: str) -> Checkpoint | None:
    """Read a checkpoint; return None if it is damaged or has another fingerprint."""
    try:
        found = load(content, _KIND, _VERSION)
    except ArtifactError:
        return None
    header = found.header
    if header.get("fingerprint") != fingerprint or "state" not in found.arrays:
        return None
    return Checkpoint(found.arrays["state"].tobytes(), header["epochs"], header["seconds"])


def fingerprint_of(data: VisionData, options: VisionOptions, extractor: Extractor) -> str:
    """Return a digest of everything that changes a training: data, options, code version."""
    digest = hashlib.sha256()
    # The number of threads does not change the result.
    facts = {**asdict(options), "threads": 0}
    head = (__version__, extractor.name, extractor.version, data.pictures.labels, facts)
    digest.update(json.dumps(head, sort_keys=True).encode())
    for place, image in enumerate(data.pictures.pictures):
        ids = _text(image.example_ids or (box.example_id for box in image.boxes))
        size = _text(data.features.size(place))
        line = f"{image.dataset_id} {image.digest.hex()} {ids} {size}"
        digest.update(f"{line} {data.features.views(place)}\n".encode())
    return digest.hexdigest()


def _text(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
