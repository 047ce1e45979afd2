"""Builds the prebuilt model CommunitySentiment: an encoder that reads emoji, and a head.

Nothing is learnt here: head and figures come with the project.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from chalicelib.engines.interface import EncoderUse
from chalicelib.engines.text import classifier
from chalicelib.engines.text.classifier import TextParameters, TrainedText
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.conversion import text_encoders
from infra.model_files.errors import WrongOutputs
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS, InstallableModel, Progress
from infra.model_files.prebuilt import text_cards
from infra.model_files.prebuilt.sentiment_data import LABELS
from infra.model_files.sentiment_head import (
    SentimentHead,
    read_figures,
    read_head,
    write_encoder,
)
from infra.model_files.sources import packages

TOLERANCE = 0.05
"""Greatest difference of a probability from its reference: what 8-bit sums differ by between
processors stays well below, another layer goes far beyond."""
_LIMITS = (
    "English only: answers to other languages mean little. Made for one sentence or a few: a "
    "longer text is cut after 128 tokens, and mixed opinions get one label. Learnt from tweets, "
    "reviews of films, products and restaurants and newspaper editorials, all from before 2015, "
    "and from sentences written for this project; irony and the jargon of other fields are often "
    "misjudged, and neutral, which people agree on least, is the label it finds least surely. The "
    "most common emoji are read as words, others are not understood. The metrics are of held-out "
    "sentences of the same sources, leftOut has those of sources that a head did not learn from, "
    "nor from reviews of the same kind. The recipe was chosen by both, and some sentences of this "
    "project, which every head learnt from, were written after a look at what one without the "
    "editorials misjudged; other texts may go worse. They were taken when the head was fitted, not "
    "on this machine."
)


def build_encoder(model: InstallableModel, directory: Path, result: Path) -> None:
    """Write the encoder's `model.onnx`, `tokenizer.json` and `encoder.json`."""
    write_encoder(directory / MODELS[model.needs[0]].folder, result)
    text_encoders.write_encoder_facts(model, result)


def build(model: InstallableModel, directory: Path, result: Path, progress: Progress) -> None:
    """Write `artifact.npz`, `card.json` and `metrics.json`.

    Args:
        model: the manifest's entry.
        directory: the model directory, with its encoder installed.
        result: existing folder to write to.
        progress: takes lines for the user.

    Raises:
        BrokenFile: the project's files are damaged.
        WrongOutputs: the encoder answers otherwise than the references.
    """
    figures = read_figures()
    encoder = text_encoders.load(directory / MODELS[model.needs[0]].folder)
    made = trained(read_head(), encoder, figures)
    progress(f"{model.name}: checking against the reference answers")
    check_answers(made, encoder, figures)
    content = classifier.dump(made)
    (result / "artifact.npz").write_bytes(content)
    card = make_card(model, encoder, figures, content)
    write_json(result / "card.json", card)
    write_json(result / "metrics.json", text_cards.metrics_record(card, figures["metrics"]))


def trained(head: SentimentHead, encoder: Encoder, figures: Mapping[str, Any]) -> TrainedText:
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
    """Compare the answers to a few fixed sentences with the references.

    Raises:
        WrongOutputs: a probability differs by more than the tolerance; also when it is no number.
    """
    wanted = figures["references"]
    found = model.predict({encoder.name: encoder.encode(wanted["texts"])})
    worst = float(np.abs(found - np.array(wanted["probabilities"])).max())
    if not worst <= TOLERANCE:
        raise WrongOutputs(
            f"The encoder {encoder.name} answers otherwise than it should (off by "
            f"{worst:.4f}). Check that the packages installed are those of requirements.txt and "
            "requirements-dev.txt."
        )


def make_card(
    model: InstallableModel, encoder: Encoder, figures: Mapping[str, Any], content: bytes
) -> dict[str, Any]:
    """Return the model card, in the form of the API's card record."""
    rated, own = figures["ratedSentences"], figures["ownSentences"]
    clear, held = figures["clearSentences"], figures["heldOutSentences"]
    vader, reviews = packages.VADER, packages.CLEAR_SENTENCES
    return {
        "modelId": model.name,
        "name": model.name,
        "algorithm": "sentiment",
        "language": text_cards.LANGUAGE,
        "createdAt": figures["createdAt"],
        "trainedOn": {
            "examples": rated + clear + own + held,
            "labels": len(LABELS),
            "feedback": 0,
            "source": f"{vader.package} {vader.version}: {rated:,} sentences with the mean human "
            f"ratings published with VADER, and {held:,} held out, none of "
            "the Stanford Sentiment Treebank's development and test splits; "
            f"{reviews.package} {reviews.version}: {clear:,} clear sentences of reviews, the "
            f"Sentiment Labelled Sentences; {own:,} sentences written for this project",
            "licence": f"{vader.licence}; {reviews.licence}; those of the project Apache-2.0",
        },
        "engine": {
            "name": classifier.KIND,
            "version": classifier.VERSION,
            "encoders": [text_cards.describe_encoder(encoder)],
            "headSha256": figures["sha256"],
            "recipe": {"penaltyInverse": figures["penaltyInverse"]},
        },
        "artifactSha256": hashlib.sha256(content).hexdigest(),
        "metrics": {"testAccuracy": figures["testAccuracy"]},
        "macroRecall": figures["macroRecall"],
        "calibrationError": figures["calibrationError"],
        "brierScore": figures["brierScore"],
        "leftOut": figures["leftOut"],
        "limits": _LIMITS,
        "object": "card",
    }
