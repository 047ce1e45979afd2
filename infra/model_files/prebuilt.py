"""Builds the prebuilt model CommunitySentiment: frozen encoders and a head fitted on ratings.

Called by infra/model_files/install.py, last, because it needs both encoders.
See: infra/model_files/sentiment_data.py, chalicelib/engines/text/training.py
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chalicelib.engines.interface import TextFitOptions, TextReport, TextTrainingSet
from chalicelib.engines.text import classifier
from chalicelib.engines.text.encoder import Encoder
from chalicelib.engines.text.encoders import load_encoder
from chalicelib.engines.text.training import fit
from infra.model_files.manifest import ModelFiles
from infra.model_files.sentiment_data import LABELS, read_sentences

Progress = Callable[[str], None]
Float32Array = npt.NDArray[np.float32]

_SEED = 0
_THREADS = 2
_REPORT_TEXTS = 4_000
_LANGUAGE = "en_US"
_LEVEL = 0.95
_LIMITS = (
    "English only. A classifier on frozen encoders, not a fine-tuned network: irony, negation over "
    "several words and mixed opinions are often misjudged, and neutral is the label it finds "
    "least surely. Trained on tweets, movie and product reviews and newspaper editorials of "
    "about 2010 to 2014; other kinds of text may be misjudged. Held-out accuracy is measured on "
    "sentences of these same sources."
)


def build(
    model: ModelFiles, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    """Write `artifact.npz`, `card.json` and `metrics.json`.

    Args:
        model: the manifest's entry.
        directory: the model directory, with both encoders installed.
        source: folder with `ratings.tar.gz`.
        result: existing folder to write to.
        progress: takes lines for the user.
    """
    sentences = read_sentences(source / "ratings.tar.gz")
    texts = [text for text, _ in sentences]
    encoders = [load_encoder(directory, name) for name in model.needs]
    training_set = TextTrainingSet(
        blocks={encoder.name: _embed(encoder, texts, model, progress) for encoder in encoders},
        label_indexes=np.array([label for _, label in sentences], np.int64),
        label_names=LABELS,
        digests=[hashlib.sha256(text.encode("utf-8")).digest() for text in texts],
        encoder_digests={encoder.name: encoder.sha256 for encoder in encoders},
    )
    progress(f"{model.name}: learning from {len(texts):,} rated sentences")
    trained = fit(training_set, TextFitOptions(seed=_SEED), lambda _: None)
    artifact = classifier.dump(trained)
    if trained.report is None:
        raise ValueError("a fitted model has a report")
    (result / "artifact.npz").write_bytes(artifact)
    card = make_card(model, encoders, trained.report, artifact)
    _write(result / "card.json", card)
    _write(result / "metrics.json", make_metrics(card, trained.report))


def _embed(
    encoder: Encoder, texts: Sequence[str], model: ModelFiles, progress: Progress
) -> Float32Array:
    """Return the texts' vectors, float32, shape (texts, dimensions), saying how far it is."""
    parts = []
    for first in range(0, len(texts), _REPORT_TEXTS):
        progress(f"{model.name}: {encoder.name} has read {first:,} of {len(texts):,} sentences")
        parts.append(encoder.encode(texts[first : first + _REPORT_TEXTS], threads=_THREADS))
    return np.concatenate(parts)


def make_card(
    model: ModelFiles, encoders: Sequence[Encoder], report: TextReport, artifact: bytes
) -> dict[str, Any]:
    """Return the model card, in the form of the API's card record."""
    return {
        "modelId": model.name,
        "name": model.name,
        "algorithm": "sentiment",
        "language": _LANGUAGE,
        "createdAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "trainedOn": {
            "examples": report.training_examples + report.test_examples,
            "labels": len(LABELS),
            "feedback": 0,
            "source": f"{model.source.package} {model.source.version}: mean human ratings "
            "published with VADER, as many sentences of each label, none of the Stanford Sentiment "
            "Treebank's development and test splits",
            "licence": model.source.licence,
        },
        "engine": {
            "name": classifier.KIND,
            "version": classifier.VERSION,
            "encoders": [
                {
                    "name": encoder.facts.title,
                    "sha256": encoder.sha256,
                    "licence": encoder.licence,
                }
                for encoder in encoders
            ],
            "seed": _SEED,
        },
        "artifactSha256": hashlib.sha256(artifact).hexdigest(),
        "metrics": {"testAccuracy": {**asdict(report.accuracy_interval), "level": _LEVEL}},
        "calibrationError": report.calibration_error,
        "limits": _LIMITS,
        "object": "card",
    }


def make_metrics(card: Mapping[str, Any], report: TextReport) -> dict[str, Any]:
    """Return the held-out quality, in the form of the API's metrics record."""
    metrics = report.metrics
    data = {
        "f1": metrics.f1,
        "labels": metrics.labels,
        "recall": metrics.recall,
        "macroF1": metrics.macro_f1,
        "testLoss": metrics.test_loss,
        "precision": metrics.precision,
        "threshold": report.thresholds,
        "testAccuracy": metrics.test_accuracy,
        "trainingLoss": metrics.training_loss,
        "confusionMatrix": metrics.confusion_matrix,
        "trainingAccuracy": metrics.training_accuracy,
        "precisionRecallCurve": asdict(report.curve),
    }
    same = {key: card[key] for key in ("createdAt", "language", "algorithm")}
    return {"id": card["modelId"], "metricsData": data, **same, "object": "metrics"}


def _write(path: Path, value: object) -> None:
    """Write a JSON file for people and machines."""
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
