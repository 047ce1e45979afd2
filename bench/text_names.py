"""Models from label names, few examples and unlabelled texts, without a training as usual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench.report import Bar, Report, ceiling
from bench.text_data import LANGUAGES, PROFILES, Embedded, Embedder, accuracy, calibration_error
from bench.text_languages import CODES
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.classifier import TrainedText
from chalicelib.engines.text.names.fit import fit_names

UNLABELLED = 1_540
FEW = (1, 2, 3, 5)
MOST_TESTS = 2_000
ERROR = ceiling(0.05)


def bench_names(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure the profile that such trainings use."""
    del profiles
    encoders = PROFILES["fast"]
    tests = {"BANKING77": "banking77_test", "CLINC150": "clinc150_full_test"}
    bars = {"BANKING77": 0.67, "CLINC150": 0.68}
    for name, file in tests.items():
        test = _sample(embedder, file, MOST_TESTS, encoders)
        found = _judged(report, f"{name}, names alone", _train(embedder, test), test, bars[name])
        if name == "BANKING77":
            _with_texts(report, embedder, test, found)
    scores, errors = [], []
    for code in CODES:
        test = embedder.read(f"sib200_{code}_test", LANGUAGES["fast"])
        model = _train(embedder, test)
        scores.append(accuracy(model, test).value)
        errors.append(calibration_error(model, test).value)
    report.add("SIB-200 mean, names alone: accuracy", float(np.mean(scores)), "", Bar(0.70))
    report.add("SIB-200 mean, names alone: calibration error", float(np.mean(errors)), "", ERROR)


def _with_texts(report: Report, embedder: Embedder, test: Embedded, alone: float) -> None:
    """Add unlabelled texts, then examples, to the names."""
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
    """Train a model with the labels of the test set; the texts of the test set are not used."""
    names = sorted(set(test.labels))
    given = test.at([]) if examples is None else examples
    named = embedder.examples(test, "names")
    order = np.array([list(named.label_names).index(name) for name in names])
    blocks = named.label_blocks or {}
    training_set = replace(
        embedder.examples(given, "given"),
        label_names=names,
        label_indexes=np.array([names.index(label) for label in given.labels], np.int64),
        label_blocks={encoder: block[order] for encoder, block in blocks.items()},
    )
    others = {} if unlabelled is None else unlabelled.blocks
    return fit_names(training_set, others, TextFitOptions(), lambda epoch: None)


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
    """Return texts drawn with a fixed seed, without those that belong to no label."""
    texts, labels = embedder.rows(name)
    known = [place for place, label in enumerate(labels) if label != "oos"]
    chosen = np.random.default_rng(0).permutation(known)[:most]
    texts, labels = [texts[place] for place in chosen], [labels[place] for place in chosen]
    return Embedded(texts, labels, embedder.embed(texts, name, encoders))
