"""Builds the prebuilt model GlobalIntentModel: the text engine, on the project's own sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from chalicelib.engines.interface import TextFitOptions, TextReport, TextTrainingSet
from chalicelib.engines.text import classifier
from chalicelib.engines.text.encoding.encoders import load_encoder
from chalicelib.engines.text.encoding.interface import Encoder
from chalicelib.engines.text.fit import fit
from chalicelib.engines.text.report.json_documents import metrics_document
from infra.model_files.installed import write_json
from infra.model_files.intent_data import read_intents
from infra.model_files.manifest import InstallableModel, Progress
from infra.model_files.prebuilt import text_cards

SEED = 0
REJECTION_RATE = 0.05
"""Share of sentences like the trained ones that may be answered as out of domain."""
_THREADS = 2
_LIMITS = (
    "English only; short requests of one sentence. It knows the intents listed among the metrics "
    "and no other: what is unlike all of them is answered with an empty list, which also happens "
    "to about one in twenty texts that belong to an intent, and a request close to an intent but "
    "not of it is often answered with that intent. All sentences were written for this project; "
    "the held-out accuracy is of sentences by the same hands and counts rejections as wrong. "
    "Strangers word things otherwise. Train a model of your own where more than a first guess is "
    "needed."
)


def build(model: InstallableModel, directory: Path, result: Path, progress: Progress) -> None:
    """Write `artifact.npz`, `card.json` and `metrics.json`.

    Args:
        model: the manifest's entry.
        directory: the model directory, with the encoders installed.
        result: existing folder to write to.
        progress: takes lines for the user.
    """
    sentences = read_intents()
    encoders = [load_encoder(directory, name) for name in model.needs]
    progress(f"{model.name}: learning from {len(sentences):,} sentences")
    trained = train(sentences, encoders)
    content = classifier.dump(trained)
    if trained.report is None:
        raise ValueError("a fitted model has a report")
    (result / "artifact.npz").write_bytes(content)
    card = make_card(model, encoders, trained.report, content)
    write_json(result / "card.json", card)
    record = text_cards.metrics_record(card, metrics_document(trained.report))
    write_json(result / "metrics.json", record)


def train(
    sentences: Sequence[tuple[str, str]], encoders: Sequence[Encoder]
) -> classifier.TrainedText:
    """Learn the intents.

    Args:
        sentences: texts with their labels.
        encoders: loaded ones.
    """
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
    model: InstallableModel, encoders: Sequence[Encoder], report: TextReport, content: bytes
) -> dict[str, Any]:
    """Return the model card, in the form of the API's card record."""
    return {
        "modelId": model.name,
        "name": model.name,
        "algorithm": "intent",
        "language": text_cards.LANGUAGE,
        "createdAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "trainedOn": {
            "examples": report.training_examples + report.test_examples,
            "labels": len(report.metrics.labels),
            "feedback": 0,
            "source": "sentences written for this project: the global data set of intents, without "
            "its label for everything else, and everyday requests to assistants, shops, banks, "
            "offices and on journeys",
            "licence": "Apache-2.0",
        },
        "engine": {
            "name": classifier.KIND,
            "version": classifier.VERSION,
            "encoders": [text_cards.describe_encoder(encoder) for encoder in encoders],
            "seed": SEED,
        },
        "artifactSha256": hashlib.sha256(content).hexdigest(),
        "metrics": {
            "testAccuracy": {**asdict(report.accuracy_interval), "level": text_cards.LEVEL}
        },
        "calibrationError": report.calibration_error,
        "brierScore": report.brier_score,
        "outOfDomainRate": REJECTION_RATE,
        "limits": _LIMITS,
        "object": "card",
    }
