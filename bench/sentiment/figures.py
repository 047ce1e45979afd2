"""Measures the sentiment model on held-out sentences, and on sources that it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench.sentiment.fitting import SoftLabelledTexts, fit
from bench.sentiment.sentences import ALIKE
from chalicelib.domain.common.arrays import Ints, Singles
from chalicelib.engines import metrics
from chalicelib.engines.calibration import fit_temperature, probabilities
from chalicelib.engines.interface import TextMetrics
from chalicelib.engines.text.encoding.interface import Encoder
from chalicelib.engines.text.head.evaluation import label_thresholds
from chalicelib.engines.text.report.json_documents import metrics_data
from infra.model_files.prebuilt.cards import INTERVAL_LEVEL
from infra.model_files.sentiment_head import LABELS, SentimentHead

# Texts whose probabilities each installation checks: plain, negated, emoji, empty, German.
REFERENCES = (
    "I love this",
    "This is terrible!",
    "The package arrived on Tuesday.",
    "not good at all",
    "I can't say that I was disappointed, it was lovely.",
    "\N{SMILING FACE WITH HEART-SHAPED EYES}",
    "ok",
    "good",
    "",
    "Der Zug hatte leider wieder Verspätung.",
    "A slow and strangely moving film that forgets its plot, but not its people. " * 8,
)


@dataclass(frozen=True)
class ScoredTexts:
    """Scores of texts, and their true labels."""

    logits: Singles
    """Float32, shape (texts, labels)."""
    truth: Ints
    """Indexes of the labels, int, shape (texts,)."""


@dataclass(frozen=True)
class LeftOut:
    """Metrics on each source of sentences, of a head that was trained without this source."""

    temperature: float
    """The best temperature for all sources together."""
    sources: dict[str, dict[str, float]]
    """Metrics of each source, computed at the temperature that is best for the other sources."""


def logits(head: SentimentHead, vectors: Singles) -> Singles:
    """Return the scores, float32, shape (texts, labels), of `vectors`, shape (texts, dims)."""
    return np.asarray(vectors @ head.weights + head.biases, np.float32)


def score_left_out(
    texts: SoftLabelledTexts, truth: Ints, rated: Sequence[str]
) -> dict[str, ScoredTexts]:
    """Return the scores of the texts of each source, from a head fitted without this source."""
    names = np.array(texts.sources)
    parts: dict[str, ScoredTexts] = {}
    for source in rated:
        chosen = names == source
        head = fit(texts.at(~chosen & (names != ALIKE.get(source, source))))
        vectors = texts.vectors[chosen].astype(np.float32)
        parts[source] = ScoredTexts(logits(head, vectors), truth[chosen])
    return parts


def leave_sources_out(texts: SoftLabelledTexts, truth: Ints, rated: Sequence[str]) -> LeftOut:
    """Measure each source with a head that was fitted without this source or similar ones.

    Args:
        texts: the training texts.
        truth: label indexes of the texts, int, shape (texts,).
        rated: the sources to measure, one after the other.
    """
    parts = score_left_out(texts, truth, rated)
    found = {}
    for source, part in parts.items():
        others = _joined([other for name, other in parts.items() if name != source])
        temperature = fit_temperature(others.logits, others.truth)
        found[source] = _scores(probabilities(part.logits, temperature), part.truth)
    every = _joined(list(parts.values()))
    return LeftOut(fit_temperature(every.logits, every.truth), found)


def _joined(parts: Sequence[ScoredTexts]) -> ScoredTexts:
    return ScoredTexts(
        np.concatenate([part.logits for part in parts]),
        np.concatenate([part.truth for part in parts]),
    )


def _scores(shares: Singles, truth: Ints) -> dict[str, float]:
    """Return accuracy, macro recall and calibration error of `shares`, shape (texts, labels)."""
    answers = shares.argmax(axis=1)
    matrix = metrics.confusion_matrix(truth, answers, len(LABELS))
    recall = metrics.label_scores(matrix, len(LABELS)).recall
    return {
        "accuracy": round(float((answers == truth).mean()), 6),
        "macroRecall": round(float(np.mean(recall)), 6),
        "calibrationError": round(metrics.calibration_error(shares, truth), 6),
    }


def measure(trained: ScoredTexts, held: ScoredTexts, temperature: float) -> dict[str, Any]:
    """Return the metrics of a head on training texts and on held-out texts, at a temperature."""
    shares = probabilities(held.logits, temperature)
    found = _text_metrics(trained, held, temperature)
    hits = int(np.trace(np.array(found.confusion_matrix)))
    interval = metrics.wilson_interval(hits, len(held.truth))
    thresholds = label_thresholds(shares, held.truth, LABELS)
    curve = asdict(metrics.precision_recall_curve(shares, held.truth))
    scores = _scores(shares, held.truth)
    return {
        "testAccuracy": {**asdict(interval), "level": INTERVAL_LEVEL},
        "macroRecall": scores["macroRecall"],
        "calibrationError": scores["calibrationError"],
        "brierScore": round(metrics.brier_score(shares, held.truth), 6),
        "metrics": {**metrics_data(found), "threshold": thresholds, "precisionRecallCurve": curve},
    }


def references(encoder: Encoder, head: SentimentHead, temperature: float) -> dict[str, Any]:
    """Return the probabilities for fixed texts. Every installation must reproduce them."""
    answers = probabilities(logits(head, encoder.encode(REFERENCES)), temperature)
    return {
        "texts": list(REFERENCES),
        "probabilities": [metrics.rounded(row, 4) for row in answers],
    }


def _text_metrics(trained: ScoredTexts, held: ScoredTexts, temperature: float) -> TextMetrics:
    sides = [(probabilities(one.logits, temperature), one.truth) for one in (trained, held)]
    accuracies = [float((shares.argmax(axis=1) == truth).mean()) for shares, truth in sides]
    losses = [metrics.log_loss(shares, truth) for shares, truth in sides]
    shares, truth = sides[1]
    matrix = metrics.confusion_matrix(truth, shares.argmax(axis=1), len(LABELS))
    scores = metrics.label_scores(matrix, len(LABELS))
    return TextMetrics(
        labels=list(LABELS),
        f1=metrics.rounded(scores.f1),
        precision=metrics.rounded(scores.precision),
        recall=metrics.rounded(scores.recall),
        macro_f1=round(metrics.macro_f1(matrix, len(LABELS)), 6),
        test_accuracy=round(accuracies[1], 6),
        training_accuracy=round(accuracies[0], 6),
        test_loss=round(losses[1], 6),
        training_loss=round(losses[0], 6),
        confusion_matrix=matrix.tolist(),
    )
