"""Measures rejection and calibration for a bot's real users, before and after an adjustment.

The thresholds on model cards are measured on other data than the bot's. The bot is HINT3's
curekart: its builders wrote the training texts, and its users the test texts. The data is only for
evaluation, so no setting may be tuned on it.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.report import Bar, Report, ceiling
from bench.text_data import Embedded, Embedder, train
from bench.text_default import chosen_profile
from chalicelib.engines import metrics
from chalicelib.engines.text.adjustment import UNLABELLED, adjust
from chalicelib.engines.text.classifier import TrainedText
from chalicelib.engines.text.report.json_documents import threshold_records

RATE, TARGET = 0.05, 0.95
DRAWS, LABELLED, SENT = 10, 100, 200
FOREIGN = "NO_NODES_DETECTED"
SETS = (
    ("banking77_fewshot_train_10", "banking77_fewshot_test"),
    ("banking77_fewshot_train_5", "banking77_fewshot_test"),
    ("sib200_en_train", "sib200_en_test"),
)


def bench_users(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure models for the bot, and thresholds, with the encoders that the service chooses."""
    del profiles
    for part in ("train", "test"):
        embedder.own[f"hint3_{part}"] = _rows(embedder.data / "hint3" / f"curekart_{part}.csv")
    _bot(report, embedder)
    for names in SETS:
        _threshold(report, embedder, names)


def _rows(path: Path) -> tuple[list[str], list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [row["sentence"] for row in rows], [row["label"] for row in rows]


def _bot(report: Report, embedder: Embedder) -> None:
    """Measure a model that may reject 5 % of in-scope texts, and a model that rejects nothing."""
    encoders = chosen_profile(embedder, "hint3_train", "en_US").encoders
    test = embedder.read("hint3_test", encoders)
    is_foreign = np.array([label == FOREIGN for label in test.labels])
    model, _ = train(embedder, "hint3_train", encoders, RATE)
    is_rejected = model.rejects(test.blocks)
    name = f"HINT3 curekart, {'+'.join(encoders)}"
    lost = float(is_rejected[~is_foreign].mean())
    report.add(f"{name}: in-domain rejected of 5 % asked", lost, "", ceiling(2 * RATE))
    found = float(is_rejected[is_foreign].mean())
    report.add(f"{name}: foreign rejected", found, "", Bar(0.65))
    own = test.at(np.flatnonzero(~is_foreign).tolist())
    places = {label: place for place, label in enumerate(model.labels)}
    truth = np.array([places[label] for label in own.labels])
    error = metrics.calibration_error(model.predict(own.blocks), truth)
    report.add(f"{name}: calibration error", float(error), "", ceiling(0.08))
    _adjusted(report, model, test, name)


def _adjusted(report: Report, model: TrainedText, test: Embedded, name: str) -> None:
    """Adjust the model to random test texts; report mean results on the remaining test texts."""
    places = {label: place for place, label in enumerate(model.labels)}
    truth = np.array([places.get(label, len(places)) for label in test.labels])
    errors: list[float] = []
    unlabelled: list[tuple[float, float]] = []
    labelled: list[tuple[float, float]] = []
    for draw in range(DRAWS):
        order = np.random.default_rng(draw).permutation(len(truth))
        own = order[truth[order] < len(places)]
        # Only in-scope texts count, as in the figure before the adjustment.
        sent, rest = own[:LABELLED], own[LABELLED:]
        changed, _ = adjust(model, test.at(sent.tolist()).blocks, truth[sent], RATE)
        answers = changed.predict(test.at(rest.tolist()).blocks)
        errors.append(float(metrics.calibration_error(answers, truth[rest])))
        for count, rates in ((SENT, unlabelled), (LABELLED, labelled)):
            sent, rest = order[:count], order[count:]
            kinds = truth[sent] if rates is labelled else np.full(count, UNLABELLED)
            changed, _ = adjust(model, test.at(sent.tolist()).blocks, kinds, RATE)
            is_rejected = changed.rejects(test.at(rest.tolist()).blocks)
            is_own = truth[rest] < len(places)
            shares = is_rejected[is_own].mean(), is_rejected[~is_own].mean()
            rates.append((float(shares[0]), float(shares[1])))
    own_texts, sent_texts = f"{LABELLED} labelled texts", f"{SENT} unlabelled texts"
    mean = float(np.mean(errors))
    report.add(f"{name}, {own_texts}: calibration error", mean, "", ceiling(0.04))
    lost, found = (float(mean) for mean in np.mean(unlabelled, axis=0))
    report.add(f"{name}, {sent_texts}: in-domain rejected", lost, "", ceiling(0.08))
    report.add(f"{name}, {sent_texts}: in-domain rejected at least", lost, "", Bar(0.03))
    report.add(f"{name}, {sent_texts}: foreign rejected", found, "", Bar(0.65))
    lost, found = (float(mean) for mean in np.mean(labelled, axis=0))
    mixed = f"{name}, {own_texts}, also foreign ones"
    report.add(f"{mixed}: in-domain rejected", lost, "", ceiling(0.08))
    report.add(f"{mixed}: foreign rejected", found)


def _threshold(report: Report, embedder: Embedder, names: tuple[str, str]) -> None:
    """Measure the precision on test texts at the model card's threshold for a precision of .95."""
    encoders = chosen_profile(embedder, names[0], "en_US").encoders
    model, _ = train(embedder, names[0], encoders)
    if model.report is None:
        raise RuntimeError("A model that was just trained has a report.")
    records = threshold_records(model.report.out_of_fold)
    card = next(one for one in records if one["precision"] == TARGET)
    test = embedder.read(names[1], encoders)
    places = {label: place for place, label in enumerate(model.labels)}
    truth = np.array([places[label] for label in test.labels])
    answers = model.predict(test.blocks)
    is_covered = answers.max(axis=1) >= card["threshold"]
    hits = int((answers.argmax(axis=1) == truth)[is_covered].sum())
    reached = metrics.wilson_interval(hits, int(is_covered.sum()))
    name = f"{names[0]}, {'+'.join(encoders)}: threshold for {TARGET:.0%}"
    interval = (reached.low, reached.high)
    report.add(
        f"{name}, precision reached", reached.value, "", Bar(TARGET - 0.02), interval=interval
    )
    gap = float(is_covered.mean()) - card["coverage"]
    report.add(f"{name}, coverage above the card's", gap, "", ceiling(0.05))
    report.add(f"{name}, coverage above the card's at least", gap, "", Bar(-0.05))
