"""Figures of a head, measured on scores that are known."""

import numpy as np
import pytest

from bench.sentiment.figures import REFERENCES, ScoredTexts, leave_sources_out, measure, references
from bench.sentiment.fitting import SoftLabelledTexts
from bench.sentiment.sentences import ALIKE
from chalicelib.engines.text.encoding.interface import EncoderFacts
from infra.model_files.sentiment_head import LABELS, SentimentHead

HEAD = SentimentHead(4 * np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
SIGNS = ("+", "-", "0")


class SignEncoder:
    """Points a text's vector at the sign that it begins with, or nowhere."""

    facts = EncoderFacts("sign", "sign", "0" * 64, "none", 3)

    def encode(self, texts, *, threads=1):
        """Float32, shape (texts, 3)."""
        return np.array([[text[:1] == sign for sign in SIGNS] for text in texts], np.float32)


def scored(places, truth):
    """Scores that speak for the given places."""
    return ScoredTexts(4 * np.eye(3, dtype=np.float32)[places], np.array(truth))


def test_measure_takes_metrics_from_what_was_held_out():
    """Wrong answers on one side are not mixed up with those on the other."""
    right = [0] * 30 + [1] * 30 + [2] * 30

    figures = measure(scored(right, right), scored([*right, *[0] * 10], [*right, *[1] * 10]), 1.0)

    assert figures["metrics"]["trainingAccuracy"] == 1.0
    assert figures["metrics"]["testAccuracy"] == 0.9
    assert figures["testAccuracy"]["value"] == 0.9
    assert figures["testAccuracy"]["low"] < 0.9 < figures["testAccuracy"]["high"]
    assert figures["metrics"]["confusionMatrix"] == [[30, 0, 0], [10, 30, 0], [0, 0, 30]]
    assert figures["macroRecall"] == pytest.approx((1 + 0.75 + 1) / 3, abs=1e-5)
    assert set(figures["metrics"]["threshold"]) == set(LABELS)


def test_references_are_answers_of_head_and_encoder():
    """What an installation compares with comes from the very encoder, each row a distribution."""
    found = references(SignEncoder(), HEAD, 1.0)

    assert found["texts"] == list(REFERENCES)
    for row in found["probabilities"]:
        assert sum(row) == pytest.approx(1, abs=1e-3)


def test_a_source_that_is_left_out_is_judged_by_heads_that_did_not_see_it():
    """A source whose vectors mean something else is answered wrongly, as it is not trained on."""
    places = np.tile([0, 1, 2], 40)
    vectors = np.eye(3)[places]
    truth = np.concatenate([places, places, (places + 1) % 3])
    sources = [name for name in ("one", "two", "odd") for _ in places]
    texts = SoftLabelledTexts(np.tile(vectors, (3, 1)), np.eye(3)[truth], sources)

    found = leave_sources_out(texts, truth, ("one", "two", "odd"))

    assert found.sources["odd"]["accuracy"] == 0.0
    assert set(found.sources) == {"one", "two", "odd"}
    assert found.temperature > 1.0


def test_what_is_like_a_source_is_left_out_with_it(monkeypatch):
    """Sentences out of the same kind of texts do not tell a head what a source means."""
    monkeypatch.setitem(ALIKE, "odd", "like odd")
    places = np.tile([0, 1, 2], 40)
    truth = np.concatenate([places, places, *[(places + 1) % 3] * 6])
    sources = [name for name in ("one", "two", "odd", *["like odd"] * 5) for _ in places]
    vectors = np.tile(np.eye(3)[places], (8, 1))
    texts = SoftLabelledTexts(vectors, np.eye(3)[truth], sources)

    found = leave_sources_out(texts, truth, ("one", "two", "odd"))

    assert found.sources["odd"]["accuracy"] == 0.0
