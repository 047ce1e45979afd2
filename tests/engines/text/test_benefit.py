"""Whether a large encoder is worth its cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chalicelib.engines.text.benefit import Benefit, measure_benefit
from tests.engines.text.clusters import a_training_set


def test_an_encoder_that_knows_more_is_worth_it() -> None:
    """An informative encoder added to weak vectors halves the loss."""
    clear = a_training_set([40] * 4, dims=(12, 12), spread=0.6)
    noise = np.random.default_rng(1).standard_normal(clear.blocks["encoder0"].shape)
    vague = clear.blocks["encoder0"] + 1.5 * noise.astype(np.float32)
    sample = replace(clear, blocks={"encoder0": vague, "encoder1": clear.blocks["encoder1"]})

    found = measure_benefit(sample, ["encoder0"], ["encoder0", "encoder1"], 0.05, needs_proof=True)

    assert found.texts == 160
    assert found.is_worth_it
    assert found.after < 0.5 * found.before
    assert found.gain > 0


def test_an_encoder_that_says_the_same_is_not_worth_it() -> None:
    """An encoder with the same vectors gains nothing."""
    examples = a_training_set([40] * 4, dims=(12,), spread=1.2, with_phrases=True)
    blocks = {"encoder0": examples.blocks["encoder0"], "large": examples.blocks["encoder0"]}
    phrases = examples.label_blocks
    assert phrases is not None
    twice = {"encoder0": phrases["encoder0"], "large": phrases["encoder0"]}
    sample = replace(examples, blocks=blocks, label_blocks=twice)

    found = measure_benefit(sample, ["encoder0"], ["encoder0", "large"], 0.05, needs_proof=True)

    assert not found.is_worth_it


def test_encoders_may_differ_in_what_they_see_as_near_duplicates() -> None:
    """If encoders group near-duplicates differently, common held-out texts are compared."""
    clear = a_training_set([40] * 4, dims=(12, 12), spread=0.6)
    alike = clear.blocks["encoder0"].copy()
    for label in range(4):
        rows = np.flatnonzero(clear.label_indexes == label)[:23]
        alike[rows] = alike[rows[0]]
    sample = replace(clear, blocks={"encoder0": alike, "encoder1": clear.blocks["encoder1"]})

    found = measure_benefit(sample, ["encoder0"], ["encoder1"], 0.05, needs_proof=True)

    assert found.texts == 160
    assert -1.0 < found.gain < 1.0


BENEFIT = Benefit(1_500, 0.4, 0.38, (0.1, 0.08), -0.01, 0.002, 0.05, True)


def test_the_card_can_say_why() -> None:
    """The reason has sample, wrong answers, gain and losses."""
    assert BENEFIT.is_worth_it
    assert "1500 texts" in BENEFIT.reason
    assert "from 10.0 to 8.0 % (10% fewer are required)" in BENEFIT.reason
    assert "at least -1.0 points" in BENEFIT.reason
    assert "from 0.400 to 0.380" in BENEFIT.reason
    assert "at least +0.002" in BENEFIT.reason


def test_a_gain_must_be_significant_in_accuracy_or_loss() -> None:
    """Either the interval of the accuracy or that of a large enough loss decrease decides."""
    assert not replace(BENEFIT, after=0.39).is_worth_it
    assert replace(BENEFIT, after=0.39, gain=0.001).is_worth_it
    assert not replace(BENEFIT, decrease=-0.002).is_worth_it


def test_a_gain_must_save_a_tenth_of_the_wrong_answers() -> None:
    """A significant gain of few answers does not justify more encoders."""
    few = replace(BENEFIT, wrong=(0.1, 0.095), gain=0.001)
    assert not few.is_worth_it
    assert not replace(BENEFIT, wrong=(0.0, 0.0)).is_worth_it
    assert "required)" in few.reason.partition("accuracy")[0]


def test_a_lower_loss_is_enough_where_no_proof_is_needed() -> None:
    """Without the need of a proof, accuracy or loss decides, and no saved errors are required."""
    free = replace(BENEFIT, wrong=(0.1, 0.1), decrease=-0.002, needs_proof=False)
    assert free.is_worth_it
    assert not replace(free, after=0.39).is_worth_it
    assert replace(free, after=0.39, gain=0.001).is_worth_it
    assert not replace(free, before=0.0, after=0.0).is_worth_it
    assert "fewer" not in free.reason


def test_a_loss_of_zero_is_no_reason_for_a_larger_profile() -> None:
    """A larger profile is not used if the loss is 0 with both profiles."""
    assert not Benefit(300, 0.0, 0.0, (0.0, 0.0), 0.0, 0.0, 0.05, True).is_worth_it
