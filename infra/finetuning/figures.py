"""Measures the tuned encoder as it is served: in 8 bits, on sentences that were held out.

Needs no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from chalicelib.domain.common.arrays import Ints, Singles
from chalicelib.engines import metrics
from chalicelib.engines.calibration import fit_temperature, probabilities
from chalicelib.engines.interface import TextMetrics
from chalicelib.engines.text.encoding.interface import Encoder
from chalicelib.engines.text.head.evaluation import held_out_curve, label_thresholds
from chalicelib.engines.text.report.json_documents import metrics_data
from infra.finetuning.sentences import Sentences
from infra.model_files.prebuilt.sentiment_data import LABELS
from infra.model_files.prebuilt.text_cards import LEVEL
from infra.model_files.tuned_encoder import TunedLayers

REFERENCES = (
    "I love this",
    "This is terrible!",
    "The package arrived on Tuesday.",
    "not good at all",
    "I can't say that I was disappointed, it was lovely.",
    "\N{SMILING FACE WITH HEART-SHAPED EYES}",
    "ok",
    "",
    "Der Zug hatte leider wieder Verspätung.",
    "A slow and strangely moving film that forgets its plot, but not its people. " * 8,
)
"""What an installation asks the encoder: plain, negated, a sign, nothing, another language."""
_THREADS = 2


def measure(encoder: Encoder, layers: TunedLayers, sentences: Sentences) -> dict[str, Any]:
    """Return temperature, metrics and reference answers.

    Args:
        encoder: the tuned one, as it is served.
        layers: with the head.
        sentences: what was learnt from and what was held out.
    """
    trained, held = (
        (_logits(encoder, layers, [text for text, _ in part]), _truth(part))
        for part in (sentences.training, sentences.held)
    )
    temperature = fit_temperature(*held)
    shares = probabilities(held[0], temperature)
    told = _text_metrics(trained, held, temperature)
    matrix = np.array(told.confusion_matrix)
    hits = int(np.trace(matrix))
    interval = metrics.wilson_interval(hits, len(sentences.held))
    thresholds = label_thresholds(shares, held[1], LABELS)
    curve = asdict(held_out_curve(shares, held[1]))
    answers = probabilities(_logits(encoder, layers, REFERENCES), temperature)
    return {
        "temperature": temperature,
        "testAccuracy": {**asdict(interval), "level": LEVEL},
        "macroRecall": round(float(np.mean(told.recall)), 6),
        "calibrationError": round(metrics.calibration_error(shares, held[1]), 6),
        "brierScore": round(metrics.brier_score(shares, held[1]), 6),
        "metrics": {**metrics_data(told), "threshold": thresholds, "precisionRecallCurve": curve},
        "references": {
            "texts": list(REFERENCES),
            "probabilities": [metrics.rounded(row, 4) for row in answers],
        },
    }


def _logits(encoder: Encoder, layers: TunedLayers, texts: Sequence[str]) -> Singles:
    """Return the head's scores, float32, shape (texts, labels)."""
    scores: Singles = encoder.encode(texts, threads=_THREADS) @ layers.head + layers.biases
    return scores


def _truth(part: Sequence[tuple[str, int]]) -> Ints:
    """Return the places of the labels, int, shape (texts,)."""
    return np.array([label for _, label in part], np.int64)


def _text_metrics(
    trained: tuple[Singles, Ints], held: tuple[Singles, Ints], temperature: float
) -> TextMetrics:
    """Return the quality on both sides, each given as logits and truth."""
    sides = [(probabilities(logits, temperature), truth) for logits, truth in (trained, held)]
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
