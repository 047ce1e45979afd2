"""Adjusting trained models to users' texts, on clusters of vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.adjustment import UNLABELLED, adjust, nearest_rows
from chalicelib.engines.text.classifier import TrainedText, dump, load
from chalicelib.engines.text.fit import fit
from tests.engines.text.clusters import a_training_set, with_background

if TYPE_CHECKING:
    from chalicelib.engines.interface import Blocks

LABELS, DIMS = 6, 24
EXAMPLES = a_training_set([25] * LABELS, dims=(DIMS,), spread=0.6)


@pytest.fixture(scope="module")
def model() -> TrainedText:
    """A model with a rejection rate of 5 %."""
    options = TextFitOptions(out_of_domain_rate=0.05)
    return fit(with_background(EXAMPLES), options, [].append)


def users(seed: int, foreign: int) -> tuple[Blocks, np.ndarray]:
    """Return vectors of 300 texts, more scattered than the examples, and their labels.

    The last ones are of none of the labels.
    """
    inside = 300 - foreign
    generator = np.random.default_rng(seed)
    rows = generator.integers(len(EXAMPLES.label_indexes), size=inside)
    near = EXAMPLES.blocks["encoder0"][rows] + 0.08 * generator.standard_normal((inside, DIMS))
    far = generator.standard_normal((foreign, DIMS))
    truth = np.concatenate([EXAMPLES.label_indexes[rows], np.full(foreign, LABELS)])
    return as_block(near, far), truth


def scattered_users(seed: int) -> tuple[Blocks, np.ndarray]:
    """Return vectors of 200 texts that are far from the examples and of 100 others."""
    generator = np.random.default_rng(seed)
    rows = generator.integers(len(EXAMPLES.label_indexes), size=200)
    near = EXAMPLES.blocks["encoder0"][rows] + 0.16 * generator.standard_normal((200, DIMS))
    far = generator.standard_normal((100, DIMS))
    truth = np.concatenate([EXAMPLES.label_indexes[rows], np.full(100, LABELS)])
    return as_block(near, far), truth


def as_block(*parts: np.ndarray) -> Blocks:
    """Return joined vectors, scaled to length 1."""
    block = np.concatenate(parts)
    block /= np.linalg.norm(block, axis=1, keepdims=True)
    return {"encoder0": block.astype(np.float32)}


@pytest.mark.parametrize("foreign", [60, 200])
def test_unlabelled_texts_move_the_threshold_near_the_asked_rate(model, foreign):
    """Unlabelled texts move the threshold to about the requested rate, and foreign ones fail it."""
    blocks, truth = users(1, foreign)

    changed, found = adjust(model, blocks, np.full(300, UNLABELLED), 0.05)

    asked, kinds = users(2, foreign)
    is_rejected = changed.rejects(asked)
    assert is_rejected[kinds < LABELS].mean() <= 0.15
    assert is_rejected[kinds == LABELS].mean() >= 0.8
    assert (found.labelled, found.out_of_domain, found.unlabelled) == (0, 0, 300)
    assert found.rejected_after is not None
    assert found.rejected_after.low <= changed.rejects(blocks)[truth < LABELS].mean()


def test_unlabelled_texts_leave_the_probabilities(model):
    """Unlabelled texts leave the probabilities unchanged."""
    blocks, _ = users(1, 60)

    changed, found = adjust(model, blocks, np.full(300, UNLABELLED), 0.05)

    np.testing.assert_allclose(changed.predict(blocks), model.predict(blocks), atol=1e-5)
    assert found.temperature_factor == 1


def test_labelled_texts_move_the_probabilities_towards_what_is_right(model):
    """Labelled texts that contradict the answers make the model less confident."""
    blocks, truth = users(1, 0)
    wrong = np.where(np.arange(300) % 2 == 0, (truth + 1) % LABELS, truth)

    changed, found = adjust(model, blocks, wrong, None)

    assert found.temperature_factor > 1
    assert changed.predict(blocks).max(axis=1).mean() < model.predict(blocks).max(axis=1).mean()
    assert (found.rejected_before, found.rejected_after) == (None, None)


def test_labelled_texts_set_the_threshold(model):
    """If labelled in-domain texts score low, about as many of them are rejected as requested."""
    blocks, truth = scattered_users(1)
    changed, _ = adjust(model, blocks, truth, 0.05)
    asked, kinds = scattered_users(2)

    is_rejected = changed.rejects(asked)[kinds < LABELS]

    assert model.rejects(asked)[kinds < LABELS].mean() > 0.25
    assert 0.02 <= is_rejected.mean() <= 0.15


def test_feedback_leaves_the_frequencies_of_labels(model):
    """Feedback changes the temperature but not the label priors."""
    blocks, truth = users(1, 0)
    wrong = np.where(np.arange(300) % 2 == 0, 0, truth)

    changed, found = adjust(model, blocks, wrong, None, 0)
    counted, _ = adjust(model, blocks, wrong, None)

    assert found.temperature_factor > 1
    np.testing.assert_array_equal(changed.parameters.biases, model.parameters.biases)
    assert not np.array_equal(counted.parameters.biases, model.parameters.biases)


def test_an_adjusted_model_is_stored_and_adjusted_again(model):
    """After storage a second adjustment finds the same threshold."""
    blocks, _ = users(1, 60)
    kinds = np.full(300, UNLABELLED)
    changed, _ = adjust(model, blocks, kinds, 0.05)

    stored = load(dump(changed))
    again, _ = adjust(stored, blocks, kinds, 0.05)

    np.testing.assert_array_equal(stored.rejects(blocks), changed.rejects(blocks))
    assert abs(int(again.rejects(blocks).sum()) - int(changed.rejects(blocks).sum())) <= 15


def test_nearest_rows_are_those_around_the_threshold(model):
    """The returned texts are those whose score is nearest to the threshold."""
    blocks, _ = users(1, 60)
    rejector = model.parameters.rejector
    assert rejector is not None
    gaps = np.abs(model.domain_scores(blocks) - rejector.threshold)

    rows = nearest_rows(model, blocks, 50)

    assert gaps[rows].max() <= np.delete(gaps, rows).min()


@pytest.mark.parametrize("shape", [(4, 200), (3, 200, 3), (4, 0, 3), (4, 200, 2)])
def test_samples_of_another_shape_are_refused(model, shape):
    """Stored samples of another shape are refused at load."""
    rejector = replace(model.parameters.rejector, samples=np.zeros(shape, np.float32))
    damaged = TrainedText(replace(model.parameters, rejector=rejector))

    with pytest.raises(ArtifactError):
        load(dump(damaged))
