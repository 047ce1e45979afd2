"""Measures topics in nine languages (SIB-200), trained in the same language or in English."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench import peers
from bench.report import Bar, Report
from bench.text_data import LANGUAGES, Embedder, accuracy, right, train

CODES = ("en", "fr", "de", "it", "pt", "es", "zh-CN", "zh-TW", "ja")
MEAN_BARS = {"fast": None, "accurate": Bar(0.86)}
EACH_BARS = {"fast": None, "accurate": Bar(0.80)}


def bench_languages(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure every language with every profile, and the peer on the same texts."""
    for profile in profiles:
        _each(report, embedder, profile)
        _from_english(report, embedder, profile)
    scores = []
    for code in CODES:
        texts, labels = embedder.rows(f"sib200_{code}_train")
        asked, truth = embedder.rows(f"sib200_{code}_test")
        scores.append(right(peers.tfidf_svm(texts, labels, asked), truth))
    report.add("SIB-200 mean: peer TF-IDF + linear SVM", float(np.mean(scores)))


def _each(report: Report, embedder: Embedder, profile: str) -> None:
    """Train and test in the same language."""
    encoders = LANGUAGES[profile]
    scores = []
    for code in CODES:
        model, _ = train(embedder, f"sib200_{code}_train", encoders)
        found = accuracy(model, embedder.read(f"sib200_{code}_test", encoders))
        scores.append(found.value)
        report.add(
            f"SIB-200 {code}, {profile}: accuracy",
            found.value,
            "",
            EACH_BARS[profile],
            interval=found.interval,
        )
    report.add(f"SIB-200 mean, {profile}: accuracy", float(np.mean(scores)), "", MEAN_BARS[profile])


def _from_english(report: Report, embedder: Embedder, profile: str) -> None:
    """Train in English, and test in the eight other languages."""
    encoders = LANGUAGES[profile]
    model, _ = train(embedder, "sib200_en_train", encoders)
    scores = [
        accuracy(model, embedder.read(f"sib200_{code}_test", encoders)).value for code in CODES[1:]
    ]
    name = f"SIB-200 trained in English, mean of the others, {profile}"
    report.add(name, float(np.mean(scores)))
