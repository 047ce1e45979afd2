"""The signals that separate in-domain from out-of-domain texts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from chalicelib.engines.text.head import anchors, domain, domain_score
from chalicelib.engines.text.head.domain import Domain
from chalicelib.engines.text.head.domain_score import DomainScale

SCALE = DomainScale((0.0, 0.5, 1.0), (1.0, 0.25, 2.0), (0.0, 0.0, 1.0, 0.0))


def test_evidence_by_hand() -> None:
    """Nearness to anchors and height above the line are as computed by hand."""
    stored = np.array([[0, 127], [127, 0]], np.float32)
    here = Domain(np.array([1.0, 0.0]), stored, np.array([0.0, 3.0]), -1.0)

    found = here.evidence(np.array([[1.0, 2.0], [-3.0, 0.0]]))

    np.testing.assert_allclose(found, [[127 / 512, 2.0], [0.0, -1.0]])


def test_signals_are_scaled_and_the_line_speaks_only_against() -> None:
    """Signals are standardized; the line signal is capped on the good side."""
    evidence = np.array([[0.25, 9.0], [0.25, -9.0]])

    signals = SCALE.scaled(np.array([2.0, 2.0]), evidence, np.array([0, 1]))

    np.testing.assert_allclose(signals, [[2.0, -1.0, 4.0], [2.0, -1.0, -5.0]])
    np.testing.assert_allclose(domain_score.scores(signals), [2 - 1 - 2, 2 - 1 - 10])


def test_nearness_counts_relative_to_the_usual_for_the_answer() -> None:
    """Nearness is standardized per label, so scattered and dense labels are comparable."""
    answers = np.repeat([0, 1], 200)
    nearness = np.repeat([0.4, 0.9], 200)
    evidence = np.column_stack([nearness, np.zeros(400)])

    scale = domain_score.fit_scale(np.zeros(400), evidence, answers, 3)
    signals = scale.scaled(np.zeros(3), np.array([[0.4, 0], [0.9, 0], [0.65, 0]]), np.arange(3))

    np.testing.assert_allclose(signals[0, 1], -signals[1, 1], atol=1e-4)
    assert scale.usual is not None
    # Fifty texts of every label are taken for as near as all texts, which lie at .65.
    np.testing.assert_allclose(scale.usual, [-0.25 * 0.8, 0.25 * 0.8, 0], atol=1e-6)


def test_doubt_between_labels_lowers_the_support() -> None:
    """A text between two labels has less support than one that is like a single label."""
    logits = np.array([[40.0, 40.0], [40.0, -40.0]], np.float32)
    scale = domain_score.fit_scale(np.zeros(2), np.zeros((2, 2)), np.array([0, 1]), 2)

    found = domain_score.answer_support(logits, logits, 2.0)

    np.testing.assert_allclose(found, [20 - scale.doubt * np.log(2), 20], atol=1e-6)
    assert scale.doubt > 0
    # A later temperature changes the logits that a model divides, but not the support.
    hotter = dataclasses.replace(scale, heat=4.0)
    np.testing.assert_allclose(
        hotter.support(logits / np.float32(8), logits / np.float32(8)), found
    )


def test_probabilities_are_evened_out_by_uncertainty() -> None:
    """Uncertain texts get flatter probabilities with the same order of labels."""
    shares = np.array([[0.9, 0.1]], np.float32)

    cautious = SCALE.cautious(shares, np.array([[5.0, 5.0, 0.0]]))

    np.testing.assert_allclose(cautious, [[0.7, 0.3]], rtol=1e-6)


def test_anchors_are_shared_out_among_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anchors are divided so that small labels keep all of theirs."""
    monkeypatch.setattr(anchors, "MOST_ANCHORS", 3)

    kept = anchors.anchor_rows(np.array([0, 0, 0, 1, 0, 1]))

    assert kept.tolist() == [0, 1, 3]


def test_trust_counts_texts_as_they_are() -> None:
    """Uninformative signals give the fraction of training texts as trust: 30 of 40."""
    nothing = np.zeros((40, 3))

    trust = domain_score.fit_trust(nothing[:30], nothing[30:])

    assert trust[-1] == pytest.approx(np.log(3), abs=0.02)
    np.testing.assert_allclose(trust[:-1], 0.0, atol=1e-6)


def test_trust_never_falls_with_a_signal() -> None:
    """A signal that is higher for background texts gets no weight, rather than a negative one."""
    generator = np.random.default_rng(0)
    signals = generator.standard_normal((200, 3)) + np.repeat([[1, 1, -1], [0, 0, 0]], 100, axis=0)

    trust = domain_score.fit_trust(signals[:100], signals[100:])

    assert min(trust[:2]) > 0.5
    assert trust[2] == 0.0


def test_a_line_divides_training_texts_from_background_texts() -> None:
    """Texts near the training texts are on the good side of the line, others are not."""
    generator = np.random.default_rng(0)
    inside = generator.standard_normal((60, 96)) + np.eye(96)[0] * 2.2
    outside = generator.standard_normal((90, 96))

    found = domain.fit_domain(inside, outside, anchors.mean_vector(outside))

    assert (found.evidence(inside)[:, 1] > 0).mean() > 0.8
    assert (found.evidence(outside)[:, 1] < 0).mean() > 0.8
    assert found.evidence(inside)[:, 0].min() == pytest.approx(1.0, abs=0.15)
