"""Measures models that are trained from label names, few examples and unlabelled texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from bench.report import Bar, Report, ceiling
from bench.text_data import (
    LANGUAGES,
    PROFILES,
    Embedded,
    Embedder,
    accuracy,
    answers,
    calibration_error,
)
from bench.text_languages import CODES
from chalicelib.domain.common.arrays import Singles
from chalicelib.engines import metrics
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.background import background_texts
from chalicelib.engines.text.classifier import TrainedText
from chalicelib.engines.text.encoding.label_phrases import label_phrase
from chalicelib.engines.text.names.fit import fit_names
from chalicelib.engines.text.names.space import BACKGROUND_STEP, name_vectors, unit_rows

UNLABELLED = 1_540
FEW = (1, 2, 3, 5)
DRAWS = 5
"""Number of random draws of few examples. Draws may differ by two percentage points."""
TEXTS_OF_LABEL = 20
"""Training texts of each label from which few examples are drawn, on average."""
MOST_TESTS = 2_000
ERROR = ceiling(0.05)
PERFECT_DRAWS = 100


def bench_names(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure models trained from label names, with the encoders of the fast profile."""
    del profiles
    encoders = PROFILES["fast"]
    tests = {"BANKING77": "banking77_test", "CLINC150": "clinc150_full_test"}
    bars = {"BANKING77": 0.67, "CLINC150": 0.68}
    for name, file in tests.items():
        test = _sample(embedder, file, MOST_TESTS, encoders)
        found = _judged(report, f"{name}, names alone", _train(embedder, test), test, bars[name])
        labels = len(set(test.labels))
        train = _sample(embedder, file.replace("test", "train"), TEXTS_OF_LABEL * labels, encoders)
        if name == "BANKING77":
            _with_texts(report, embedder, test, train.at(range(UNLABELLED)), found)
            given = embedder.read("banking77_fewshot_train_5", encoders)
            _with_examples(report, embedder, f"{name}, given draw", test, [given])
        orders = [
            np.random.default_rng(draw).permutation(len(train.labels)) for draw in range(DRAWS)
        ]
        draws = [train.at(order.tolist()) for order in orders]
        _with_examples(report, embedder, f"{name}, {DRAWS} draws", test, draws)
    _languages(report, embedder)


def _languages(report: Report, embedder: Embedder) -> None:
    """Predict texts of nine languages from English label names alone."""
    scores, errors, perfect, squares, shares, truth = [], [], [], [], [], []
    for code in CODES:
        test = embedder.read(f"sib200_{code}_test", LANGUAGES["accurate"])
        model = _train(embedder, test)
        scores.append(accuracy(model, test).value)
        errors.append(calibration_error(model, test).value)
        found, right = answers(model, test)
        perfect.append(perfect_error(found))
        # Without a bar, because the error of perfect probabilities is above it.
        peer = ("perfect probabilities", round(perfect[-1], 4))
        name = f"SIB-200 {code}, names alone: calibration error"
        report.add(name, errors[-1], "", None, peer)
        squares.append(unbiased_square(found, right))
        shares.append(found)
        truth.append(right)
    report.add("SIB-200 mean, names alone: accuracy", float(np.mean(scores)), "", Bar(0.70))
    # With 204 texts of a language, even perfect probabilities have a higher error than the bar.
    peer = ("perfect probabilities", round(float(np.mean(perfect)), 4))
    error = float(np.mean(errors))
    report.add("SIB-200 mean, names alone: calibration error", error, "", ERROR, peer)
    # Without a bar: this is the part of the error that the small bins do not explain.
    rest = max(0.0, float(np.mean(squares))) ** 0.5
    report.add("SIB-200 mean, names alone: calibration error without bias", rest)
    joined = np.concatenate(shares)
    peer = ("perfect probabilities", round(perfect_error(joined), 4))
    error = float(metrics.calibration_error(joined, np.concatenate(truth)))
    report.add("SIB-200 together, names alone: calibration error", error, "", ERROR, peer)


def perfect_error(shares: np.ndarray) -> float:
    """Return the mean calibration error if true labels are drawn from the probabilities."""
    dice, sums = np.random.default_rng(0), shares.cumsum(axis=1)
    errors = []
    for _ in range(PERFECT_DRAWS):
        drawn = (dice.random((len(shares), 1)) > sums).sum(axis=1)
        truth = np.minimum(drawn, shares.shape[1] - 1)
        errors.append(metrics.calibration_error(shares, truth))
    return float(np.mean(errors))


