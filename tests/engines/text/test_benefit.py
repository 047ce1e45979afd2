"""Whether a large encoder is worth its cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chalicelib.engines.text.benefit import WORTH, Benefit, measure_benefit
from tests.engines.text.clusters import a_training_set


def test_an_encoder_that_knows_more_is_worth_it() -> None:
    """Added to weak vectors, informative ones take away half the loss."""
    clear = a_training_set([40] * 4, dims=(12, 12), spread=0.6)
    noise = np.random.default_rng(1).standard_normal(clear.blocks["encoder0"].shape)
    vague = clear.blocks["encoder0"] + 1.5 * noise.astype(np.float32)
    sample = replace(clear, blocks={"encoder0": vague, "encoder1": clear.blocks["encoder1"]})

    found = measure_benefit(sample, ["encoder0"], 1)

    assert found.texts == 160
    assert found.is_worth_it
    assert found.accurate < 0.5 * found.fast


def test_an_encoder_that_says_the_same_is_not_worth_it() -> None:
    """Twice the same vectors cost more and tell nothing new; threads change no bit of it."""
    examples = a_training_set([40] * 4, dims=(12,), spread=1.2, with_phrases=True)
    blocks = {"encoder0": examples.blocks["encoder0"], "large": examples.blocks["encoder0"]}
    phrases = examples.label_blocks
    assert phrases is not None
    twice = {"encoder0": phrases["encoder0"], "large": phrases["encoder0"]}
    sample = replace(examples, blocks=blocks, label_blocks=twice)

    found = measure_benefit(sample, ["encoder0"], 1)

    assert not found.is_worth_it
    assert measure_benefit(sample, ["encoder0"], 2) == found


def test_the_card_can_say_why() -> None:
    """Sample and losses are in the reason; exactly the required fall is enough."""
    found = Benefit(1_500, 0.4, 0.4 * (1 - WORTH))

    assert found.is_worth_it
    assert not Benefit(1_500, 0.4, 0.35).is_worth_it
    assert "1500 texts" in found.reason
    assert "from 0.400 to 0.340" in found.reason


def test_a_cheaper_encoder_need_not_gain_as_much() -> None:
    """A word costs e5 three sevenths of what it costs mpnet, so that share of the fall is asked."""
    examples = a_training_set([40] * 4, dims=(12,), spread=1.2)
    blocks = {"use": examples.blocks["encoder0"], "e5": examples.blocks["encoder0"]}

    found = measure_benefit(replace(examples, blocks=blocks), ["use"], 1)

    assert found.worth == pytest.approx(WORTH * 3 / 7)
    assert Benefit(1_500, 0.4, 0.374, found.worth).is_worth_it
    assert not Benefit(1_500, 0.4, 0.376, found.worth).is_worth_it
