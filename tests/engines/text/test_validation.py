"""Training sets that cannot be trained on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from chalicelib.engines.interface import TextTrainingSet
from chalicelib.engines.text.validation import check_training_set
from chalicelib.errors import TrainingFailed
from tests.engines.text.clusters import a_training_set


def test_a_good_set_gives_its_labels() -> None:
    """A valid set is accepted unchanged."""
    examples = a_training_set([5, 5], with_phrases=True)

    assert check_training_set(examples).tolist() == examples.label_indexes.tolist()


@pytest.mark.parametrize("counts", [[5], [5, 0], [0, 0]])
def test_one_label_cannot_be_trained(counts: list[int]) -> None:
    """One label is refused with what is missing and a remedy."""
    with pytest.raises(TrainingFailed, match="Add examples of another label"):
        check_training_set(a_training_set(counts))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_broken_vectors_cannot_be_trained(value: float) -> None:
    """Invalid vectors are refused with the encoder and the number of texts."""
    examples = a_training_set([5, 5])
    examples.blocks["encoder1"][3, 2] = value

    with pytest.raises(TrainingFailed, match=r"encoder1 gave vectors .* for 1 of 10 texts"):
        check_training_set(examples)


@pytest.mark.parametrize(
    "change",
    [
        {"blocks": {}},
        {"digests": [b"one"]},
        {"word_digests": [b"one"]},
        {"label_indexes": np.array([0, 1, 2] + [0] * 7)},
        {"label_indexes": np.array([0, 1, -1] + [0] * 7)},
        {"label_blocks": {"encoder0": np.zeros((2, 12), np.float32)}},
    ],
    ids=["no-block", "digests", "word-digests", "index-above", "index-below", "phrases"],
)
def test_parts_that_do_not_fit_are_the_callers_mistake(change: dict[str, object]) -> None:
    """Wrong shapes raise ValueError."""
    examples: TextTrainingSet = dataclasses.replace(a_training_set([5, 5]), **change)

    with pytest.raises(ValueError, match=r"."):
        check_training_set(examples)