def unbiased_square(shares: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean squared calibration error of the bins, minus the part from random noise.

    The expected value is 0 if the probabilities are perfect, so a single value may be negative.
    """
    top, is_right = shares.max(axis=1), shares.argmax(axis=1) == truth
    squares = []
    for rows in np.array_split(np.argsort(top, kind="stable"), metrics.CALIBRATION_BINS):
        gap = top[rows].mean() - is_right[rows].mean()
        # Subtracts the variance of the mean.
        squares.append(gap**2 - (is_right[rows] - top[rows]).var(ddof=1) / len(rows))
    return float(np.mean(squares))


def _with_texts(
    report: Report, embedder: Embedder, test: Embedded, unlabelled: Embedded, alone: float
) -> None:
    """Measure a model that is trained from label names and unlabelled texts."""
    model = _train(embedder, test, unlabelled=unlabelled)
    name = f"BANKING77, names and {UNLABELLED} unlabelled texts"
    _judged(report, name, model, test, alone + 0.05)


def _with_examples(
    report: Report, embedder: Embedder, name: str, test: Embedded, draws: Sequence[Embedded]
) -> None:
    """Measure models that are trained from label names and the first texts of each label.

    The figures are means over several draws. The peer averages the vectors of each label's name and
    examples. It predicts the label whose mean has the highest cosine similarity with the text.
    """
    for count in FEW:
        scores, errors, peers = [], [], []
        for draw in draws:
            few = _few(draw, count)
            model = _train(embedder, test, examples=few)
            scores.append(accuracy(model, test).value)
            errors.append(calibration_error(model, test).value)
            peers.append(_accuracy_of_means(embedder, few, test))
        row, mean = f"{name}, {count} examples a label", round(float(np.mean(peers)), 4)
        peer = ("cosine with the mean", mean)
        report.add(f"{row}: accuracy", float(np.mean(scores)), "", Bar(mean), peer)
        report.add(f"{row}: calibration error", float(np.mean(errors)), "", ERROR)


def _accuracy_of_means(embedder: Embedder, few: Embedded, test: Embedded) -> float:
    names = sorted(set(test.labels))
    [encoder] = test.blocks
    phrases = [label_phrase(name) or name for name in names]
    sums = unit_rows(_embed(embedder, encoder, phrases))
    np.add.at(sums, [names.index(label) for label in few.labels], unit_rows(few.blocks[encoder]))
    found = (test.blocks[encoder] @ unit_rows(sums).T).argmax(axis=1)
    return float(np.mean(found == np.array([names.index(label) for label in test.labels])))


def _judged(report: Report, name: str, model: TrainedText, test: Embedded, bar: float) -> float:
    found = accuracy(model, test)
    report.add(f"{name}: accuracy", found.value, "", Bar(bar), interval=found.interval)
    report.add(f"{name}: calibration error", calibration_error(model, test).value, "", ERROR)
    return found.value


def _train(
    embedder: Embedder,
    test: Embedded,
    examples: Embedded | None = None,
    unlabelled: Embedded | None = None,
) -> TrainedText:
    """Train a model with the labels of the test set, but not on its texts."""
    names = sorted(set(test.labels))
    given = test.at([]) if examples is None else examples
    phrases = [label_phrase(name) or name for name in names]
    encoders = list(test.blocks)
    others = background_texts()[::BACKGROUND_STEP]
    training_set = replace(
        embedder.examples(given, "given"),
        label_names=names,
        label_indexes=np.array([names.index(label) for label in given.labels], np.int64),
        label_blocks={
            encoder: name_vectors(phrases, partial(_embed, embedder, encoder))
            for encoder in encoders
        },
        background=embedder.embed(others, "background", encoders),
    )
    further = {} if unlabelled is None else unlabelled.blocks
    return fit_names(training_set, further, TextFitOptions(), lambda epoch: None)


def _embed(embedder: Embedder, encoder: str, texts: Sequence[str]) -> Singles:
    return embedder.embed(list(texts), "names", [encoder])[encoder]


def _few(train: Embedded, count: int) -> Embedded:
    """Return the first `count` texts of each label."""
    seen: Counter[str] = Counter()
    places = []
    for place, label in enumerate(train.labels):
        seen[label] += 1
        if seen[label] <= count:
            places.append(place)
    return train.at(places)


def _sample(embedder: Embedder, name: str, most: int, encoders: Sequence[str]) -> Embedded:
    """Return texts drawn with a fixed seed, without out-of-scope texts."""
    texts, labels = embedder.rows(name)
    known = [place for place, label in enumerate(labels) if label != "oos"]
    chosen = np.random.default_rng(0).permutation(known)[:most]
    texts, labels = [texts[place] for place in chosen], [labels[place] for place in chosen]
    return Embedded(texts, labels, embedder.embed(texts, name, encoders))
