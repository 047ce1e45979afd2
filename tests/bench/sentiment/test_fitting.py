"""The fit of the sentiment head."""

import numpy as np
import pytest

from bench.sentiment.fitting import SoftLabelledTexts, fit, weigh
from bench.sentiment.sentences import OWN


def test_labels_of_a_source_count_the_same():
    """A source with one neutral text in five gives it as much weight as its ten other ones."""
    shares = np.eye(3)[[0, 0, 1, 1, 2, 0, 1, 2]]
    sources = ["films"] * 5 + ["tweets"] * 3

    weights = weigh(shares, sources)

    assert weights[4] == pytest.approx(weights[0] + weights[1])
    assert weights[5] == pytest.approx(weights[7])
    assert weights[:5].sum() / 5 == pytest.approx(weights[5:].sum() / 3)


def test_own_sentences_count_double_and_a_source_may_lack_a_label():
    """Sentences of two labels weigh as much as others, the project's own twice as much."""
    shares = np.eye(3)[[0, 1, 2, 0, 1, 1, 0, 1, 2]]
    sources = ["tweets"] * 3 + ["films"] * 3 + [OWN] * 3

    weights = weigh(shares + 1e-6, sources)

    assert np.isfinite(weights).all()
    assert weights[:3].sum() == pytest.approx(weights[3:6].sum(), rel=1e-3)
    assert weights[6:].sum() == pytest.approx(2 * weights[:3].sum(), rel=1e-3)


def test_where_a_text_comes_from_says_nothing_of_its_label():
    """A direction that marks the source alone moves no answer, however uneven its labels are."""
    dice = np.random.default_rng(0)
    places = np.concatenate([dice.choice(3, 300, p=[0.5, 0.45, 0.05]), dice.choice(3, 300)])
    marks = np.repeat([1.0, -1.0], 300)
    vectors = np.column_stack([np.eye(3)[places] + dice.normal(0, 0.7, (600, 3)), marks])
    texts = SoftLabelledTexts(vectors, np.eye(3)[places], ["films"] * 300 + ["tweets"] * 300)

    head = fit(texts)

    along = np.abs(head.weights[3] - head.weights[3].mean()).max()
    assert along < 0.25 * np.abs(head.weights[:3]).max()


def test_uncertainty_is_trained():
    """Texts of which people are half sure get half of the probability."""
    shares = np.tile([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]], (50, 1))
    vectors = np.tile([[1.0, 0.0], [0.0, 1.0]], (50, 1))

    head = fit(SoftLabelledTexts(vectors, shares, ["own"] * 100))

    scores = np.array([1.0, 0.0]) @ head.weights + head.biases
    found = np.exp(scores) / np.exp(scores).sum()
    assert found == pytest.approx([0.5, 0.0, 0.5], abs=0.05)
