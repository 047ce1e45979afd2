"""Builds the prebuilt model CommunitySentiment: an encoder that reads emoji, and a fitted head.

Nothing is trained here: the head and its figures are files of this repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chalicelib.engines.interface import EncoderUse
from chalicelib.engines.text import classifier
from chalicelib.engines.text.classifier import TextParameters, TrainedText
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.conversion import text_encoders
from infra.model_files.description import Conversion, WrongOutputs
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS
from infra.model_files.prebuilt import cards
from infra.model_files.sentiment_head import (
    LABELS,
    SentimentHead,
    read_figures,
    read_head,
    write_encoder,
)

# Largest accepted difference between a probability and its reference. Rounding on another processor
# changes much less, and another layer of the encoder much more.
TOLERANCE = 0.05
_LIMITS = (
    "English only; predictions for other languages are unreliable. Intended for one to a few "
    "sentences. Longer texts are cut after 128 tokens, and a text with mixed opinions gets one "
    "label. Trained on tweets, reviews of films, products and restaurants, and newspaper "
    "editorials, all from before 2015, and on sentences written for this project. Irony and the "
    "jargon of other fields are often misjudged. Neutral is the least reliable label, because "
    "people agree on it least. The most common emoji are read as words; others are ignored. The "
    "metrics come from held-out sentences of the same sources. The member leftOut has the metrics "
    "on each source, by a head that was trained without this source and similar ones. The held-out "
    "sentences and leftOut were used to choose the settings, and some of the project's sentences "
    "were written after looking at errors on the editorials. So the accuracy on other texts may be "
    "lower. The metrics were computed when the head was fitted, not on this machine."
)


def build_encoder(job: Conversion) -> None:
    """Write the encoder's `model.onnx`, `tokenizer.json` and `encoder.json`."""
    write_encoder(job.directory / MODELS[job.model.needs[0]].folder, job.result)
    text_encoders.write_encoder_facts(job.model, job.result)


def build(job: Conversion) -> None:
    """Write `artifact.npz`, `card.json` and `metrics.json`.

    Raises:
        BrokenFile: the files of the repository are damaged.
        WrongOutputs: the predictions differ from the references.
    """
    figures = read_figures()
    encoder = text_encoders.load(job.directory / MODELS[job.model.needs[0]].folder)
    model = make_model(read_head(), encoder, figures)
    job.progress(f"{job.model.name}: checking against the reference answers")
    check_answers(model, encoder, figures)
    content = classifier.dump(model)
    (job.result / "artifact.npz").write_bytes(content)
    card = _make_card(job.model.name, encoder, figures, content)
    write_json(job.result / "card.json", card)
    write_json(job.result / "metrics.json", cards.metrics_record(card, figures["metrics"]))


def make_model(head: SentimentHead, encoder: Encoder, figures: Mapping[str, Any]) -> TrainedText:
    """Return the head as a model of the text engine."""
    use = EncoderUse(encoder.name, encoder.sha256, encoder.dimensions)
    return TrainedText(
        TextParameters(
            labels=LABELS,
            encoders=(use,),
            weights=head.weights.astype(np.float16),
            biases=head.biases,
            means=np.zeros(encoder.dimensions, np.float32),
            norms=(1.0,),
            temperature=float(figures["temperature"]),
            threshold=float("-inf"),
        )
    )


def check_answers(model: TrainedText, encoder: Encoder, figures: Mapping[str, Any]) -> None:
    """Compare the predictions for a few fixed sentences with the references.

    Raises:
        WrongOutputs: a probability differs by more than the tolerance, or is not a number.
    """
    wanted = figures["references"]
    found = model.predict({encoder.name: encoder.encode(wanted["texts"])})
    worst = float(np.abs(found - np.array(wanted["probabilities"])).max())
    if not worst <= TOLERANCE:  # also when it is not a number
        raise WrongOutputs(
            f"The encoder {encoder.name} answers otherwise than it should (off by "
            f"{worst:.4f}). Check that the packages installed are those of requirements.txt and "
            "requirements-dev.txt."
        )


def _make_card(
    name: str, encoder: Encoder, figures: Mapping[str, Any], content: bytes
) -> dict[str, Any]:
    rated, own = figures["ratedSentences"], figures["ownSentences"]
    clear, held = figures["clearSentences"], figures["heldOutSentences"]
    return cards.Card(
        name=name,
        algorithm="sentiment",
        created_at=figures["createdAt"],
        trained_on={
            "examples": rated + clear + own + held,
            "labels": len(LABELS),
            "feedback": 0,
            "source": f"vaderSentiment 3.3.2: {rated:,} sentences for training and {held:,} held "
            "out, each with the mean of its human ratings as published with VADER. The development "
            "and test splits of the Stanford Sentiment Treebank are not used. "
            f"sentiment 5.0.2: {clear:,} review sentences with a clear "
            f"sentiment, from Sentiment Labelled Sentences. Also {own:,} sentences written for "
            "this project.",
            "licence": "MIT; CC-BY-4.0; those of the project Apache-2.0",
        },
        engine={
            "name": classifier.KIND,
            "version": classifier.VERSION,
            "encoders": [cards.describe_encoder(encoder)],
            "headSha256": figures["sha256"],
            "recipe": {"penaltyInverse": figures["penaltyInverse"]},
        },
        content=content,
        metrics={"testAccuracy": figures["testAccuracy"]},
        figures={
            key: figures[key]
            for key in ("macroRecall", "calibrationError", "brierScore", "leftOut")
        },
        limits=_LIMITS,
    ).record()
