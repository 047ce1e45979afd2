"""Figures of a tuned encoder, measured on one whose vectors are known."""

import numpy as np
import pytest

from chalicelib.engines.text.encoding.interface import EncoderFacts
from infra.finetuning.figures import REFERENCES, measure
from infra.finetuning.sentences import Sentences
from infra.model_files.prebuilt.sentiment_data import LABELS
from infra.model_files.tuned_encoder import TunedLayers

SIGNS = ("+", "-", "0")


class SignEncoder:
    """Points a text's vector at the sign that it begins with, or nowhere."""

    facts = EncoderFacts("sign", "sign", "0" * 64, "none", 3)

    def encode(self, texts, *, threads=1):
        """Float32, shape (texts, 3)."""
        return np.array([[text[:1] == sign for sign in SIGNS] for text in texts], np.float32)


def test_measure_takes_temperature_and_metrics_from_what_was_held_out():
    """Wrong answers on one side are not mixed up with those on the other."""
    layers = TunedLayers({}, 4 * np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
    right = [
        (f"{sign} {number}", place) for place, sign in enumerate(SIGNS) for number in range(30)
    ]
    wrong = [(f"+ wrong {number}", 1) for number in range(10)]

    figures = measure(SignEncoder(), layers, Sentences(right, right + wrong))

    assert figures["metrics"]["trainingAccuracy"] == 1.0
    assert figures["metrics"]["testAccuracy"] == 0.9
    assert figures["testAccuracy"]["value"] == 0.9
    assert figures["testAccuracy"]["low"] < 0.9 < figures["testAccuracy"]["high"]
    assert figures["metrics"]["confusionMatrix"] == [[30, 0, 0], [10, 30, 0], [0, 0, 30]]
    assert figures["macroRecall"] == pytest.approx((1 + 0.75 + 1) / 3, abs=1e-5)
    assert figures["temperature"] > 0.5
    assert set(figures["metrics"]["threshold"]) == set(LABELS)
    assert figures["references"]["texts"] == list(REFERENCES)
    for row in figures["references"]["probabilities"]:
        assert sum(row) == pytest.approx(1, abs=1e-3)
