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
from chalicelib.engines.text.names.space import BACKGROUND_STEP, name_vectors

UNLABELLED = 1_540
FEW = (1, 2, 3, 5)
MOST_TESTS = 2_000
ERROR = ceiling(0.05)


def bench_names(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure models from label names, with the profile that they use."""
    del profiles
    encoders = PROFILES["fast"]
    tests = {"BANKING77": "banking77_test", "CLINC150": "clinc150_full_test"}
    bars = {"BANKING77": 0.67, "CLINC150": 0.68}
    for name, file in tests.items():
        test = _sample(embedder, file, MOST_TESTS, encoders)
        found = _judged(report, f"{name}, names alone", _train(embedder, test), test, bars[name])
        if name == "BANKING77":
            _with_texts(report, embedder, test, found)
    _languages(report, embedder)


def _languages(report: Report, embedder: Embedder) -> None:
    """Predict texts of nine languages from English label names alone."""
    scores, errors, shares, truth = [], [], [], []
    for code in CODES:
        test = embedder.read(f"sib200_{code}_test", LANGUAGES["accurate"])
        model = _train(embedder, test)
        scores.append(accuracy(model, test).value)
        errors.append(calibration_error(model, test).value)
        found, right = answers(model, test)
        shares.append(found)
        truth.append(right)
    report.add("SIB-200 mean, names alone: accuracy", float(np.mean(scores)), "", Bar(0.70))
    report.add("SIB-200 mean, names alone: calibration error", float(np.mean(errors)), "", ERROR)
    # The estimate from 204 texts of one language is noisy, so that of all languages is shown too.
    error = metrics.calibration_error(np.concatenate(shares), np.concatenate(truth))
    report.add("SIB-200 together, names alone: calibration error", float(error))


def _with_texts(report: Report, embedder: Embedder, test: Embedded, alone: float) -> None:
    """Measure label names with unlabelled texts, then also with examples."""
    train = _sample(embedder, "banking77_train", UNLABELLED, list(test.blocks))
    model = _train(embedder, test, unlabelled=train)
    name = f"BANKING77, names and {UNLABELLED} unlabelled texts"
    _judged(report, name, model, test, alone + 0.05)
    for count in FEW:
        model = _train(embedder, test, examples=_few(train, count))
        _judged(report, f"BANKING77, names and {count} examples a label", model, test, alone)


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
    """Return the first texts of each label."""
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
