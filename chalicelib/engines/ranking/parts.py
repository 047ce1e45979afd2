"""Converts a model's judgements of samples to bytes for storage, and back.

A ranking divides samples into parts of limited size, which are judged one after the other. A
judgement is the suggested label, its probability and the uncertainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines import artifact
from chalicelib.engines.ranking.vectors import DIMS

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Doubles, Halves, Ints, Singles
    from chalicelib.domain.models.judgement import Judgement

KIND, VERSION = "ranking-part", 1
_NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The samples of a part that the model could judge."""

    names: Sequence[str]
    """Names of all suggested labels."""
    lines: Ints
    """Index of each sample's line in the part, int, shape (samples,)."""
    labels: Ints
    """Index in `names` of each suggested label; -1 for none; int, shape (samples,)."""
    probabilities: Doubles
    """Probability of each suggested label, float64, shape (samples,)."""
    uncertainties: Singles
    """Probability that each prediction is wrong, float32, shape (samples,)."""
    likeness: Singles
    """Similarity of each sample to the training data of the model, float32, shape (samples,)."""
    vectors: Halves
    """Vectors for comparing samples, float16, shape (samples, 128)."""

    def suggestion(self, at: int) -> tuple[str | None, float]:
        """Return the suggested label of a sample and its probability; the label may be None."""
        label = int(self.labels[at])
        return (None if label == _NONE else self.names[label]), float(self.probabilities[at])


def dump_part(items: Sequence[tuple[int, Judgement]]) -> bytes:
    """Return the stored form of judgements; equal judgements give equal bytes.

    Args:
        items: for each sample, the index of its line in the part, and its judgement.
    """
    names: dict[str, int] = {}
    labels = [
        _NONE if one.label is None else names.setdefault(one.label, len(names)) for _, one in items
    ]
    judgements = [one for _, one in items]
    arrays: dict[str, Array] = {
        "lines": np.array([place for place, _ in items], np.int32),
        "labels": np.array(labels, np.int32),
        "probabilities": np.array([one.probability for one in judgements], np.float64),
        # The member keeps its old name, because parts of running rankings are stored under it.
        "doubts": np.array([one.uncertainty for one in judgements], np.float32),
        "likeness": np.array([one.likeness for one in judgements], np.float32),
        "vectors": np.array([one.vector for one in judgements], np.float16).reshape(-1, DIMS),
    }
    return artifact.dump({"kind": KIND, "version": VERSION, "names": list(names)}, arrays)


def load_part(content: bytes) -> Judged:
    """Read the bytes that `dump_part` returned.

    Raises:
        ArtifactError: the bytes are damaged.
    """
    found = artifact.load(content, KIND, VERSION)
    arrays = found.arrays
    return Judged(
        names=[str(name) for name in found.header["names"]],
        lines=arrays["lines"].astype(np.int64),
        labels=arrays["labels"].astype(np.int64),
        probabilities=arrays["probabilities"].astype(np.float64),
        uncertainties=arrays["doubts"].astype(np.float32),
        likeness=arrays["likeness"].astype(np.float32),
        vectors=arrays["vectors"].astype(np.float16),
    )
