"""Rejects unusable training sets; error messages say why and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chalicelib.errors import TrainingFailed

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats, Ints
    from chalicelib.engines.interface import TextTrainingSet


_CHUNK_ROWS = 8_192


def check_training_set(training_set: TextTrainingSet) -> Ints:
    """Check a training set, and return the label index of each example, int, (examples,).

    Raises:
        TrainingFailed: fewer than two labels have examples, or vectors are not finite.
        ValueError: the shapes of the arrays or label indexes are wrong (a bug of the caller).
    """
    labels = np.asarray(training_set.label_indexes, np.int64)
    _check_shapes(training_set, labels)
    present = np.unique(labels)
    if len(present) < 2:
        raise TrainingFailed(
            f"Only {len(present)} of {len(training_set.label_names)} labels has examples, and a "
            "model needs two to tell apart. Add examples of another label and train again."
        )
    for name, block in training_set.blocks.items():
        broken = _broken_rows(block)
        if broken:
            raise TrainingFailed(
                f"The encoder {name} gave vectors that are not finite for {broken} of "
                f"{len(block)} texts. Install the encoder again and upload the dataset again."
            )
    return labels


def _check_shapes(training_set: TextTrainingSet, labels: Ints) -> None:
    if not training_set.blocks:
        raise ValueError("A training set needs the vectors of at least one encoder.")
    words = training_set.word_digests or training_set.digests
    parts = (labels, training_set.digests, words, *training_set.blocks.values())
    sizes = set(map(len, parts))
    if len(sizes) != 1:
        raise ValueError(f"Blocks, labels and digests have different lengths: {sorted(sizes)}.")
    names = len(training_set.label_names)
    if len(labels) and not (labels.min() >= 0 and labels.max() < names):
        raise ValueError(f"A label index is outside of the {names} label names.")
    phrases = training_set.label_blocks
    if phrases is None:
        return
    wanted = {name: (names, block.shape[1]) for name, block in training_set.blocks.items()}
    if {name: block.shape for name, block in phrases.items()} != wanted:
        raise ValueError(f"The label vectors have to have the shapes {wanted}.")


def _broken_rows(block: Floats) -> int:
    return sum(
        int((~np.isfinite(block[first : first + _CHUNK_ROWS]).all(axis=1)).sum())
        for first in range(0, len(block), _CHUNK_ROWS)
    )
