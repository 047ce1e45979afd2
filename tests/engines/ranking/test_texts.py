"""Suggestions and uncertainties of text models."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.ranking.texts import judge
from chalicelib.engines.text.classifier import TrainedText
from tests.engines.text.test_classifier import _parameters, _vectors


def test_judgements_are_what_answers_say() -> None:
    """Each text has its top label and the remaining uncertainty, independent of other texts."""
    model = TrainedText(_parameters())
    blocks = _vectors((1.0, 2.0, 0.0), (0.0, -3.0, 1.0))
    answers = model.answer(blocks)
    found = list(judge(model, blocks))
    for judgement, shares in zip(found, answers.shares, strict=True):
        assert judgement.label == model.labels[int(shares.argmax())]
        assert judgement.probability == pytest.approx(shares.max(), abs=1e-6)
        assert judgement.uncertainty == pytest.approx(1 - shares.max(), abs=1e-6)
        assert judgement.vector.dtype == np.float16
    [alone] = judge(model, {name: block[1:] for name, block in blocks.items()})
    assert alone.vector.tobytes() == found[1].vector.tobytes()
    assert (alone.uncertainty, alone.likeness) == (found[1].uncertainty, found[1].likeness)


def test_a_text_outside_of_the_domain_has_no_suggestion() -> None:
    """An out-of-domain text has no suggestion, and does not rank first by its uncertainty."""
    model = TrainedText(_parameters(threshold=1e9))
    [found] = judge(model, _vectors((1.0, 2.0, 0.0)))
    assert (found.label, found.probability) == (None, 0.0)
    assert 0 < found.uncertainty < 1
