"""Measures English intents: BANKING77 and CLINC150, with all and with few examples."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from bench import peers
from bench.report import Bar, Report
from bench.text_data import (
    PROFILES,
    Embedded,
    Embedder,
    accuracy,
    answers,
    area_under_curve,
    calibration_error,
    right,
    share_of,
    train,
    train_on,
)
from chalicelib.engines import metrics
from chalicelib.engines.text.classifier import TrainedText, dump

REJECTION_RATE = 0.05
DRAWS, LABELS, TEXTS = 12, 5, 10
FULL_BARS = {"fast": 0.938, "accurate": 0.940}
SHOT_BARS = {"fast": {10: 0.880, 5: 0.845}, "accurate": {10: 0.890, 5: 0.860}}
PUBLISHED_SHOTS = {10: ("USE+ConveRT, published", 0.852), 5: ("USE+ConveRT, published", 0.778)}
CLINC_BARS = {"fast": Bar(0.962), "accurate": Bar(0.968)}


def bench_intents(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure both sets of intents with every profile, and the peers on the same sets."""
    for profile in profiles:
        _banking(report, embedder, profile)
        for shots in (10, 5):
            _few_shot(report, embedder, profile, shots)
        _few_labels(report, embedder, profile)
        _clinc(report, embedder, profile)
    train_and_test = ("banking77_train", "banking77_test")
    _peers(report, embedder, "BANKING77 full", train_and_test)
    for shots in (10, 5):
        names = (f"banking77_fewshot_train_{shots}", "banking77_fewshot_test")
        _peers(report, embedder, f"BANKING77 {shots}-shot", names)
    _peers(report, embedder, "CLINC150 full", ("clinc150_full_train", "clinc150_full_test"))


def _banking(report: Report, embedder: Embedder, profile: str) -> None:
    """Measure BANKING77 with all examples."""
    trained = train(embedder, "banking77_train", PROFILES[profile])
    test = embedder.read("banking77_test", PROFILES[profile])
    published = ("USE+ConveRT, published", 0.934)
    name = f"BANKING77 full, {profile}"
    _judge(report, name, trained, test, (Bar(FULL_BARS[profile]), published))
    report.add(f"{name}: artifact", len(dump(trained[0])) / 1e6, "MB")


def _judge(
    report: Report,
    name: str,
    trained: tuple[TrainedText, float],
    test: Embedded,
    against: tuple[Bar | None, tuple[str, float]],
) -> None:
    """Report accuracy, a published accuracy, calibration error and seconds of the fit."""
    model, seconds = trained
    found, error = accuracy(model, test), calibration_error(model, test)
    report.add(f"{name}: accuracy", found.value, "", *against, found.interval)
    report.add(
        f"{name}: calibration error",
        error.value,
        "",
        Bar(0.02, is_ceiling=True),
        interval=error.interval,
    )
    report.add(f"{name}: fit and cross-validation", seconds, "s")


def _few_shot(report: Report, embedder: Embedder, profile: str, shots: int) -> None:
    """Measure BANKING77 with a few examples of each label."""
    encoders = PROFILES[profile]
    model, _ = train(embedder, f"banking77_fewshot_train_{shots}", encoders)
    test = embedder.read("banking77_fewshot_test", encoders)
    found, error = accuracy(model, test), calibration_error(model, test)
    report.add(
        f"BANKING77 {shots}-shot, {profile}: accuracy",
        found.value,
        "",
        Bar(SHOT_BARS[profile][shots]),
        PUBLISHED_SHOTS[shots],
        found.interval,
    )
    name = f"BANKING77 {shots}-shot, {profile}: calibration error"
    report.add(name, error.value, "", Bar(0.02, is_ceiling=True), interval=error.interval)


def _few_labels(report: Report, embedder: Embedder, profile: str) -> None:
    """Train on ten texts for each of five labels of BANKING77; pool the answers of all draws."""
    encoders = PROFILES[profile]
    data, test = (embedder.read(f"banking77_{part}", encoders) for part in ("train", "test"))
    shares, truth = [], []
    for seed in range(DRAWS):
        dice = random.Random(seed)
        names = sorted(dice.sample(sorted(set(data.labels)), LABELS))
        rows: list[int] = []
        for name in names:
            places = [place for place, label in enumerate(data.labels) if label == name]
            rows += dice.sample(places, TEXTS)
        model, _ = train_on(embedder, f"5 labels, draw {seed}", data.at(rows))
        asked = [place for place, label in enumerate(test.labels) if label in names]
        found = answers(model, test.at(asked))
        shares.append(found[0])
        truth.append(found[1])
    error = metrics.calibration_error(np.concatenate(shares), np.concatenate(truth))
    name = f"5 labels x 10 texts of BANKING77, {profile}: calibration error"
    report.add(name, float(error), "", Bar(0.03, is_ceiling=True))


def _clinc(report: Report, embedder: Embedder, profile: str) -> None:
    """Measure CLINC150 with all examples, and its out-of-scope queries."""
    trained = train(embedder, "clinc150_full_train", PROFILES[profile], REJECTION_RATE)
    inside = embedder.read("clinc150_full_test", PROFILES[profile])
    published = ("USE+ConveRT, published", 0.972)
    _judge(report, f"CLINC150 full, {profile}", trained, inside, (CLINC_BARS[profile], published))
    judge_out_of_scope(report, embedder, profile, trained[0])


def judge_out_of_scope(
    report: Report, embedder: Embedder, profile: str, model: TrainedText
) -> None:
    """Measure which texts are rejected by a threshold that was chosen with in-scope texts only."""
    encoders = [use.name for use in model.encoders]
    inside = embedder.read("clinc150_full_test", encoders).blocks
    outside = embedder.read("clinc150_full_oos_test", encoders).blocks
    recall = share_of(model.rejects(outside).astype(float))
    lost = share_of(model.rejects(inside).astype(float))
    name = f"CLINC150 out of scope, {profile}"
    published = ("BERT with out-of-scope training, published", 0.66)
    report.add(f"{name}: recall", recall.value, "", Bar(0.93), published, recall.interval)
    report.add(
        f"{name}: in-domain rejected",
        lost.value,
        "",
        Bar(0.055, is_ceiling=True),
        interval=lost.interval,
    )
    area = area_under_curve(model.domain_scores(inside), model.domain_scores(outside))
    report.add(f"{name}: AUROC", area, "", Bar(0.98))


def _peers(report: Report, embedder: Embedder, what: str, names: tuple[str, str]) -> None:
    texts, labels = embedder.rows(names[0])
    asked, truth = embedder.rows(names[1])
    svm = peers.tfidf_svm(texts, labels, asked)
    report.add(f"{what}: peer TF-IDF + linear SVM", right(svm, truth))
    answered = peers.fasttext(texts, labels, asked)
    if answered is not None:
        report.add(f"{what}: peer fastText", right(answered, truth))
