"""Builds the prebuilt model GlobalIntentModel: a text model trained on the project's sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from chalicelib.engines.interface import TextFitOptions, TextReport, TextTrainingSet
from chalicelib.engines.text import classifier
from chalicelib.engines.text.encoding.encoders import load_encoder
from chalicelib.engines.text.encoding.interface import Encoder
from chalicelib.engines.text.fit import fit
from chalicelib.engines.text.report.json_documents import metrics_document
from infra.model_files.description import Conversion
from infra.model_files.installed import write_json
from infra.model_files.intent_data import read_intents
from infra.model_files.prebuilt import cards

SEED = 0
# Fraction of in-scope texts that may be rejected as out of scope.
REJECTION_RATE = 0.05
_THREADS = 2
_LIMITS = (
    "English only; short requests of one sentence. The model knows only the intents listed among "
    "the metrics. It answers texts that are unlike all of them with an empty list; this also "
    "happens to about one in twenty texts that belong to an intent. A request that resembles an "
    "intent without belonging to it often gets that intent. All sentences were written for this "
    "project. The held-out sentences are by the same authors, and rejected ones count as wrong; "
    "other people word their requests differently. Train a model on your own texts if you need "
    "more than a first guess."
)


def build(job: Conversion) -> None:
    """Train the model and write `artifact.npz`, `card.json` and `metrics.json`."""
    sentences = read_intents()
    encoders = [load_encoder(job.directory, name) for name in job.model.needs]
    job.progress(f"{job.model.name}: training on {len(sentences):,} sentences")
    trained = train(sentences, encoders)
    content = classifier.dump(trained)
    if trained.report is None:
        raise ValueError("a fitted model has a report")
    (job.result / "artifact.npz").write_bytes(content)
    card = make_card(job.model.name, encoders, trained.report, content)
    write_json(job.result / "card.json", card)
    record = cards.metrics_record(card, metrics_document(trained.report))
    write_json(job.result / "metrics.json", record)


def train(
    sentences: Sequence[tuple[str, str]], encoders: Sequence[Encoder]
) -> classifier.TrainedText:
    """Train a model on texts with their labels."""
    texts = [text for text, _ in sentences]
    names = sorted({label for _, label in sentences})
    places = {name: place for place, name in enumerate(names)}
    training_set = TextTrainingSet(
        blocks={encoder.name: encoder.encode(texts, threads=_THREADS) for encoder in encoders},
        label_indexes=np.array([places[label] for _, label in sentences], np.int64),
        label_names=names,
        digests=[hashlib.sha256(text.encode("utf-8")).digest() for text in texts],
        encoder_digests={encoder.name: encoder.sha256 for encoder in encoders},
    )
    options = TextFitOptions(seed=SEED, out_of_domain_rate=REJECTION_RATE)
    return fit(training_set, options, lambda _: None)


def make_card(
    name: str, encoders: Sequence[Encoder], report: TextReport, content: bytes
) -> dict[str, Any]:
    """Return the card of the trained model."""
    interval = {**asdict(report.accuracy_interval), "level": cards.INTERVAL_LEVEL}
    return cards.Card(
        name=name,
        algorithm="intent",
        trained_on={
            "examples": report.training_examples + report.test_examples,
            "labels": len(report.metrics.labels),
            "feedback": 0,
            "source": "sentences written for this project: the global dataset of intents without "
            "its catch-all label, and everyday requests to assistants, shops, banks, offices and "
            "travel services",
            "licence": "Apache-2.0",
        },
        engine={
            "name": classifier.KIND,
            "version": classifier.VERSION,
            "encoders": [cards.describe_encoder(encoder) for encoder in encoders],
            "seed": SEED,
        },
        content=content,
        metrics={"testAccuracy": interval},
        figures={
            "calibrationError": report.calibration_error,
            "brierScore": report.brier_score,
            "outOfDomainRate": REJECTION_RATE,
        },
        limits=_LIMITS,
    ).record()
